"""Summaries of the two pages whose rows name their tests: HTTP/1.1 by section, faults by row.

Reads the pages; must not know what the tests do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance import document
from conformance.connect import cases as connect_cases
from conformance.http2 import cases
from conformance.http3 import cases as http3_cases

HTTP_PAGE = document.PAGE.with_name("conformance-http.md")
FAULTS_PAGE = document.PAGE.with_name("faults.md")

SECTIONS = {
    "9112": {
        "2": "messages",
        "3": "request line",
        "4": "status line",
        "5": "field syntax",
        "6": "message body",
        "7": "transfer codings",
        "8": "incomplete messages",
        "9": "connections",
    },
    "9110": {
        "2": "conformance",
        "4": "identifiers",
        "5": "fields",
        "6": "message abstraction",
        "7": "routing",
        "8": "representations",
        "9": "methods",
        "10": "message context",
        "11": "authentication",
        "12": "content negotiation",
        "13": "conditional requests",
        "14": "ranges",
        "15": "status codes",
        "16": "extensions",
    },
}
OTHERS = "the rest"
PROTOCOLS = ("HTTP/1.1", "HTTP/2", "WebSocket", "byte stream")
_TEST = re.compile(r"`(\w+_\w+_\w+)`")


@dataclass
class _Section:
    sentences: int = 0
    held: int = 0
    tests: set[str] = field(default_factory=set)


def write() -> None:
    """Puts the summaries, and what is written down of HTTP/2 and gRPC, into the page."""
    document.write("http", http())
    document.write("faults", faults())
    document.write("http2", cases.table(cases.read_expected()))
    document.write("http3", http3_cases.table(http3_cases.read_expected()))
    document.write("connect", connect_cases.table(connect_cases.read_expected()))


def http() -> list[str]:
    """A row per chapter of both RFCs: its MUSTs, and how many of them a test holds."""
    lines = [
        "| RFC, section | about | MUST, MUST NOT | a test holds | bind others | tests |",
        "|---|---|---|---|---|---|",
    ]
    for rfc, titles in SECTIONS.items():
        found: dict[str, _Section] = {}
        for section, sentences, verdict in _sentences(rfc):
            chapter = section.partition(".")[0]
            row = found.setdefault(chapter if chapter in titles else OTHERS, _Section())
            tests = set(_TEST.findall(verdict))
            row.sentences += sentences
            row.held += sentences if tests else 0
            row.tests |= tests
        for chapter in [*titles, OTHERS]:
            if chapter not in found:
                continue
            row = found[chapter]
            name = f"{rfc}, {chapter}" if chapter != OTHERS else f"{rfc}, {OTHERS}"
            lines.append(
                f"| {name} | {titles.get(chapter, '')} | {row.sentences} | {row.held} |"
                f" {row.sentences - row.held} | {len(row.tests)} |"
            )
    return lines


def faults() -> list[str]:
    """A row per fault: what it is counted as, and how many tests show it, by protocol."""
    lines = [
        f"| fault | counted as, or exit code | {' | '.join([*PROTOCOLS, 'any'])} |",
        "|---" * (3 + len(PROTOCOLS)) + "|",
    ]
    text = FAULTS_PAGE.read_text(encoding="utf-8")
    for chapter in text.split("\n## ")[1:]:
        rows = [_cells(line) for line in chapter.splitlines() if line.startswith("| ")]
        if not rows:
            continue
        lines.append(f"| **{chapter.splitlines()[0]}** | |{' |' * (1 + len(PROTOCOLS))}")
        titles, *rows = rows
        # Before the load there is nothing to count: what happens is said instead.
        middle = 2 if titles[2] in ("class", "exit code") else 1
        for cells in rows:
            tests: dict[str, int] = {}
            for title, cell in zip(titles[middle + 1 :], cells[middle + 1 :], strict=True):
                for protocol in ["any"] if title == "tests" else title.split(", "):
                    tests[protocol] = len(set(_TEST.findall(cell)))
            if not any(tests.values()):
                told = ["", "", "", "", "the lints"]
            else:
                told = [str(tests.get(name) or "") for name in [*PROTOCOLS, "any"]]
            lines.append(f"| {cells[0]} | {cells[middle]} | {' | '.join(told)} |")
    return lines


def _sentences(rfc: str) -> Iterator[tuple[str, int, str]]:
    """Section, number of sentences, the test or the reason; of one RFC's table."""
    chapter = HTTP_PAGE.read_text(encoding="utf-8").split(f"## RFC {rfc}")[1].split("\n## ")[0]
    for line in chapter.splitlines():
        cells = _cells(line)
        if len(cells) == 5 and re.match(r"\d", cells[0]):
            first, _, last = cells[1].partition("-")
            yield cells[0], int(last or first) - int(first) + 1, cells[4]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]
