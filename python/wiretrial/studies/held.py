"""Which rule each server of a comparison is held to: one for all, or one of its own replies.

Pure. Knows servers and what they answered; must not know how they were asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wiretrial.plan import Content
from wiretrial.results.learned import LearnedRule
from wiretrial.studies import learned
from wiretrial.studies.spec import Case
from wiretrial.traffic.learning import Learned, NotLearned, Sample, learn


@dataclass
class Server:
    """One that several scenarios ask the same."""

    name: str
    cases: list[Case] = field(default_factory=list)
    came: list[Mapping[str, Sequence[Sample]]] = field(default_factory=list)
    """The replies by route, of each start."""

    def samples(self, route: str) -> list[Sample]:
        """What came of a route."""
        every = [sample for one in self.came for sample in one.get(route, ())]
        return learned.of_one_class([every])[0]


@dataclass
class Held:
    """What a server is held to: rules of routes, or that of the one message."""

    found: dict[str, Learned] = field(default_factory=dict)
    content: Content | None = None
    rules: list[LearnedRule] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def put(self, case: Case) -> Case:
        """The case with its rules."""
        scenario = case.scenario.model_copy(update={"learned": tuple(self.rules)})
        expect, traffic = case.expect, case.traffic
        if traffic is not None:
            traffic = learned.traffic_with(traffic, learned.expects_of(traffic, self.found))
        elif self.content is not None:
            expect = expect.model_copy(update={"content": self.content})
        update = {"scenario": scenario, "expect": expect, "traffic": traffic}
        return case.model_copy(update=update)


def held(servers: Sequence[Server], *, constants: bool) -> list[Held]:
    """What each is held to: one rule where they answer alike, else what it itself answered."""
    case, found = servers[0].cases[0], [Held() for _ in servers]
    is_one = case.traffic is None
    status = case.expect.status if is_one else None
    asked = {name: None for server in servers for one in server.came for name in one}
    for route in asked if case.traffic is None else learned.unchecked(case.traffic):
        each = [server.samples(route) for server in servers]
        alone = [_learnt(server, route, status=status, constants=constants) for server in servers]
        shared, told = _shared(route, each, alone, status=status, constants=constants)
        for server, own, to in zip(servers, alone, found, strict=True):
            rule = shared or own
            if rule is None:
                to.unknown.append(f"{route} of {server.name}" if any(alone) else route)
                continue
            if is_one and (content := learned.content_of(rule)) is None:
                # The engine goes by the first reply of each trial.
                continue
            to.content = content if is_one else None
            to.found[route] = rule
            kept = learned.kept_of(rule, None if is_one else route)
            own_told = {"told": f"{kept.told}{told}", "of": server.name}
            to.rules.append(kept if shared else kept.model_copy(update=own_told))
    return found


def _learnt(server: Server, route: str, *, status: int | None, constants: bool) -> Learned | None:
    """The rule of a server's own replies; None: there are none."""
    if not (samples := server.samples(route)):
        return None
    try:
        return learn(route, samples, status=status, constants=constants)
    except NotLearned as error:
        raise NotLearned(f"{server.name}: {error.message}", error.remedy) from None


def _shared(
    route: str,
    each: Sequence[Sequence[Sample]],
    alone: Sequence[Learned | None],
    *,
    status: int | None,
    constants: bool,
) -> tuple[Learned | None, str]:
    """The rule that all of these servers keep; None: they answer differently, and where."""
    if not any(alone):
        return None, ""
    try:
        over = learned.Over.of(route, each, status=status, constants=constants)
    except NotLearned:
        return None, ""
    if over.differing:
        return None, over.difference
    forms = {_form(one) for one in (*alone, over.rule) if one is not None}
    return (None, "") if len(forms) > 1 else (over.rule, "")


def _form(rule: Learned) -> object:
    """What must be the same of rules, beside the places of JSON."""
    holes = len(rule.varied) if rule.kind == "text" else 0
    return rule.status, rule.media_type, rule.kind, holes, rule.location is not None
