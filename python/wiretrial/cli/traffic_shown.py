"""Entries that were sent once, as a person reads them: what went, what came, what was wrong.

Knows lines and columns; must not know who sent them. What came from a server is shown without signs
that a terminal would obey.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import groupby

from rich.console import Console
from rich.text import Text

from wiretrial import redaction
from wiretrial.exchange import Exchange
from wiretrial.plan_grpc import STATUSES
from wiretrial.redaction import Secrets
from wiretrial.report import terminal, units
from wiretrial.traffic import asked
from wiretrial.traffic.asked import Check, Entry

LEAST_LINES, MOST_LINES = 8, 30
"""Lines of a body: of a right reply, and of a wrong one."""
OK, FAILED, OPEN = "ok", "FAIL", "-"
_STYLES = {OK: "green", FAILED: "bold red", OPEN: "dim"}
_MARK = 6
_DONE = {"OPEN": ("opened",), "SEND": ("came",), "AWAIT": ("came",), "CLOSE": ("closed",)}
"""What a step of a conversation has come to, where nothing was wrong."""
_UNTOLD = {"host", "content-length"}
"""Header fields that say nothing about a request that its other lines do not."""
_SAYS_ALL = ("status ", " == ")
"""Of a check that reads so and holds, what came is no news; nor is a body that stands above."""


def render(
    heading: str, entries: Sequence[Entry], hidden: Secrets, *, width: int, colour: bool
) -> str:
    """All entries, and at the end which failed and why."""

    def write(console: Console) -> None:
        console.print(Text(heading, style="bold"))
        lines = _Lines(console, hidden)
        for flow, group in groupby(entries, key=lambda entry: entry.flow):
            console.print()
            console.print(Text(flow))
            for number, entry in enumerate(group):
                if number:
                    console.print()
                lines.entry(entry)
        console.print()
        lines.end(entries)

    return terminal.rendered(write, width=width, colour=colour)


@dataclass(frozen=True)
class _Lines:
    console: Console
    hidden: Secrets

    def entry(self, entry: Entry) -> None:
        where = f"  ({entry.place.file.name}:{entry.place.line})" if entry.place else ""
        times = f", {entry.times:,} times" if entry.times > 1 else ""
        exchange = entry.exchange
        rest = "" if exchange else ": not sent, since an entry before it failed"
        title = f"{entry.number}. {entry.name}{where}{times}{rest}"
        self.marked(OPEN if exchange is None else _mark(entry.is_right), title, 0)
        if exchange is None:
            return
        self.request(exchange)
        self.reply(exchange, LEAST_LINES if entry.is_right else MOST_LINES)
        for check in entry.checks:
            self.check(check)
        if entry.is_unchecked:
            self.line("no response part: what is right is learned before a load")
        told = any(check.verdict and not check.verdict.holds for check in entry.checks)
        if exchange.fault and not told:
            self.marked(FAILED, f"{exchange.outcome}: {exchange.fault}", 1)
        for name, value in asked.captures(exchange).items():
            self.line(f"captured {name} = {_shortened(value, 200)}")

    def request(self, exchange: Exchange) -> None:
        url = redaction.url(exchange.url)
        match exchange.method:
            case "OPEN":
                self.line(url)
            case "SEND":
                self.line("sent")
            case "AWAIT" | "CLOSE":
                return
            case method:
                self.line(f"{method} {url}".strip())
        for name, value in redaction.headers(exchange.request_headers):
            if name.lower() not in _UNTOLD:
                self.line(f"  {name}: {value}")
        self.body(exchange.sent, LEAST_LINES)

    def reply(self, exchange: Exchange, most: int) -> None:
        if told := ", ".join(_reply(exchange)):
            self.line(told)
        self.body(exchange.content, most)

    def body(self, content: bytes, most: int) -> None:
        lines = _readable(content)
        # In the place of a line that says that one is left out, there is room for that one.
        most += len(lines) == most + 1
        for line in lines[:most]:
            room = self.console.width - _MARK - 2
            self.console.print(Text(f"{' ' * (_MARK + 2)}{_shortened(self.shown(line), room)}"))
        if len(lines) > most:
            self.line(f"  ... {units.plural(len(lines) - most, 'line')} more")

    def check(self, check: Check) -> None:
        verdict = check.verdict
        if verdict is None:
            self.marked(OPEN, f"{check.words}: not looked at", 1)
        elif verdict.holds:
            says_all = any(word in check.words for word in _SAYS_ALL) and "{{" not in check.words
            says_all |= check.words.startswith("body ")
            self.marked(OK, check.words if says_all else f"{check.words}: {verdict.came}", 1)
        else:
            self.marked(FAILED, f"{check.words}: {verdict.fault}", 1)

    def end(self, entries: Sequence[Entry]) -> None:
        failed = [entry for entry in entries if entry.has_failed]
        unsent = sum(entry.exchange is None for entry in entries)
        if not failed and not unsent:
            right = "the entry is" if len(entries) == 1 else f"all {counted(len(entries))} are"
            self.console.print(Text(f"{right} right", style=_STYLES[OK]))
            return
        told = f"{len(failed)} of {counted(len(entries))} failed"
        told += f", {unsent} not sent" if unsent else ""
        self.console.print(Text(told, style=_STYLES[FAILED]))
        for entry in failed:
            fault = _fault(entry)
            where = entry.where or f"{entry.flow} {entry.number}."
            self.wrapped(f"{where}  {entry.name}: {fault}", "  ", "    ")

    def marked(self, mark: str, text: str, depth: int) -> None:
        indent = " " * _MARK * depth
        for number, line in enumerate(self.folded(text, indent + " " * _MARK)):
            if number:
                self.console.print(Text(line))
                continue
            first = Text(indent)
            first.append(f"{mark:<{_MARK}}", style=_STYLES[mark])
            first.append(line.lstrip())
            self.console.print(first)

    def line(self, text: str) -> None:
        self.wrapped(text, " " * _MARK, " " * (_MARK + 2))

    def wrapped(self, text: str, first: str, others: str) -> None:
        for line in self.folded(text, first, others):
            self.console.print(Text(line))

    def folded(self, text: str, first: str, others: str | None = None) -> list[str]:
        shown = self.shown(text)
        begin = first + " " * (len(shown) - len(shown.lstrip()))
        return textwrap.wrap(
            shown.strip(),
            width=self.console.width,
            initial_indent=begin,
            subsequent_indent=f"{first}  " if others is None else others,
            break_on_hyphens=False,
        )

    def shown(self, text: str) -> str:
        return self.hidden.text(_printable(text))


def counted(entries: int) -> str:
    """So many entries, in words."""
    return "1 entry" if entries == 1 else f"{entries:,} entries"


def _fault(entry: Entry) -> str:
    """The first thing that was wrong, without an excerpt of what stands above."""
    found = (check.verdict.fault for check in entry.checks if check.verdict)
    whole = entry.exchange.fault if entry.exchange else None
    return next((fault for fault in found if fault), whole or "")


def _mark(is_right: bool) -> str:
    return OK if is_right else FAILED


def _reply(exchange: Exchange) -> Iterator[str]:
    if exchange.status is not None:
        is_of_call = exchange.status < len(STATUSES)
        yield (
            STATUSES[exchange.status]
            if is_of_call
            else f"{exchange.status} {_phrase(exchange.status)}".strip()
        )
        if media := exchange.header("Content-Type"):
            yield media
        if location := exchange.header("Location"):
            yield f"to {location}"
    elif exchange.is_right and exchange.service_ns is not None:
        # Who only sends hears nothing.
        yield from _DONE.get(exchange.method, ())
    if exchange.status is not None or exchange.body_bytes:
        yield units.plural(exchange.body_bytes, "byte")
    if exchange.service_ns is not None:
        yield terminal.ascii_only(units.duration(exchange.service_ns))


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _readable(content: bytes) -> list[str]:
    if not content:
        return []
    try:
        text = content.decode()
    except UnicodeDecodeError:
        # What was cut within a letter is text all the same.
        text = content.decode(errors="replace")
        if text.count("\N{REPLACEMENT CHARACTER}") > 1:
            return [f"({units.plural(len(content), 'byte')}, no text)"]
    try:
        document = json.loads(text)
    except ValueError:
        return text.splitlines()
    whole = json.dumps(document, ensure_ascii=False)
    if len(whole) <= 70:
        return [whole]
    return json.dumps(document, indent=2, ensure_ascii=False).splitlines()


def _printable(text: str) -> str:
    spaced = text.expandtabs(4)
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in spaced)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
