"""The parts of a plan are the plan: every sum, and the very workers that the engine would have."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wiretrial.errors import UsageProblem
from wiretrial.fleet.engine import interval_ns
from wiretrial.fleet.split import part_of, split, whole
from wiretrial.plan import (
    AfterResponse,
    ClosedLoop,
    GeneratorSettings,
    Hold,
    Load,
    OpenLoop,
    Plan,
    Stop,
    Styx,
    Target,
)


def plan_of(
    connections: int,
    *,
    rate: float | None = None,
    requests: int | None = None,
    threads: int = 1,
    table_size: int = 0,
) -> Plan:
    url = "styx://h:1" if table_size else "ws://h:1/"
    executor = ClosedLoop() if rate is None else OpenLoop(rate=rate, pacing="phased")
    return Plan(
        target=Target(url=url, styx=Styx(table_size=table_size or 1)),
        load=Load(connections=connections, executor=executor, seed=7),
        stop=Stop(requests=requests) if requests else Stop(duration_ns=10**9),
        generator=GeneratorSettings(threads=threads),
    )


def engine_shares(plan: Plan) -> list[tuple[int, int, int]]:
    """Each worker's number, first connection and connections, as the engine divides a plan."""
    threads, all_ = plan.generator.threads, plan.load.connections
    together = plan.target.styx.table_size
    share = plan.share
    groups = -(-all_ // together)
    given, found = 0, []
    for worker in range(threads):
        own = groups // threads + (worker < groups % threads)
        connections = min(own * together, all_ - given)
        place, first = (share.first_worker, share.first_connection) if share else (0, 0)
        found.append((place + worker, first + given, connections))
        given += connections
    return found


SIZES = st.fixed_dictionaries(
    {
        "agents": st.integers(1, 12),
        "threads": st.integers(1, 4),
        "extra": st.integers(0, 5000),
        "table_size": st.sampled_from([0, 1, 2, 6, 9]),
    }
)


@settings(deadline=None)
@given(SIZES, st.floats(1e-3, 1e9), st.integers(0, 10**9))
def test_the_parts_add_up_to_the_plan(sizes: dict[str, int], rate: float, requests: int) -> None:
    agents, threads = sizes["agents"], sizes["threads"]
    together = sizes["table_size"] or 1
    connections = agents * threads * together + sizes["extra"]
    plan = plan_of(
        connections,
        rate=rate,
        requests=agents * threads + requests,
        threads=threads,
        table_size=sizes["table_size"],
    )
    parts = split(plan, agents)
    assert sum(part.load.connections for part in parts) == connections
    assert sum(part.stop.requests or 0 for part in parts) == plan.stop.requests
    assert math.fsum(part_of(part).rate or 0 for part in parts) == rate
    assert min(part.load.connections for part in parts) >= threads
    assert min(part.stop.requests or 0 for part in parts) >= threads
    assert {part.phases for part in parts} == {plan.phases}
    # The very workers that one machine with as many threads would have.
    workers = [one for part in parts for one in engine_shares(part)]
    assert workers == engine_shares(whole(plan, agents))


@settings(deadline=None)
@given(SIZES)
def test_tables_are_never_divided(sizes: dict[str, int]) -> None:
    together = sizes["table_size"] or 1
    agents, threads = sizes["agents"], sizes["threads"]
    connections = agents * threads * together + sizes["extra"]
    plan = plan_of(connections, threads=threads, table_size=sizes["table_size"])
    for part in split(plan, agents):
        assert part.share is not None
        assert part.share.first_connection % together == 0


@pytest.mark.parametrize("executor", [ClosedLoop(), AfterResponse(pause_ns=5), Hold(rate=0)])
def test_what_has_no_rate_keeps_none(executor: ClosedLoop | AfterResponse | Hold) -> None:
    plan = plan_of(10)
    plan = plan.model_copy(update={"load": plan.load.model_copy(update={"executor": executor})})
    assert [part.load.executor for part in split(plan, 3)] == [executor] * 3


def test_one_agent_gets_the_plan() -> None:
    (part,) = split(plan_of(7, rate=0.3, requests=9), 1)
    assert (part.load.connections, part_of(part).rate, part.stop.requests) == (7, 0.3, 9)


def pooled(plan: Plan) -> Plan:
    return plan.model_copy(update={"load": plan.load.model_copy(update={"users": 50})})


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (plan_of(5), "5 connections can't be shared by 6 agents: use 6 connections or more"),
        (plan_of(17, threads=3), "6 agents with 3 threads each: use 18 connections"),
        (plan_of(30, table_size=6), "5 tables can't be shared by 6 agents: use 36 connections"),
        (plan_of(6, requests=5), "5 messages can't be shared by 6 agents: send 6 or more"),
        (pooled(plan_of(9)), "a pool of connections can't be shared by 6 agents: use one agent"),
    ],
)
def test_too_little_for_all_is_refused(plan: Plan, words: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        split(plan, 6)
    assert words in refused.value.line()


@pytest.mark.parametrize(
    ("agents", "seconds", "interval_ms"),
    [
        (3, 10, 100),
        (20, 10, 100),
        (21, 10, 200),
        (200, 10, 1000),
        (10_000, 60, 1000),
        (3, 3600, 600),
    ],
)
def test_intervals_are_as_long_as_merging_needs(
    agents: int, seconds: int, interval_ms: int
) -> None:
    plan = plan_of(10).model_copy(update={"stop": Stop(duration_ns=seconds * 10**9)})
    assert interval_ns(plan, agents) == interval_ms * 10**6


def test_sessions_are_shared_as_messages_are() -> None:
    plan = plan_of(6).model_copy(update={"stop": Stop(sessions=31)})
    assert [part.stop.sessions for part in split(plan, 3)] == [11, 10, 10]
    with pytest.raises(UsageProblem, match="2 sessions can't be shared by 3 agents"):
        split(plan.model_copy(update={"stop": Stop(sessions=2)}), 3)
