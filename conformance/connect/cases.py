"""The suite's cases: what they must say, how that is written down, the table of it.

Pure but for reading and writing one file; must not know how a case is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from conformance import written
from conformance.connect.report import PASSED, WAYS, Results, Verdict, Way
from conformance.connect.suite import VERSION, Side

Found = dict[Side, Results]

SIDES: tuple[Side, ...] = get_args(Side)
EXPECTED = Path(__file__).resolve().parent / "expected.json"
NAMES: dict[Side, str] = {"server": "the reference server", "client": "the engine's client"}

NOT_CLAIMED: dict[Side, dict[str, Verdict]] = {"server": {}, "client": {}}
"""Cases that can't pass, and what comes of each."""

TITLES = {
    "Basic": "each kind of call, metadata in both directions, a method that there is not",
    "Client Cancellation": "calls that are taken back",
    "Deadline Propagation": "the deadline as the server is told it",
    "Duplicate Metadata": "several values of a name, text and bytes",
    "Errors": "each status, with its text and its details, before and behind messages",
    "HTTP to RPC Code Mapping": "replies of HTTP that are none of gRPC",
    "Server Empty Requests": "messages of no bytes",
    "Server Message Size": "messages up to a limit, and beyond it",
    "Timeouts": "deadlines that pass",
    "Unexpected Requests": "another type of content",
    "Unexpected Responses": "statuses of HTTP that nobody knows",
    "gRPC Empty Responses": "replies without content",
    "gRPC Proto Sub-Format Requests": "the type of content, with and without `+proto`",
    "gRPC Proto Sub-Format Responses": "the type of content, with and without `+proto`",
    "gRPC Trailers": "trailers behind the content, and all in one with the head",
    "gRPC Unexpected Requests": "too few and too many messages, broken, compressed; other methods",
    "gRPC Unexpected Responses": "messages broken, compressed, too few or too many; no status",
}


def problems(
    side: Side, expected: Mapping[str, Verdict], found: Mapping[str, Verdict]
) -> list[str]:
    """What is not as it must be in one way, a line each: not passed, or not as written down."""

    def may_be(case: str, told: Verdict) -> bool:
        return told in (PASSED, NOT_CLAIMED[side].get(case))

    return written.problems(expected, found, may_be)


def read_expected() -> Found:
    """What is written down; nothing where nothing is."""
    return written.read(EXPECTED, SIDES, WAYS)


def write_expected(found: Found) -> None:
    """Writes down what is right from now on: a line for each of the suite's parts."""
    written.write(EXPECTED, VERSION, found, lambda case: case.partition("/")[0])


def table(found: Found) -> list[str]:
    """The table of `docs/conformance.md`, in its lines."""
    lines = [
        "| cases | about | number | over TLS | by prior knowledge | the same, with grpc-go |",
        "|---|---|---|---|---|---|",
    ]
    for side in SIDES:
        lines.append(f"| **{NAMES[side]}** | | | | | |")
        for suite, title in TITLES.items():
            inside = {way: _within(found[side][way], suite) for way in WAYS}
            if inside["plain"]:
                lines.append(_row(side, suite, title, inside))
        lines.append(_row(side, "all", "", found[side]))
    return lines


def summary(side: Side, results: Mapping[str, Verdict]) -> str:
    """How many cases passed, and what became of the others."""

    def word(case: str, told: Verdict) -> str:
        if told == PASSED:
            return PASSED
        return "not claimed" if told == NOT_CLAIMED[side].get(case) else "failed"

    counted = Counter(word(case, told) for case, told in results.items())
    return ", ".join(f"{count} {what}" for what, count in counted.most_common())


def _row(side: Side, name: str, title: str, ways: Mapping[Way, Mapping[str, Verdict]]) -> str:
    told = " | ".join(summary(side, ways[way]) for way in WAYS)
    return f"| {name} | {title} | {len(ways['plain'])} | {told} |"


def _within(results: Mapping[str, Verdict], suite: str) -> dict[str, Verdict]:
    return {case: told for case, told in results.items() if case.startswith(f"{suite}/")}
