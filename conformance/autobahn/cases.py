"""The suite's cases: how they are dealt out, what they must say, how that is written down.

Pure but for reading and writing one file; must not know how a case is run.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from conformance.autobahn.suite import VERSION

Side = Literal["server", "client"]
Verdict = tuple[str, str]
"""How the tested side behaved in a case, and how it closed."""
Results = dict[str, Verdict]

SIDES: tuple[Side, ...] = get_args(Side)
ALLOWED = {"OK", "NON-STRICT", "INFORMATIONAL"}
EXPECTED = Path(__file__).resolve().parent / "expected.json"

# The longest first, so that none of them is left to run alone at the end.
GROUPS: tuple[tuple[str, ...], ...] = (
    *((f"12.{part}.*",) for part in range(1, 6)),
    *((f"13.{part}.*",) for part in range(1, 8)),
    ("9.1.*", "9.2.*", "9.7.*", "9.8.*"),
    ("9.3.*", "9.4.*"),
    ("9.5.*", "9.6.*"),
    ("6.*",),
    ("1.*", "2.*", "3.*", "4.*", "5.*", "7.*", "10.*"),
)
"""What runs in one process of the suite, one case after another."""

TITLES = {
    "1": "framing: text and binary of every length form",
    "2": "pings and pongs",
    "3": "reserved bits",
    "4": "reserved opcodes",
    "5": "fragmentation",
    "6": "UTF-8, whole and cut anywhere",
    "7": "close: codes, reasons, what comes behind it",
    "9": "large messages, small pieces, many messages",
    "10": "one message that goes out in pieces",
    "12": "compression: payloads of five kinds, up to 128 KiB",
    "13": "compression: window bits and context takeover, offered and asked for",
}


def problems(expected: Mapping[str, Verdict], found: Mapping[str, Verdict]) -> list[str]:
    """What is not as it must be, a line each: worse than allowed, or not as written down."""
    lines = []
    for case in sorted(expected.keys() | found.keys(), key=_order):
        told, written = found.get(case), expected.get(case)
        if told is None:
            lines.append(f"{case}: did not run")
        elif not set(told) <= ALLOWED:
            lines.append(f"{case}: {_say(told)}")
        elif told != written:
            before = f"expected {_say(written)}" if written else "a case not written down"
            lines.append(f"{case}: {_say(told)}, {before}")
    return lines


def read_expected() -> dict[Side, Results]:
    """What is written down; nothing where nothing is."""
    if not EXPECTED.is_file():
        return {side: {} for side in SIDES}
    document = json.loads(EXPECTED.read_text(encoding="utf-8"))
    return {
        side: {case: (verdict[0], verdict[1]) for case, verdict in document[side].items()}
        for side in SIDES
    }


def write_expected(results: Mapping[Side, Results]) -> None:
    """Writes down what is right from now on: a line for each group of cases."""
    sides = []
    for side in SIDES:
        groups: dict[str, list[str]] = {}
        for case in sorted(results[side], key=_order):
            entry = f"{json.dumps(case)}: {json.dumps(results[side][case])}"
            groups.setdefault(case.rpartition(".")[0], []).append(entry)
        rows = ",\n    ".join(", ".join(entries) for entries in groups.values())
        sides.append(f'  "{side}": {{\n    {rows}\n  }}')
    text = f'{{\n  "suite": "{VERSION}",\n' + ",\n".join(sides) + "\n}\n"
    EXPECTED.write_text(text, encoding="utf-8")


def table(results: Mapping[Side, Results]) -> list[str]:
    """The table of `docs/conformance.md`, in its lines."""
    lines = [
        "| cases | about | number | reference server | engine's client |",
        "|---|---|---|---|---|",
    ]
    for group, title in TITLES.items():
        tallies = [
            {case: verdict for case, verdict in results[side].items() if _group(case) == group}
            for side in SIDES
        ]
        told = " | ".join(summary(tally) for tally in tallies)
        lines.append(f"| {group}.* | {title} | {len(tallies[0])} | {told} |")
    totals = " | ".join(summary(results[side]) for side in SIDES)
    lines.append(f"| all | | {len(results[SIDES[0]])} | {totals} |")
    return lines


def summary(results: Mapping[str, Verdict]) -> str:
    """How often each verdict was given, the most frequent first."""
    counted = Counter(_say(verdict) for verdict in results.values())
    return ", ".join(f"{count} {verdict}" for verdict, count in counted.most_common())


def _say(verdict: Verdict) -> str:
    behaviour, close = verdict
    return behaviour if behaviour == close else f"{behaviour}, closing {close}"


def _group(case: str) -> str:
    return case.partition(".")[0]


def _order(case: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", case)]
