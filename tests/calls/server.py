"""A shop that is served by grpcio: prints its port. `--tls CHAIN KEY`, `--no-reflection`, `--gzip`.

The name that is asked for says what comes: `nothing` NOT_FOUND, `slow` after 300 ms, `changes` of
another kind in each tenth reply from the 60th on, all else an item of that name.
"""

from __future__ import annotations

import itertools
import sys
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha import reflection

from wiretrial.calls.compiling import compiled
from wiretrial.calls.methods import Methods

HERE = Path(__file__).parent
SERVICE = "shop.Shop"
CHANGED = 60
SLOW_S = 0.3


def main() -> None:
    """Serves until it is killed."""
    files = compiled([HERE / "shop.proto"], [HERE])
    methods = Methods(files)
    shop = Shop(methods)
    handlers = {
        name: _handler(methods, name, getattr(shop, name.lower()))
        for name in ("Find", "List", "Put", "Talk")
    }
    packs = grpc.Compression.Gzip if "--gzip" in sys.argv else grpc.Compression.NoCompression
    server = grpc.server(futures.ThreadPoolExecutor(8), compression=packs)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    if "--no-reflection" not in sys.argv:
        pool = DescriptorPool()
        for file in files.values():
            pool.AddSerializedFile(file.SerializeToString())
        reflection.enable_server_reflection((SERVICE, reflection.SERVICE_NAME), server, pool)
    if "--tls" in sys.argv:
        at = sys.argv.index("--tls")
        chain, key = (Path(one).read_bytes() for one in sys.argv[at + 1 : at + 3])
        credentials = grpc.ssl_server_credentials([(key, chain)])
        port = server.add_secure_port("127.0.0.1:0", credentials)
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    server.wait_for_termination()


class Shop:
    """The four methods."""

    def __init__(self, methods: Methods) -> None:
        self._item = GetMessageClass(methods.find(f"{SERVICE}/Find").reply)
        self._sum = GetMessageClass(methods.find(f"{SERVICE}/Put").reply)
        self._numbers = defaultdict[str, Iterator[int]](itertools.count)

    def find(self, query: Any, context: grpc.ServicerContext) -> Any:
        """One item."""
        if query.name == "nothing":
            context.abort(grpc.StatusCode.NOT_FOUND, "there is no such item")
        if query.name == "slow":
            time.sleep(SLOW_S)
        return self._made(query.name, next(self._numbers[query.name]))

    def list(self, query: Any, _: grpc.ServicerContext) -> Iterator[Any]:
        """As many as are asked for."""
        for number in range(query.many):
            yield self._made(query.name, number)

    def put(self, items: Iterator[Any], _: grpc.ServicerContext) -> Any:
        """How many came, and their names."""
        names = [item.name for item in items]
        return self._sum(items=len(names), names=names)

    def talk(self, items: Iterator[Any], _: grpc.ServicerContext) -> Iterator[Any]:
        """Each as it came."""
        yield from items

    def _made(self, name: str, number: int) -> Any:
        item: Any = self._item(
            id=str(uuid.uuid4()),
            name=name,
            stock=-1 - number % 7,
            price=2.5,
            kind=2 if name == "changes" and number >= CHANGED and number % 10 == 0 else 1,
            sizes=[1, 300],
            labels={"colour": "green", "age": "old"},
            maker={"name": "Ann", "since": 1999},
            picture=b"\x00\xff",
            fresh=False,
        )
        item.at.FromNanoseconds(time.time_ns())
        return item


def _handler(methods: Methods, name: str, does: Any) -> grpc.RpcMethodHandler:
    method = methods.find(f"{SERVICE}/{name}")
    make = {
        "unary": grpc.unary_unary_rpc_method_handler,
        "server": grpc.unary_stream_rpc_method_handler,
        "client": grpc.stream_unary_rpc_method_handler,
        "bidi": grpc.stream_stream_rpc_method_handler,
    }[method.kind]
    return make(
        does,
        request_deserializer=GetMessageClass(method.request).FromString,
        response_serializer=lambda message: message.SerializeToString(),
    )


if __name__ == "__main__":
    main()
