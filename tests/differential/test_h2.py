"""HTTP/2 as ours and `h2` speak it with each other, and as both read what is wrong."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings
import pytest

from tests.differential import draw
from tests.differential.conftest import Drive
from tests.differential.draw import Known

CONVERSATIONS = draw.CASES // 8
# Below every window that nobody has widened.
MOST_CONTENT = 3000
Headers = list[tuple[bytes, bytes]]

END_STREAM, END_HEADERS, PADDED, PRIORITY, ACK = 0x1, 0x4, 0x8, 0x20, 0x1
(DATA, HEADERS, PRIORITIES, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION) = range(10)
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


@dataclass
class Message:
    """One direction of an exchange, as far as it came."""

    headers: Headers = field(default_factory=list)
    content: bytes = b""
    trailers: Headers = field(default_factory=list)
    is_whole: bool = False


def connection(*, client: bool) -> h2.connection.H2Connection:
    config = h2.config.H2Configuration(client_side=client, header_encoding=None)
    made = h2.connection.H2Connection(config=config)
    made.initiate_connection()
    return made


def heard(events: list[Any], messages: dict[int, Message]) -> None:
    """Notes what an `h2` connection reports."""
    for event in events:
        match event:
            case h2.events.RequestReceived() | h2.events.ResponseReceived():
                messages[event.stream_id] = Message(headers=pairs(event.headers))
            case h2.events.DataReceived():
                messages[event.stream_id].content += bytes(event.data)
            case h2.events.TrailersReceived():
                messages[event.stream_id].trailers = pairs(event.headers)
            case h2.events.StreamEnded():
                messages[event.stream_id].is_whole = True


def pairs(headers: Any) -> Headers:
    return [(bytes(name), bytes(value)) for name, value in headers]


def cut(rng: random.Random, data: bytes) -> str:
    """The bytes in a few pieces, as words for the driver."""
    places = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(4)))
    bounds = [0, *places, len(data)]
    pieces = [data[begin:end] for begin, end in itertools.pairwise(bounds)]
    return " ".join(piece.hex() for piece in pieces if piece)


def content(rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice([0, 0, 1, 20, 500, MOST_CONTENT]))


def fields(rng: random.Random) -> Headers:
    names = [b"accept", b"cookie", b"x-own", b"x-" + b"y" * 60]
    values = [b"*/*", b"a=b", b"", b"z" * 300, b"Mon, 21 Oct 2013 20:13:21 GMT"]
    return [(rng.choice(names), rng.choice(values)) for _ in range(rng.randrange(4))]


def say(
    rng: random.Random,
    peer: h2.connection.H2Connection,
    stream: int,
    headers: Headers,
    whole: bytes,
    trailers: Headers,
) -> Iterator[None]:
    """Sends a message; something else may come between its frames."""
    peer.send_headers(stream, headers, end_stream=not whole and not trailers)
    yield
    while whole:
        size = rng.randrange(1, len(whole) + 1)
        piece, whole = whole[:size], whole[size:]
        padding = rng.choice([None, None, 0, 7])
        peer.send_data(stream, piece, end_stream=not whole and not trailers, pad_length=padding)
        yield
    if trailers:
        peer.send_headers(stream, trailers, end_stream=True)


def some_trailers(rng: random.Random) -> Headers:
    return [(b"checksum", b"x")] if rng.random() < 0.2 else []


def together(
    rng: random.Random, peer: h2.connection.H2Connection, tales: list[Iterator[None]]
) -> None:
    """All of them at once, with what a connection says of itself between them."""
    while tales:
        tale = rng.choice(tales)
        if next(tale, tales) is tales:
            tales.remove(tale)
        match rng.randrange(12):
            case 0:
                peer.ping(rng.randbytes(8))
            case 1:
                size = rng.choice([0, 100, 4096, 10_000])
                peer.update_settings({h2.settings.SettingCodes.HEADER_TABLE_SIZE: size})
            case 2:
                peer.increment_flow_control_window(rng.randrange(1, 1000))


@dataclass(frozen=True)
class Asked:
    """What an `h2` client says to our server."""

    client: h2.connection.H2Connection
    said: bytes
    contents: dict[int, tuple[bytes, bytes]]
    """By stream: target and content."""


def asked(rng: random.Random, settled: bytes) -> Asked:
    client = connection(client=True)
    opening = client.data_to_send()
    # h2 takes the first answer to settings for one to all that it has said by then.
    client.receive_data(settled)
    tales, contents = [], {}
    for place in range(rng.randrange(1, 6)):
        stream, whole = 1 + 2 * place, content(rng)
        target = b"/%d" % place
        head = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", target)]
        head += [(b":authority", b"h"), *fields(rng)]
        if rng.random() < 0.5:
            head.append((b"content-length", b"%d" % len(whole)))
        contents[stream] = (target, whole)
        tales.append(say(rng, client, stream, head, whole, some_trailers(rng)))
    # Streams begin in their order; what follows is mixed.
    for tale in tales:
        next(tale)
    together(rng, client, tales)
    return Asked(client, opening + client.data_to_send(), contents)


def test_our_server_and_the_client_of_h2(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    [opening] = drive([f"http2-server {connection(client=True).data_to_send().hex()}"])
    settled = bytes.fromhex(opening[-1]["out"])
    cases = [asked(rng, settled) for _ in range(CONVERSATIONS)]
    reports = drive([f"http2-server {cut(rng, case.said)}" for case in cases])
    for case, events in zip(cases, reports, strict=True):
        begun = {it["request"]: bytes.fromhex(it["target"]) for it in events if "request" in it}
        ended = {it["end"]: bytes.fromhex(it["content"]) for it in events if "end" in it}
        assert {stream: (begun[stream], ended[stream]) for stream in begun} == case.contents
        assert not any("failed" in event or "gone" in event for event in events)
        answers: dict[int, Message] = {}
        out = bytes.fromhex(events[-1]["out"])
        assert out.startswith(settled)
        heard(case.client.receive_data(out.removeprefix(settled)), answers)
        for stream, (_, whole) in case.contents.items():
            own = [(b"content-type", b"a/b"), (b"x-stream", b"%d" % stream)]
            assert answers[stream] == Message([(b":status", b"200"), *own], whole, [], True)


@dataclass(frozen=True)
class Answered:
    """What a server of `h2` says to our client."""

    requests: str
    contents: list[bytes]
    said: bytes
    replies: dict[int, tuple[int, Headers, bytes, Headers]]
    """By the number of the message: status, fields, content, and the fields behind it."""
    refused: dict[int, str]
    """By number: what becomes of a message that the server resets."""


def requested(rng: random.Random) -> tuple[str, list[bytes]]:
    contents = [content(rng) for _ in range(rng.randrange(1, 6))]
    return ",".join(f"POST:{it.hex()}" if it else "GET" for it in contents), contents


def answered(
    rng: random.Random,
    requests: str,
    contents: list[bytes],
    server: h2.connection.H2Connection,
    opening: bytes,
    out: bytes,
) -> Answered:
    messages: dict[int, Message] = {}
    heard(server.receive_data(out), messages)
    replies, refused, tales = {}, {}, []
    for number, whole in enumerate(contents):
        stream = 1 + 2 * number
        came = messages[stream]
        assert (came.content, came.is_whole) == (whole, True)
        assert (b":path", b"/%d" % number) in came.headers
        if rng.random() < 0.1:
            code, becomes = rng.choice([(7, "unprocessed"), (2, "reset"), (8, "reset")])
            server.reset_stream(stream, code)
            refused[number] = becomes
            continue
        status, body, own = rng.choice([200, 404, 503]), content(rng), fields(rng)
        if rng.random() < 0.5:
            own.append((b"content-length", b"%d" % len(body)))
        behind = some_trailers(rng)
        replies[number] = (status, own, body, behind)
        head = [(b":status", b"%d" % status), *own]
        tales.append(say(rng, server, stream, head, body, behind))
    together(rng, server, tales)
    return Answered(requests, contents, opening + server.data_to_send(), replies, refused)


def said(event: dict[str, Any]) -> Headers:
    """The fields of an event; a pseudo-field is none of the reply's."""
    pairs = [(bytes.fromhex(name), bytes.fromhex(value)) for name, value in event["fields"]]
    return [pair for pair in pairs if not pair[0].startswith(b":")]


def test_our_client_and_the_server_of_h2(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    begun = []
    for _ in range(CONVERSATIONS):
        server = connection(client=False)
        begun.append((*requested(rng), server, server.data_to_send()))
    first = drive([f"http2-client {requests} {opening.hex()}" for requests, _, _, opening in begun])
    cases = [
        answered(rng, requests, contents, server, opening, bytes.fromhex(events[-1]["out"]))
        for (requests, contents, server, opening), events in zip(begun, first, strict=True)
    ]
    reports = drive([f"http2-client {case.requests} {cut(rng, case.said)}" for case in cases])
    for case, events in zip(cases, reports, strict=True):
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
        assert not any("broken" in event for event in events)


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    head = len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")
    return head + payload


def frames(said: bytes) -> list[bytes]:
    found = []
    while said:
        length = 9 + int.from_bytes(said[:3], "big")
        found.append(said[:length])
        said = said[length:]
    return found


# Fields from the static table, and one that is not.
GET = b"\x82\x86\x84\x41\x01h"
POST = b"\x83\x86\x84\x41\x01h"
BLOCKS = [GET, GET, GET, POST, POST, GET[:3], b"\x88", GET + b"\x00\x01A\x01b", b"\x80", GET[1:]]
BLOCKS += [POST + b"\x0f\x0d\x012", GET + b"\x00\x02te\x04gzip", GET + b"\x00\x01a\x00\x81"]


def wrong(rng: random.Random) -> list[bytes]:
    """Frames of a client, nearly right."""
    said = []
    next_stream = 1
    opened: list[int] = []
    for _ in range(rng.randrange(1, 7)):
        stream = rng.choice(opened) if opened and rng.random() < 0.9 else rng.randrange(12)
        match rng.randrange(12):
            case 0 | 1 | 2 | 3 | 4:
                end = rng.choice([END_STREAM, END_STREAM, 0])
                id_ = next_stream if rng.random() < 0.9 else stream
                said.append(frame(HEADERS, END_HEADERS | end, id_, rng.choice(BLOCKS)))
                opened.append(id_)
                next_stream = max(next_stream, id_) + 2
            case 5 | 6 | 7:
                end = rng.choice([END_STREAM, 0])
                data = rng.choice([b"", b"ab", b"x" * 30])
                if rng.random() < 0.2:
                    said.append(
                        frame(DATA, PADDED | end, stream, bytes([rng.randrange(40)]) + data)
                    )
                else:
                    said.append(frame(DATA, end, stream, data))
            case 8:
                said.append(frame(RESET, 0, stream, rng.randbytes(rng.choice([4, 4, 4, 3]))))
            case 9:
                more = rng.choice([1, 1000, 0, 2**31 - 1]).to_bytes(4, "big")
                said.append(frame(WINDOW, 0, rng.choice([0, stream]), more))
            case 10:
                entry = rng.choice([2, 3, 4, 5, 0xFF]).to_bytes(2, "big")
                value = rng.choice([0, 1, 100, 16_384, 2**31, 2**32 - 1]).to_bytes(4, "big")
                said.append(frame(SETTINGS, 0, rng.choice([0, 0, 0, 1]), entry + value))
            case 11:
                size = rng.choice([8, 8, 8, 7])
                kind = rng.choice([PING, PING, 77, GOAWAY, CONTINUATION, PUSH])
                said.append(frame(kind, 0, rng.choice([0, 0, 1]), bytes(size)))
    return said


Requests = dict[int, bytes]
# Requests that came whole, with their content; and whether anything was refused.
Outcome = tuple[Requests, bool]


def read_by_ours(events: list[dict[str, Any]]) -> Outcome:
    whole = {it["end"]: bytes.fromhex(it["content"]) for it in events if "end" in it}
    refused = any("failed" in event for event in events)
    out = bytes.fromhex(events[-1]["out"])
    while len(out) >= 9:
        length, kind = int.from_bytes(out[:3], "big"), out[3]
        if kind == RESET and out[9 : 9 + length] != bytes(4):
            refused = True
        out = out[9 + length :]
    return whole, refused


def read_by_theirs(said: list[bytes]) -> Outcome:
    """Frame by frame: what an exception ends, the frames before it have told."""
    server = connection(client=False)
    messages: dict[int, Message] = {}
    refused = False
    try:
        server.receive_data(PREFACE + frame(SETTINGS, 0, 0))
        for one in said:
            server.data_to_send()
            events = server.receive_data(one)
            heard([it for it in events if getattr(it, "stream_id", 0) != 0], messages)
            # A stream that is refused is reset without an exception.
            refused |= server.data_to_send()[3:4] == bytes([RESET])
    except (h2.exceptions.ProtocolError, KeyError):
        refused = True
    return {stream: it.content for stream, it in messages.items() if it.is_whole}, refused


def resets_nothing(said: bytes) -> bool:
    opened = set()
    for one in frames(said):
        kind, stream = one[3], one[5:9]
        if kind == HEADERS:
            opened.add(stream)
        if kind == RESET and len(one) == 13 and stream not in opened:
            return True
    return False


KNOWN = [
    Known(
        "RFC 9113 6.4",
        "a stream that was not opened must not be reset; h2 passes over that",
        frame(HEADERS, END_HEADERS | END_STREAM, 1, GET) + frame(RESET, 0, 7, bytes(4)),
        resets_nothing,
    ),
    Known(
        "RFC 9113 8.1.1",
        "a head that ends the stream has no content, whatever length it tells; h2 takes that",
        frame(HEADERS, END_HEADERS | END_STREAM, 1, POST + b"\x0f\x0d\x012"),
        lambda said: b"\x0f\x0d\x012" in said,
    ),
    Known(
        "RFC 9113 6.9",
        "the window of a stream that is over is no window; our server has answered by then",
        frame(HEADERS, END_HEADERS | END_STREAM, 1, GET)
        + frame(WINDOW, 0, 1, (2**31 - 1).to_bytes(4, "big")),
        lambda said: b"\x08\0\0\0\0" in said and b"\x7f\xff\xff\xff" in said,
    ),
    Known(
        "RFC 9113 6.8",
        "a client that takes its leave wants no streams of ours; it may still ask",
        frame(GOAWAY, 0, 0, bytes(8)) + frame(HEADERS, END_HEADERS | END_STREAM, 1, GET),
        lambda said: b"\x08\x07\0" in said,
    ),
]


def differs(mine: Outcome, theirs: Outcome) -> bool:
    """A stream or the connection may be refused, so what else came of it is free."""
    if mine[1] and theirs[1]:
        return False
    return mine != theirs


def test_what_is_wrong_reads_alike(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    cases = [wrong(rng) for _ in range(draw.CASES)]
    opening = PREFACE + frame(SETTINGS, 0, 0)
    reports = drive([f"http2-server {(opening + b''.join(case)).hex()}" for case in cases])
    found = []
    for said, events in zip(cases, reports, strict=True):
        mine, theirs = read_by_ours(events), read_by_theirs(said)
        whole = b"".join(said)
        if differs(mine, theirs) and not any(row.applies(whole) for row in KNOWN):
            found.append(([it.hex() for it in said], mine, theirs))
    assert found == []


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row.reason)
def test_known_differences_are_still_there(drive: Drive, row: Known) -> None:
    opening = PREFACE + frame(SETTINGS, 0, 0)
    [events] = drive([f"http2-server {(opening + row.example).hex()}"])
    assert row.applies(row.example)
    assert differs(read_by_ours(events), read_by_theirs(frames(row.example)))
