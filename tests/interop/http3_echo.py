"""Echoes over HTTP/3 with aioquic: content comes back, and GET gets a line.

Usage: python http3_echo.py CERT KEY [GOAWAY_AFTER]

Says `ready https=HOST:PORT`. After so many requests a connection is left in order.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import QuicServer
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import H3_ALPN, FrameType, H3Connection, encode_frame
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent

CONTROL = 3
"""A server's stream of control: the first that it opens in one direction."""


class Echo(QuicConnectionProtocol):
    """One connection."""

    leave_after: int | None = None

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._http: H3Connection | None = None
        self._asked: dict[int, tuple[bytes, bytearray]] = {}
        self._answered = 0

    def quic_event_received(self, event: QuicEvent) -> None:
        """Something came."""
        if isinstance(event, ProtocolNegotiated):
            self._http = H3Connection(self._quic)
        if self._http is not None:
            for told in self._http.handle_event(event):
                self._hear(told)

    def _hear(self, event: H3Event) -> None:
        if isinstance(event, HeadersReceived):
            method = dict(event.headers).get(b":method", b"")
            self._asked[event.stream_id] = (method, bytearray())
        elif isinstance(event, DataReceived):
            self._asked[event.stream_id][1].extend(event.data)
        else:
            return
        if event.stream_ended:
            self._answer(event.stream_id)

    def _answer(self, stream: int) -> None:
        assert self._http is not None
        method, content = self._asked.pop(stream)
        body = b"one line\n" if method == b"GET" else bytes(content)
        length = str(len(body)).encode()
        self._http.send_headers(stream, [(b":status", b"200"), (b"content-length", length)])
        self._http.send_data(stream, body, end_stream=True)
        self._answered += 1
        if self._answered == self.leave_after:
            # aioquic has no word for it.
            first = encode_uint_var(stream + 4)
            self._quic.send_stream_data(CONTROL, encode_frame(FrameType.GOAWAY, first))
        self.transmit()


async def main() -> None:
    """Serves until it is ended."""
    chain, key, *after = sys.argv[1:]
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    configuration.load_cert_chain(chain, key)
    if after:
        Echo.leave_after = int(after[0])
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: QuicServer(configuration=configuration, create_protocol=Echo),
        local_addr=("127.0.0.1", 0),
    )
    host, port = transport.get_extra_info("sockname")[:2]
    print(f"ready https={host}:{port}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
