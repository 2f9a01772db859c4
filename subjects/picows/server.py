"""picows: a WebSocket echo on asyncio, plain and over TLS, both on one event loop."""

from __future__ import annotations

import argparse
import asyncio
import ssl

from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_create_server
from picows.websockets.asyncio.server import ServerConnection, serve

LARGEST = 128 << 20


async def echo(connection: ServerConnection) -> None:
    """The echo of the README's "websockets API"."""
    async for message in connection:
        await connection.send(message)


class Echo(WSListener):
    """The echo of the README's "Core API"; a peer that does not read is not read from either."""

    def on_ws_connected(self, transport: WSTransport) -> None:
        """Keeps the transport of asyncio, the reading of which can be paused."""
        self._transport = transport.underlying_transport

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """Sends a frame back from the read buffer, which holds it for the time of this call."""
        if frame.msg_type == WSMsgType.CLOSE:
            transport.send_close(frame.get_close_code(), frame.get_close_message())
            transport.disconnect()
        elif frame.msg_type != WSMsgType.PONG:
            # The library puts no fragments together, so that each goes back as it came.
            transport.send(frame.msg_type, frame.get_payload_as_memoryview(), frame.fin)

    def pause_writing(self) -> None:
        """Too much waits for the peer."""
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The peer has read."""
        self._transport.resume_reading()


async def run(options: argparse.Namespace) -> None:
    """Serves until the process is ended."""
    inside = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    inside.load_cert_chain(options.cert, options.key)
    for port, context in ((options.port, None), (options.tls_port, inside)):
        if options.core:
            await ws_create_server(
                lambda _: Echo(), options.host, port, ssl=context, max_frame_size=LARGEST
            )
        else:
            await serve(echo, options.host, port, ssl=context, max_size=LARGEST)
    await asyncio.get_running_loop().create_future()


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tls-port", type=int, required=True)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--core", action="store_true", help="the core API, of frames")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
