"""Measures the levels of a search for the highest rate, and makes the result of them.

Knows how a level is sent and judged; must not know how the rates are chosen, nor what was typed.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wiretrial import redaction, words
from wiretrial.cli import interrupts, loading, output
from wiretrial.cli.limit_waiting import Broken, Recovery
from wiretrial.cli.wanted import Wanted
from wiretrial.engine import Engine
from wiretrial.errors import EngineFailed, MeasurementInvalid, TargetSilent, WiretrialError
from wiretrial.goals import Goal
from wiretrial.observers.address import Address
from wiretrial.plan import ClosedLoop, OpenLoop, Plan, Stop
from wiretrial.plan_traffic import Traffic
from wiretrial.report import goal_metrics, limit_text, resources, units
from wiretrial.report.goal_metrics import Outcome
from wiretrial.report.measures import Measured
from wiretrial.report.sums import total
from wiretrial.results import quantiles
from wiretrial.results.limits import End, Figure, Level, Limit, Reason, RouteRate
from wiretrial.results.model import Trial
from wiretrial.stats.knee import Refusal
from wiretrial.studies import estimate, limits
from wiretrial.studies.limits import Settings, Step
from wiretrial.studies.sent import now
from wiretrial.traffic import loads, mixes

PROBE_NS = 1_000_000_000
MOST_CONNECTIONS = 5_000
"""Held for their memory."""
USUAL = 0.99
"""The quantile that is shown where no goal is about a time."""


@dataclass
class Levels:
    """Measures one level after the other."""

    engine: Engine
    plan: Plan
    wanted: Wanted
    goals: tuple[Goal, ...]
    shown: str
    """The target, as it is shown."""
    keeps_secrets: bool
    sizes_itself: bool
    """Whether a traffic file's users are counted for each rate."""
    parts: tuple[Address, ...] = ()
    """What is watched of the application."""
    thinking_ns: float = 0.0
    """Before the first requests of sessions, as their file has it."""
    signal: int | None = None
    begun_ns: int = field(default_factory=time.monotonic_ns)
    searches: int = 1
    failure: WiretrialError | None = None
    """What ended the search, where it was not the search itself."""
    of_fleet: bool = False
    """Others send, and may reach what this machine can't."""
    _session_s: float | None = None
    """How long a session may take, as the last level had it."""

    def __post_init__(self) -> None:
        self._recovery = Recovery(
            self.engine, is_asked=not self.of_fleet, keeps_secrets=self.keeps_secrets
        )

    def climbed(self, settings: Settings) -> Limit:
        """The whole search."""
        self.searches, started_at = settings.searches, now()
        self._recovery.until_s = (self.begun_ns + settings.within_ns) / 1e9
        measured: list[Level] = []
        try:
            for level in limits.climb(settings, self._measure, self._elapsed_ns):
                # What a signal cut short is no level.
                if self.signal is not None:
                    break
                measured.append(level)
                if not sys.stderr.isatty():
                    output.say(limit_text.of_level(level, self._unit))
        except WiretrialError as error:
            self._fail(error)
        self._recovery.until_s = None
        if not measured:
            if self.signal is not None:
                raise interrupts.Stopped(self.signal)
            if self.failure is not None:
                raise self.failure
            raise MeasurementInvalid(
                "the time was over before the first level", "give more --within"
            )
        found = limits.found(settings, measured)
        refused, between = limits.shown(measured, found), limits.interval(found)
        binding = limits.binding(refused)
        at_least = between is not None and binding in ("generator", "ceiling")
        complete = len(found) == settings.searches and all(one.is_confirmed for one in found)
        timed = [goal for goal in self.goals if goal.is_time]
        if between is None:
            complete = self._elapsed_ns() < settings.within_ns
        return Limit(
            target=self.shown,
            command=redaction.command_line(shlex.join(("wiretrial", *sys.argv[1:]))),
            started_at=started_at,
            unit=self._unit,
            goals=tuple(map(str, self.goals)),
            time=timed[0].name if timed else quantiles.name(USUAL),
            time_goal_ns=timed[0].value if timed else None,
            tolerance=settings.tolerance,
            thinking_ns=self.thinking_ns,
            rate=between.value if between else None,
            low=between.low if between else None,
            high=between.high if between and not at_least else None,
            is_at_least=at_least,
            binding=binding,
            refused=refused,
            end=self._end(is_complete=complete),
            silent_after=measured[-1].rate if isinstance(self.failure, TargetSilent) else None,
            searches=found,
            levels=tuple(measured),
        )

    def beside(self, settings: Settings, made: Limit, shares: Sequence[float]) -> tuple[Level, ...]:
        """A level at each of these shares of the rate that was found; none where it ended early."""

        def said(_step: Step, level: Level) -> str:
            return limit_text.of_level(level, self._unit)

        return self._further(settings, made, shares, self._measure, said)

    def mixed(self, settings: Settings, made: Limit, share: float) -> tuple[Level, ...]:
        """A level of each other mix of a traffic file's routes, at this share of the rate.

        What its goals say does not count: they are about the file's own mix.
        """
        whole = self.plan.traffic
        chosen = () if whole is None else mixes.others(whole)

        def measured(step: Step) -> Level:
            return self._measure(step, chosen[step.number - 1].traffic)

        def said(step: Step, _level: Level) -> str:
            mix = f"mix {step.number} of {len(chosen)}"
            return f"{mix}: {units.trimmed(step.rate)} {self._unit}"

        return self._further(settings, made, [share * mix.share for mix in chosen], measured, said)

    def crowded(
        self, settings: Settings, made: Limit, share: float, times: Sequence[int]
    ) -> tuple[Level, ...]:
        """Levels at this share of the rate with so many times the connections, for their memory.

        None where users share a pool, and none beyond what this machine has descriptors for.
        """
        load = self.plan.load
        many = [] if load.users is not None else crowds(load.connections, times)

        def measured(step: Step) -> Level | None:
            try:
                return self._measure(step, connections=many[step.number - 1])
            except EngineFailed:
                # Descriptors or ports are too few for so many, here or there.
                return None

        def said(step: Step, _level: Level) -> str:
            asked = f"{many[step.number - 1]:,} connections"
            return f"with {asked}: {units.trimmed(step.rate)} {self._unit}"

        return self._further(settings, made, [share] * len(many), measured, said)

    def _further(
        self,
        settings: Settings,
        made: Limit,
        shares: Sequence[float],
        measure: Callable[[Step], Level | None],
        said: Callable[[Step, Level], str],
    ) -> tuple[Level, ...]:
        """Levels at these shares of the rate that was found, until one can't be measured.

        None where the search ended early, or a signal came since. What was measured before the
        engine failed is kept: the failure is told beside it.
        """
        lowest = made.low or made.rate
        if lowest is None or self._end(is_complete=True) != "complete":
            return ()
        measured: list[Level] = []
        for number, share in enumerate(shares, 1):
            rate = share * lowest
            left_ns = (len(shares) - number + 1) * settings.whole_ns(rate)
            step = Step(0, number, rate, settings.length_ns(rate), left_ns)
            try:
                level = measure(step)
            except WiretrialError as error:
                self._fail(error)
                break
            # What a signal cut short is no level.
            if level is None or self.signal is not None:
                break
            measured.append(level)
            if not sys.stderr.isatty():
                output.say(said(step, level))
        return tuple(measured)

    def probed(self) -> float:
        """A rate to begin with: half of what a closed loop reaches in a second."""
        load = self.plan.load.model_copy(update={"executor": ClosedLoop()})
        trial = self._run(
            self.plan.model_copy(update={"load": load, "stop": Stop(duration_ns=PROBE_NS)}),
            "first, a second without a rate",
        )
        # So many connections may be too much for it already.
        self._recovery.saw("a second without a rate", strained=True)
        reached = Measured(trial).throughput or 0.0
        if not trial.summary.counters.ok:
            raise MeasurementInvalid(
                f"no {words.of_target(self.plan.target).one} was answered rightly:"
                f" {trial.judgement.evidence}",
                "see why with `wiretrial load`",
            )
        return max(reached / 2, 1.0)

    def _fail(self, error: WiretrialError) -> None:
        """What was measured until then is kept."""
        if isinstance(error, Broken):
            self.signal = error.number
        else:
            self.failure = error

    def _end(self, *, is_complete: bool) -> End:
        if self.signal is not None:
            return "interrupted"
        if self.failure is not None:
            return "failed"
        return "complete" if is_complete else "time"

    @property
    def _unit(self) -> str:
        if self.plan.traffic is not None:
            return "sessions/s"
        return f"{words.of_target(self.plan.target).many}/s"

    @property
    def _counts_failed(self) -> bool:
        """Whether a goal says how many may fail."""
        return any(goal.figure == "errors" for goal in self.goals)

    def _elapsed_ns(self) -> int:
        return time.monotonic_ns() - self.begun_ns

    def _measure(
        self, step: Step, mix: Traffic | None = None, connections: int | None = None
    ) -> Level:
        """One level. What a person sees of it meanwhile is headed by how long it all takes.

        `mix`: sessions in place of the plan's. `connections`: in place of its own.
        """
        load = self.plan.load
        executor = load.executor
        assert isinstance(executor, OpenLoop)
        update: dict[str, object] = {
            "executor": executor.model_copy(update={"rate": step.rate}),
        }
        sessions = mix or self.plan.traffic
        if sessions is not None and self.sizes_itself:
            users = loads.enough(sessions, step.rate, self._session_s)
            pool = None if load.users is None else load.connections
            update |= loads.pooled(users, pool, is_counted=False)
        if connections is not None:
            update["connections"] = connections
        plan = self.plan.model_copy(
            update={
                "traffic": sessions,
                "load": load.model_copy(update=update),
                "stop": Stop(duration_ns=step.length_ns),
            }
        )
        left = estimate.words(step.left_ns)
        search = f"search {step.search} of {self.searches}" if step.search else "lower levels"
        search = "routes in another mix" if mix else search
        search = f"{connections:,} connections" if connections else search
        heading = f"{search}, level {step.number}: {step.rate:,.0f} {self._unit}, about {left} left"
        # Many connections may be more than it ever takes.
        trial = self._recovery.begun(
            plan, lambda: self._run(plan, heading), again=connections is None
        )
        self._session_s = _session_s(trial) or self._session_s
        level = self._level(step, trial)
        self._recovery.saw(
            f"the level at {units.trimmed(step.rate)} {self._unit}",
            strained=not level.is_kept,
            reply_s=max(level.time_ns or 0.0, level.stay_ns or 0.0) / 1e9,
        )
        return level

    def _run(self, plan: Plan, heading: str) -> Trial:
        trial, number = loading.run_one(
            self.engine,
            plan,
            self.wanted,
            self._allowed,
            keeps_secrets=self.keeps_secrets,
            heading=f"{redaction.url(plan.target.url)}   {heading}",
            parts=self.parts,
            # What a host does at rest is no matter of a rate.
            rest_s=0.0,
        )
        self.signal = self.signal or number
        return trial

    @property
    def _allowed(self) -> float:
        """The share of messages that may fail: a goal says it, or none may."""
        of_all = [goal.value for goal in self.goals if goal.figure == "errors" and goal.of is None]
        return min(of_all) if of_all else 1.0 if self._counts_failed else 0.0

    def _level(self, step: Step, trial: Trial) -> Level:
        outcomes = goal_metrics.judge(self.goals, trial)
        measured, judgement = Measured(trial), trial.judgement
        seen = limits.observation(trial, counts_failed=self._counts_failed)
        reason, why = _refused(trial, outcomes, limits.refused(seen))
        timed = [one for one in outcomes if one.goal.is_time]
        time_ns = quantiles.told(measured.waiting_time, USUAL)
        return Level(
            search=step.search,
            rate=step.rate,
            answered=seen.achieved,
            duration_ns=measured.counted_ns,
            connections=trial.plan.load.connections,
            is_kept=reason is None,
            reason=reason,
            why=why,
            figures=tuple(
                Figure(goal=str(one.goal), value=one.value, is_kept=one.is_kept) for one in outcomes
            ),
            time_ns=timed[0].of_replies if timed else time_ns,
            failed_share=measured.failed_share or 0.0,
            unopened=resources.unopened(measured),
            occupied=limits.occupied(trial),
            server_busy=judgement.server.busy if judgement.server else None,
            server_waiting=judgement.server.queued if judgement.server else None,
            generator_busy=judgement.generator.busy if judgement.generator else 0.0,
            verdict=judgement.verdict,
            bottleneck=judgement.bottleneck,
            evidence=judgement.evidence,
            stay_ns=_stay_ns(measured),
            bytes=measured.transport_bytes,
            resources=resources.used(measured),
            kernel_bytes=measured.per_connection(
                lambda each: total(each.tcp_memory_bytes, each.socket_slab_bytes)
            ),
            routes=tuple(
                RouteRate(name=route.name, rate=route.rate) for route in measured.routed.routes
            ),
        )


def crowds(own: int, times: Sequence[int]) -> list[int]:
    """So many times the connections of a search, at most `MOST_CONNECTIONS`; only more of them."""
    many = {min(factor * own, MOST_CONNECTIONS) for factor in times}
    return sorted(one for one in many if one > own)


def _refused(
    trial: Trial, outcomes: Sequence[Outcome], missed: Refusal | None
) -> tuple[Reason | None, str]:
    """Why a level's rate is not kept, and that in words; None where it is."""
    lost = [one for one in outcomes if not one.is_kept]
    for one in lost:
        if one.goal.figure == "errors":
            return "goal", one.found
    if trial.judgement.verdict in ("invalid", "partial"):
        return "invalid", trial.judgement.evidence.partition(";")[0]
    if missed is not None and missed.reason != "objective":
        return missed.reason, missed.text
    return ("goal", lost[0].found) if lost else (None, "")


def _stay_ns(measured: Measured) -> float | None:
    """How long what arrives at the rate takes on average: a message, or a whole session."""
    if measured.is_overloaded:
        return None
    flows = [flow.iterations for flow in measured.routed.flows if flow.iterations.count]
    if flows:
        return sum(one.mean * one.count for one in flows) / sum(one.count for one in flows)
    times = measured.waiting_time
    return times.mean if times.count else None


def _session_s(trial: Trial) -> float | None:
    """How long the longest of a hundred sessions took; of fewer than tell that, the longest of all.

    None where that says nothing: none ended, or they waited for a user, longer and longer.
    """
    measured = Measured(trial)
    if measured.is_overloaded:
        return None
    times = [flow.iterations for flow in measured.routed.flows if flow.iterations.count]
    longest = (quantiles.told(one, USUAL) or one.max for one in times)
    return max((ns / 1e9 for ns in longest), default=None)
