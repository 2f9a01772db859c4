"""HTTP/3: a client that other people wrote (`aioquic`) against our server."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection, Setting
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, QuicEvent, StreamReset

from tests.interop.parts import LIMIT_S, Both, reference_server
from wiretrial.engine import Engine
from wiretrial.subjects.certificates import Certificate

Headers = list[tuple[bytes, bytes]]
T = TypeVar("T")
LARGE = 3_000_000
THREADS = "3"


@dataclass
class Reply:
    """What came on a stream."""

    heads: list[dict[str, str]] = field(default_factory=list)
    content: bytes = b""
    reset: int | None = None
    is_whole: bool = False

    @property
    def status(self) -> str:
        return self.heads[0][":status"]


class Client(QuicConnectionProtocol):
    """A connection of HTTP/3."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.http = H3Connection(self._quic)
        self.replies: dict[int, Reply] = {}
        self.closed: int | None = None
        self._came = asyncio.Event()

    def quic_event_received(self, event: QuicEvent) -> None:
        if isinstance(event, StreamReset):
            self.reply(event.stream_id).reset = event.error_code
        elif isinstance(event, ConnectionTerminated):
            self.closed = event.error_code
        for told in self.http.handle_event(event):
            self._take(told)
        self._came.set()

    def _take(self, told: H3Event) -> None:
        if not isinstance(told, HeadersReceived | DataReceived):
            return
        reply = self.reply(told.stream_id)
        reply.is_whole |= told.stream_ended
        if isinstance(told, HeadersReceived):
            reply.heads.append({name.decode(): value.decode() for name, value in told.headers})
        else:
            reply.content += told.data

    def reply(self, stream: int) -> Reply:
        return self.replies.setdefault(stream, Reply())

    def begin(self, method: str, path: str, *more: tuple[str, str]) -> int:
        """Opens a stream by the head of a request."""
        stream = self._quic.get_next_available_stream_id()
        origin = [(":method", method), (":scheme", "https"), (":authority", "a"), (":path", path)]
        ordered = sorted([*origin, *more], key=lambda it: not it[0].startswith(":"))
        fields = [(name.encode(), value.encode()) for name, value in ordered]
        self.http.send_headers(stream, fields, end_stream=False)
        return stream

    def say(self, stream: int, content: bytes, *, ends: bool = True) -> None:
        self.http.send_data(stream, content, end_stream=ends)
        self.transmit()

    def ask(self, method: str, path: str, content: bytes = b"", *more: tuple[str, str]) -> int:
        """A whole request."""
        stream = self.begin(method, path, *more)
        self.say(stream, content)
        return stream

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits for what is to come."""
        async with asyncio.timeout(LIMIT_S):
            while not holds():
                self._came.clear()
                await self._came.wait()

    async def answered(self, *streams: int) -> list[Reply]:
        """The replies on these streams, whole."""
        await self.until(lambda: all(self.reply(stream).is_whole for stream in streams))
        return [self.reply(stream) for stream in streams]


def talk(server: Both, say: Callable[[Client], Awaitable[T]], window: int = 1 << 20) -> T:
    """What comes of a conversation over a new connection, with a window for each stream."""
    configuration = QuicConfiguration(alpn_protocols=H3_ALPN, is_client=True)
    configuration.max_stream_data, configuration.max_data = window, 2 * window
    configuration.load_verify_locations(str(server.certificate.authority))
    host, _, port = server.secure.rpartition(":")

    async def conversation() -> T:
        address = (host, int(port))
        async with connect(*address, configuration=configuration, create_protocol=Client) as client:
            assert isinstance(client, Client)
            return await say(client)

    return asyncio.run(conversation())


@pytest.fixture(scope="module")
def server(
    engine: Engine, certificate: Certificate, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("http3")
    flags = ["--http3", "--threads", THREADS]
    with reference_server(engine, certificate, folder, *flags) as both:
        yield both


def test_routes(server: Both) -> None:
    wanted: dict[tuple[str, str, bytes], tuple[str, bytes]] = {
        ("GET", "/message", b""): (
            "200",
            b'{"id":"7","text":"One message of 64 bytes, asked for in 4 ways"}',
        ),
        ("POST", "/echo", b"hello"): ("200", b"hello"),
        ("POST", "/test", b"hello"): ("200", b"received: hello"),
        ("GET", "/messages/a%20b", b""): ("200", b'{"id":"a b"}'),
        ("GET", "/status/404", b""): ("404", b"status 404\n"),
        ("PUT", "/message", b""): ("405", b""),
        ("GET", "/nowhere", b""): ("404", b"no such route\n"),
    }

    async def say(client: Client) -> list[Reply]:
        return await client.answered(*(client.ask(*request) for request in wanted))

    replies = talk(server, say)
    assert [(it.status, it.content) for it in replies] == list(wanted.values())
    assert replies[0].heads == [
        {":status": "200", "content-type": "application/json", "content-length": "64"}
    ], "there is no Alt-Svc"


@pytest.mark.parametrize("window", [20_000, 1 << 20])
def test_long_content_both_ways(server: Both, window: int) -> None:
    content = os.urandom(LARGE)

    async def say(client: Client) -> list[Reply]:
        get = client.ask("GET", f"/bytes/{LARGE}")
        chunked = client.ask("GET", f"/chunked/{LARGE}")
        post = client.ask("POST", "/echo", content)
        return await client.answered(get, chunked, post)

    get, chunked, post = talk(server, say, window)
    assert get.heads[0]["content-length"] == str(LARGE)
    assert "content-length" not in chunked.heads[0]
    assert (len(get.content), get.content) == (LARGE, chunked.content)
    assert post.content == content


def test_many_streams_and_connections(server: Both) -> None:
    async def say(client: Client) -> list[Reply]:
        return await client.answered(*(client.ask("POST", "/echo", b"x" * at) for at in range(100)))

    for _ in range(5):
        assert [it.content for it in talk(server, say)] == [b"x" * at for at in range(100)]


def test_events(server: Both) -> None:
    async def say(client: Client) -> list[Reply]:
        return await client.answered(client.ask("GET", "/events?rate=1000&end=5"))

    (reply,) = talk(server, say)
    assert reply.heads[0]["content-type"] == "text/event-stream"
    told = [line for line in reply.content.split(b"\n") if line.startswith(b"id: ")]
    assert told == [b"id: 1", b"id: 2", b"id: 3", b"id: 4", b"id: 5"]


def test_grpc(server: Both) -> None:
    message = b"\x00\x00\x00\x00\x02hi"
    typed = (("content-type", "application/grpc"), ("te", "trailers"))

    async def say(client: Client) -> list[Reply]:
        unary = client.ask("POST", "/wiretrial.Echo/Unary", message, *typed)
        streamed = client.ask("POST", "/wiretrial.Echo/Server?count=3", message, *typed)
        failed = client.ask("POST", "/wiretrial.Echo/Unary?status=5", message, *typed)
        flowing = client.begin("POST", "/wiretrial.Echo/Bidi", *typed)
        client.say(flowing, message, ends=False)
        await client.until(lambda: client.reply(flowing).content == message)
        client.say(flowing, message)
        return await client.answered(unary, streamed, failed, flowing)

    replies = talk(server, say)
    assert [it.content for it in replies] == [message, message * 3, message, message * 2]
    assert [it.heads[-1]["grpc-status"] for it in replies] == ["0", "0", "5", "0"]


def test_websocket(server: Both) -> None:
    async def say(client: Client) -> tuple[Reply, bytes]:
        extended = ((":protocol", "websocket"), ("sec-websocket-version", "13"))
        stream = client.begin("CONNECT", "/chat", *extended)
        client.say(stream, b"\x81\x82\x00\x00\x00\x00hi", ends=False)
        reply = client.reply(stream)
        await client.until(lambda: len(reply.content) >= 4)
        echo = reply.content
        client.say(stream, b"\x88\x82\x00\x00\x00\x00\x03\xe8", ends=False)
        await client.answered(stream)
        settings = client.http.received_settings
        assert settings is not None
        assert settings[Setting.ENABLE_CONNECT_PROTOCOL] == 1
        return reply, echo

    reply, echo = talk(server, say)
    assert (reply.status, echo) == ("200", b"\x81\x02hi")
    assert reply.content[4:] == b"\x88\x02\x03\xe8"


@pytest.mark.parametrize(
    ("fault", "reset"), [("refuse@1", 0x10B), ("cancel@1", 0x102)], ids=["refuse", "cancel"]
)
def test_faults_of_a_stream(
    fault: str, reset: int, engine: Engine, certificate: Certificate, tmp_path: Path
) -> None:
    async def say(client: Client) -> Reply:
        stream = client.ask("POST", "/echo", b"hello")
        await client.until(lambda: client.reply(stream).reset is not None)
        return client.reply(stream)

    flags = ["--http3", "--fault", fault]
    with reference_server(engine, certificate, tmp_path, *flags) as faulty:
        assert talk(faulty, say).reset == reset


def test_a_server_that_stops_says_so(
    engine: Engine, certificate: Certificate, tmp_path: Path
) -> None:
    async def say(client: Client) -> int | None:
        await client.answered(client.ask("GET", "/message"))
        await asyncio.to_thread(stack.close)
        await client.until(lambda: client.closed is not None)
        return client.closed

    with contextlib.ExitStack() as stack:
        both = stack.enter_context(reference_server(engine, certificate, tmp_path, "--http3"))
        assert talk(both, say) == 0x100
