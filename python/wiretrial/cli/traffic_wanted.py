"""What a traffic file asks `load` for.

Knows the compiled file and the options that go with it; must not know how a load is sent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from wiretrial import quantities
from wiretrial.cli import output, urls, workload
from wiretrial.cli.options import STEADY, Asked, Loop, Security
from wiretrial.cli.wanted import Wanted
from wiretrial.errors import UsageProblem
from wiretrial.plan import ClosedLoop, Http, Load, OpenLoop, Stop, Target
from wiretrial.plan_traffic import (
    ConstantThink,
    ExponentialThink,
    LognormalThink,
    Stage,
    Think,
    UniformThink,
)
from wiretrial.traffic.compiler import Scenario, compile_file
from wiretrial.traffic.quantities import LoadShape
from wiretrial.traffic.variables import given

REPLY_S = 1.0
"""How long a reply is taken to need where users are counted for a rate of sessions, seconds."""
FEWEST_USERS, MOST_USERS = 10, 100_000
ROOM = 1.5
"""More users than are busy on average, by this factor."""
DEFAULT_CONNECTIONS = "10"


def wanted(
    path: Path,
    variables: Sequence[str],
    loop: Loop,
    asked: Asked,
    security: Security,
    duration_ns: int | None,
    sessions: str | None,
    sources: tuple[str, ...],
    *,
    is_timed: bool,
) -> Wanted:
    """The file's traffic; what is wrong in it, or at odds with it, is raised.

    `is_timed`: the command line says how long; otherwise stages do where there are any.
    """
    for option in _of_one_message(loop, asked):
        raise UsageProblem(
            f"{option} is of one message, and {path} says what is sent",
            f"leave {option} out, or change {path}",
        )
    scenario = compile_file(path, given(variables))
    if scenario.unchecked:
        names = ", ".join(scenario.unchecked)
        output.say(f"any reply with a 2xx status is right (no response part): {names}")
    address = urls.parse(scenario.origin, workload.LOADED)
    http = workload.http_of(address.protocol, asked)
    stages = () if _is_of_command_line(loop) else tuple(_stages(scenario.load))
    return Wanted(
        address=address,
        target=Target(
            url=address.url,
            sources=sources,
            http=Http(headers=(*scenario.headers, *http.headers)),
            tls=workload.tls_of(security),
        ),
        load=_load(scenario, loop),
        stop=Stop(
            duration_ns=duration_ns if is_timed or not stages else sum(s.for_ns for s in stages),
            sessions=None
            if sessions is None
            else quantities.count(sessions, "--requests", most=2**53),
        ),
        workload=str(path),
        traffic=scenario.traffic.model_copy(update={"stages": stages}),
        goals=scenario.goals,
    )


def _of_one_message(loop: Loop, asked: Asked) -> Iterator[str]:
    """The options that were given and say what one message is, or how one is sent."""
    given_here = {
        "--payload": asked.payload is not None,
        "--json": asked.json is not None,
        "--text": asked.text,
        "--method": asked.method is not None,
        "--expect": bool(asked.expect),
        "--expect-status": asked.expect_status != "200",
        "--depth": loop.depth != "1",
        "--pack": loop.pack != "1",
        "--requests-per-connection": loop.requests_per_connection is not None,
        "--hold": loop.hold,
        "--pattern": loop.pattern != STEADY,
        "--pacing": loop.pacing not in ("constant", "poisson"),
        "--overflow": loop.overflow != "wait",
    }
    return (option for option, is_given in given_here.items() if is_given)


def _load(scenario: Scenario, loop: Loop) -> Load:
    """The file's users or arrivals; those of the command line where they are given."""
    shape = scenario.load
    rate = shape.rate if loop.rate is None else quantities.rate(loop.rate, "--rate")
    pacing = shape.pacing if loop.rate is None else loop.pacing
    users = shape.users if rate is None else _enough(scenario, rate)
    if users is None or _has_connections(loop):
        users = quantities.count(loop.connections, "--connections")
    executor: ClosedLoop | OpenLoop = ClosedLoop()
    if rate is not None:
        executor = OpenLoop.model_validate({"rate": rate, "pacing": pacing})
    return Load(connections=users, executor=executor, seed=loop.seed)


def _has_connections(loop: Loop) -> bool:
    """Whether -c was given."""
    return loop.connections != DEFAULT_CONNECTIONS


def _is_of_command_line(loop: Loop) -> bool:
    """Whether users or rate were given there, so that the file's do not count."""
    return _has_connections(loop) or loop.rate is not None


def _stages(shape: LoadShape) -> Iterator[Stage]:
    """The file's stages as shares of the most users, or of the highest rate."""
    highest = shape.users or shape.rate or 1
    for stage in shape.stages:
        yield Stage.model_validate(
            {"for_ns": stage.for_ns, "from": stage.start / highest, "to": stage.end / highest}
        )


def _enough(scenario: Scenario, rate: float) -> int:
    """Users for a rate of sessions: rate times the length of a session (Little's law)."""
    flows = scenario.traffic.flows
    weights = sum(flow.weight for flow in flows)
    seconds = sum(
        flow.weight * sum(_seconds(step.think) + REPLY_S for step in flow.steps) for flow in flows
    )
    busy = rate * seconds / weights
    return min(max(math.ceil(ROOM * busy), FEWEST_USERS), MOST_USERS)


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
