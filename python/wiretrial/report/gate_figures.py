"""What a gate holds against its bounds: the figures of a scenario's trials, or why there are none.

Knows trials and metrics; must not know bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wiretrial.report import units
from wiretrial.report.contest import Block
from wiretrial.report.measures import Measured
from wiretrial.report.metrics import Metric
from wiretrial.results.model import Trial
from wiretrial.stats.bounds import Bound


def by_scenario(trials: Sequence[Trial]) -> dict[str, list[Measured]]:
    """The trials of each scenario; those of an A/A pair's second name are left out."""
    found: dict[str, list[Measured]] = {}
    for trial in trials:
        # A level's rate is a share of what was reached that time: another in each result.
        if trial.scenario.twin_of is None and trial.scenario.level_of is None:
            found.setdefault(trial.scenario.name, []).append(Measured(trial))
    return found


def values(runs: Sequence[Measured], metric: Metric) -> dict[Block, float]:
    """The usable figures above 0, by block; a step of a search is alone in its block."""
    taken = (
        (Block(run.trial.occasion, run.trial.block), metric.of(run))
        for run in runs
        if run.is_usable
    )
    return {block: value for block, value in taken if value is not None and value > 0}


def occasions(blocks: Iterable[Block]) -> list[int]:
    """On which one each of the blocks was measured."""
    return [block.occasion for block in blocks]


def withheld(runs: Sequence[Measured], metric: Metric) -> str | None:
    """Why the figure can't be judged: a trial is too short for it. None: none is.

    The report gives no estimate where one usable trial lacks it; nor is one judged here.
    """
    usable = [run for run in runs if run.is_usable]
    reasons = [reason for run in usable if (reason := metric.withheld(run)) is not None]
    if not reasons:
        return None
    where = f", in {len(reasons)} of {len(usable)} trials" if len(usable) > 1 else ""
    return f"{reasons[0]}{where}"


def beyond(runs: Sequence[Measured], metric: Metric) -> str | None:
    """Why the figure breaks any upper bound: in each usable trial it lies among failures."""
    usable = [run for run in runs if run.is_usable]
    reasons = [reason for run in usable if (reason := metric.beyond(run)) is not None]
    if not reasons or len(reasons) < len(usable):
        return None
    where = f", in {units.every(len(usable))} trials" if len(usable) > 1 else ""
    return f"{reasons[0]}{where}"


def bound(runs: Sequence[Measured], metric: Metric) -> Bound:
    """What the metric's figure is over those runs: a bound where the generator was the limit."""
    limited = any(run.trial.judgement.verdict == "client-bound" for run in runs if run.is_usable)
    return metric.bound if limited else "exact"
