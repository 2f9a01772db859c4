"""What came of each entry of a scenario that was sent once: its exchange, beside what it was to be.

Knows scenarios and exchanges; must not know who sent them, nor where they are shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import parse_qsl, quote, quote_plus

from wiretrial import redaction
from wiretrial.exchange import Exchange, Verdict
from wiretrial.plan_traffic import Flow, Traffic
from wiretrial.redaction import Secrets
from wiretrial.traffic import telling
from wiretrial.traffic.compiler import Scenario
from wiretrial.traffic.places import Place

_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Check:
    """A check as it reads in the file. `verdict`: None where it was not looked at."""

    words: str
    verdict: Verdict | None


@dataclass(frozen=True)
class Entry:
    """An entry of a flow, or a step of a conversation."""

    flow: str
    number: int
    """In its flow, from 1."""
    name: str
    place: Place | None
    """Where it is written; None for a step of a conversation."""
    exchange: Exchange | None
    """None: it was not sent, because an entry before it had failed."""
    checks: tuple[Check, ...]
    is_unchecked: bool
    """Nobody says what a right reply is: any 2xx is."""
    times: int = 1
    """How often it was sent, one right after the other; the exchange is the last."""

    @property
    def where(self) -> str:
        """File and line; empty for a step of a conversation."""
        return f"{self.place.file}:{self.place.line}" if self.place else ""

    @property
    def is_right(self) -> bool:
        """It was sent, and nothing was wrong."""
        return self.exchange is not None and self.exchange.is_right

    @property
    def has_failed(self) -> bool:
        """It was sent, and something was wrong."""
        return self.exchange is not None and not self.exchange.is_right


def entries(scenario: Scenario, exchanges: Sequence[Exchange]) -> tuple[Entry, ...]:
    """The entries of all flows in the files' order, with one session of each."""
    return tuple(
        entry
        for flow in scenario.traffic.flows
        for entry in _of_flow(scenario, flow, [one for one in exchanges if one.flow == flow.name])
    )


def secrets(traffic: Traffic, exchanges: Sequence[Exchange]) -> Secrets:
    """What must not be shown of these: cells, captures, fields and members with such names."""
    fields = [field for one in exchanges for field in (*one.request_headers, *one.headers)]
    fields += [field for one in exchanges for field in _in_bodies(one)]
    fields += [item for one in exchanges for item in one.captures.items()]
    for feed in traffic.feeds:
        fields += [(name, row[at]) for at, name in enumerate(feed.columns) for row in feed.rows]
    urls = {value for one in exchanges for value in Secrets.of(one.url, ()).values}
    found = {*Secrets.of("", fields).values, *urls}
    # As they stand in forms, URLs and strings of JSON.
    found |= {form for one in found for form in (quote(one, safe=""), quote_plus(one))}
    found |= {json.dumps(one, ensure_ascii=False)[1:-1] for one in found}
    return Secrets(tuple(sorted(found, key=lambda one: (-len(one), one))))


def captures(exchange: Exchange) -> dict[str, str]:
    """What was captured, without the values of secrets."""
    return {
        name: redaction.MARK if redaction.is_secret(name) else value
        for name, value in exchange.captures.items()
    }


def _in_bodies(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Named texts of the request's body; of the reply's, those with names that mean nothing else.

    The `code` or `key` of a reply says what was wrong, and is seldom a secret.
    """
    media = {value for name, value in exchange.request_headers if name.lower() == "content-type"}
    if any(one.startswith(_FORM) for one in media):
        yield from parse_qsl(exchange.sent.decode(errors="replace"), keep_blank_values=True)
    else:
        yield from _members(exchange.sent)
    for name, value in _members(exchange.content):
        if redaction.PARTS.search(name.lower()):
            yield name, value


def _members(content: bytes) -> Iterator[tuple[str, str]]:
    """The members of JSON, however deep, that are texts."""
    try:
        nodes: list[object] = [json.loads(content)]
    except ValueError:
        return
    while nodes:
        node = nodes.pop()
        if isinstance(node, dict):
            yield from ((name, value) for name, value in node.items() if isinstance(value, str))
            nodes += node.values()
        elif isinstance(node, list):
            nodes += node


def _of_flow(scenario: Scenario, flow: Flow, exchanges: Sequence[Exchange]) -> Iterator[Entry]:
    numbered = enumerate(step.route for step in flow.steps)
    for route, group in groupby(numbered, key=lambda step: step[1]):
        places = [place for place, _ in group]
        sent = exchanges[places[0] : places[-1] + 1]
        yield _entry(scenario, flow, route, places[0], sent)


def _entry(
    scenario: Scenario, flow: Flow, route: int, place: int, sent: Sequence[Exchange]
) -> Entry:
    exchange = sent[-1] if sent else None
    compiled = None if scenario.traffic.lines else scenario.routes[route]
    if exchange and compiled and compiled.method:
        # What a message of protobuf is has been read for its compilation: it is installed.
        from wiretrial.traffic import call_shown

        exchange = call_shown.readable(exchange, compiled.method)
    if compiled:
        name, words = telling.request(compiled.route), tuple(telling.right(compiled.route))
    else:
        line = scenario.traffic.lines[route]
        name, words = redaction.url(line.name), tuple(map(telling.check, line.checks))
    came = exchange.checks if exchange else ()
    return Entry(
        flow=flow.name,
        number=place + 1,
        name=name,
        place=compiled.place if compiled else None,
        exchange=exchange,
        checks=tuple(
            Check(text, came[at] if at < len(came) else None) for at, text in enumerate(words)
        ),
        is_unchecked=bool(compiled and compiled.is_unchecked),
        times=max(len(sent), 1),
    )
