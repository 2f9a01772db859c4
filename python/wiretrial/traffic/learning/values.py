"""The values with which requests were sent: columns of a feed, captures, and what the engine makes.

Knows the texts of a plan and the requests that came of them; must not know replies. What can't be
told from the requests alone is left out.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote

from wiretrial.exchange import Exchange
from wiretrial.plan_traffic import Feed, JsonOf, MadeOf, Route, Text, Traffic, UrlOf, ValueOf, Words

Source = ValueOf | MadeOf
"""Where a value is from."""

_Values = dict[Source, str]
_ONE_EACH = ("seq", "uuid")
"""What is made anew for each request."""


def sent_with(traffic: Traffic, exchanges: Sequence[Exchange]) -> list[Mapping[Source, str]]:
    """The values of each exchange's request, and those of its session's row of data."""
    routes = {one.name: one for one in traffic.routes}
    feeds = {one.name: one for one in traffic.feeds}
    rows = {flow.name: _Rows(feeds[flow.feed]) for flow in traffic.flows if flow.feed is not None}
    own = [_read(routes[one.route], one) for one in exchanges]
    sessions: dict[tuple[str | None, int], list[int]] = defaultdict(list)
    for index, one in enumerate(exchanges):
        sessions[one.flow, one.session].append(index)
    found: list[Mapping[Source, str]] = [{} for _ in exchanges]
    alone = _of_one_flow(traffic)
    for (flow, _), indices in sessions.items():
        row = rows[flow].of([own[index] for index in indices]) if flow in rows else {}
        columns = rows[flow].columns if flow in rows else ()
        for index in indices:
            read = {
                source: value
                for source, value in own[index].items()
                if source not in columns or row.get(source) == value
            }
            # A route of several flows has no more than its request asks for.
            found[index] = {**row, **read} if exchanges[index].route in alone else read
    return found


def _of_one_flow(traffic: Traffic) -> set[str]:
    """The routes that sessions of one flow alone ask for."""
    flows: dict[str, set[str]] = defaultdict(set)
    for flow in traffic.flows:
        for step in flow.steps:
            flows[traffic.asked[step.route].name].add(flow.name)
    return {route for route, of in flows.items() if len(of) == 1}


class _Rows:
    """The rows of a feed, found by some of their columns."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self.columns = tuple(ValueOf(value=name) for name in feed.columns)
        self._by: dict[tuple[str, ...], dict[tuple[str, ...], list[tuple[str, ...]]]] = {}

    def of(self, requests: Sequence[Mapping[Source, str]]) -> _Values:
        """The row with which a session sent these; of several, the columns in which they agree."""
        read: dict[str, str] = {}
        for source, value in (item for values in requests for item in values.items()):
            if not isinstance(source, ValueOf) or source.value not in self._feed.columns:
                continue
            if read.setdefault(source.value, value) != value:
                return {}
        rows = self._with(read)
        return {
            ValueOf(value=name): column[0]
            for name, column in zip(self._feed.columns, zip(*rows, strict=True), strict=False)
            if len(set(column)) == 1
        }

    def _with(self, read: Mapping[str, str]) -> list[tuple[str, ...]]:
        names = tuple(sorted(read))
        if names not in self._by:
            places = [self._feed.columns.index(name) for name in names]
            found: dict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
            for row in self._feed.rows:
                found[tuple(row[place] for place in places)].append(row)
            self._by[names] = found
        return self._by[names].get(tuple(read[name] for name in names), [])


def _read(route: Route, one: Exchange) -> _Values:
    """The values that stand in a request."""
    headers = {name.lower(): value for name, value in reversed(one.request_headers)}
    path = re.sub(r"^[^/]*//[^/?]*", "", one.url)
    texts = [(route.target, path), (route.body, one.sent.decode("utf-8", errors="replace"))]
    texts += [(text, headers.get(name.lower(), "")) for name, text in route.headers]
    found: _Values = {}
    wrong: set[Source] = set()
    for text, written in texts:
        for source, value in _standing(text, written):
            if found.setdefault(source, value) != value:
                wrong.add(source)
    return {source: value for source, value in found.items() if source not in wrong}


def _standing(text: Text, written: str) -> Iterator[tuple[Source, str]]:
    """The values that stand in a text as it was sent."""
    holes = [part for part in text if not isinstance(part, Words)]
    if not holes:
        return
    pattern = "".join(re.escape(part.text) if isinstance(part, Words) else "(.*?)" for part in text)
    if not (match := re.fullmatch(pattern, written, re.DOTALL)):
        return
    for part, value in zip(holes, match.groups(), strict=True):
        match part:
            case ValueOf():
                yield part, value
            case UrlOf(url=name):
                yield ValueOf(value=name), unquote(value)
            case JsonOf(name=name):
                try:
                    yield ValueOf(value=name), str(json.loads(f'"{value}"'))
                except ValueError:
                    continue
            case MadeOf(make=made) if made in _ONE_EACH:
                yield part, value
