"""The highest rate that keeps its goals, in words, as a table of its levels, and as a picture.

Knows a limit's document; must not know how it was searched for, nor terminals or pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple

from wiretrial.report import knees as searches_of
from wiretrial.report import units
from wiretrial.report.blocks import (
    NO_FIGURE,
    NOTHING,
    Block,
    Cell,
    Column,
    Drawing,
    Section,
    Table,
    key,
    words,
)
from wiretrial.report.knees import Knee, Objective
from wiretrial.report.views import knee
from wiretrial.results.limits import Found, Level, Limit, Resource
from wiretrial.stats.knee import Refusal
from wiretrial.words import Noun

PICTURE_KEY = (
    "Dot: a level at that rate. Cross: it was refused. Ring: the highest rate that the search kept."
)
BUSY = 0.9
"""A server below this share of its CPU is held up by something else, too."""
WAITING = 0.25
"""Of the time: a server that was ready to run and had no CPU for so long was kept from it."""
FULL = 0.98
"""Of the descriptors that a server may have: it is close to its limit."""
KEPT_BACK = 1
"""Descriptors that a server may keep, so that it can accept and close what it can't hold."""
MUCH = 1e6
"""Bytes per second to disks, from which on they may be what a server waits for."""
CPU = "the server's CPU"
_SPACED = re.compile(r"(?<=\d)(?=[num]?s$|%$)")
"""Between a figure and its unit."""


class Bound(NamedTuple):
    """What keeps a rate from being higher."""

    what: str
    evidence: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        """All of it."""
        told = f"{self.what[:1].upper()}{self.what[1:]} binds: {self.evidence}."
        return f"{told} {self.remedy[:1].upper()}{self.remedy[1:]}." if self.remedy else told


def headline(limit: Limit) -> str:
    """The answer in one line."""
    held = goals(limit)
    if limit.rate is None:
        lowest = min(limit.levels, key=lambda level: level.rate)
        missed = f"does not keep {held} at" if held else "does not carry"
        rate = _rate(limit, lowest.rate)
        return f"{limit.target} {missed} {rate}, the lowest rate that was tried: {lowest.why}."
    rate = _rate(limit, limit.rate)
    if limit.is_at_least:
        keeps = f"keeps {held} at {rate}, and may at more" if held else f"carries at least {rate}"
        return f"{limit.target} {keeps}: {_unbounded(limit)}."
    keeps = f"keeps {held} up to" if held else "carries up to"
    found = f"{limit.target} {keeps} {rate}{_interval(limit)}"
    refused = limit.refused
    if refused is None:
        return f"{found}."
    # Two figures in a row would be one.
    comma = "," if refused.why[:1].isdigit() else ""
    return f"{found}; at {units.trimmed(refused.rate)}{comma} {refused.why}."


def sentences(limit: Limit) -> Iterator[str]:
    """What binds, and what the interval is of."""
    if told := binds(limit):
        yield told.sentence
    if near := close_to(limit):
        yield f"Close to {near}."
    yield _searched(limit)


def binds(limit: Limit) -> Bound | None:
    """What keeps the rate from being higher; None where nothing shows it."""
    return _bound(limit, limit.refused) if limit.refused is not None else None


def close_to(limit: Limit) -> str:
    """The descriptor limit that a server was close to, and lacked none; empty where none was."""
    refused = limit.refused
    for one in refused.resources if refused else ():
        if refused and (told := _nearly_full(one)) and not _lacked(refused, one):
            at = f"at {_rate(limit, refused.rate)}"
            return f"the descriptor limit of {one.name}: {told} {at}, and none was lacking"
    return ""


def goals(limit: Limit) -> str:
    """`p99 < 50 ms and errors < 0.1 %`; empty where there are none."""
    return units.listed(_SPACED.sub(" ", goal) for goal in limit.goals)


def table(limit: Limit) -> Table:
    """A row per rate, the lowest first."""
    rates = sorted({level.rate for level in limit.levels})
    columns = (
        Column(f"{limit.unit.capitalize()}\noffered"),
        Column("Answered", is_spare=True),
        Column("Kept"),
        Column(limit.time),
        Column("Failed", is_spare=True),
        Column("Server\nCPU"),
        Column("Load\ngenerator", is_spare=True),
        *words("Refused because"),
    )
    rows = (_row([level for level in limit.levels if level.rate == rate]) for rate in rates)
    return Table(columns, tuple(rows), names=1)


def sections(limit: Limit) -> tuple[Section, ...]:
    """The page: a picture where a time is a goal, and every level."""
    return (
        Section("Times at each rate", tuple(_picture(limit))),
        every_level(limit),
    )


def every_level(limit: Limit) -> Section:
    """A row per rate, and what the interval is of."""
    return Section("Every level", (table(limit), key(_searched(limit))))


def _rate(limit: Limit, rate: float) -> str:
    return f"{units.trimmed(rate)} {limit.unit}"


def _interval(limit: Limit) -> str:
    if limit.low is None or limit.high is None:
        return ""
    return f" ({units.trimmed(limit.low)} to {units.trimmed(limit.high)})"


def _unbounded(limit: Limit) -> str:
    if limit.binding == "generator" and limit.refused:
        return f"at {units.trimmed(limit.refused.rate)} the load generator was at its limit"
    if limit.end == "time":
        return "the time was over before a higher rate was refused for certain (--within)"
    return "no higher rate was tried"


def _bound(limit: Limit, refused: Level) -> Bound | None:
    at = f"at {_rate(limit, refused.rate)}"
    if full := _without_descriptors(refused, at):
        return full
    server = _busy(refused.server_busy)
    if limit.binding == "generator":
        return Bound(
            "the load generator",
            f"{units.percent(refused.generator_busy)} busy {at}",
            "give it more --threads, or several machines (--fleet)",
        )
    if crowded := _without_cpu(refused, at):
        return crowded
    match limit.binding:
        case "connections":
            return Bound(
                "the number of connections",
                f"{refused.connections:,} were {units.percent(refused.occupied)} occupied {at}",
                "try more (-c, over HTTP/2 --streams, or a larger pool)",
            )
        case "server":
            if refused.server_busy is not None and refused.server_busy < BUSY:
                return Bound(
                    "the server",
                    f"its CPU is {server} {at}, so that it waits for something else, too: a CPU, a"
                    f" lock, a disk or another server{_to_disks(refused)}",
                )
            return Bound(CPU, f"{server} {at}")
        case "goal":
            return Bound("a goal", f"{refused.why} {at}, with the server's CPU {server}")
        case "overload":
            return Bound("overload", f"{refused.why} {at}, with the server's CPU {server}")
        case _:
            return None


def _without_descriptors(refused: Level, at: str) -> Bound | None:
    """That a server had no descriptor left for one connection more, and something lacked it."""
    for one in refused.resources:
        if (full := _nearly_full(one)) and (lacked := _lacked(refused, one)):
            return Bound(
                f"the descriptor limit of {one.name}",
                f"{full} {at}, and {lacked}",
                "raise it (ulimit -n)",
            )
    return None


def _nearly_full(one: Resource) -> str:
    """How many descriptors were open of those that a server may have; empty: many are left."""
    opened, limit = one.descriptors, one.descriptor_limit
    if not opened or not limit or opened < FULL * limit:
        return ""
    return f"{opened:,} of {limit:,} were open"


def _lacked(refused: Level, one: Resource) -> str:
    """What did not come about while a server was close to its limit; empty: nothing is known.

    They are counted at two instants of a level: where connections were not opened, they may have
    run out between. A reply may fail for much else, so that none may be left beside it.
    """
    if refused.unopened:
        connections = units.plural(refused.unopened, "connection")
        return f"{connections} {'was' if refused.unopened == 1 else 'were'} not opened"
    none_left = (one.descriptors or 0) + KEPT_BACK >= (one.descriptor_limit or 0)
    return f"{_share(refused.failed_share)} failed" if none_left and refused.failed_share else ""


def _without_cpu(refused: Level, at: str) -> Bound | None:
    """That other processes had the server's CPUs, while it was ready to run."""
    busy, waiting = refused.server_busy, refused.server_waiting
    if busy is None or waiting is None or busy >= BUSY:
        return None
    if waiting < WAITING or busy + waiting < BUSY:
        return None
    return Bound(
        "other load on the server's CPUs",
        f"the server ran for {units.percent(busy)} of the time and waited for a CPU for"
        f" {units.percent(waiting)} {at}",
        "end other processes, or measure on more CPUs",
    )


def _to_disks(refused: Level) -> str:
    """What was written meanwhile, where that is much."""
    told = [
        f"{one.name} wrote {units.octets_per_second(one.written_bytes)} to disk"
        for one in refused.resources
        if one.written_bytes is not None and one.written_bytes >= MUCH
    ]
    return f" ({units.listed(told)})" if told else ""


def _searched(limit: Limit) -> str:
    ended = [one for one in limit.searches if one.is_confirmed]
    levels = units.plural(len(limit.levels), "level")
    if ended and limit.is_at_least:
        told = f"{len(ended)} {'search' if len(ended) == 1 else 'searches'}, {levels}"
    elif len(ended) > 1:
        told = f"{len(ended)} searches, {levels}; 95 % interval over the searches"
    elif ended:
        told = f"One search, {levels}; the interval reaches from the kept to the refused rate"
    else:
        told = f"{levels}; no search came to its end, so the rate is not confirmed"
        if limit.rate is None:
            told = levels
    match limit.end:
        case "time":
            told += ". The time was over before all searches had ended (--within)"
        case "failed" if limit.silent_after is not None:
            level = f"the level at {_rate(limit, limit.silent_after)}"
            told += f". The server did not answer again after {level}, which ended the search"
        case "failed":
            told += ". A level could not be measured, which ended the search"
        case "interrupted":
            told += ". Stopped before all searches had ended"
    return f"{told[:1].upper()}{told[1:]}."


def _row(levels: Sequence[Level]) -> tuple[Cell, ...]:
    first = levels[0]
    kept = sum(level.is_kept for level in levels)
    refused = next((level for level in levels if not level.is_kept), None)
    times = [level.time_ns for level in levels if level.time_ns is not None]
    busy = [level.server_busy for level in levels if level.server_busy is not None]
    n = len(levels)
    return (
        Cell(units.trimmed(first.rate), value=first.rate),
        Cell(units.trimmed(sum(level.answered for level in levels) / n)),
        Cell(f"{kept} of {n}", mark="" if kept == n else "no"),
        Cell(units.duration(sum(times) / len(times))) if times else NO_FIGURE,
        Cell(_share(sum(level.failed_share for level in levels) / n)),
        Cell(units.percent(sum(busy) / len(busy))) if busy else NO_FIGURE,
        Cell(units.percent(sum(level.generator_busy for level in levels) / n)),
        Cell(refused.why if refused else NOTHING),
    )


def _picture(limit: Limit) -> Iterator[Block]:
    if limit.time_goal_ns is None:
        return
    found = [_knee(limit, limit.time_goal_ns, one) for one in limit.searches]
    if knee.can_be_drawn(found):
        yield Drawing(partial(knee.picture, found), key=PICTURE_KEY)


def _knee(limit: Limit, bound_ns: float, search: Found) -> Knee:
    """One search, as the picture of searches in studies has it."""
    levels = [level for level in limit.levels if level.search == search.search]
    rates = [level.rate for level in levels]
    steps = tuple(_step(level) for level in levels)
    refused = [step for step in steps if step.refusal and step.offered == search.refused]
    name = f"search {search.search}"
    one, many = limit.unit.removesuffix("s/s"), limit.unit.removesuffix("/s")
    return Knee(
        name=name,
        label=name,
        group=limit.target,
        colour=search.search - 1,
        objective=Objective(
            1.0, bound_ns, min(rates), max(rates), limit.tolerance, name=limit.time
        ),
        steps=steps,
        sustained=search.kept,
        refused=refused[0] if refused else None,
        has_ended=search.is_confirmed,
        what=Noun(one, many),
    )


def _step(level: Level) -> searches_of.Step:
    reason: Literal["achieved", "backlog", "objective"] = "objective"
    if level.reason in ("achieved", "backlog"):
        reason = level.reason
    return searches_of.Step(
        offered=level.rate,
        achieved=level.answered,
        response_ns=level.time_ns,
        refusal=None if level.is_kept else Refusal(reason, level.why),
        verdict=level.verdict,
        bottleneck=level.bottleneck,
        evidence=level.evidence,
    )


def _busy(share: float | None) -> str:
    return "unknown" if share is None else f"{units.percent(share)} busy"


def _share(share: float) -> str:
    return "0" if not share else f"{100 * share:.2g} %"
