"""Requests whose fields stay in the server's table, as `hpack` reads them.

Fields are the same in each request, new in some, or new in all: the header profiles of a load.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import hpack
import pytest
from hpack.struct import NeverIndexedHeaderTuple
from hyperframe.frame import Frame, HeadersFrame

from tests.differential import draw
from tests.differential.conftest import Drive

CASES = draw.CASES // 20
NEW = {"constant": 0, "partly": 2, "unique": 10}
"""How many of the ten fields are new in each request, by profile."""
FRAME_HEAD = 9
USUAL_TABLE = 4096
"""What a server's table holds unless it says less, bytes."""

NAMES = [
    *("user-agent", "accept", "accept-language", "cookie", "authorization", "baggage"),
    *("x-request-id", "sec-ch-ua", "if-none-match", "x-own", "x", "x-" + "long-" * 20),
]
TEXTS = ["", "a", "gzip", "*/*;q=0.8", "theme=dark; lang=en", "x" * 130, "y" * 900, "{|}~^<>"]
BEGIN = [(":method", "GET"), (":scheme", "http"), (":authority", "h"), (":path", "/message")]


@dataclass(frozen=True)
class Case:
    """A connection's requests: the pieces of each field's value, None for what is new each time."""

    table: int
    fields: list[tuple[str, list[str | None]]]
    values: list[list[str]] = field(default_factory=list)

    def words(self) -> str:
        """The line for the driver."""

        def word(name: str, pieces: list[str | None]) -> str:
            told = ["*" if piece is None else piece.encode().hex() for piece in pieces]
            return f"{name.encode().hex()}:{'+'.join(told)}"

        fields = [word(name, pieces) for name, pieces in self.fields]
        requests = ["=" + ",".join(one.encode().hex() for one in laid) for laid in self.values]
        return " ".join(["http2-keeping", str(self.table), *fields, *requests])

    def said(self) -> list[list[tuple[str, str]]]:
        """The fields of each request."""
        lists = []
        for laid in self.values:
            values = iter(laid)
            lists.append(
                BEGIN
                + [
                    (name, "".join(next(values) if one is None else one for one in pieces))
                    for name, pieces in self.fields
                ]
            )
        return lists


def drawn(rng: random.Random, profile: str, table: int) -> Case:
    names = rng.sample(NAMES, 10)
    new = set(rng.sample(names, NEW[profile]))
    made = Case(table, [])
    for name in names:
        text = rng.choice(TEXTS)
        pieces: list[str | None] = [text]
        if name in new:
            pieces = rng.choice([[None], [text, None], [None, text], [text, None, "-", None]])
        made.fields.append((name, pieces))
    holes = sum(pieces.count(None) for _, pieces in made.fields)
    for number in range(rng.randrange(1, 6)):
        digits = f"{number:016x}"
        made.values.append([digits[-rng.randrange(1, 17) :] for _ in range(holes)])
    return made


def blocks(out: bytes) -> list[bytes]:
    """The block of each request."""
    found = []
    while out:
        frame, length = Frame.parse_frame_header(memoryview(out[:FRAME_HEAD]))
        assert isinstance(frame, HeadersFrame)
        assert {"END_HEADERS", "END_STREAM"} <= set(frame.flags)
        found.append(out[FRAME_HEAD : FRAME_HEAD + length])
        out = out[FRAME_HEAD + length :]
    return found


@pytest.mark.parametrize("profile", NEW)
@pytest.mark.parametrize("table", [USUAL_TABLE, 65_536, 4095, 100, 0])
def test_what_stays_with_a_server_is_read_by_hpack(drive: Drive, profile: str, table: int) -> None:
    rng = random.Random(f"{draw.SEED} {profile} {table}")
    cases = [drawn(rng, profile, table) for _ in range(CASES)]
    for case, [report] in zip(cases, drive([case.words() for case in cases]), strict=True):
        decoder = hpack.Decoder()
        # As the server's settings say: less must be acknowledged in the first block.
        decoder.max_allowed_table_size = table
        entries = set()
        sent = blocks(bytes.fromhex(report["out"]))
        for block, said in zip(sent, case.said(), strict=True):
            read = decoder.decode(block, raw=True)
            assert [(str(name, "ascii"), str(value, "ascii")) for name, value in read] == said
            entries.add(len(decoder.header_table.dynamic_entries))
            never = {bytes(one[0]) for one in read if isinstance(one, NeverIndexedHeaderTuple)}
            assert never <= {b"authorization", b"cookie"}
            assert b"authorization" in never or "authorization" not in dict(case.fields)
        assert len(entries) == 1, "the first request fills the table, and no other changes it"
        assert (entries != {0}) == (table >= USUAL_TABLE), "the server's name at least is kept"
        if table >= USUAL_TABLE and profile == "constant":
            assert len({*sent[1:]}) <= 1, "each later one is the same bytes"
            assert all(len(later) < len(sent[0]) for later in sent[1:])
