"""Collects the histories that a site shows: each scenario of a folder or a store, in every figure.

Knows that nothing with secrets may be published, and what is said of a place that can't be shown;
must not know what a page looks like.
"""

from __future__ import annotations

from collections.abc import Iterable

from wiretrial.cli import output
from wiretrial.cli import past as places
from wiretrial.errors import UsageProblem
from wiretrial.report import units
from wiretrial.report.trend import found, points
from wiretrial.report.trend.points import Line
from wiretrial.results import history
from wiretrial.site import histories
from wiretrial.site.histories import History


def read(place: str | None) -> tuple[History, ...]:
    """Every scenario that was measured more than once; none where no place is named."""
    if place is None:
        return ()
    past = places.named(place, "--trend")
    kept = past.read(history.everything, None)
    for problem in kept.problems:
        output.say(f"left out: {problem}")
    for one in kept.results:
        if any(brief.keeps_secrets for brief in one.briefs):
            raise UsageProblem(
                f"{one.name} in {past.shown} holds secrets: it was measured with --keep-secrets",
                "measure it again without, or follow results without it",
            )
    output.say(f"following {units.plural(len(kept.results), 'result')} of {past.shown}")
    asked = [points.Asked(metric=metric) for metric in (None, *points.FIGURES)]
    lines = (line for one in asked for line in points.lines(kept.results, one))
    made = histories.of(found.judge(line) for line in _once(lines))
    if not made:
        raise UsageProblem(
            f"--trend: no scenario in {past.shown} was measured more than once",
            "name the folder or the store that holds the results of all days or commits",
        )
    return made


def _once(lines: Iterable[Line]) -> list[Line]:
    """Each line once: the figure that a scenario is ranked by is asked for by its name, too."""
    made: dict[tuple[str, str, str], Line] = {}
    for line in lines:
        made.setdefault((line.study, line.scenario, line.figure), line)
    return [*made.values()]
