"""Divides a plan among agents so that their sum is the plan.

Pure. A fleet of N agents with T threads each is divided as the engine divides one machine's load
among N x T threads: the same connections to the same worker, instants that lie between each
other's, numbers that never repeat.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from wiretrial.errors import UsageProblem
from wiretrial.plan import Hold, OpenLoop, Plan, Share
from wiretrial.results.fleet import Part

STYX = "styx"


def split(plan: Plan, agents: int) -> tuple[Plan, ...]:
    """The plan of each agent, in order; `generator` is that of each. Raises `UsageProblem`."""
    threads = plan.generator.threads
    workers = agents * threads
    _require_enough(plan, agents)
    pieces = [_piece(plan, agent * threads, threads, workers) for agent in range(agents)]
    rates = _rates(plan, [piece.connections for piece in pieces])
    return tuple(
        plan.model_copy(
            update={
                "load": plan.load.model_copy(
                    update={
                        "connections": piece.connections,
                        "executor": _at(plan.load.executor, rate),
                    }
                ),
                "stop": plan.stop.model_copy(
                    update={"requests": piece.requests, "sessions": piece.sessions}
                ),
                "share": Share(
                    first_worker=agent * threads,
                    workers=workers,
                    first_connection=piece.first_connection,
                    connections=plan.load.connections,
                    awaits_begin=True,
                ),
            }
        )
        for agent, (piece, rate) in enumerate(zip(pieces, rates, strict=True))
    )


def whole(plan: Plan, agents: int) -> Plan:
    """The plan of one machine that would do the same."""
    threads = plan.generator.threads * agents
    return plan.model_copy(
        update={"generator": plan.generator.model_copy(update={"threads": threads, "cpus": ()})}
    )


def part_of(plan: Plan) -> Part:
    """What an agent's plan takes upon itself, for the record."""
    executor = plan.load.executor
    rate = executor.rate if isinstance(executor, OpenLoop | Hold) else None
    return Part(connections=plan.load.connections, rate=rate, requests=plan.stop.requests)


@dataclass(frozen=True)
class _Piece:
    first_connection: int
    connections: int
    requests: int | None
    sessions: int | None


def _piece(plan: Plan, first_worker: int, threads: int, workers: int) -> _Piece:
    """What the workers from `first_worker` on have together."""
    first, last = first_worker, first_worker + threads

    def own(amount: int | None) -> int | None:
        if amount is None:
            return None
        return _parts_before(amount, last, workers) - _parts_before(amount, first, workers)

    begin = _before(plan, first, workers)
    return _Piece(
        first_connection=begin,
        connections=_before(plan, last, workers) - begin,
        requests=own(plan.stop.requests),
        sessions=own(plan.stop.sessions),
    )


def _before(plan: Plan, worker: int, workers: int) -> int:
    """Connections of all workers before this one; those at one table have one worker."""
    together = _together(plan)
    groups = -(-plan.load.connections // together)
    return min(_parts_before(groups, worker, workers) * together, plan.load.connections)


def _parts_before(amount: int, worker: int, workers: int) -> int:
    """What the workers before this one get of `amount`, the first ones one more each."""
    return amount // workers * worker + min(worker, amount % workers)


def _together(plan: Plan) -> int:
    return plan.target.styx.table_size if plan.target.url.startswith(STYX) else 1


def _rates(plan: Plan, connections: list[int]) -> list[float | None]:
    """Each agent's rate, by its connections; what rounding leaves is the last one's."""
    executor = plan.load.executor
    if not isinstance(executor, OpenLoop | Hold):
        return [None] * len(connections)
    rate, total = Fraction(executor.rate), sum(connections)
    first = [float(rate * own / total) for own in connections[:-1]]
    return [*first, float(rate - sum(map(Fraction, first)))]


def _at(executor: object, rate: float | None) -> object:
    if rate is None or not isinstance(executor, OpenLoop | Hold):
        return executor
    return executor.model_copy(update={"rate": rate})


def _require_enough(plan: Plan, agents: int) -> None:
    threads = plan.generator.threads
    workers = agents * threads
    groups = -(-plan.load.connections // _together(plan))
    what = "tables" if _together(plan) > 1 else "connections"
    of = f"{agents} agents" if threads == 1 else f"{agents} agents with {threads} threads each"
    if plan.load.users is not None and workers > 1:
        raise UsageProblem(
            f"a pool of connections can't be shared by {of}",
            'use one agent with one thread, or write connections = "per-user"',
        )
    if groups < workers:
        raise UsageProblem(
            f"{groups:,} {what} can't be shared by {of}",
            f"use {workers * _together(plan):,} connections or more (-c), or fewer agents",
        )
    for amount, counted in ((plan.stop.requests, "messages"), (plan.stop.sessions, "sessions")):
        if amount is not None and amount < workers:
            raise UsageProblem(
                f"{amount:,} {counted} can't be shared by {of}",
                f"send {workers:,} or more (-n), or use fewer agents",
            )
