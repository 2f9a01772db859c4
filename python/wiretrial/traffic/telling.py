"""A scenario in words: each flow, its requests, and which replies are right.

Knows how checks read in a `.hurl` file; must not know where the text is printed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wiretrial import redaction
from wiretrial.plan_grpc import STATUSES
from wiretrial.plan_traffic import (
    Capture,
    Check,
    Compared,
    Contains,
    CookieOf,
    Empty,
    Ends,
    Exists,
    FieldOf,
    Flow,
    Found,
    HeaderOf,
    IsShape,
    IsType,
    JsonAt,
    JsonOf,
    JsonOperand,
    MadeOf,
    Matches,
    NoThink,
    Operand,
    RegexIn,
    Route,
    StatusIn,
    Test,
    Text,
    Think,
    Traffic,
    UniformThink,
    UrlOf,
    ValueOf,
)
from wiretrial.plan_traffic import ConstantThink as Constant
from wiretrial.plan_traffic import ExponentialThink as Exponential
from wiretrial.plan_traffic import Line as Spoken
from wiretrial.traffic import filters, shapes
from wiretrial.traffic.compiler import Scenario
from wiretrial.traffic.filling import MADE
from wiretrial.traffic.quantities import LoadShape

_TYPES = {
    "boolean": "isBoolean",
    "float": "isFloat",
    "integer": "isInteger",
    "time": "isIsoDate",
    "number": "isNumber",
    "string": "isString",
    "list": "isList",
}
_MADE = {made: name for name, made in MADE.items()}


@dataclass(frozen=True)
class Line:
    """A line of text, `depth` levels inwards."""

    depth: int
    text: str


def lines(scenario: Scenario, file: str) -> Iterator[Line]:
    """The whole scenario."""
    traffic = scenario.traffic
    yield Line(0, f"{file}: {counts(traffic)} of {scenario.origin}")
    yield Line(0, f"load: {load(scenario.load)}")
    for goal in scenario.goals:
        yield Line(0, f"goal: {goal}")
    if any(of.filters for route in traffic.routes for of in route.expect.checks):
        yield Line(0, f"sample: {sample(traffic)}")
    whole = sum(flow.weight for flow in traffic.flows)
    for flow in traffic.flows:
        yield Line(0, "")
        yield Line(0, _flow(flow, whole, scenario))
        if traffic.lines:
            yield from conversation(flow, traffic.lines)
            continue
        for number, step in enumerate(flow.steps, start=1):
            route = traffic.routes[step.route]
            yield Line(1, f"{number}. {request(route)}{_after(step.think)}")
            told = (
                "learned before a load"
                if route.name in scenario.unchecked
                else "; ".join(right(route))
            )
            yield Line(3, f"right reply: {told}")
            if route.captures:
                yield Line(3, f"captures: {', '.join(map(_capture, route.captures))}")
    if scenario.unchecked:
        yield Line(0, "")
        yield Line(
            0,
            f"{_count(len(scenario.unchecked), 'route')} without a response part: what is right is"
            " learned before a load",
        )


def conversation(flow: Flow, all_lines: Sequence[Spoken]) -> Iterator[Line]:
    """The steps of a flow of conversations."""
    for number, step in enumerate(flow.steps, start=1):
        line = all_lines[step.route]
        yield Line(1, f"{number}. {_said(line)}{_after(step.think)}")
        if line.listens:
            asked = "awaits" if line.does == "await" else "reply"
            which = ["its acknowledgement"] * line.acknowledged + [*map(check, line.awaits)]
            yield Line(3, f"{asked}: {'; '.join(which)}")
        if line.checks:
            yield Line(3, f"right: {'; '.join(map(check, line.checks))}")
        if line.captures:
            yield Line(3, f"captures: {', '.join(map(_capture, line.captures))}")
        if step.back:
            times = "until the load ends"
            if step.back.times is not None:
                times = f"{_count(step.back.times, 'time')} in all"
            pause = _after(step.back.think)
            yield Line(3, f"repeats: from {step.back.to + 1}, {times}{pause}")
    becomes = "fails the session" if flow.unasked == "fail" else "is counted"
    yield Line(1, f"any other message {becomes}")


def _after(pause: Think) -> str:
    """What a step waits for, behind its own words."""
    return "" if isinstance(pause, NoThink) else f", after {think(pause)}"


def _said(line: Spoken) -> str:
    match line.does:
        case "open":
            target = redaction.url(text(line.target))
            return f"open {target}" if line.name == f"open {target}" else f"{line.name}: {target}"
        case "send":
            return f"{line.name}: send {text(line.text)}"
        case _:
            return line.name


def counts(traffic: Traffic) -> str:
    """How many flows, and routes or steps, there are."""
    asked = _count(len(traffic.asked), "step" if traffic.lines else "route")
    return f"{_count(len(traffic.flows), 'flow')}, {asked}"


def sample(traffic: Traffic) -> str:
    """Of which replies checks with filters are made."""
    share = f"{100 * traffic.sample:g} % of replies"
    return f"checks with filters are made of {share}, and of the first 30 of each route"


def load(shape: LoadShape) -> str:
    """When sessions begin, and on which connections."""
    if shape.pool is None:
        return _begin(shape)
    streams = f", each with {_count(shape.streams, 'stream')}" if shape.streams > 1 else ""
    return f"{_begin(shape)}; all users share {_count(shape.pool, 'connection')}{streams}"


def _begin(shape: LoadShape) -> str:
    if shape.stages:
        what = "users" if shape.users else "sessions per second"
        ways = (f"{s.start:g} to {s.end:g} in {_time(s.for_ns)}" for s in shape.stages)
        return f"{what}: {', '.join(ways)}"
    if shape.users:
        return f"{_count(shape.users, 'user')}, each with one session after the other"
    if shape.rate:
        return f"{shape.rate:g} sessions per second, {shape.pacing}"
    return "given by the command line"


def think(of: Think) -> str:
    """A think time, as it is written in the TOML file."""
    match of:
        case NoThink():
            return "0s"
        case Constant(ns=ns):
            return _time(ns)
        case UniformThink(low_ns=low, high_ns=high):
            return f"uniform {_time(low)} {_time(high)}"
        case Exponential(mean_ns=mean):
            return f"exponential {_time(mean)}"
        case _:
            return f"lognormal {_time(of.median_ns)} {of.sigma:g}"


def request(route: Route) -> str:
    """Name, method and target, without secrets; of a call, what it calls."""
    if route.call is not None:
        path = route.call.path.removeprefix("/")
        return f"call {path}" if route.name == path else f"{route.name}: call {path}"
    sent = redaction.url(f"{route.method} {text(route.target)}")
    name = redaction.url(route.name)
    return sent if name == sent else f"{name}: {sent}"


def text(of: Text) -> str:
    """A text with its holes as they are written."""
    return "".join(map(_part, of))


def check(of: Check) -> str:
    """A check, as it is written in a `.hurl` file."""
    count = of.count or of.of == "bytes"
    words = [*_looked_at(of), "count" if count else "", "not" * of.negated]
    return " ".join(word for word in (*words, _test(of.test)) if word)


def right(route: Route) -> Iterator[str]:
    """What a right reply is: its status, its exact body, then each check."""
    match route.expect.status:
        case StatusIn(statuses=numbers) if route.call is not None:
            yield f"status {' or '.join(STATUSES[one] for one in numbers)}"
        case StatusIn(statuses=numbers):
            yield f"status {' or '.join(map(str, numbers))}"
        case "any":
            yield "any status"
        case _:
            yield "status 2xx"
    if route.expect.body is not None:
        yield f"body {_quoted(text(route.expect.body))}"
    # The engine makes those of a sample last.
    yield from map(check, sorted(route.expect.checks, key=lambda of: bool(of.filters)))


def _flow(flow: Flow, whole: int, scenario: Scenario) -> str:
    told = [f"{flow.name}: {flow.weight} of {_count(whole, 'session')}"]
    for feed in scenario.traffic.feeds:
        if feed.name == flow.feed:
            told.append(f"rows of {feed.name} ({len(feed.rows):,}, {feed.order})")
    if not flow.cookies:
        told.append("no cookies")
    return ", ".join(told)


def _capture(of: Capture) -> str:
    return f"{of.name} ({_found(of.of)})"


def _looked_at(of: Check) -> Iterator[str]:
    """The query and the filters. A path or a digest of the body is a query itself."""
    made = [filters.words(one) for one in of.filters]
    is_query = of.of == "body" and made and made[0].split()[0] in ("jsonpath", "sha256", "md5")
    if not is_query:
        yield _found(of.of)
    yield from made


def _found(of: Found) -> str:
    match of:
        case JsonAt(path=path):
            return f"jsonpath {_quoted(path)}"
        case HeaderOf(header=name):
            return f"header {_quoted(name)}"
        case CookieOf(cookie=name):
            return f"cookie {_quoted(name)}"
        case RegexIn(regex=pattern):
            return f"regex {_slashed(pattern)}"
        case FieldOf(place=place):
            return f"field {_quoted(place.name)}"
        case word:
            return word


def _test(of: Test) -> str:
    match of:
        case Exists():
            return "exists"
        case Empty():
            return "isEmpty"
        case Compared(how=how, operand=operand):
            return f"{how} {_operand(operand)}"
        case Contains(operand=operand):
            return f"contains {_operand(operand)}"
        case Ends(text=end):
            return f"endsWith {_quoted(text(end))}"
        case Matches(pattern=pattern):
            return f"matches {_slashed(pattern)}"
        case IsType(name=name):
            return _TYPES.get(name, name)
        case IsShape(shape=shape):
            return f"is {shapes.line(shape)}"
        case _:
            return f"startsWith {_quoted(text(of.text))}"


def _operand(of: Operand) -> str:
    if isinstance(of, JsonOperand):
        return json.dumps(of.value, ensure_ascii=False)
    return _quoted(text(of.text))


def _part(of: object) -> str:
    match of:
        case ValueOf(value=name) | UrlOf(url=name) | JsonOf(name=name):
            return f"{{{{{name}}}}}"
        case MadeOf(make=made):
            return f"{{{{{_MADE[made]}}}}}"
        case _:
            return str(getattr(of, "text", ""))


def _quoted(of: str) -> str:
    return json.dumps(of, ensure_ascii=False)


def _slashed(pattern: str) -> str:
    return f"/{pattern.replace('/', chr(92) + '/')}/"


def _time(ns: int) -> str:
    return f"{ns / 1e9:g}s" if ns >= 1e9 else f"{ns / 1e6:g}ms"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
