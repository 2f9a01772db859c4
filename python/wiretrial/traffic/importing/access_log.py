"""Access logs: routes with weights, values for their paths and queries, the rate of arrivals.

Knows how requests become routes; lines are read in `log_lines`. A log has no bodies, so requests
that need one are left out.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from urllib.parse import quote, unquote_plus

from wiretrial.errors import UsageProblem
from wiretrial.traffic.hurl.syntax import Entry, Hole, Pair, Request, Response
from wiretrial.traffic.importing import parts
from wiretrial.traffic.importing.draft import Draft, DraftFlow, Rows
from wiretrial.traffic.importing.log_lines import Logged, read
from wiretrial.traffic.importing.parts import NOWHERE

_BASE = "http://127.0.0.1:8000"
_METHODS = ("GET", "HEAD", "DELETE", "OPTIONS")
_MOST_ROUTES, _MOST_ROWS = 40, 1000
_MANY = 12
"""Different names in one place of a path: then they are values."""
_VALUE = re.compile(
    r"\d+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-fA-F]{16,}|(?=[^/]*\d)[A-Za-z0-9_-]{20,}"
)
_ODD = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True)
class _Shape:
    """What requests of a route share; a None is a value."""

    method: str
    path: tuple[str | None, ...]
    query: tuple[str, ...]


@dataclass
class _Route:
    shape: _Shape
    statuses: Counter[int] = field(default_factory=Counter)
    rows: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self.statuses.total()


def draft(source: str, name: str) -> Draft:
    """The draft of a log; `name` is the file's."""
    lines = [line for line in source.splitlines() if line.strip()]
    logged = [(line, read(line)) for line in lines]
    read_ = [one for _, one in logged if one is not None]
    if not read_:
        raise UsageProblem(
            f"{name} has no line in the format common, combined or JSON",
            "JSON lines need the members method, path and status",
        )
    sent = [one for one in read_ if one.method in _METHODS]
    good = [one for one in sent if one.status < 400]
    if not good:
        raise UsageProblem(f"{name} has no request that went well without a body", "use another")
    routes = sorted(_routes(good), key=lambda route: route.count, reverse=True)
    kept = routes[:_MOST_ROUTES]
    notes = [*_notes(lines, read_, sent, good, routes)]
    shared = reduce(math.gcd, (route.count for route in kept))
    flows = tuple(_flow(route, shared) for route in kept)
    rate, told = _rate(good)
    return Draft(_BASE, flows, (*notes, *told), arrivals=rate)


def _notes(
    lines: Sequence[str],
    read_: Sequence[Logged],
    sent: Sequence[Logged],
    good: Sequence[Logged],
    routes: Sequence[_Route],
) -> Iterator[str]:
    yield "a log does not name the server: change base"
    if odd := len(lines) - len(read_):
        yield f"left out, not read: {odd} lines of {len(lines)}"
    if bodies := len(read_) - len(sent):
        yield f"left out, since a log has no bodies: {bodies} requests of {len(read_)}"
    if failed := len(sent) - len(good):
        yield f"left out, answered with an error: {failed} requests of {len(sent)}"
    if rare := sum(route.count for route in routes[_MOST_ROUTES:]):
        yield f"left out, rare: {rare} requests of {len(routes) - _MOST_ROUTES} routes"


def _routes(logged: Sequence[Logged]) -> list[_Route]:
    """The routes, with what stood in the places of their values."""
    many = _crowded(logged)
    found: dict[_Shape, _Route] = {}
    for one in logged:
        path, _, query = one.target.partition("?")
        names, values = _split(one.method, path, many)
        pairs = _parameters(query)
        shape = _Shape(one.method, names, tuple(key for key, _ in pairs))
        route = found.setdefault(shape, _Route(shape))
        route.statuses[one.status] += 1
        route.rows.append((*values, *(value for _, value in pairs)))
    return [*found.values()]


def _crowded(logged: Sequence[Logged]) -> set[tuple[str | None, ...]]:
    """The places of paths, each told by what stands before it, with many different names."""
    seen: defaultdict[tuple[str | None, ...], set[str]] = defaultdict(set)
    for one in logged:
        before: tuple[str | None, ...] = (one.method,)
        for segment in _segments(one.target.partition("?")[0]):
            if not _VALUE.fullmatch(segment):
                seen[before].add(segment)
            before = (*before, None if _VALUE.fullmatch(segment) else segment)
    # A file's name is what it is, however many there are.
    return {
        place
        for place, names in seen.items()
        if len(names) >= _MANY and not any("." in name for name in names)
    }


def _split(
    method: str, path: str, many: set[tuple[str | None, ...]]
) -> tuple[tuple[str | None, ...], tuple[str, ...]]:
    names: list[str | None] = []
    values = []
    before: tuple[str | None, ...] = (method,)
    for segment in _segments(path):
        is_value = bool(_VALUE.fullmatch(segment)) or before in many
        names.append(None if is_value else segment)
        if is_value:
            # As it was sent: a decoded slash would be one of the path's.
            values.append(segment)
        before = (*before, None if _VALUE.fullmatch(segment) else segment)
    return tuple(names), tuple(values)


def _segments(path: str) -> list[str]:
    return path[1:].split("/")


def _parameters(query: str) -> list[tuple[str, str]]:
    """Of a query, sorted by their names: their order says nothing."""
    found = (piece.partition("=") for piece in query.split("&") if piece)
    return sorted((unquote_plus(key), unquote_plus(value)) for key, _, value in found if key)


def _flow(route: _Route, shared: int) -> DraftFlow:
    width = len(route.rows[0])
    # A value that never changes is a part of the route.
    fixed = {index: {row[index] for row in route.rows} for index in range(width)}
    columns = _columns(route.shape, {index for index, seen in fixed.items() if len(seen) > 1})
    rows = None
    if varying := [index for index in range(width) if index in columns]:
        step = max(1, len(route.rows) // _MOST_ROWS)
        picked = [
            tuple(parts.sane(row[index]) for index in varying)
            for row in route.rows[::step][:_MOST_ROWS]
        ]
        rows = Rows(tuple(columns[index] for index in varying), tuple(picked))
    status = route.statuses.most_common(1)[0][0]
    entry = Entry(_request(route, columns), Response(status, NOWHERE))
    path = "/".join("*" if part is None else part for part in route.shape.path)
    query = f"?{'&'.join(route.shape.query)}" if route.shape.query else ""
    name = f"{route.shape.method} /{path}{query}"[:120]
    return DraftFlow(name, (entry,), weight=max(1, route.count // shared), rows=rows)


def _request(route: _Route, columns: dict[int, str]) -> Request:
    url: list[str | Hole] = [Hole("base", NOWHERE)]
    first, index = route.rows[0], 0
    for part in route.shape.path:
        url.append("/")
        if part is not None:
            url.append(_clean(part))
            continue
        named = columns.get(index)
        url.append(Hole(named, NOWHERE) if named else _clean(first[index]))
        index += 1
    query = []
    for key in route.shape.query:
        named = columns.get(index)
        value = parts.hole(named) if named else parts.text(parts.sane(first[index]))
        query.append(Pair(parts.text(parts.sane(key)), value))
        index += 1
    sections = {"Query": tuple(query)} if query else {}
    return Request(route.shape.method, parts.merged(url), NOWHERE, sections=sections)


def _clean(part: str) -> str:
    return quote(part, safe="@:!$&'()*+,;=-._~%")


def _columns(shape: _Shape, varying: set[int]) -> dict[int, str]:
    """A name for each value that varies: of the path, by what stands before it."""
    names: list[str] = []
    before = "item"
    for part in shape.path:
        if part is None:
            names.append(f"{_singular(before)}_id")
        else:
            before = part
    names += shape.query
    found: dict[int, str] = {}
    for index, name in enumerate(names):
        plain = _ODD.sub("_", name).strip("_") or "value"
        plain = f"{plain}_" if plain == "base" else plain
        taken, number = plain, 1
        while taken in found.values():
            number += 1
            taken = f"{plain}_{number}"
        if index in varying:
            found[index] = taken
    return found


def _singular(name: str) -> str:
    plain = _ODD.sub("_", name).strip("_").lower() or "item"
    return plain[:-1] if plain.endswith("s") and len(plain) > 2 else plain


def _rate(logged: Sequence[Logged]) -> tuple[str | None, list[str]]:
    """Arrivals on average over the log, and the most of a minute."""
    times = sorted(one.at for one in logged if one.at is not None)
    if len(times) < 2 or times[-1] - times[0] < 1:
        return None, ["the log is too short to tell arrivals: give --rate, or [load]"]
    mean = len(times) / (times[-1] - times[0])
    minutes = Counter(int(at // 60) for at in times)
    busiest = max(minutes.values()) / 60
    told = f"arrivals: {mean:.3g}/s on average, {max(busiest, mean):.3g}/s in the busiest minute"
    return f"{float(f'{mean:.3g}'):.12g}/s", [told]
