"""What is concluded from a line: since when its level is another, and whether the server is why.

Knows points, and which of them may be compared; must not know how it is told. Only results that
were measured on a like machine, and asked alike, are compared. A machine's boots are occasions of
the test. Where the reference server moved as much as the subject, the machine did.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Literal

from wiretrial.report.trend import terms
from wiretrial.report.trend.points import Line, Point
from wiretrial.stats import change
from wiretrial.stats.compare import Comparison, welch

Kind = Literal["worse", "better", "machine", "boot", "asked"]
"""`worse`, `better`: a change of the subject. The others are marks: a machine that is another one,
or moved together with the reference server; a boot; another load."""
MOST_POINTS = 300
"""Of a line, the newest: the test takes time as the square of their number."""
MOST_MARKS = 4
"""Of other machines; where there are more, machines take turns, and one sentence says so."""
SURE = 0.01
"""The reference server moved where its own comparison has a smaller p."""
INSIDE = 0.05
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w.])")
"""In a reason why a result is left out; the 99 of `p99` is none."""


@dataclass(frozen=True)
class Step:
    """A new level, from `after` on. `ratio`: the new level over the one before."""

    kind: Kind
    before: Point
    after: Point
    values: tuple[float, float]
    """The two levels: geometric means of their results."""
    ratio: float
    low: float | None = None
    high: float | None = None
    results: tuple[int, int] = (1, 1)
    """How many results stand on each side."""
    p: float | None = None
    """Of the test; None: nothing was tested."""
    reference: float | None = None
    """The reference server's own rate after over before; None: it was not measured on both."""
    net: float | None = None
    """The ratio without what the machine did, where the reference server moved the same way."""
    differs: tuple[str, ...] = ()
    """Of a mark: what is another one."""

    @property
    def is_same_commit(self) -> bool:
        """Whether both sides are of one revision, so that its code can't be why."""
        return self.before.revision is not None and self.before.revision == self.after.revision


@dataclass(frozen=True)
class Level:
    """Results between two changes, on one machine: places in the line, and their mean."""

    places: tuple[int, ...]
    value: float


@dataclass(frozen=True)
class Judged:
    """A line with all that was found in it."""

    line: Line
    steps: tuple[Step, ...]
    levels: tuple[Level, ...]
    notes: tuple[str, ...]
    tested: int
    """Results that stood in a test."""
    tells_newest: bool
    """Whether the newest result stood in one."""
    resolution: float | None
    """About how large a step in the middle would be found, as a share. None: there was no test."""

    @property
    def changes(self) -> tuple[Step, ...]:
        """Those of the subject."""
        return tuple(step for step in self.steps if step.kind in ("worse", "better"))

    @property
    def is_worse(self) -> bool:
        """Whether it became worse at some time."""
        return any(step.kind == "worse" for step in self.steps)


def judge(line: Line, alpha: float = change.ALPHA) -> Judged:
    """All changes of the line; `alpha` is the share of lines without one that show one."""
    shown = line.points[-MOST_POINTS:]
    notes = _left_out(line, len(line.points) - len(shown))
    exact = [place for place, point in enumerate(shown) if point.bound == "exact"]
    if len(exact) < len(shown):
        notes.append(
            f"{len(shown) - len(exact)} of {len(shown)} results are bounds: the load generator was"
            " the limit; they are not compared"
        )
    groups = _alike(shown, exact)
    large = {key: own for key, own in groups.items() if _can_tell(shown, own, alpha)}
    tested = sum(map(len, large.values()))
    steps: list[Step] = []
    levels: list[Level] = []
    finest: list[float] = []
    for own in groups.values():
        cuts: list[int] = []
        logs = [math.log(shown[place].value) for place in own]
        if own in large.values():
            share = alpha * len(own) / tested
            found = change.changes(logs, [shown[at].occasion for at in own], alpha=share)
            cuts = [one.at for one in found]
            finest.append(math.expm1(change.resolution(logs, cuts, share)))
            steps += [_step(line, shown, own, cuts, one) for one in found]
            steps += _boots(shown, own, cuts, share)
        edges = (0, *cuts, len(own))
        levels += [Level(tuple(own[a:b]), math.exp(fmean(logs[a:b]))) for a, b in pairwise(edges)]
    if not large and exact:
        notes.append(_too_few(groups.values()))
    marks = list(_others(shown, exact, {level.places[0] for level in levels}))
    if len(marks) > MOST_MARKS:
        notes.append(
            f"measured on {len(groups)} machines, or in as many ways, by turns: each is compared"
            " with itself alone"
        )
        marks = []
    order = {id(point): place for place, point in enumerate(shown)}
    return Judged(
        line,
        tuple(sorted((*steps, *marks), key=lambda step: order[id(step.after)])),
        tuple(sorted(levels, key=lambda level: level.places[0])),
        tuple(notes),
        tested,
        bool(shown) and any(len(shown) - 1 in own for own in large.values()),
        min(finest, default=None),
    )


def _alike(shown: Sequence[Point], exact: Sequence[int]) -> dict[object, tuple[int, ...]]:
    """Places of the points that may be compared with each other."""
    groups: dict[object, list[int]] = {}
    for place in exact:
        groups.setdefault(shown[place].terms_key, []).append(place)
    return {key: tuple(own) for key, own in groups.items()}


def _can_tell(shown: Sequence[Point], own: Sequence[int], alpha: float) -> bool:
    return change.can_tell([shown[place].occasion for place in own], alpha)


def _step(
    line: Line, shown: Sequence[Point], own: Sequence[int], cuts: Sequence[int], one: change.Change
) -> Step:
    """A change that the test found, and what it is."""
    before, after = _sides(shown, own, cuts, one.at)
    found = _compare(before, after)
    kind: Kind = "worse" if (found.ratio > 1) != line.higher_is_better else "better"
    reference, net = None, None
    moved = _reference(before, after) if line.is_speed else None
    if moved:
        reference = moved.ratio
        # What takes time takes less of it where the reference server answers more.
        because = moved.ratio if line.higher_is_better else 1 / moved.ratio
        if moved.p < SURE and math.log(because) * math.log(found.ratio) > 0:
            cleared = _cleared(line, before, after)
            net = cleared.ratio
            same_way = math.log(cleared.ratio) * math.log(found.ratio) > 0
            if cleared.p >= INSIDE or not same_way:
                kind = "machine"
    return Step(
        kind,
        before[-1],
        after[0],
        _levels(before, after),
        found.ratio,
        found.low,
        found.high,
        (len(before), len(after)),
        one.p,
        reference,
        net,
        ("the reference server moved too",) if kind == "machine" else (),
    )


def _sides(
    shown: Sequence[Point], own: Sequence[int], cuts: Sequence[int], at: int
) -> tuple[list[Point], list[Point]]:
    """The points of the levels on both sides of a cut."""
    start = max((cut for cut in cuts if cut < at), default=0)
    end = min((cut for cut in cuts if cut > at), default=len(own))
    return [shown[own[i]] for i in range(start, at)], [shown[own[i]] for i in range(at, end)]


def _levels(before: Sequence[Point], after: Sequence[Point]) -> tuple[float, float]:
    """The levels on both sides."""
    one, other = (math.exp(fmean(math.log(p.value) for p in side)) for side in (before, after))
    return one, other


def _compare(before: Sequence[Point], after: Sequence[Point]) -> Comparison:
    """The level after over the level before."""
    return welch([point.value for point in after], [point.value for point in before])


def _reference(before: Sequence[Point], after: Sequence[Point]) -> Comparison | None:
    """The same of the reference server; None where too few results have it."""
    sides = [[p.reference for p in side if p.reference] for side in (after, before)]
    return welch(*sides) if min(map(len, sides)) >= 2 else None


def _cleared(line: Line, before: Sequence[Point], after: Sequence[Point]) -> Comparison:
    """The level after over the level before, each value beside the reference server of its day."""
    sides = [
        [
            p.value / p.reference if line.higher_is_better else p.value * p.reference
            for p in side
            if p.reference
        ]
        for side in (after, before)
    ]
    return welch(*sides)


def _boots(
    shown: Sequence[Point], own: Sequence[int], cuts: Sequence[int], alpha: float
) -> Iterator[Step]:
    """Jumps that a test without occasions would take for changes, at a boot of the machine."""
    occasions = [shown[place].occasion for place in own]
    if cuts or len(set(occasions)) in (1, len(occasions)):
        return
    logs = [math.log(shown[place].value) for place in own]
    found = change.changes(logs, alpha=alpha)
    places = [one.at for one in found]
    for one in found:
        if occasions[one.at - 1] == occasions[one.at]:
            continue
        before, after = _sides(shown, own, places, one.at)
        ratio = _compare(before, after).ratio
        sizes = len(before), len(after)
        yield Step("boot", before[-1], after[0], _levels(before, after), ratio, results=sizes)


def _others(
    shown: Sequence[Point], exact: Sequence[int], starts: AbstractSet[int]
) -> Iterator[Step]:
    """Where the machine, or what was asked, is another one than the result before.

    `starts`: where a level begins, so that what changed later is not put down to the machine.
    """
    runs: list[list[Point]] = []
    for place in exact:
        point = shown[place]
        if runs and runs[-1][-1].terms == point.terms and place not in starts:
            runs[-1].append(point)
        else:
            runs.append([point])
    for before, after in pairwise(runs):
        if before[-1].terms == after[0].terms:
            continue
        of_machine = terms.are_of_machine(before[-1].terms, after[0].terms)
        moved = _reference(before, after)
        found = _compare(before, after)
        yield Step(
            "machine" if of_machine else "asked",
            before[-1],
            after[0],
            _levels(before, after),
            found.ratio,
            found.low,
            found.high,
            (len(before), len(after)),
            reference=moved.ratio if moved else None,
            differs=tuple(terms.differences(before[-1].terms, after[0].terms)),
        )


def _left_out(line: Line, older: int) -> list[str]:
    alike: dict[str, list[str]] = {}
    for _, reason in line.left_out:
        alike.setdefault(_NUMBER.sub("#", reason), []).append(reason)
    notes = [
        f"{len(own)} {'result' if len(own) == 1 else 'results'} left out: {_in_one(own)}"
        for own in alike.values()
    ]
    if older:
        notes.append(f"the {older} oldest results are left out: the newest {MOST_POINTS} stand")
    return notes


def _in_one(reasons: Sequence[str]) -> str:
    """Reasons that differ in their numbers alone as one: `p99 needs 1,000 replies; 745 to 991`."""
    places = zip(*(_NUMBER.findall(reason) for reason in reasons), strict=True)
    told = iter([_range(numbers) for numbers in places])
    return _NUMBER.sub(lambda _: next(told), reasons[0])


def _range(numbers: Sequence[str]) -> str:
    ordered = sorted(set(numbers), key=lambda number: float(number.replace(",", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"


def _too_few(groups: Iterable[Sequence[int]]) -> str:
    """Why nothing was tested."""
    most = max(map(len, groups))
    if most < change.FEWEST:
        return (
            f"too few to tell: {change.FEWEST} results of one machine and load are needed,"
            f" there are {most}"
        )
    return "too few boots to tell: results of one boot share what it added; measure on other days"
