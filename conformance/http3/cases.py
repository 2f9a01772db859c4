"""The suite's cases: what they must say, how that is written down.

Pure but for reading and writing one file; must not know how a case is run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from conformance import written
from conformance.http3.report import FAILED, SKIPPED, Results, Verdict
from conformance.http3.suite import VERSION

Side = Literal["server"]
Way = Literal["quic"]
Found = dict[Side, dict[Way, Results]]

SIDES: tuple[Side, ...] = get_args(Side)
WAYS: tuple[Way, ...] = get_args(Way)
EXPECTED = Path(__file__).resolve().parent / "expected.json"
NAME = "h3spec: the reference server"

TITLES = {
    "Transport": "RFC 9000: transport parameters, packets and frames of QUIC",
    "TLS": "RFC 9001: TLS in QUIC",
    "HTTP/3": "RFC 9114: frames and fields of HTTP/3",
    "QPACK": "RFC 9204: compressed fields",
}

NOT_CLAIMED: dict[str, tuple[Verdict, str]] = {}
"""Cases that can't pass: what comes of each, and why."""


def problems(expected: Mapping[str, Verdict], found: Mapping[str, Verdict]) -> list[str]:
    """What is not as it must be, a line each: not passed, or not as written down."""
    return written.problems(expected, found, _may_be, order)


def read_expected() -> Found:
    """What is written down; nothing where nothing is."""
    return written.read(EXPECTED, SIDES, WAYS)


def write_expected(found: Found) -> None:
    """Writes down what is right from now on: a line for each section."""
    written.write(EXPECTED, VERSION, found, lambda case: case.partition(":")[0], order)


def table(found: Found) -> list[str]:
    """The table of `docs/conformance.md`, in its lines."""
    results = found["server"]["quic"]
    lines = ["| cases | about | number | over QUIC |", "|---|---|---|---|"]
    for part, title in TITLES.items():
        within = {case: told for case, told in results.items() if case.startswith(f"{part} ")}
        lines.append(f"| {part} | {title} | {len(within)} | {summary(within)} |")
    lines.append(f"| all | | {len(results)} | {summary(results)} |")
    return lines


def summary(results: Mapping[str, Verdict]) -> str:
    """How many cases passed, and what became of the others."""
    counted = Counter(_word(case, told) for case, told in results.items())
    return ", ".join(f"{count} {what}" for what, count in counted.most_common())


def order(case: str) -> tuple[int, list[int], str]:
    """Cases by part, section and words."""
    part, _, rest = case.partition(" ")
    section, _, words = rest.partition(":")
    place = list(TITLES).index(part) if part in TITLES else len(TITLES)
    return place, [int(number) for number in re.findall(r"\d+", section)], words


def _may_be(case: str, told: Verdict) -> bool:
    return not _is_bad(told) or told == NOT_CLAIMED.get(case, ("", ""))[0]


def _is_bad(told: Verdict) -> bool:
    return told == SKIPPED or told.startswith(FAILED)


def _word(case: str, told: Verdict) -> str:
    if not _is_bad(told):
        return "passed"
    if _may_be(case, told):
        return "not claimed"
    return "left out" if told == SKIPPED else "failed"
