"""What was sent, how, and with which verdict: the first lines of every report.

Knows trials and their plans; must not know where the lines are shown. What all trials share is said
once; what differs between them is listed behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from wiretrial import redaction, words
from wiretrial.plan import AfterResponse, Hold, Load, OpenLoop, RandomBurst
from wiretrial.plan_traffic import Traffic
from wiretrial.report import facts, load_words, units
from wiretrial.report.measures import Measured
from wiretrial.report.model import ReportModel
from wiretrial.results.model import Trial

MOST_LEVELS = 6
"""Of more levels, only the ends are named, and how many there are."""
MOST_RULES = 3
"""Learned rules that are told one by one."""
Level = int | float | str
_IN_SHORT = ("request", "headers", "payload bytes")
"""Of a run: the line above names the rest."""
_UNLIMITED = "unlimited"
_NO_PAYLOAD = "none"


@dataclass(frozen=True)
class Facet:
    """One thing that trials may share. `of` gives a number, or words; None where it has none."""

    name: str
    of: Callable[[Trial], Level | None]
    said: Callable[[str], str] = str
    """A level within a sentence, as `{} connections`."""
    figure: Callable[[float], str] = units.asked
    is_optional: bool = False
    """Trials without a level differ in nothing from those with one."""
    follows: bool = False
    """It is said in one breath with what stands before it."""


def rows(model: ReportModel) -> tuple[tuple[str, str], ...]:
    """Label and text: what was sent, what was varied, what came of it."""
    shared, varied = _told(model.trials, is_run=model.is_run)
    found = (
        ("Sent", ", ".join(shared)),
        ("Varied", "; ".join(varied)),
        ("Right", _rules(model)),
        ("Result", _result(model)),
    )
    return tuple(row for row in found if row[1])


def _rules(model: ReportModel) -> str:
    """What was learned from replies, each rule once; of many how many, as the page has them."""
    rules = facts.learned(model.trials)
    if len(rules) <= MOST_RULES:
        return "; ".join(one.line for one in rules)
    samples = sorted({one.samples for one in rules})
    told = units.plural(len({one.route for one in rules}), "route")
    span = dict.fromkeys(f"{count:,}" for count in (samples[0], samples[-1]))
    told += f", learned from {' to '.join(span)} replies each"
    if apart := {one.route: None for one in rules if one.of}:
        of = f" of {units.listed([str(route) for route in apart])}" if None not in apart else ""
        told += f"; each server is held to its own replies{of}"
    return f"{told}; see {'What it took' if model.is_run else 'Learned rules in Facts'}"


def sessions(traffic: Traffic) -> str:
    """`4 routes in sessions of 2 flows`."""
    asked = units.plural(len(traffic.asked), "step" if traffic.lines else "route")
    return f"{asked} in sessions of {units.plural(len(traffic.flows), 'flow')}"


def _result(model: ReportModel) -> str:
    """A run's figure with its verdict; of several trials, how many have which verdict."""
    verdicts = Counter(trial.judgement.verdict for trial in model.trials)
    if model.is_run:
        return f"{_headline(model.trials[0])}, {model.trials[0].judgement.verdict}"
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in verdicts.most_common())
    rest = model.trials_measured - len(model.trials)
    of_searches = f", and {units.plural(rest, 'step')} of searches" if rest else ""
    return f"{units.plural(len(model.trials), 'trial')}: {told}{of_searches}"


def _headline(trial: Trial) -> str:
    measured, what = Measured(trial), words.of_target(trial.plan.target).many
    if measured.is_opening:
        return f"{measured.connect_rate or 0:,.0f} connections/s"
    least = "at least " if trial.judgement.verdict == "client-bound" else ""
    return f"{least}{measured.throughput or 0:,.0f} {what}/s"


def _told(trials: Sequence[Trial], *, is_run: bool) -> tuple[list[str], list[str]]:
    """What all trials share, and what they do not, in the order of the facets."""
    shared: list[str] = []
    varied: list[str] = []
    for facet in _facets(trials, is_run=is_run):
        if is_run and facet.name not in _IN_SHORT:
            continue
        each = Counter(facet.of(trial) for trial in trials)
        known = [level for level in each if level is not None]
        is_lone = facet.is_optional and len(known) == 1
        if len(each) == 1 or (is_lone and 2 * each[None] <= len(trials)):
            said = (facet.said(_word(facet, level)) for level in known)
            text = "".join(said)
            if facet.follows and shared and text:
                shared[-1] += f" {text}"
            elif text:
                shared.append(text)
        elif known:
            some = f" in {units.plural(each[known[0]], 'trial')}" if is_lone else ""
            varied.append(_levels(facet, known) + some)
    return shared, varied


def _levels(facet: Facet, known: Sequence[Level]) -> str:
    """`connections: 10, 100 and 500`."""
    numbers = sorted(level for level in known if not isinstance(level, str))
    ordered = [*numbers, *sorted(level for level in known if isinstance(level, str))]
    told = [_word(facet, level) for level in ordered]
    if len(told) <= MOST_LEVELS:
        return f"{facet.name}: {units.listed(told)}"
    if len(numbers) == len(told):
        return f"{facet.name}: {told[0]} to {told[-1]} ({len(told)} levels)"
    return f"{facet.name}: {len(told)}"


def _word(facet: Facet, level: Level) -> str:
    return level if isinstance(level, str) else facet.figure(level)


def _facets(trials: Sequence[Trial], *, is_run: bool) -> Iterator[Facet]:
    what = words.of_all(trial.scenario.protocol for trial in trials)
    yield Facet("request", lambda t: _request(t, is_whole=is_run), is_optional=True)
    yield Facet("headers", _headers, lambda told: f"with {told}", is_optional=True, follows=True)
    yield Facet("protocol", _protocol, lambda told: f"over {told}")
    yield Facet(
        "header profile",
        lambda t: t.plan.target.http.header_profile,
        lambda told: f"header profile {told}",
    )
    yield Facet("payload bytes", _payload, _carried)
    yield Facet("users and connections", lambda t: shared(t.plan.load), is_optional=True)
    yield Facet("users", lambda t: _connections(t, of_users=True), _counted("user"))
    yield Facet("connections", lambda t: _connections(t, of_users=False), _counted("connection"))
    yield Facet(
        f"{what.many} per connection",
        lambda t: t.plan.load.requests_per_connection or _UNLIMITED,
        lambda told: "" if told == _UNLIMITED else f"{told} {what.many} per connection",
    )
    yield Facet("depth", _depth, lambda told: f"depth {told}")
    yield Facet("streams", _streams, _counted("stream", " on each connection"))
    yield Facet("pack", _pack, lambda told: f"packs of {told}")
    rates = {rate for trial in trials if (rate := _rate(trial))}
    at = f" at {units.trimmed(min(rates))} {what.many}/s" if len(rates) == 1 else ""
    yield Facet("load", lambda t: _loop(t) + (at if _rate(t) else ""))
    if len(rates) > 1:
        yield Facet(f"{what.many}/s offered", _rate, figure=units.trimmed)
    yield Facet("duration", lambda t: t.plan.stop.duration_ns, str, units.length)
    yield Facet("total", lambda t: t.plan.stop.requests, lambda told: f"{told} {what.many}")
    yield Facet(
        f"{what.many} each",
        lambda t: t.plan.stop.requests_each,
        lambda told: f"{told} {what.many} on each connection",
    )
    yield Facet("environment", lambda t: t.scenario.environment.replace("link:", "link "))
    yield Facet("servers", _server, lambda told: f"server {told}")


def _counted(noun: str, rest: str = "") -> Callable[[str], str]:
    return lambda told: f"{told} {noun}{'' if told == '1' else 's'}{rest}"


def _request(trial: Trial, *, is_whole: bool) -> str | None:
    """`GET /items`; of a run, and of a server that was not started here, with its address."""
    target = trial.plan.target
    place = redaction.url(target.url)
    if not is_whole and (trial.subject is not None or trial.driven):
        # It has another port in each trial.
        place = f"/{place.partition('://')[2].partition('/')[2]}"
    traffic = trial.plan.traffic
    if trial.scenario.protocol not in words.HTTP and not traffic:
        return place if len(place) > 1 else None
    if traffic:
        told = sessions(traffic)
        told = f"{trial.scenario.file}: {told}" if trial.scenario.file else told
        return f"{told}, to {place}" if is_whole else told
    has_payload = target.message.source.source != "none"
    return f"{target.http.method or ('POST' if has_payload else 'GET')} {place}"


def _protocol(trial: Trial) -> str:
    """`https`, and the version of HTTP where it is not that of nearly all, or was picked."""
    spoken, version = trial.start.http, trial.plan.target.http.version
    told = trial.scenario.protocol
    if spoken is not None:
        return f"HTTP/{spoken.version} ({told})"
    return told if version == "1.1" else f"HTTP/{version} ({told})"


def _headers(trial: Trial) -> str | None:
    fields = redaction.headers(trial.plan.target.http.headers)
    return "; ".join(f"{name}: {value}" for name, value in fields) or None


def _payload(trial: Trial) -> Level | None:
    """Of requests without any: none, which differs from any number of bytes."""
    if trial.plan.traffic:
        return None
    stated = trial.scenario.levels.get("payload")
    if stated is not None and trial.scenario.protocol in words.CALLS:
        # What is around it is protobuf's and gRPC's, and of streams it is that of each message.
        return stated
    return trial.start.request_payload_bytes or _NO_PAYLOAD


def _carried(told: str) -> str:
    return "" if told == _NO_PAYLOAD else _counted("byte", " of payload")(told)


def depth(trial: Trial) -> str:
    """`depth 10`; over HTTP/2 and of gRPC `10 streams on each`, of WebSocket `10 WebSockets`."""
    many = trial.plan.load.depth
    carrier = words.carrier(trial.plan.target.url)
    return f"{units.plural(many, carrier)} on each" if _has_streams(trial) else f"depth {many}"


def shared(load: Load) -> str | None:
    """`50 connections shared by 1,000 users`; None where there is no pool."""
    if load.users is None:
        return None
    connections = units.plural(load.connections, "connection")
    streams = f" with {units.plural(load.depth, 'stream')} each" if load.depth > 1 else ""
    return f"{connections}{streams} shared by {units.plural(load.users, 'user')}"


def _connections(trial: Trial, *, of_users: bool) -> int | None:
    """Each user of traffic has a connection, and is called a user, unless they share a pool."""
    if trial.plan.load.users is not None:
        return None
    is_theirs = trial.plan.traffic is not None
    return trial.plan.load.connections if is_theirs is of_users else None


def _depth(trial: Trial) -> int | None:
    return None if trial.plan.traffic or _has_streams(trial) else trial.plan.load.depth


def _streams(trial: Trial) -> int | None:
    return trial.plan.load.depth if _has_streams(trial) and not trial.plan.traffic else None


def _has_streams(trial: Trial) -> bool:
    """Whether streams are in flight on a connection: over HTTP/2, also picked, and HTTP/3."""
    target, spoken = trial.plan.target, trial.start.http
    is_call = words.of_target(target) == words.CALL
    return is_call or (spoken.version if spoken else target.http.version) in ("2", "3")


def _pack(trial: Trial) -> int | None:
    return trial.plan.load.pack if trial.plan.load.pack > 1 else None


def _loop(trial: Trial) -> str:
    if stages := load_words.stages(trial):
        is_open = isinstance(trial.plan.load.executor, OpenLoop)
        return f"{'open' if is_open else 'closed'} loop: {stages}"
    match trial.plan.load.executor:
        case OpenLoop(rate=rate) if trial.plan.traffic:
            return f"open loop at {units.trimmed(rate)} sessions/s"
        case OpenLoop():
            return "open loop, its rate searched for" if trial.scenario.search else "open loop"
        case RandomBurst():
            return "bursts on connections drawn at random"
        case AfterResponse(pause_ns=pause_ns):
            return f"closed loop with {units.length(pause_ns)} after each reply"
        case Hold():
            return "held connections"
        case _:
            return "closed loop"


def _rate(trial: Trial) -> float | None:
    executor = trial.plan.load.executor
    if trial.scenario.search or trial.plan.traffic or trial.plan.load.stages:
        return None
    if not isinstance(executor, OpenLoop | Hold):
        return None
    return executor.rate or None


def _server(trial: Trial) -> str | None:
    """Whom it was sent to, where the request does not say so."""
    is_told = trial.subject is None and trial.plan.traffic is None
    return None if is_told or trial.driven else trial.scenario.subject
