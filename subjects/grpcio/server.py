"""grpcio: the echo service on one port, and over TLS on another; on threads or on asyncio."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent import futures
from pathlib import Path

import grpc
from echo_pb2 import Message
from echo_pb2_grpc import EchoServicer, add_EchoServicer_to_server

REPEATED = 10
WORKERS = 10
"""Threads of the pool, as in the quick start."""


class Threaded(EchoServicer):
    """Each call on a thread of the pool."""

    def Unary(self, request: Message, context: grpc.ServicerContext) -> Message:
        return request

    def Server(self, request: Message, context: grpc.ServicerContext) -> Iterator[Message]:
        for _ in range(REPEATED):
            yield request

    def Client(self, request_iterator: Iterator[Message], context: grpc.ServicerContext) -> Message:
        last = Message()
        for message in request_iterator:
            last = message
        return last

    def Bidi(
        self, request_iterator: Iterator[Message], context: grpc.ServicerContext
    ) -> Iterator[Message]:
        yield from request_iterator


class Asynchronous(EchoServicer):
    """Each call as a task of one loop."""

    async def Unary(self, request: Message, context: grpc.aio.ServicerContext) -> Message:
        return request

    async def Server(
        self, request: Message, context: grpc.aio.ServicerContext
    ) -> AsyncIterator[Message]:
        for _ in range(REPEATED):
            yield request

    async def Client(
        self, request_iterator: AsyncIterator[Message], context: grpc.aio.ServicerContext
    ) -> Message:
        last = Message()
        async for message in request_iterator:
            last = message
        return last

    async def Bidi(
        self, request_iterator: AsyncIterator[Message], context: grpc.aio.ServicerContext
    ) -> AsyncIterator[Message]:
        async for message in request_iterator:
            yield message


def serve(options: argparse.Namespace) -> None:
    """Serves until it is ended."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=WORKERS))
    add_EchoServicer_to_server(Threaded(), server)
    listen(server, options)
    server.start()
    server.wait_for_termination()


async def serve_asynchronously(options: argparse.Namespace) -> None:
    """The same on asyncio."""
    server = grpc.aio.server()
    add_EchoServicer_to_server(Asynchronous(), server)
    listen(server, options)
    await server.start()
    await server.wait_for_termination()


def listen(server: grpc.Server | grpc.aio.Server, options: argparse.Namespace) -> None:
    """Both ports; whatever is taken ends it."""
    server.add_insecure_port(f"{options.host}:{options.port}")
    identity = (Path(options.key).read_bytes(), Path(options.cert).read_bytes())
    credentials = grpc.ssl_server_credentials([identity])
    server.add_secure_port(f"{options.host}:{options.tls_port}", credentials)


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tls-port", type=int, required=True)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--tuned", action="store_true", help="on asyncio")
    options = parser.parse_args()
    if options.tuned:
        asyncio.run(serve_asynchronously(options))
    else:
        serve(options)


if __name__ == "__main__":
    main()
