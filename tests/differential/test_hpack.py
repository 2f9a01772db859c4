"""HPACK as ours and `hpack` write and read it: lists of fields, and changes of the table's size."""

from __future__ import annotations

import random
from typing import Any

import hpack
import pytest

from tests.differential import draw
from tests.differential.conftest import Drive
from tests.differential.draw import Known, damaged

Fields = list[tuple[bytes, bytes]]
# What became of each block up to the first that was refused.
Outcome = list[Fields | str]
REFUSED = "refused"
MOST_FIELDS = 65_536
BLOCKS = draw.CASES // 4

NAMES = [
    *(b":method", b":path", b":status", b":authority", b"cookie", b"content-length", b"etag"),
    *(b"x", b"x-own", b"", b"x" * 70),
]
VALUES = [
    *(b"", b"GET", b"/", b"200", b"a=b; c=d", b"4711", b"gzip, deflate", b"\0\xff\x80"),
    *(b"Mon, 21 Oct 2013 20:13:21 GMT", b"x" * 130, b"\xf0\x9f\x8c\x8d", b"y" * 4000),
]
KNOWN = [
    Known(
        "RFC 7541 4.2",
        "the smallest and the last size tell all; hpack takes any number of them",
        b"\x20\x20\x20\x82",
        lambda block: len(block) > 2 and all(0x20 <= byte < 0x40 for byte in block[:3]),
    ),
]


def fields(rng: random.Random) -> Fields:
    return [(rng.choice(NAMES), rng.choice(VALUES)) for _ in range(rng.randrange(6))]


def written(rng: random.Random) -> tuple[str, list[Fields]]:
    """A connection's blocks as `hpack` writes them, as words for the driver; and what they say."""
    allowed = rng.choice([4096, 4096, 0, 100, 16_384])
    encoder = hpack.Encoder()
    words = [f"{allowed}"]
    lists: list[Fields] = []
    encoder.header_table_size = min(allowed, 4096)
    for _ in range(rng.randrange(1, 6)):
        if lists and rng.random() < 0.3:
            # The setting changes, and the encoder keeps to it or to less.
            allowed = rng.choice([0, 60, 100, 4096, 16_384])
            words.append(f"s{allowed}")
            encoder.header_table_size = rng.randrange(allowed + 1)
        said = fields(rng)
        marked = [(name, value, rng.random() < 0.2) for name, value in said]
        block = encoder.encode(marked, huffman=rng.random() < 0.7)
        words.append(f"b{block.hex()}")
        lists.append(said)
    return " ".join(words), lists


def read_by_ours(events: list[dict[str, Any]]) -> Outcome:
    def list_of(event: dict[str, Any]) -> Fields | str:
        if "failed" in event:
            return REFUSED
        return [(bytes.fromhex(name), bytes.fromhex(value)) for name, value in event["fields"]]

    return [list_of(event) for event in events]


def read_by_theirs(blocks: list[bytes]) -> Outcome:
    decoder = hpack.Decoder(max_header_list_size=MOST_FIELDS)
    seen: Outcome = []
    for block in blocks:
        try:
            seen.append(
                [(bytes(name), bytes(value)) for name, value in decoder.decode(block, raw=True)]
            )
        except hpack.HPACKError:
            return [*seen, REFUSED]
    return seen


def test_what_hpack_writes_is_read(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    cases = [written(rng) for _ in range(BLOCKS)]
    reports = drive([f"hpack-decoder {words}" for words, _ in cases])
    for (words, said), events in zip(cases, reports, strict=True):
        assert read_by_ours(events) == said, words


def test_what_ours_writes_is_read_by_hpack(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    cases = []
    for _ in range(BLOCKS):
        size = rng.choice([None, 0, 100, 4096])
        cases.append((size, [(*field, rng.random() < 0.3) for field in fields(rng)]))
    lines = []
    for size, said in cases:
        words = [] if size is None else [f"s{size}"]
        words += [
            f"{name.hex()}:{value.hex()}:{'never' if secret else 'plain'}"
            for name, value, secret in said
        ]
        lines.append(" ".join(["hpack-encoder", *words]))
    for (size, said), [report] in zip(cases, drive(lines), strict=True):
        decoder = hpack.Decoder()
        read = decoder.decode(bytes.fromhex(report["block"]), raw=True)
        assert [tuple(field) for field in read] == [(name, value) for name, value, _ in said]
        for field, (name, value, secret) in zip(read, said, strict=True):
            assert not (secret and field.indexable), (name, value)
        assert decoder.header_table_size == (4096 if size is None else size)
        # Nothing of it is in the table: the same bytes are right on any connection, at any time.
        again = hpack.Decoder().decode(bytes.fromhex(report["block"]), raw=True)
        assert again == read


def test_damaged_blocks_read_alike(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    cases = []
    for _ in range(draw.CASES):
        encoder = hpack.Encoder()
        blocks = [encoder.encode(fields(rng), huffman=rng.random() < 0.5) for _ in range(3)]
        cases.append([damaged(rng, block) if rng.random() < 0.5 else block for block in blocks])
    lines = [" ".join(["hpack-decoder 4096", *(f"b{it.hex()}" for it in case)]) for case in cases]
    found = []
    for blocks, events in zip(cases, drive(lines), strict=True):
        mine, theirs = read_by_ours(events), read_by_theirs(blocks)
        if mine != theirs and not any(row.applies(it) for row in KNOWN for it in blocks):
            found.append((blocks, mine, theirs))
    assert found == []


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row.reason)
def test_known_differences_are_still_there(drive: Drive, row: Known) -> None:
    [events] = drive([f"hpack-decoder 4096 b{row.example.hex()}"])
    assert row.applies(row.example)
    assert read_by_ours(events) != read_by_theirs([row.example])
