"""Collects the histories that a site shows: each scenario of a folder, in every figure.

Knows how a folder of results is read over time, and that nothing with secrets may be published;
must not know what a page looks like.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from wiretrial.cli import output
from wiretrial.errors import UsageProblem
from wiretrial.report import units
from wiretrial.report.trend import found, points
from wiretrial.report.trend.briefs import SHORT
from wiretrial.report.trend.points import Line
from wiretrial.results import history
from wiretrial.site import histories
from wiretrial.site.histories import History


def read(folder: Path | None) -> tuple[History, ...]:
    """Every scenario that was measured more than once; none where no folder is named."""
    if folder is None:
        return ()
    if not folder.is_dir():
        raise UsageProblem(f"--trend: there is no folder {folder}", "name a folder of results")
    past = history.read(folder, SHORT)
    for problem in past.problems:
        output.say(f"left out: {problem}")
    for one in past.results:
        if any(brief.keeps_secrets for brief in one.briefs):
            raise UsageProblem(
                f"{folder / one.name} holds secrets: it was measured with --keep-secrets",
                "measure it again without, or follow a folder without it",
            )
    output.say(f"following {units.plural(len(past.results), 'result')} of {folder}")
    asked = [points.Asked(metric=metric) for metric in (None, *points.FIGURES)]
    lines = (line for one in asked for line in points.lines(past.results, one))
    made = histories.of(found.judge(line) for line in _once(lines))
    if not made:
        raise UsageProblem(
            f"--trend: no scenario in {folder} was measured more than once",
            "name the folder that holds the results of all days or commits",
        )
    return made


def _once(lines: Iterable[Line]) -> list[Line]:
    """Each line once: the figure that a scenario is ranked by is asked for by its name, too."""
    made: dict[tuple[str, str, str], Line] = {}
    for line in lines:
        made.setdefault((line.study, line.scenario, line.figure), line)
    return [*made.values()]
