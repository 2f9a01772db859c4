"""The suites' cases: how they are dealt out, what they must say, how that is written down.

Pure but for reading and writing one file; must not know how a case is run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from conformance import written
from conformance.http2.report import ERRORS, FAILED, SKIPPED, Results, Verdict
from conformance.http2.suite import VERSION

Side = Literal["server", "client"]
Way = Literal["tls", "plain"]
Found = dict[Side, dict[Way, Results]]

SIDES: tuple[Side, ...] = get_args(Side)
WAYS: tuple[Way, ...] = get_args(Way)
EXPECTED = Path(__file__).resolve().parent / "expected.json"

# What waits for something that must not come is dealt out, so that it waits side by side.
SERVER_GROUPS: tuple[tuple[str, ...], ...] = (
    ("generic",),
    ("http2/3", "http2/4", "http2/7"),
    ("http2/5",),
    ("http2/6",),
    ("http2/8", "hpack"),
)
# Of this suite a process takes whole chapters alone.
CLIENT_GROUPS: tuple[tuple[str, ...], ...] = (
    ("client/1",),
    ("client/4",),
    ("client/5",),
    *((f"client/6.{part}",) for part in (1, 2, 3, 4, 5, 7, 8, 9, 10)),
)
GROUPS: dict[Side, tuple[tuple[str, ...], ...]] = {"server": SERVER_GROUPS, "client": CLIENT_GROUPS}
"""What runs in one process of a suite, one case after another."""

TITLES: dict[Side, dict[str, str]] = {
    "server": {
        "generic/1": "the preface",
        "generic/2": "streams and their states",
        "generic/3": "each kind of frame",
        "generic/4": "requests and their answers",
        "generic/5": "HPACK",
        "http2/3": "RFC 7540, 3: the preface",
        "http2/4": "RFC 7540, 4: format, size, compression",
        "http2/5": "RFC 7540, 5: streams, errors, extensions",
        "http2/6": "RFC 7540, 6: each kind of frame",
        "http2/7": "RFC 7540, 7: error codes",
        "http2/8": "RFC 7540, 8: fields, malformed requests, push",
        "hpack/2": "RFC 7541, 2: tables",
        "hpack/4": "RFC 7541, 4: sizes of tables",
        "hpack/5": "RFC 7541, 5: numbers and strings",
        "hpack/6": "RFC 7541, 6: the binary format",
    },
    "client": {
        "client/1": "the preface",
        "client/4": "RFC 7540, 4: format, size, compression",
        "client/5": "RFC 7540, 5: streams, errors, extensions",
        "client/6": "RFC 7540, 6: each kind of frame",
    },
}
NAMES: dict[Side, str] = {
    "server": "h2spec: the reference server",
    "client": "h2specd: the engine's client",
}


NOT_CLAIMED: dict[Way, dict[str, Verdict]] = {
    "tls": {},
    "plain": {
        # What does not begin as HTTP/2 is HTTP/1.1 there, and is answered as that: with 400.
        "http2/3.5/2": f"{FAILED}Error: http2: failed reading the frame payload: unexpected EOF, "
        "note that the frame header looked like an HTTP/1.1 header",
    },
}
"""Cases that can't pass, and what comes of each."""


def problems(
    expected: Mapping[str, Verdict],
    found: Mapping[str, Verdict],
    not_claimed: Mapping[str, Verdict] = MappingProxyType({}),
) -> list[str]:
    """What is not as it must be, a line each: not passed, or not as written down."""

    def may_be(case: str, told: Verdict) -> bool:
        return not is_bad(told) or told == not_claimed.get(case)

    return written.problems(expected, found, may_be, order)


def is_bad(told: Verdict) -> bool:
    """Was the case left out, or not passed?"""
    return told == SKIPPED or told.startswith(FAILED)


def read_expected() -> Found:
    """What is written down; nothing where nothing is."""
    return written.read(EXPECTED, SIDES, WAYS)


def write_expected(found: Found) -> None:
    """Writes down what is right from now on: a line for each section of a suite."""
    written.write(EXPECTED, VERSION, found, lambda case: case.rpartition("/")[0], order)


def table(found: Found) -> list[str]:
    """The table of `docs/conformance.md`, in its lines."""
    lines = [
        "| cases | about | number | over TLS | by prior knowledge | told by GOAWAY, RST_STREAM |",
        "|---|---|---|---|---|---|",
    ]
    for side in SIDES:
        lines.append(f"| **{NAMES[side]}** | | | | | |")
        for chapter, title in TITLES[side].items():
            lines.append(_row(chapter, title, _within(found[side], chapter)))
        lines.append(_row("all", "", found[side]))
    return lines


def summary(
    results: Mapping[str, Verdict], not_claimed: Mapping[str, Verdict] = MappingProxyType({})
) -> str:
    """How many cases passed, and what became of the others."""

    def word(case: str, told: Verdict) -> str:
        if not is_bad(told):
            return "passed"
        if told == not_claimed.get(case):
            return "not claimed"
        return "left out" if told == SKIPPED else "failed"

    counted = Counter(word(case, told) for case, told in results.items())
    return ", ".join(f"{count} {what}" for what, count in counted.most_common())


def order(case: str) -> tuple[str, list[int]]:
    """Cases as the suites number them."""
    root, _, numbers = case.partition("/")
    return root, [int(number) for number in re.findall(r"\d+", numbers)]


def _row(name: str, title: str, ways: Mapping[Way, Results]) -> str:
    told = " | ".join(summary(ways[way], NOT_CLAIMED[way]) for way in WAYS)
    errors = sum(verdict in ERRORS for verdict in ways["tls"].values())
    return f"| {name} | {title} | {len(ways['tls'])} | {told} | {errors} |"


def _within(ways: Mapping[Way, Results], chapter: str) -> dict[Way, Results]:
    root, number = chapter.split("/")
    inside = re.compile(rf"{root}/{number}[./]")
    return {
        way: {case: told for case, told in results.items() if inside.match(case)}
        for way, results in ways.items()
    }
