"""QPACK with a dynamic table and without, as ours and `pylsqpack` (ls-qpack) write and read it."""

from __future__ import annotations

import random

import pylsqpack
import pytest

from tests.differential import draw
from tests.differential.conftest import Drive
from tests.differential.draw import Known, damaged
from tests.differential.test_hpack import REFUSED, Fields, Outcome, read_by_ours

BLOCKS = draw.CASES // 4
NAMES = [
    *(b":method", b":path", b":status", b":authority", b"cookie", b"content-length", b"etag"),
    *(b"x", b"x-own", b"vary", b"x-frame-options", b"x" * 70),
]
VALUES = [
    *(b"", b"GET", b"/", b"200", b"a=b; c=d", b"4711", b"sameorigin", b"\xff\x80", b"origin"),
    *(b"Mon, 21 Oct 2013 20:13:21 GMT", b"x" * 130, b"\xf0\x9f\x8c\x8d", b"y" * 4000),
]
KNOWN = [
    Known(
        "RFC 9204 4.5.1",
        "a block may have no field; ls-qpack refuses it",
        b"\x00\x00",
        lambda block: len(block) == 2 and block[0] == 0 and block[1] < 0x7F,
    ),
    Known(
        "RFC 9204 4.5.1.2",
        "a base before the first entry is invalid; ls-qpack takes it",
        b"\x00\x80\xd1",
        lambda block: len(block) > 1 and block[0] == 0 and block[1] >= 0x80,
    ),
]


def fields(rng: random.Random) -> Fields:
    return [(rng.choice(NAMES), rng.choice(VALUES)) for _ in range(rng.randrange(1, 6))]


def written_by_theirs(said: Fields) -> bytes:
    _instructions, block = pylsqpack.Encoder().encode(0, said)
    return bytes(block)


def read_by_theirs(block: bytes) -> Fields | str:
    try:
        _instructions, read = pylsqpack.Decoder(0, 0).feed_header(0, block)
    except (pylsqpack.DecompressionFailed, pylsqpack.StreamBlocked):
        return REFUSED
    return [(bytes(name), bytes(value)) for name, value in read]


def test_the_static_tables_are_one(drive: Drive) -> None:
    # An entry is one byte or two: those in front of it are the same in both.
    blocks = [bytes([0, 0, 0xC0 | index]) for index in range(63)]
    blocks += [bytes([0, 0, 0xFF, index - 63]) for index in range(63, 100)]
    [events] = drive(["qpack-decoder " + " ".join(block.hex() for block in blocks)])
    ours = read_by_ours(events)
    assert ours == [read_by_theirs(block) for block in blocks]
    assert (len(ours), ours[99]) == (100, REFUSED)


def test_what_pylsqpack_writes_is_read(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    lists = [fields(rng) for _ in range(BLOCKS)]
    lines = [f"qpack-decoder {written_by_theirs(said).hex()}" for said in lists]
    for said, events in zip(lists, drive(lines), strict=True):
        assert read_by_ours(events) == [said]


def test_what_ours_writes_is_read_by_pylsqpack(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    lists = [fields(rng) for _ in range(BLOCKS)]
    lines = []
    for said in lists:
        words = [
            f"{name.hex()}:{value.hex()}:{'never' if rng.random() < 0.3 else 'plain'}"
            for name, value in said
        ]
        lines.append(" ".join(["qpack-encoder", *words]))
    for said, [report] in zip(lists, drive(lines), strict=True):
        assert read_by_theirs(bytes.fromhex(report["block"])) == said


def test_blocks_that_refer_to_a_table_are_read_alike(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    lines, wanted, encoders = [], [], []
    for _ in range(BLOCKS // 20):
        capacity = rng.choice([64, 100, 300, 4096])
        encoder, decoder = pylsqpack.Encoder(), pylsqpack.Decoder(capacity, 0)
        said = encoder.apply_settings(max_table_capacity=capacity, blocked_streams=0)
        words, lists = [], [fields(rng) for _ in range(20)]
        for stream, one in enumerate(lists):
            instructions, block = encoder.encode(4 * stream, one)
            decoder.feed_encoder(said + instructions)
            words.append(f"{4 * stream}:{(said + instructions).hex()}:{block.hex()}")
            said = b""
            # What a decoder says of it: that it has the entries, and has read the block.
            answer, _ = decoder.feed_header(4 * stream, block)
            if answer:
                encoder.feed_decoder(answer)
        lines.append(" ".join(["qpack-table", str(capacity), *words]))
        wanted.append(lists)
        encoders.append(encoder)
    referring = 0
    for lists, events in zip(wanted, drive(lines), strict=True):
        assert read_by_ours(events[:-1]) == lists
        referring += "said" in events[-1] and bool(events[-1]["said"])
    assert referring > len(lines) // 2


@pytest.mark.parametrize("acknowledged", [False, True])
def test_what_ours_keeps_with_a_server_is_read_by_pylsqpack(
    drive: Drive, *, acknowledged: bool
) -> None:
    settings = bytes([0, 4, 3, 1, 0x50, 0x00])  # a table of 4,096 bytes
    pieces = f"3:{settings.hex()}" + (" 7:0304" if acknowledged else "")
    [events] = drive([f"http3-keeping {pieces}"])
    said: dict[int, bytes] = {}
    for one in events[-1]["out"]:
        said[one["write"]] = said.get(one["write"], b"") + bytes.fromhex(one["bytes"])
    decoder = pylsqpack.Decoder(4096, 0)
    assert (said[6], said[10][:1]) == (b"\x03", b"\x02")
    decoder.feed_encoder(said[10][1:])
    # Each is one frame of fields, whose length is one byte or two.
    blocks = [said[stream][2 if said[stream][1] < 0x40 else 3 :] for stream in (0, 4)]
    lists = [decoder.feed_header(4 * place, block)[1] for place, block in enumerate(blocks)]
    assert lists[0] == lists[1]
    assert (b"cookie", b"theme=dark") in lists[1]
    assert (len(blocks[1]) < len(blocks[0]) - 20) == acknowledged


def test_damaged_blocks_read_alike(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    drawn = (damaged(rng, written_by_theirs(fields(rng))) for _ in range(draw.CASES))
    blocks = [block for block in drawn if block]
    found: list[tuple[bytes, Outcome, Outcome]] = []
    lines = [f"qpack-decoder {block.hex()}" for block in blocks]
    for block, events in zip(blocks, drive(lines), strict=True):
        ours, theirs = read_by_ours(events), [read_by_theirs(block)]
        if ours != theirs and not any(row.applies(block) for row in KNOWN):
            found.append((block, ours, theirs))
    assert found == []


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row.reason)
def test_known_differences_are_still_there(drive: Drive, row: Known) -> None:
    [events] = drive([f"qpack-decoder {row.example.hex()}"])
    assert row.applies(row.example)
    assert read_by_ours(events) != [read_by_theirs(row.example)]
