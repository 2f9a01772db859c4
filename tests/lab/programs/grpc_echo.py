"""A server of the contract `grpc-echo` that keeps it, but for the faults that it is told to have.

Usage: grpc_echo.py HOST PORT [FAULT...]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent import futures
from itertools import count
from typing import Any

import grpc

LATER = 60
"""The fault `late` is that of replies from this one on."""


class Echo:
    """The four methods; messages are bytes."""

    def __init__(self, faults: set[str]) -> None:
        self.faults = faults
        self.numbers = count()

    def unary(self, message: bytes, context: grpc.ServicerContext) -> bytes:
        """The message."""
        number = next(self.numbers)
        if "status" in self.faults:
            context.abort(grpc.StatusCode.UNAVAILABLE, "not now")
        if "altered" in self.faults or ("late" in self.faults and number >= LATER):
            return message[:-1] + b"?"
        return message

    def server(self, message: bytes, _: grpc.ServicerContext) -> Iterator[bytes]:
        """The message ten times."""
        return iter([message] * (9 if "nine" in self.faults else 10))

    def client(self, messages: Iterator[bytes], _: grpc.ServicerContext) -> bytes:
        """The last message."""
        came = list(messages)
        return came[0 if "first" in self.faults else -1]

    def bidi(self, messages: Iterator[bytes], _: grpc.ServicerContext) -> Iterator[bytes]:
        """Each message."""
        if "hoarding" in self.faults:
            messages = iter(list(messages))
        if "backwards" in self.faults:
            messages = reversed(list(messages))
        yield from messages


class Anything(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Every method of every service is there."""

    def __init__(self, method: grpc.RpcMethodHandler) -> None:
        self.method = method

    def service(self, _: Any) -> grpc.RpcMethodHandler:
        """The one method, whatever is called."""
        return self.method


def main() -> None:
    """Serves until it is killed."""
    host, port, *faults = sys.argv[1:]
    echo = Echo(set(faults))
    unary = grpc.unary_unary_rpc_method_handler(echo.unary)
    methods = {
        "Unary": unary,
        "Server": grpc.unary_stream_rpc_method_handler(echo.server),
        "Client": grpc.stream_unary_rpc_method_handler(echo.client),
        "Bidi": grpc.stream_stream_rpc_method_handler(echo.bidi),
    }
    server = grpc.server(futures.ThreadPoolExecutor(16), options=[("grpc.so_reuseport", 0)])
    handlers = [grpc.method_handlers_generic_handler("wiretrial.Echo", methods)]
    if "everything" in echo.faults:
        handlers.append(Anything(unary))
    server.add_generic_rpc_handlers(handlers)
    server.add_insecure_port(f"{host}:{port}")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main()
