"""WebSockets on streams of HTTP/2 (RFC 8441) on either side, by the packages `h2` and `websockets`.

Knows both packages and the bytes between them; must not know what is tested.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from typing import Any

import h2.config
import h2.connection
import h2.events
import h2.settings
from h2.settings import SettingCodes
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN, Protocol, Side

LIMIT_S = 30.0
PIECE = 65_536


class Peer:
    """One connection, and the WebSockets on it."""

    def __init__(self, way: socket.socket, side: Side, settings: dict[SettingCodes, int]) -> None:
        self._way = way
        self._side = side
        config = h2.config.H2Configuration(client_side=side is Side.CLIENT, header_encoding="utf-8")
        self.h2 = h2.connection.H2Connection(config=config)
        self.h2.local_settings = h2.settings.Settings(
            client=side is Side.CLIENT, initial_values=settings
        )
        self.h2.initiate_connection()
        self.sockets: dict[int, Protocol] = {}
        self.heard: dict[int, list[tuple[Opcode, bytes]]] = {}
        """Whole messages and control frames, by stream."""
        self.ended: dict[int, int] = {}
        """Streams that the other side has ended: -1, or the code of a reset."""
        self.answers: dict[int, dict[str, str]] = {}
        self.closed = False
        self._parts: dict[int, list[bytes]] = {}
        self._waiting: dict[int, bytes] = {}
        self._ending: set[int] = set()
        self.flush()

    def ask(self, fields: list[tuple[str, str]]) -> int:
        """Opens a stream by CONNECT."""
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, fields)
        self.flush()
        return stream

    def stand(self, stream: int) -> Protocol:
        """A WebSocket stands on a stream."""
        made = Protocol(self._side, state=OPEN, max_size=None)
        self.sockets[stream] = made
        self.heard[stream] = []
        return made

    def flush(self) -> None:
        """Sends what there is to be sent, as far as windows let it."""
        for stream, made in self.sockets.items():
            for data in made.data_to_send():
                self._waiting[stream] = self._waiting.get(stream, b"") + data
                if not data:
                    self._ending.add(stream)
            self._send(stream)
        self._way.sendall(self.h2.data_to_send())

    def _send(self, stream: int) -> None:
        waiting = self._waiting.get(stream, b"")
        while waiting and stream not in self.ended:
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
            if room == 0:
                break
            # Padding counts, too.
            padding = 3 if len(waiting) + 4 <= room else None
            self.h2.send_data(stream, waiting[:room], pad_length=padding)
            waiting = waiting[room:]
        self._waiting[stream] = waiting
        if not waiting and stream in self._ending and stream not in self.ended:
            self._ending.discard(stream)
            self.h2.end_stream(stream)

    def hear(self) -> list[h2.events.Event]:
        """Takes in what comes next, and says what it was."""
        data = self._way.recv(PIECE)
        self.closed = not data
        events: list[h2.events.Event] = self.h2.receive_data(data) if data else []
        for event in events:
            match event:
                case h2.events.ResponseReceived():
                    self.answers[event.stream_id] = dict(texts(event.headers))
                case h2.events.DataReceived():
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                    self._take_in(event.stream_id, bytes(event.data))
                case h2.events.StreamEnded():
                    self.ended.setdefault(event.stream_id, -1)
                case h2.events.StreamReset():
                    self.ended[event.stream_id] = int(event.error_code)
                case h2.events.ConnectionTerminated():
                    self.closed = True
        return events

    def _take_in(self, stream: int, data: bytes) -> None:
        made = self.sockets.get(stream)
        if made is None:
            # Why none was accepted.
            return
        made.receive_data(data)
        assert made.parser_exc is None, made.parser_exc
        for frame in made.events_received():
            assert isinstance(frame, Frame)
            if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
                if frame.opcode is not Opcode.CONT:
                    self._parts[stream] = [bytes([frame.opcode])]
                self._parts[stream].append(bytes(frame.data))
                if frame.fin:
                    kind, *parts = self._parts.pop(stream)
                    self.heard[stream].append((Opcode(kind[0]), b"".join(parts)))
            else:
                self.heard[stream].append((frame.opcode, bytes(frame.data)))


def texts(headers: Any) -> list[tuple[str, str]]:
    """Fields as text, as either version of the package gives them."""
    return [(text(name), text(value)) for name, value in headers]


def text(field: Any) -> str:
    """A name or a value."""
    return field.decode() if isinstance(field, bytes) else str(field)


@contextlib.contextmanager
def client(address: str, authority: str | None, path: str, streams: int) -> Iterator[Peer]:
    """A client with so many WebSockets that stand. Inside TLS, trusts that authority."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), LIMIT_S) as plain:
        way = plain
        if authority:
            context = ssl.create_default_context(cafile=authority)
            context.set_alpn_protocols(["h2"])
            way = context.wrap_socket(plain, server_hostname=host)
            assert way.selected_alpn_protocol() == "h2"
        peer = Peer(way, Side.CLIENT, {})
        while not peer.h2.remote_settings.get(SettingCodes.ENABLE_CONNECT_PROTOCOL, 0):
            peer.hear()
            peer.flush()
        fields = [
            (":method", "CONNECT"),
            (":protocol", "websocket"),
            (":scheme", "https" if authority else "http"),
            (":path", path),
            (":authority", address),
            ("sec-websocket-version", "13"),
        ]
        asked = [peer.ask(fields) for _ in range(streams)]
        while not set(asked) <= set(peer.answers):
            peer.hear()
            peer.flush()
        for stream in asked:
            if peer.answers[stream][":status"] == "200":
                peer.stand(stream)
        yield peer


class Server:
    """Echoes on each WebSocket, and closes each after so many messages.

    `settings` say whether there are any.
    """

    def __init__(
        self, settings: dict[SettingCodes, int], context: ssl.SSLContext | None, after: int | None
    ) -> None:
        self._settings = settings
        self._context = context
        self._after = after
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.connects = 0
        """WebSockets that were asked for."""
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Nobody is accepted any more."""
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                way, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(way,), daemon=True).start()

    def _serve(self, way: socket.socket) -> None:
        with way, contextlib.suppress(OSError):
            way.settimeout(LIMIT_S)
            if self._context:
                way = self._context.wrap_socket(way, server_side=True)
            peer = Peer(way, Side.SERVER, self._settings)
            while not peer.closed:
                for event in peer.hear():
                    if isinstance(event, h2.events.RequestReceived):
                        self._answer(peer, event)
                for stream, heard in peer.heard.items():
                    self._echo(peer, stream, heard)
                peer.flush()

    def _answer(self, peer: Peer, event: h2.events.RequestReceived) -> None:
        fields = dict(texts(event.headers))
        assert event.stream_id
        assert (fields[":method"], fields[":protocol"]) == ("CONNECT", "websocket")
        assert fields["sec-websocket-version"] == "13"
        assert "upgrade" not in fields
        assert "sec-websocket-key" not in fields
        self.connects += 1
        peer.h2.send_headers(event.stream_id, [(":status", "200")])
        peer.stand(event.stream_id)

    def _echo(self, peer: Peer, stream: int, heard: list[tuple[Opcode, bytes]]) -> None:
        made = peer.sockets[stream]
        while heard:
            kind, data = heard.pop(0)
            if made.state is not OPEN or kind not in (Opcode.TEXT, Opcode.BINARY):
                continue
            made.send_ping(b"still there?")
            send = made.send_text if kind is Opcode.TEXT else made.send_binary
            # In two frames: what is a message is the message's own matter.
            send(data[: len(data) // 2], fin=False)
            made.send_continuation(data[len(data) // 2 :], fin=True)
            replies = getattr(made, "replies", 0) + 1
            made.replies = replies  # type: ignore[attr-defined]
            if replies == self._after:
                made.send_close(1001)
