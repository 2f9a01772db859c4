"""Asks a server before its load, and makes of the replies the rule that the load is checked by.

Knows when there is something to learn and where its rule goes in a plan. Must not know what a rule
is made of (`traffic.learning`), nor who says what was learned.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from wiretrial.engine import Engine
from wiretrial.exchange import Exchange
from wiretrial.plan import (
    AutoContent,
    Content,
    LearnedContent,
    Load,
    MatchingContent,
    Plan,
    ShapedContent,
    StatusContent,
    Stop,
)
from wiretrial.plan_traffic import RouteExpect, Traffic
from wiretrial.results.learned import LearnedRule
from wiretrial.studies.spec import Case, Study
from wiretrial.traffic.learning import Learned, Sample, learn
from wiretrial.traffic.learning.values import Source, sent_with
from wiretrial.words import HTTP

SESSIONS, CONNECTIONS = 30, 2
"""How often each flow is asked, and over how many connections: a server may keep state in one."""
LIMIT_S = 10.0
"""Of a server that takes longer for all of them, what came until then is learned from."""
_LONGEST_COUNTED = 65_536
"""Bytes that a pattern counts; it has a state for each."""


@dataclass(frozen=True)
class Known:
    """The plan with its rules, and what is said of them. `unknown`: routes without a rule."""

    plan: Plan
    rules: tuple[LearnedRule, ...] = ()
    unknown: tuple[str, ...] = ()
    learned: tuple[Learned, ...] = ()


def learns(plan: Plan) -> bool:
    """Whether nobody says what a right reply is: to the one message, or to some route."""
    if plan.traffic is not None:
        return bool(unchecked(plan.traffic))
    if plan.hears_events:
        return False
    scheme = plan.target.url.partition("://")[0].lower()
    return scheme in HTTP and isinstance(plan.target.expect.content, AutoContent | LearnedContent)


def unchecked(traffic: Traffic) -> tuple[str, ...]:
    """The routes of which any 2xx reply is right."""
    return tuple(one.name for one in traffic.routes if one.expect == RouteExpect())


def known(engine: Engine, plans: Sequence[Plan], *, constants: bool = True) -> tuple[Known, ...]:
    """The plans, which differ in their server, with what is learned from all servers together.

    One rule is learned over all: a server that replies wrongly would be right by one of its own.
    Where each server's own replies are equal, each load goes by its first one, as without asking.
    Without `constants`, only the shape of JSON counts. Raises what a load would, where a server
    can't be asked.
    """
    came = [replies(engine, plan) for plan in plans]
    if plans[0].traffic is not None:
        return _of_routes(plans, came, constants=constants)
    status = plans[0].target.expect.status
    if not all(came):
        # Each reply is an error, or is too long: the load says which error.
        return tuple(map(Known, plans))
    route = next(iter(came[0]))
    each = [samples for of_server in came for samples in of_server.values()]
    apart = [learn(route, samples, status=status, constants=constants) for samples in each]
    if all(content_of(one) is None for one in apart):
        return tuple(Known(plan, learned=(one,)) for plan, one in zip(plans, apart, strict=True))
    over = Over.of(route, each, status=status, constants=constants)
    content = content_of(over.rule)
    assert content is not None, "what varies at one server varies over all"
    rules = (over.told(None),)
    return tuple(Known(_with_content(plan, content), rules, (), (over.rule,)) for plan in plans)


def replies(engine: Engine, plan: Plan) -> dict[str, list[Sample]]:
    """What comes where nobody says what is right, by route; of one message by its name."""
    exchanges = _asked(engine, plan)
    found: dict[str, list[Sample]] = {}
    values: Sequence[Mapping[Source, str] | None] = [None] * len(exchanges)
    if plan.traffic is not None:
        values = sent_with(plan.traffic, exchanges)
        found = {name: [] for name in unchecked(plan.traffic)}
    for one, with_these in zip(exchanges, values, strict=True):
        if _is_good(one) and (plan.traffic is None or one.route in found):
            found.setdefault(one.route, []).append(_sample(one, with_these))
    return found


def in_study(engine: Engine, study: Study, *, constants: bool = True) -> tuple[Study, list[Known]]:
    """The study with what is learned from its servers that run already, and what that is."""
    groups: dict[object, list[Case]] = {}
    for case in study.cases:
        if case.url is not None and learns(question(case, case.url)):
            groups.setdefault(alike(case, case.url), []).append(case)
    taught: dict[str, Case] = {}
    told = []
    for cases in groups.values():
        by_url = {case.url: case for case in cases if case.url is not None}
        plans = [question(case, url) for url, case in by_url.items()]
        found = dict(zip(by_url, known(engine, plans, constants=constants), strict=True))
        told.append(next(iter(found.values())))
        taught |= {one.scenario.name: _taught(one, found[one.url]) for one in cases if one.url}
    all_cases = tuple(taught.get(one.scenario.name, one) for one in study.cases)
    return study.model_copy(update={"cases": all_cases}), told


@dataclass(frozen=True)
class Over:
    """The rule over several servers, and where they differ: it is looser there than each one's."""

    rule: Learned
    differing: tuple[str, ...]

    @classmethod
    def of(
        cls,
        route: str,
        each: Sequence[Sequence[Sample]],
        *,
        status: int | None = None,
        constants: bool = True,
    ) -> Over:
        """`each`: the samples of each server; of one there may be none."""
        each = [samples for samples in each if samples]
        apart = [learn(route, samples, status=status, constants=constants) for samples in each]
        if len(apart) == 1:
            return cls(apart[0], ())
        every = [sample for samples in each for sample in samples]
        rule = learn(route, every, status=status, constants=constants)
        kinds = [{one.path: kind_of(one.what) for one in found.varied} for found in apart]
        differing = (
            one.path
            for one in rule.varied
            if one.path and any(of.get(one.path) != kind_of(one.what) for of in kinds)
        )
        return cls(rule, tuple(differing))

    @property
    def difference(self) -> str:
        """Where they differ, as it follows the rule in words; empty: nowhere."""
        return f"; the servers differ in {', '.join(self.differing)}" if self.differing else ""

    def told(self, route: str | None) -> LearnedRule:
        """It as it is kept."""
        kept = kept_of(self.rule, route)
        return kept.model_copy(update={"told": f"{kept.told}{self.difference}"})


def kept_of(rule: Learned, route: str | None) -> LearnedRule:
    """A rule as it is kept."""
    return LearnedRule(route=route, samples=rule.samples, told=rule.told, bound=rule.bound)


def kind_of(words: str) -> str:
    """What is said of a place, without lengths: those of samples differ by chance."""
    return re.sub(r"[0-9,]+", "", words)


def question(case: Case, url: str) -> Plan:
    """What is asked of a case's server."""
    stop = Stop(requests=SESSIONS) if case.traffic is None else Stop(sessions=SESSIONS)
    load = Load(connections=CONNECTIONS)
    return Plan(target=case.target(url), traffic=case.traffic, load=load, stop=stop)


def alike(case: Case, url: str) -> object:
    """What is the same of cases that are asked the same, wherever their servers are."""
    parts = urlsplit(url)
    target = case.target("http://server/").model_dump_json()
    if case.traffic is None:
        return (parts.path, parts.query, target)
    return (target, tuple(one.name for one in case.traffic.routes))


def _taught(case: Case, known: Known) -> Case:
    scenario = case.scenario.model_copy(update={"learned": known.rules})
    plan = known.plan
    update = {"scenario": scenario, "expect": plan.target.expect, "traffic": plan.traffic}
    return case.model_copy(update=update)


def _asked(engine: Engine, plan: Plan) -> tuple[Exchange, ...]:
    most = [count for count in (plan.stop.requests, plan.stop.sessions) if count is not None]
    if plan.traffic is None:
        # Any content with the right status: what is right is what is to be found out.
        plan = _with_content(plan, StatusContent())
    else:
        # A redirect is a right reply, too: it can be told from an error afterwards.
        names = unchecked(plan.traffic)
        plan = _with_routes(plan, dict.fromkeys(names, RouteExpect(status="any")))
    sessions = min([SESSIONS, *most])
    return engine.ask(plan, sessions=sessions, connections=CONNECTIONS, limit_s=LIMIT_S)


def _is_good(one: Exchange) -> bool:
    """Whether it can be learned from. An error can't, and is counted by its status in the load."""
    return one.is_right and not one.is_cut and one.status is not None and one.status < 400


def _sample(one: Exchange, values: Mapping[Source, str] | None = None) -> Sample:
    assert one.status is not None
    return Sample(one.status, one.headers, one.content, one.sent, time.time(), values or {})


def content_of(found: Learned) -> Content | None:
    """What checks one message; None: the engine learns as much of the first reply."""
    if found.kind in ("equal", "echo"):
        return None
    if found.shape is not None:
        return ShapedContent(shape=found.shape)
    pattern = found.pattern
    if pattern is None:
        least, most = found.length or (0, 0)
        is_counted = most <= _LONGEST_COUNTED
        times = f"{{{least},{most}}}" if is_counted else f"{{{min(least, 1000)},}}"
        pattern = f"^(?s-u:.){times}$"
    return MatchingContent(rules=(f"regex:{pattern}",))


def _with_content(plan: Plan, content: Content) -> Plan:
    expect = plan.target.expect.model_copy(update={"content": content})
    return plan.model_copy(update={"target": plan.target.model_copy(update={"expect": expect})})


def _of_routes(
    plans: Sequence[Plan], came: Sequence[Mapping[str, Sequence[Sample]]], *, constants: bool
) -> tuple[Known, ...]:
    traffic = plans[0].traffic
    assert traffic is not None
    over = {
        name: Over.of(name, of_one_class(each), constants=constants)
        for name in unchecked(traffic)
        if any(each := [of_server[name] for of_server in came])
    }
    found = {name: one.rule for name, one in over.items()}
    rules = tuple(one.told(name) for name, one in over.items())
    unknown = tuple(name for name in unchecked(traffic) if name not in found)
    expects = expects_of(traffic, found)
    learned = tuple(found.values())
    return tuple(Known(_with_routes(plan, expects), rules, unknown, learned) for plan in plans)


def expects_of(traffic: Traffic, found: Mapping[str, Learned]) -> dict[str, RouteExpect]:
    """What is right of each route; an echo is the request's body, with what is made for each."""
    bodies = {route.name: route.body for route in traffic.routes}
    return {name: rule.expect or RouteExpect(body=bodies[name]) for name, rule in found.items()}


def of_one_class(each: Sequence[Sequence[Sample]]) -> list[list[Sample]]:
    """Those without redirects where not all are: somebody may not have been signed in."""
    is_mixed = len({sample.status >= 300 for samples in each for sample in samples}) > 1
    return [[one for one in samples if not is_mixed or one.status < 300] for samples in each]


def _with_routes(plan: Plan, expects: Mapping[str, RouteExpect]) -> Plan:
    """The plan with what is right of these routes."""
    assert plan.traffic is not None
    return plan.model_copy(update={"traffic": traffic_with(plan.traffic, expects)})


def traffic_with(traffic: Traffic, expects: Mapping[str, RouteExpect]) -> Traffic:
    """The same of traffic."""
    routes = tuple(
        route.model_copy(update={"expect": expects.get(route.name, route.expect)})
        for route in traffic.routes
    )
    return traffic.model_copy(update={"routes": routes})
