"""A server of the contract `http-echo` over HTTP/3, by aioquic, with faults.

Usage: python http3.py HOST PORT CERT KEY [FAULT...]

It has no port of TCP. Faults: `everywhere` (it listens on all addresses), `catch-all` (each route
is answered with 200), `blank` (an empty content in place of the right one).
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, ClassVar

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import QuicServer
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent


class Echo(QuicConnectionProtocol):
    """One connection."""

    faults: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._http: H3Connection | None = None
        self._asked: dict[int, tuple[tuple[bytes, bytes], bytearray]] = {}

    def quic_event_received(self, event: QuicEvent) -> None:
        """Something came."""
        if isinstance(event, ProtocolNegotiated):
            self._http = H3Connection(self._quic)
        if self._http is not None:
            for told in self._http.handle_event(event):
                self._hear(told)

    def _hear(self, event: H3Event) -> None:
        if isinstance(event, HeadersReceived):
            fields = dict(event.headers)
            self._asked[event.stream_id] = (fields[b":method"], fields[b":path"]), bytearray()
        elif isinstance(event, DataReceived):
            self._asked[event.stream_id][1].extend(event.data)
        else:
            return
        if event.stream_ended:
            self._answer(event.stream_id)

    def _answer(self, stream: int) -> None:
        assert self._http is not None
        request, content = self._asked.pop(stream)
        is_known = request == (b"POST", b"/echo") or "catch-all" in self.faults
        body = b"" if "blank" in self.faults or not is_known else bytes(content)
        status = b"200" if is_known else b"404"
        fields = [(b":status", status), (b"content-length", str(len(body)).encode())]
        self._http.send_headers(stream, fields)
        self._http.send_data(stream, body, end_stream=True)
        self.transmit()


async def main() -> None:
    """Serves until it is ended."""
    host, port, chain, key, *faults = sys.argv[1:]
    Echo.faults = frozenset(faults)
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN)
    configuration.load_cert_chain(chain, key)
    address = "0.0.0.0" if "everywhere" in faults else host
    await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: QuicServer(configuration=configuration, create_protocol=Echo),
        local_addr=(address, int(port)),
    )
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
