"""The search for the highest rate of one target that keeps its goals, and what is shown of it.

Knows what was typed; must not know how the rates are chosen, nor how a level is measured.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from wiretrial import quantities, redaction
from wiretrial.cli import fleet_wanted, loading, output, starting, traffic_wanted
from wiretrial.cli.fleet_wanted import FleetWanted
from wiretrial.cli.learning import Learning
from wiretrial.cli.limit_levels import USUAL, Levels
from wiretrial.cli.loading import Typed
from wiretrial.cli.options import Fleet, Loop
from wiretrial.cli.starting import NO_OWN, Own
from wiretrial.cli.wanted import Wanted
from wiretrial.errors import (
    EXIT_GATE,
    EXIT_GOOD,
    EXIT_INVALID,
    EXIT_SIGNAL,
    LimitsTooLow,
    UsageProblem,
)
from wiretrial.goals import QUANTILES, Goal
from wiretrial.observers import address, opening
from wiretrial.plan import OpenLoop, Plan
from wiretrial.plan_traffic import Traffic
from wiretrial.report import limit_text
from wiretrial.results import quantiles
from wiretrial.results.limits import Level, Limit
from wiretrial.studies import estimate
from wiretrial.studies.limits import Settings
from wiretrial.traffic import goals as goals_of
from wiretrial.traffic import loads
from wiretrial.traffic.compiler import is_traffic
from wiretrial.traffic.places import Place, TrafficProblem

CONNECTIONS = "100"
"""For one message: fewer would bind before most servers do."""
FIRST_SESSIONS = 10.0
"""Per second, of a traffic file that names no rate."""
NO_FLEET = Fleet(address=None, certificates=None, agents=None, on_loss=None)
ROUNDED = 1e-9
"""What a rate may lose on its way through the plan."""
HIGHEST = 1e8
"""Beyond what any generator sends."""
FEWEST_MESSAGES, MOST_MESSAGES = 100, 100_000
MOST_WARMUP_NS = 30_000_000_000
_GOAL = re.compile(r"(?P<key>[^<>=]+?)\s*(?P<bound>(?:<|>).*)")


@dataclass(frozen=True)
class Search:
    """How it is searched, as it was typed."""

    goals: tuple[str, ...]
    first: str | None
    ceiling: str | None
    searches: str
    tolerance: str
    within: str


class Result(Protocol):
    """A document that JSON has whole."""

    def to_json(self) -> str:
        """It."""


@dataclass(frozen=True)
class Kept:
    """What becomes of what was measured."""

    keeps_secrets: bool
    format: output.Format
    file: Path | None
    page: Path | None

    def require_writable(self) -> None:
        """Refuses before anything is measured what could not be written after it."""
        for path, flag in ((self.file, "-o"), (self.page, "--report")):
            if path:
                output.require_writable(path, flag)

    def show(self, made: Result, text: Callable[..., str]) -> None:
        """The result as it was asked for, in a terminal's width and colours where that is one."""
        if self.format is output.Format.JSON:
            output.emit(made.to_json(), self.file)
            return
        colour = self.file is None and output.colour(sys.stdout)
        output.emit(text(made, width=output.width(), colour=colour), self.file)


@dataclass(frozen=True)
class Further:
    """What is measured after the search and the levels beside it, at shares of its rate."""

    mixes: float
    """Other mixes of a traffic file's routes."""
    crowded: float
    """More connections, so many times as many as the search had."""
    connections: tuple[int, ...]


@dataclass(frozen=True)
class Searched:
    """What was found, and how the search ended."""

    limit: Limit
    levels: Levels
    beside: tuple[Level, ...] = ()
    """At shares of the rate that was found."""
    mixes: tuple[Level, ...] = ()
    """Of other mixes of a traffic file's routes."""
    crowded: tuple[Level, ...] = ()
    """With more connections."""

    def require_whole(self) -> None:
        """Raises what ended it, where it was not the search itself."""
        if self.levels.failure is not None:
            raise self.levels.failure


def limit(typed: Typed, search: Search, fleet: Fleet, kept: Kept, own: Own = NO_OWN) -> int:
    """Searches and shows; the exit code tells whether a rate was found, or the only one was kept.

    `own`: how a server of one's own is started, which is measured then.
    """
    kept.require_writable()
    what = starting.meant(typed, own)
    if what is None:
        found = searched(typed, search, fleet, keeps_secrets=kept.keeps_secrets)
    else:
        _require_no_fleet(fleet)
        with starting.running(what, typed, starting.dealt(typed, 1)) as one:
            found = searched(
                one.typed, search, fleet, keeps_secrets=kept.keeps_secrets, shown=one.shown
            )
    made = found.limit
    _show(made, kept)
    if found.levels.signal is not None:
        return EXIT_SIGNAL + found.levels.signal
    found.require_whole()
    if made.rate is None:
        return EXIT_GATE if made.end == "complete" else EXIT_INVALID
    asked = _only(search)
    if asked is None or _is_kept(made, asked):
        return EXIT_GOOD
    output.say(f"not kept: {asked:,.10g} {made.unit}, the only rate that was asked for")
    return EXIT_GATE


def _only(search: Search) -> float | None:
    """The rate that is to be confirmed, with no room for another; None: it is searched for."""
    if search.first is None or search.ceiling is None:
        return None
    first = quantities.rate(search.first, "--from")
    return first if first == quantities.rate(search.ceiling, "--to") else None


def _is_kept(made: Limit, rate: float) -> bool:
    """Whether a search confirmed it."""
    return any(
        one.is_confirmed and one.kept is not None and one.kept >= rate * (1 - ROUNDED)
        for one in made.searches
    )


def searched(
    typed: Typed,
    search: Search,
    fleet: Fleet,
    *,
    keeps_secrets: bool,
    shares: Sequence[float] = (),
    further: Further | None = None,
    addresses: tuple[str, ...] = (),
    shown: str | None = None,
) -> Searched:
    """The search, then a level at each of these shares of the rate that it found, then further.

    `addresses`: those of several instances, over which connections are spread; else that of the
    URL. `shown`: what is measured, as it is shown; else the URL.
    """
    many = FleetWanted.of(fleet)
    parts = address.parse_all(typed.servers)
    opening.require_prompt(parts)
    of_file, connections = is_traffic(typed.url), typed.loop.connections
    loop = replace(
        typed.loop,
        rate=search.first or (None if of_file else "1"),
        connections=connections or (traffic_wanted.DEFAULT_CONNECTIONS if of_file else CONNECTIONS),
    )
    plan, wanted = loading.planned(replace(typed, loop=loop), many)
    if addresses:
        target = plan.target.model_copy(update={"addresses": addresses})
        plan = plan.model_copy(update={"target": target})
    thinking_s = loads.thinking_s(plan.traffic) if plan.traffic else 0.0
    plan = _at_a_rate(plan, loop, quantities.count(loop.connections, "--connections"))
    if plan.traffic:
        loads.require_rows(loads.Sending(plan.traffic, plan.load), math.inf)
        thinking_s -= loads.thinking_s(plan.traffic)
    goals = _goals(search.goals, wanted)
    if many is None:
        loading.require_room(plan, wanted)
    with fleet_wanted.engine(many, keeps_cpus=True) as engine:
        plan, wanted = Learning.of(typed.asked).learnt(plan, wanted, of_fleet=many is not None)
        levels = Levels(
            engine,
            plan,
            wanted,
            goals,
            shown=_shown(shown or typed.url, keeps_secrets=keeps_secrets),
            keeps_secrets=keeps_secrets,
            sizes_itself=of_file and not connections,
            parts=parts,
            thinking_ns=thinking_s * 1e9,
            of_fleet=many is not None,
        )
        try:
            settings = _settings(search, levels)
            made = levels.climbed(settings)
            beside = levels.beside(settings, made, shares)
            if further is None:
                return Searched(made, levels, beside)
            mixed = levels.mixed(settings, made, further.mixes)
            crowded = levels.crowded(settings, made, further.crowded, further.connections)
            return Searched(made, levels, beside, mixed, crowded)
        except LimitsTooLow as short:
            raise short.for_command(("wiretrial", *sys.argv[1:])) from short


def _require_no_fleet(fleet: Fleet) -> None:
    if fleet.address is not None:
        raise UsageProblem(
            "--fleet loads from other machines, and a server that is started here is reached from"
            " this one alone",
            "start it yourself, and name its URL",
        )


def _shown(text: str, *, keeps_secrets: bool) -> str:
    return text if keeps_secrets else redaction.text(text)


def _at_a_rate(plan: Plan, loop: Loop, connections: int) -> Plan:
    """The plan as an open loop at some rate, without stages: each level stays at its rate."""
    load, sessions, phases = plan.load, plan.traffic, plan.phases
    if not isinstance(load.executor, OpenLoop):
        executor = {"rate": FIRST_SESSIONS, "pacing": loop.pacing}
        load = load.model_copy(update={"executor": OpenLoop.model_validate(executor)})
    if sessions is not None:
        sessions = loads.unthinking(sessions)
        # Only after the time of a session as many are open as will be.
        session_ns = min(round(loads.thinking_s(sessions) * 1e9), MOST_WARMUP_NS)
        phases = phases.model_copy(update={"warmup_ns": max(phases.warmup_ns, session_ns)})
    pool = None if load.users is None else load.connections
    sizes = loads.pooled(connections, pool, is_counted=False)
    load = load.model_copy(update={**sizes, "stages": ()})
    return plan.model_copy(update={"load": load, "traffic": sessions, "phases": phases})


def _goals(typed: Sequence[str], wanted: Wanted) -> tuple[Goal, ...]:
    """Those of the command line, or else those of the traffic file."""
    sessions = wanted.traffic
    routes = [one.name for one in sessions.asked] if sessions else []
    flows = [flow.name for flow in sessions.flows] if sessions else []
    found = [_goal(text, routes, flows) for text in typed] if typed else list(wanted.goals)
    for goal in found:
        if goal.figure == "throughput" or goal.relation in (">", ">="):
            raise UsageProblem(
                f"{goal}: not a goal that a lower rate keeps",
                "give upper bounds of times or errors; the rate itself is what is searched for",
            )
    return tuple(found)


def _goal(text: str, routes: Sequence[str], flows: Sequence[str]) -> Goal:
    parts = _GOAL.fullmatch(text.strip())
    if not parts:
        raise UsageProblem(f"--goal {text!r} is no goal", "write it as 'p99 < 50ms'")
    place = Place(Path("--goal"))
    try:
        return goals_of.goal(parts["key"].strip(), parts["bound"], routes, flows, place)
    except TrafficProblem as problem:
        message = problem.message.removeprefix(f"{place}: ")
        raise UsageProblem(f"--goal {text!r}: {message}", problem.remedy) from problem


def _settings(search: Search, levels: Levels) -> Settings:
    plan = levels.plan
    executor = plan.load.executor
    assert isinstance(executor, OpenLoop)
    assert plan.stop.duration_ns is not None
    settings = Settings(
        first=executor.rate,
        ceiling=HIGHEST if search.ceiling is None else quantities.rate(search.ceiling, "--to"),
        searches=quantities.count(search.searches, "--searches", most=100),
        tolerance=quantities.share(search.tolerance, "--tolerance"),
        level_ns=plan.stop.duration_ns,
        warmup_ns=plan.phases.warmup_ns,
        within_ns=quantities.duration_ns(search.within, "--within", 1_000_000_000),
        needed=_needed(levels.goals, plan.traffic),
        seed=plan.load.seed,
    )
    if not settings.tolerance:
        raise UsageProblem("--tolerance 0 is never reached", "give a share such as 5%")
    if settings.whole_ns(settings.ceiling) > settings.within_ns:
        raise UsageProblem(
            f"--within {search.within} is shorter than one level",
            f"give {estimate.words(settings.whole_ns(settings.ceiling) + 1_000_000_000)} or more,"
            " or a shorter -d",
        )
    if search.first is None and plan.traffic is None:
        settings = replace(settings, first=levels.probed())
    return settings


def _needed(goals: Sequence[Goal], sessions: Traffic | None) -> float:
    """So many messages, or sessions, that each goal can be told."""
    least = [float(FEWEST_MESSAGES)] if goals else [float(quantiles.needed(USUAL))]
    for goal in goals:
        figure = goal.figure.rpartition(".")[2]
        messages = FEWEST_MESSAGES
        if figure in QUANTILES:
            messages = quantiles.needed(QUANTILES[figure])
        elif figure == "errors" and goal.value > 0:
            messages = min(math.ceil(1 / goal.value), MOST_MESSAGES)
        least.append(messages / (loads.per_session(sessions, goal) if sessions else 1.0))
    return max(least)


def _show(made: Limit, kept: Kept) -> None:
    kept.show(made, limit_text.render)
    if kept.page:
        # Not at the top: the drawing library takes long to load.
        from wiretrial.report import limit_page

        output.write_page(limit_page.render(made), kept.page, "--report")
