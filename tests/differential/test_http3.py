"""HTTP/3 as ours and `aioquic` speak it with each other, and as both read what is wrong."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.events import StreamDataReceived, StreamReset

from tests.differential import draw
from tests.differential.conftest import Drive
from tests.differential.draw import Known

CONVERSATIONS = draw.CASES // 8
Headers = list[tuple[bytes, bytes]]
Piece = tuple[int, bytes, bool]
DATA, HEADERS, CANCEL_PUSH, SETTINGS, PUSH_PROMISE, GOAWAY, MAX_PUSH_ID = 0, 1, 3, 4, 5, 7, 13
REJECTED = 0x10B


class Wire:
    """A connection of QUIC, as far as `aioquic`'s HTTP/3 looks at it."""

    def __init__(self, *, client: bool) -> None:
        self.configuration = SimpleNamespace(is_client=client)
        self._quic_logger = None
        self._remote_max_datagram_frame_size = None
        self.said: list[Piece] = []
        self.reset: dict[int, int] = {}
        self.closed: int | None = None
        self._next = itertools.count(2 if client else 3, 4)

    def get_next_available_stream_id(self, is_unidirectional: bool = False) -> int:
        assert is_unidirectional
        return next(self._next)

    def send_stream_data(self, stream_id: int, data: bytes, end_stream: bool = False) -> None:
        self.said.append((stream_id, bytes(data), end_stream))

    def reset_stream(self, stream_id: int, error_code: int) -> None:
        self.reset[stream_id] = error_code

    def close(self, error_code: int, reason_phrase: str) -> None:
        assert isinstance(reason_phrase, str)
        self.closed = int(error_code)


@dataclass
class Message:
    """One direction of an exchange, as far as it came."""

    headers: list[Headers] = field(default_factory=list)
    content: bytes = b""
    is_whole: bool = False


def peer(*, client: bool) -> tuple[Wire, H3Connection]:
    wire = Wire(client=client)
    return wire, H3Connection(wire)  # type: ignore[arg-type]


def hear(connection: H3Connection, pieces: list[Piece]) -> dict[int, Message]:
    """What an `aioquic` connection makes of what comes on its streams."""
    messages: dict[int, Message] = {}
    for stream, data, fin in pieces:
        event = StreamDataReceived(data=data, end_stream=fin, stream_id=stream)
        for told in connection.handle_event(event):
            if isinstance(told, HeadersReceived | DataReceived):
                message = messages.setdefault(told.stream_id, Message())
                message.is_whole |= told.stream_ended
                if isinstance(told, HeadersReceived):
                    message.headers.append([(bytes(name), bytes(it)) for name, it in told.headers])
                else:
                    message.content += bytes(told.data)
    return messages


def cut(rng: random.Random, pieces: list[Piece]) -> list[Piece]:
    """The same on each stream, in other pieces, and streams in any order."""
    streams: dict[int, tuple[bytes, bool]] = {}
    for stream, data, fin in pieces:
        before, ended = streams.get(stream, (b"", False))
        streams[stream] = (before + data, ended or fin)
    mixed: list[Piece] = []
    while streams:
        stream = rng.choice(list(streams))
        data, fin = streams[stream]
        size = rng.randrange(len(data) + 1)
        is_all = size == len(data) and rng.random() < 0.7
        mixed.append((stream, data[:size], fin and is_all))
        if is_all or (size == len(data) and not fin):
            del streams[stream]
        else:
            streams[stream] = (data[size:], fin)
    return mixed


def words(pieces: list[Piece], resets: dict[int, int] | None = None) -> str:
    said = [f"{stream}:{data.hex()}{':fin' if fin else ''}" for stream, data, fin in pieces]
    said += [f"{stream}:reset:{code}" for stream, code in (resets or {}).items()]
    return " ".join(said)


def written(events: list[dict[str, Any]]) -> list[Piece]:
    """What ours says on its streams."""
    out = events[-1]["out"]
    return [(it["write"], bytes.fromhex(it["bytes"]), it["fin"]) for it in out if "write" in it]


def content(rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice([0, 0, 1, 20, 500, 5000]))


def fields(rng: random.Random) -> Headers:
    names = [b"accept", b"cookie", b"x-own", b"x-" + b"y" * 60]
    values = [b"*/*", b"a=b", b"", b"z" * 300, b"Mon, 21 Oct 2013 20:13:21 GMT"]
    return [(rng.choice(names), rng.choice(values)) for _ in range(rng.randrange(4))]


def frame(kind: int, payload: bytes) -> bytes:
    return encode_uint_var(kind) + encode_uint_var(len(payload)) + payload


def say(
    rng: random.Random,
    wire: Wire,
    connection: H3Connection,
    stream: int,
    heads: list[Headers],
    whole: bytes,
    behind: Headers,
) -> Iterator[None]:
    """Sends a message; something else may come between its frames."""
    for head in heads[:-1]:
        connection.send_headers(stream, head)
        yield
    connection.send_headers(stream, heads[-1], end_stream=not whole and not behind)
    while whole:
        yield
        if rng.random() < 0.3:
            grease = 0x1F * rng.randrange(100) + 0x21
            wire.send_stream_data(stream, frame(grease, rng.randbytes(rng.randrange(70))))
        size = rng.randrange(1, len(whole) + 1)
        piece, whole = whole[:size], whole[size:]
        connection.send_data(stream, piece, end_stream=not whole and not behind)
    if behind:
        yield
        connection.send_headers(stream, behind, end_stream=True)


def some_trailers(rng: random.Random) -> Headers:
    return [(b"checksum", b"x")] if rng.random() < 0.2 else []


def together(rng: random.Random, tales: list[Iterator[None]]) -> None:
    while tales:
        tale = rng.choice(tales)
        if next(tale, tales) is tales:
            tales.remove(tale)


def test_our_server_and_the_client_of_aioquic(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    cases, lines = [], []
    for _ in range(CONVERSATIONS):
        wire, client = peer(client=True)
        tales, contents = [], {}
        for place in range(rng.randrange(1, 6)):
            stream, whole = 4 * place, content(rng)
            head = [(b":method", b"POST"), (b":scheme", b"https"), (b":authority", b"h")]
            head += [(b":path", b"/%d" % place), *fields(rng)]
            if rng.random() < 0.5:
                head.append((b"content-length", b"%d" % len(whole)))
            contents[stream] = (head, whole)
            tales.append(say(rng, wire, client, stream, [head], whole, some_trailers(rng)))
        together(rng, tales)
        cases.append((client, contents))
        lines.append("http3-server " + words(cut(rng, wire.said)))
    for (client, contents), events in zip(cases, drive(lines), strict=True):
        begun = {it["request"]: it for it in events if "request" in it}
        ended = {it["end"]: bytes.fromhex(it["content"]) for it in events if "end" in it}
        assert not any("broken" in event or "gone" in event for event in events)
        answers = hear(client, written(events))
        assert client.received_settings == {6: 65536}
        assert set(begun) == set(ended) == set(answers) == set(contents)
        for stream, (head, whole) in contents.items():
            target = bytes.fromhex(begun[stream]["target"])
            assert (target, said(begun[stream]), ended[stream]) == (head[3][1], head[4:], whole)
            own = [(b":status", b"200"), (b"content-type", b"a/b"), (b"x-stream", b"%d" % stream)]
            assert answers[stream] == Message([own], whole, True)


def said(event: dict[str, Any]) -> Headers:
    """The fields of an event; a pseudo-field is none of a message's own."""
    pairs = [(bytes.fromhex(name), bytes.fromhex(value)) for name, value in event["fields"]]
    return [pair for pair in pairs if not pair[0].startswith(b":")]


@dataclass
class Answered:
    """What a server of `aioquic` answers to our client, by the number of each message."""

    replies: dict[int, tuple[int, Headers, bytes, Headers]] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)


def answered(
    rng: random.Random, contents: list[bytes], wire: Wire, server: H3Connection, asked: list[Piece]
) -> Answered:
    messages = hear(server, cut(rng, asked))
    case, tales = Answered(), []
    for number, whole in enumerate(contents):
        came = messages[4 * number]
        assert (came.content, came.is_whole) == (whole, True)
        assert (b":path", b"/%d" % number) in came.headers[0]
        if rng.random() < 0.1:
            code, becomes = rng.choice([(REJECTED, "unprocessed"), (0x102, "reset")])
            wire.reset_stream(4 * number, code)
            case.refused[number] = becomes
            continue
        status, body, own = rng.choice([200, 404, 503]), content(rng), fields(rng)
        if rng.random() < 0.5:
            own.append((b"content-length", b"%d" % len(body)))
        heads = [[(b":status", b"%d" % status), *own]]
        if rng.random() < 0.2:
            heads.insert(0, [(b":status", b"103"), (b"link", b"x")])
        behind = some_trailers(rng)
        case.replies[number] = (status, own, body, behind)
        tales.append(say(rng, wire, server, 4 * number, heads, body, behind))
    together(rng, tales)
    return case


def test_our_client_and_the_server_of_aioquic(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    all_contents = [
        [content(rng) for _ in range(rng.randrange(1, 6))] for _ in range(CONVERSATIONS)
    ]
    requests = [
        ",".join(f"POST:{it.hex()}" if it else "GET" for it in contents)
        for contents in all_contents
    ]
    cases, lines = [], []
    begun = drive([f"http3-client {it}" for it in requests])
    for asked, contents, events in zip(requests, all_contents, begun, strict=True):
        wire, server = peer(client=False)
        cases.append(answered(rng, contents, wire, server, written(events)))
        assert server.received_settings == {6: 65536}
        lines.append(f"http3-client {asked} {words(cut(rng, wire.said), wire.reset)}")
    for case, events in zip(cases, drive(lines), strict=True):
        heads = {it["head"]: said(it) for it in events if "head" in it}
        behind = {it["trailers"]: said(it) for it in events if "trailers" in it}
        told = {}
        for it in events:
            if "reply" in it:
                number = it["reply"]
                whole = bytes.fromhex(it["content"])
                told[number] = (it["status"], heads[number], whole, behind.get(number, []))
        assert told == case.replies
        failed = {it["failed"]: it["class"] for it in events if "failed" in it}
        failed |= {it["unprocessed"]: "unprocessed" for it in events if "unprocessed" in it}
        assert failed == case.refused


@dataclass(frozen=True)
class Wrong:
    """What breaks a rule of the connection, on a stream."""

    name: str
    pieces: list[Piece]


def control(client: bool, *frames: bytes) -> Piece:
    return (2 if client else 3, b"\x00" + frame(SETTINGS, b"") + b"".join(frames), False)


GET = bytes.fromhex("0000d1d7500168c1")
"""The block of a request for `/` from `h`."""
OK = bytes.fromhex("0000d9")
"""The block of a reply with the status 200."""
BY_CLIENT = [
    Wrong("a frame before settings", [(2, b"\x00" + frame(GOAWAY, b"\x00"), False)]),
    Wrong("settings twice", [control(True, frame(SETTINGS, b""))]),
    Wrong("a setting twice", [(2, b"\x00" + frame(SETTINGS, b"\x06\x01\x06\x01"), False)]),
    *(
        Wrong(f"setting {it} of HTTP/2", [(2, b"\x00" + frame(SETTINGS, bytes([it, 0])), False)])
        for it in (0, 2, 3, 4, 5)
    ),
    Wrong("a setting that is neither", [(2, b"\x00" + frame(SETTINGS, b"\x08\x02"), False)]),
    Wrong("half a setting", [(2, b"\x00" + frame(SETTINGS, b"\x06"), False)]),
    Wrong("content on control", [control(True, frame(DATA, b"x"))]),
    Wrong("fields on control", [control(True, frame(HEADERS, GET))]),
    *(
        Wrong(f"frame {it} of HTTP/2 on control", [control(True, frame(it, b""))])
        for it in (2, 6, 8, 9)
    ),
    Wrong("pushes taken back", [control(True, frame(13, b"\x05"), frame(13, b"\x04"))]),
    Wrong("two controls", [control(True), (6, b"\x00", False)]),
    Wrong("two encoders", [(2, b"\x02", False), (6, b"\x02", False)]),
    Wrong("two decoders", [(2, b"\x03", False), (6, b"\x03", False)]),
    Wrong("a client's push", [(2, b"\x01\x00", False)]),
    Wrong("control ends", [(2, b"\x00" + frame(SETTINGS, b""), True)]),
    Wrong("content first", [(0, frame(DATA, b"x"), False)]),
    Wrong("content behind trailers", [(0, frame(1, GET) + frame(1, b"\0\0\x23a-b\0") * 2, False)]),
    Wrong("a client's promise", [(0, frame(PUSH_PROMISE, b"\x00"), False)]),
    *(Wrong(f"frame {it} on a request", [(0, frame(it, b""), False)]) for it in (3, 4, 7, 13)),
    *(Wrong(f"frame {it} of HTTP/2", [(0, frame(it, b""), False)]) for it in (2, 6, 8, 9)),
    Wrong("half a frame", [(0, frame(HEADERS, GET) + b"\x00\x05x", True)]),
    Wrong("half of the fields", [(0, b"\x01\x05\x00", True)]),
    Wrong("an entry that is not", [(0, frame(HEADERS, b"\x00\x00\xff\x24"), False)]),
    Wrong("an acknowledgement", [(2, b"\x03\x80", False)]),
]
BY_SERVER = [
    Wrong("a server's pushes", [control(False, frame(MAX_PUSH_ID, b"\x05"))]),
    Wrong("a farewell first", [(3, b"\x00" + frame(GOAWAY, b"\x00"), False)]),
    Wrong("content on control", [control(False, frame(DATA, b"x"))]),
    Wrong("control ends", [(3, b"\x00" + frame(SETTINGS, b""), True)]),
    Wrong("content first", [(0, frame(DATA, b"x"), False)]),
    Wrong("half a frame", [(0, frame(HEADERS, OK) + b"\x00\x05x", True)]),
    Wrong("a farewell on a reply", [(0, frame(GOAWAY, b"\x00"), False)]),
]


def closed_by_theirs(wrong: Wrong, *, client: bool) -> int | None:
    wire, connection = peer(client=client)
    if client:
        connection.send_headers(0, [(b":method", b"GET")], end_stream=True)
    hear(connection, wrong.pieces)
    return wire.closed


def closed_by_ours(events: list[dict[str, Any]]) -> int | None:
    return next((it["close"] for it in events[-1]["out"] if "close" in it), None)


def test_what_breaks_the_rules_ends_both_with_the_same_code(drive: Drive) -> None:
    lines = [f"http3-server {words(it.pieces)}" for it in BY_CLIENT]
    lines += [f"http3-client GET {words(it.pieces)}" for it in BY_SERVER]
    theirs = [closed_by_theirs(it, client=False) for it in BY_CLIENT]
    theirs += [closed_by_theirs(it, client=True) for it in BY_SERVER]
    ours = [closed_by_ours(events) for events in drive(lines)]
    names = [it.name for it in [*BY_CLIENT, *BY_SERVER]]
    found = {
        name: (mine, other)
        for name, mine, other in zip(names, ours, theirs, strict=True)
        if mine is None or mine != other
    }
    assert found == {}


KNOWN = [
    Known(
        "RFC 9204 3.2.3",
        "aioquic offers a table, and takes what ours refuses",
        b"\x3f\xe1\x1f",
        lambda said: said[:1] == b"\x3f",
    ),
]


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row.reason)
def test_known_differences_are_still_there(drive: Drive, row: Known) -> None:
    wrong = Wrong(row.reason, [(2, b"\x02" + row.example, False)])
    [events] = drive([f"http3-server {words(wrong.pieces)}"])
    assert row.applies(row.example)
    assert closed_by_ours(events) == 0x201
    assert closed_by_theirs(wrong, client=False) is None


def test_a_reset_of_control_ends_both(drive: Drive) -> None:
    wire, connection = peer(client=True)
    hear(connection, [control(False)])
    connection.handle_event(StreamReset(stream_id=3, error_code=0x100))
    [events] = drive([f"http3-client GET {words([control(False)], {3: 0x100})}"])
    assert wire.closed == closed_by_ours(events) == 0x104
