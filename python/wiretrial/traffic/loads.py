"""How traffic is sent: from a file's table `[load]`, or what stands in its place, to a plan's load.

Knows users, rates and stages; must not know who asks for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from wiretrial.errors import UsageProblem
from wiretrial.goals import Goal
from wiretrial.plan import AnyHttpVersion, ClosedLoop, Load, OpenLoop, Stage
from wiretrial.plan_traffic import (
    ConstantThink,
    ExponentialThink,
    Flow,
    LognormalThink,
    NoThink,
    Step,
    Think,
    Traffic,
    UniformThink,
)
from wiretrial.traffic.compiler import Scenario
from wiretrial.traffic.quantities import too_few

REPLY_S = 1.0
"""How long a reply is taken to need where users are counted for a rate of sessions, seconds."""
FEWEST_USERS, MOST_USERS = 10, 100_000
ROOM = 1.5
"""More users than are busy on average, by this factor."""
USERS = 10
"""Where neither the file nor whoever asks says how many."""


@dataclass(frozen=True)
class Instead:
    """What stands in the place of the file's users and arrivals; all None: the file counts."""

    users: int | None = None
    rate: float | None = None
    """Sessions per second."""
    pacing: str = "constant"
    stages: tuple[Stage, ...] = ()
    """Shares of these users, or of this rate."""
    streams: int | None = None
    """Of each connection of the file's pool."""
    http: AnyHttpVersion | None = None

    @property
    def is_given(self) -> bool:
        """Whether anything is, so that the file's stages do not count either."""
        return self.users is not None or self.rate is not None


FILE = Instead()


@dataclass(frozen=True)
class Sending:
    """Traffic with the load that it is sent with."""

    traffic: Traffic
    load: Load
    http: AnyHttpVersion = "1.1"

    @property
    def stages_ns(self) -> int | None:
        """How long the stages last together; None: there are none."""
        return staged_ns(self.load)

    @property
    def thinks(self) -> bool:
        """Whether users think, so that no server can be asked more than they do."""
        steps = (step for flow in self.traffic.flows for step in flow.steps)
        return any(
            not isinstance(think, NoThink)
            for step in steps
            for think in (step.think, step.back.think if step.back else NoThink())
        )


def sending(scenario: Scenario, instead: Instead = FILE, *, seed: int = 0) -> Sending:
    """How the scenario is sent: as its file says, or as stands in the place of that."""
    shape = scenario.load
    rate = shape.rate if instead.rate is None else instead.rate
    pacing = shape.pacing if instead.rate is None else instead.pacing
    users = instead.users
    if users is None:
        users = (shape.users or USERS) if rate is None else enough(scenario.traffic, rate)
    is_counted = rate is None and (instead.users or shape.users) is not None
    connections = pooled(users, shape.pool, is_counted=is_counted)
    version = instead.http or scenario.http
    _require_spoken(scenario, version, instead)
    connections |= _streams(scenario, version, instead.streams)
    executor: ClosedLoop | OpenLoop = ClosedLoop()
    if rate is not None:
        executor = OpenLoop.model_validate({"rate": rate, "pacing": pacing})
    stages = instead.stages if instead.is_given else tuple(_stages(scenario))
    traffic = scenario.traffic
    return Sending(
        traffic=traffic if instead.rate is None else unthinking(traffic),
        load=Load(**connections, executor=executor, stages=stages, seed=seed),
        http=version,
    )


def _require_spoken(scenario: Scenario, version: AnyHttpVersion, instead: Instead) -> None:
    """Raises where the version that is asked for, or its streams, do not carry the sessions."""
    if scenario.traffic.lines and (version in ("2", "3") or instead.streams is not None):
        raise UsageProblem(
            "conversations are had over HTTP/1.1, each on a connection of its own",
            "leave --http and --streams out (in a file, http and streams)",
        )


def _streams(scenario: Scenario, version: AnyHttpVersion, asked: int | None) -> dict[str, int]:
    """How many requests are on their way at once on each connection."""
    streams = scenario.load.streams if asked is None else asked
    if streams == 1:
        return {}
    if version == "1.1":
        raise UsageProblem(
            f"{streams:,} streams on each connection, and HTTP/1.1 has none",
            'add --http 2 (in the file, http = "2")',
        )
    if scenario.load.pool is None:
        raise UsageProblem(
            f"{streams:,} streams on a connection of each user, who sends one request after the"
            " other",
            f"write connections = {{pool = 10, streams = {streams}}} in [load]: users share them",
        )
    return {"depth": streams}


def staged_ns(load: Load) -> int | None:
    """How long the stages of a load last together; None: there are none."""
    return sum(stage.for_ns for stage in load.stages) or None


def pooled(users: int, pool: int | None, *, is_counted: bool) -> dict[str, int]:
    """Connections and users. `is_counted`: the users were asked for, and not taken here."""
    if pool is None:
        return {"connections": users}
    if is_counted and users < pool:
        raise UsageProblem(*too_few(pool, users))
    return {"connections": pool, "users": max(users, pool)}


def require_one_thread(load: Load, threads: int) -> None:
    """Raises where several threads of the generator would have to share a pool."""
    if load.users is not None and threads > 1:
        raise UsageProblem(
            f"a pool of connections belongs to one thread of the generator, not to {threads}",
            'use --threads 1 (of a study generator_threads = 1), or write connections = "per-user"',
        )


def unthinking(traffic: Traffic) -> Traffic:
    """The same without think times before first requests, which are due with their sessions."""
    return traffic.model_copy(update={"flows": tuple(map(_at_once, traffic.flows))})


def hurried(traffic: Traffic) -> Traffic:
    """The same without any think time; what is repeated until the load ends is taken twice."""
    flows = (
        flow.model_copy(update={"steps": tuple(map(_hurried, flow.steps))})
        for flow in traffic.flows
    )
    return traffic.model_copy(update={"flows": tuple(flows)})


def _hurried(step: Step) -> Step:
    again = {"think": NoThink(), "times": step.back and (step.back.times or 2)}
    back = step.back and step.back.model_copy(update=again)
    return step.model_copy(update={"think": NoThink(), "back": back})


def require_rows(sending: Sending, sessions: float) -> None:
    """Raises where sessions arrive and there are more of them than rows that one has to itself.

    One row is that of the session before the load, which has it to itself, too.
    """
    if not isinstance(sending.load.executor, OpenLoop):
        # Each user keeps a row.
        return
    for feed in sending.traffic.feeds:
        wanted = sessions * _mean(sending.traffic, partial(_takes_of, feed.name))
        if feed.order == "unique" and len(feed.rows) < wanted + 1:
            about = "sessions without an end" if math.isinf(wanted) else f"{wanted:,.0f} sessions"
            raise UsageProblem(
                f"{len(feed.rows):,} rows of {feed.name} for {about} and one before the load, of"
                " which each takes its own",
                'add rows, shorten the load, or write order = "sequential"',
            )


def _takes_of(feed: str, flow: Flow) -> bool:
    return flow.feed == feed


def enough(traffic: Traffic, rate: float, length_s: float | None = None) -> int:
    """Users for a rate of sessions: rate times the length of a session (Little's law).

    `length_s`: that length, where it is known better than from the think times.
    """
    busy = rate * (session_s(traffic) if length_s is None else length_s)
    return min(max(math.ceil(ROOM * busy), FEWEST_USERS), MOST_USERS)


def session_s(traffic: Traffic) -> float:
    """About how long a session takes, on average over the flows."""
    return thinking_s(traffic) + REPLY_S * requests_of(traffic)


def requests_of(traffic: Traffic) -> float:
    """How many requests or steps a session has, on average over the flows."""
    return _mean(traffic, lambda flow: sum(taken(flow)))


def thinking_s(traffic: Traffic) -> float:
    """How long a session thinks, likewise."""
    return _mean(traffic, _thinking)


def per_session(traffic: Traffic, goal: Goal) -> float:
    """How many of what the goal is about a session has, on average over the flows."""
    if goal.is_of_sessions:
        return _mean(traffic, lambda flow: goal.of in (None, flow.name))
    names = [one.name for one in traffic.asked]
    return _mean(
        traffic,
        lambda flow: sum(
            times * (goal.of in (None, names[step.route]))
            for step, times in zip(flow.steps, taken(flow), strict=True)
        ),
    )


def _mean(traffic: Traffic, of: Callable[[Flow], float]) -> float:
    """Over the sessions of all flows, by their weights."""
    weights = sum(flow.weight for flow in traffic.flows)
    return sum(flow.weight * of(flow) for flow in traffic.flows) / weights


def taken(flow: Flow) -> list[int]:
    """How often a session takes each step; of one without an end, in one round."""
    times = [1] * len(flow.steps)
    for index, step in enumerate(flow.steps):
        if step.back and step.back.times:
            for place in range(step.back.to, index + 1):
                times[place] += step.back.times - 1
    return times


def _thinking(flow: Flow) -> float:
    """How long a session thinks, seconds; going back to a step has a think time of its own."""
    thinking = sum(
        times * _seconds(step.think) for step, times in zip(flow.steps, taken(flow), strict=True)
    )
    for step in flow.steps:
        if step.back and step.back.times:
            own = _seconds(step.back.think) - _seconds(flow.steps[step.back.to].think)
            thinking += (step.back.times - 1) * own
    return thinking


def _at_once(flow: Flow) -> Flow:
    """The flow without a think time before its first request, which is due with its session."""
    first, *rest = flow.steps
    return flow.model_copy(update={"steps": (first.model_copy(update={"think": NoThink()}), *rest)})


def _stages(scenario: Scenario) -> Iterator[Stage]:
    """The file's stages as shares of the most users, or of the highest rate."""
    shape = scenario.load
    highest = shape.users or shape.rate or 1
    for stage in shape.stages:
        yield Stage.model_validate(
            {"for_ns": stage.for_ns, "from": stage.start / highest, "to": stage.end / highest}
        )


def _seconds(think: Think) -> float:
    """The mean of a think time."""
    match think:
        case ConstantThink(ns=ns) | ExponentialThink(mean_ns=ns):
            return ns / 1e9
        case UniformThink(low_ns=low, high_ns=high):
            return (low + high) / 2e9
        case LognormalThink(median_ns=median, sigma=sigma):
            return median / 1e9 * math.exp(sigma**2 / 2)
        case _:
            return 0.0
