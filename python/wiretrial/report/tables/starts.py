"""How long each server took from the start of its process to its first right reply.

Knows figures and their units; must not know how a table is drawn.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from wiretrial.report import units
from wiretrial.report.blocks import (
    NOTHING,
    Block,
    Cell,
    Item,
    Items,
    Table,
    figures,
    key,
    words,
)
from wiretrial.results.starts import Start

TITLE = "From a server's start to its first reply"
COLUMNS = ("First reply, ms", "Shortest", "Longest", "Memory then, MB", "Starts")

KEY = (
    "First reply: from just before the fork of the server's process until a right reply to {asked} "
    "was verified, the median of its starts, with the shortest and the longest. Servers took "
    "turns, in a random order of each turn. A turn before the first was not recorded, so that "
    "their files were in the page cache. A server was asked again and again until it replied: the "
    "reply could have been had at most {resolution} earlier. Memory: proportional set size of all "
    "processes of the server right after that reply, the median."
)


def blocks(starts: Sequence[Start]) -> tuple[Block, ...]:
    """A row per server, the quickest first; then those that gave no reply. No start: nothing."""
    if not starts:
        return ()
    told: list[Block] = []
    servers: dict[str, list[Start]] = {}
    for one in starts:
        if one.first_reply_ns is not None:
            servers.setdefault(one.called, []).append(one)
    if servers:
        rows = sorted((_took(found), name, found) for name, found in servers.items())
        table = Table(
            (*words("Server"), *figures(*COLUMNS)),
            tuple(_row(name, found) for _, name, found in rows),
        )
        told += [table, key(_key([one for found in servers.values() for one in found]))]
    # Of a server that started on one occasion and not on another, both are said.
    problems = dict.fromkeys((one.called, one.problem) for one in starts if one.problem)
    if problems:
        items = tuple(Item(name, rest=str(problem)) for name, problem in problems)
        told.append(Items("no reply", items))
    return tuple(told)


def _row(name: str, found: Sequence[Start]) -> tuple[Cell, ...]:
    times = _times(found)
    memory = [one.pss_bytes for one in found if one.pss_bytes is not None]
    median = _took(found)
    return (
        Cell(name),
        Cell(_ms(median), value=median),
        Cell(_ms(min(times))),
        Cell(_ms(max(times))),
        Cell(units.significant(statistics.median(memory) / 1e6) if memory else NOTHING),
        Cell(f"{len(found):,}"),
    )


def _key(found: Sequence[Start]) -> str:
    asked = dict.fromkeys(f"{one.contract} over {one.protocol}" for one in found)
    resolution = max(one.resolution_ns or 0 for one in found)
    said = f"the first exchange of the contract {units.listed(asked)}"
    return KEY.format(asked=said, resolution=units.duration(resolution))


def _took(found: Sequence[Start]) -> float:
    return statistics.median(_times(found))


def _times(found: Sequence[Start]) -> list[int]:
    return [one.first_reply_ns for one in found if one.first_reply_ns is not None]


def _ms(value: float) -> str:
    return units.significant(value / 1e6)
