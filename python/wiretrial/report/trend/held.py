"""A gate over time: did a scenario become worse within its last results?

Knows lines that are judged, and the rows of a gate; must not know how these are printed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from wiretrial.report import metrics, units
from wiretrial.report.gate import Row, Threshold
from wiretrial.report.trend import found, words
from wiretrial.report.trend.found import Judged, Step
from wiretrial.report.trend.points import Line
from wiretrial.stats.change import LEAST_SIDE
from wiretrial.stats.compare import ALPHA, welch
from wiretrial.stats.gate import Decision

NAME = "trend"


def rows(lines: Sequence[Line], result: str, last: int) -> Iterator[Row]:
    """A row for each line of the result, also where it has no figure.

    Results after it are not looked at.
    """
    for line in lines:
        places = [at for at, point in enumerate(line.points) if point.result == result]
        if places:
            until = replace(line, points=line.points[: places[-1] + 1])
            yield _row(found.judge(until), last)
            continue
        for name, reason in line.left_out:
            if name == result:
                yield Row(line.scenario, _bound(line, last), None, reason, is_missing=True)


def _row(judged: Judged, last: int) -> Row:
    line = judged.line
    bound = _bound(line, last)
    if not judged.tells_newest:
        text = "; ".join(judged.notes) or "too few results like the newest one"
        return Row(line.scenario, bound, None, text)
    recent = [step for step in judged.changes if _age(line, step) <= last]
    for first in {step.after.terms_key: step for step in reversed(recent)}.values():
        before, now = _levels(judged, first)
        net = welch(now, before)
        if (net.ratio > 1) != line.higher_is_better and net.p < ALPHA:
            unit = line.unit
            text = (
                f"{unit.figure(_mean(before))} → {unit.figure(_mean(now))} {unit.name},"
                f" {words.share(net.ratio)}, worse since {words.place(first.after)}"
            )
            decision = Decision("broken", net.ratio, net.low, net.high, None)
            return Row(line.scenario, bound, decision, text)
    text = f"no change for the worse in the last {units.plural(last, 'result')}"
    if judged.resolution is not None:
        text += (
            f"; about {judged.resolution * 100:.1f} % would be found, in the middle; the last"
            f" {LEAST_SIDE - 1} are too new"
        )
    return Row(line.scenario, bound, Decision("kept", 1.0, None, None, None), text)


def _levels(judged: Judged, first: Step) -> tuple[list[float], list[float]]:
    """The values of the level before a change, and of the newest one on the same machine."""
    shown = judged.line.points[-found.MOST_POINTS :]
    own = [level for level in judged.levels if shown[level.places[0]].terms == first.after.terms]
    before = next(one for one in own if any(shown[at] is first.before for at in one.places))
    before_values, now = ([shown[at].value for at in level.places] for level in (before, own[-1]))
    return before_values, now


def _mean(values: Sequence[float]) -> float:
    return math.exp(fmean(math.log(value) for value in values))


def _bound(line: Line, last: int) -> Threshold:
    """What a row is about."""
    return Threshold(
        text=f"{NAME} {last}: {line.title}",
        name=NAME,
        # It is no bound on a figure; a gate asks for the metric of one.
        metric=metrics.BY_KEY.get(line.figure, metrics.WALL),
        at_least=line.higher_is_better,
        bound=1.0,
        relative=True,
        only=None,
    )


def _age(line: Line, step: Step) -> int:
    """How many results there are since the new level began."""
    place = next(at for at, point in enumerate(line.points) if point is step.after)
    return len(line.points) - place
