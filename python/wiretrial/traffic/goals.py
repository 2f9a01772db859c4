"""Goals as files have them: from `[goal]` and from `duration` in `[Asserts]`.

Knows how a goal is written; must not know how a result is held against it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from wiretrial import quantities, suggest
from wiretrial.goals import BLOCKED, QUANTILES, Goal
from wiretrial.traffic.places import Place, TrafficProblem, standing_at

_TIMES = (*QUANTILES, "mean", "max")
_FIGURES = (*_TIMES, "errors", "throughput")
_OF_FLOWS = tuple(f"{what}.{time}" for what in ("iteration", "wait") for time in _TIMES)
_OF_POOLS = tuple(f"{BLOCKED}{time}" for time in _TIMES)
_BOUND = re.compile(r"(?P<relation><=|>=|<|>)\s*(?P<value>.+)")


def goal(key: str, bound: str, routes: Collection[str], flows: Collection[str], at: Place) -> Goal:
    """The goal of one line of `[goal]`."""
    # In their order: a set would name them in another one each time.
    of, figure = _split(key, tuple(dict.fromkeys((*routes, *flows))), at)
    if of is None and figure in _OF_FLOWS and len(flows) != 1:
        raise TrafficProblem(at, f"{figure} of which flow?", f"write {_some(flows)}.{figure}")
    # A flow and a route may have one name: the figure says which of them is meant.
    if of is not None and of not in (flows if figure in _OF_FLOWS else routes):
        wanted = _OF_FLOWS if of in flows else _FIGURES
        raise TrafficProblem(
            at, f"{of} has no figure {figure}", f"use one of {', '.join(wanted[:4])}, ..."
        )
    found = _BOUND.fullmatch(bound.strip())
    if not found:
        raise TrafficProblem(at, f'"{bound}" is no bound', 'write it as "< 50ms" or "< 0.1%"')
    with standing_at(at):
        value = _value(figure, found["value"])
    return Goal.model_validate(
        {"of": of, "figure": figure, "relation": found["relation"], "value": value}
    )


def of_pool(stated: Sequence[Goal]) -> tuple[Goal, ...]:
    """The goal of a pool of connections for which none is stated: nobody waits for one."""
    if any(goal.is_of_blocked for goal in stated):
        return ()
    return (Goal(figure=f"{BLOCKED}max", relation="<=", value=0),)


def longest(route: str, limit_ns: int) -> Goal:
    """The goal that `duration` in `[Asserts]` is."""
    return Goal(of=route, figure="max", relation="<", value=limit_ns)


def _split(key: str, names: Collection[str], at: Place) -> tuple[str | None, str]:
    known = (*_OF_FLOWS, *_OF_POOLS, *_FIGURES)
    if key in known:
        return None, key
    for figure in known:
        if key.endswith(f".{figure}"):
            of = key.removesuffix(f".{figure}")
            if of not in names:
                raise TrafficProblem(
                    at, f"there is no route or flow {of}", suggest.remedy(of, names)
                )
            return of, figure
    if "." in key:
        of, _, figure = key.rpartition(".")
        told = suggest.remedy(figure, _FIGURES)
        return _refuse(at, f"there is no figure {figure}", told)
    return _refuse(at, f"there is no figure {key}", suggest.remedy(key, _FIGURES))


def _refuse(at: Place, what: str, remedy: str) -> tuple[str | None, str]:
    raise TrafficProblem(at, what, remedy)


def _some(flows: Collection[str]) -> str:
    return next(iter(flows), "FLOW")


def _value(figure: str, written: str) -> float:
    if figure == "errors":
        return quantities.share(written, "errors")
    if figure == "throughput":
        return quantities.rate(written, "throughput")
    return quantities.duration_ns(written, figure)
