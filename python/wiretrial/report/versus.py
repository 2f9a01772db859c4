"""Two results against each other, scenario by scenario: yesterday's and today's, ours and others'.

They share no blocks, so the intervals are wider than those within a study. Knows figures; must not
know where they are stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from wiretrial.report import figure_words, metrics, units
from wiretrial.report.measures import Measured
from wiretrial.report.metrics import Metric
from wiretrial.results.imported import Imported
from wiretrial.results.model import Trial
from wiretrial.stats import bounds
from wiretrial.stats.bounds import Bound
from wiretrial.stats.compare import Comparison, Verdict, holm, verdict, welch


@dataclass
class Series:
    """A value per trial, and what they are where the generator was the limit in one."""

    values: list[float] = field(default_factory=list)
    bound: Bound = "exact"
    occasions: list[int] = field(default_factory=list)
    """On which one each value was measured; empty where that is not known."""


Figures = Mapping[str, Mapping[str, Series]]
"""Scenario -> figure -> its values."""

SHOWN = (
    *(metrics.THROUGHPUT, metrics.WALL, metrics.P50, metrics.P99, metrics.CLIENT),
    *(metrics.SERVER, metrics.GENERATOR),
)
TITLES = {
    **{metric.key: metric.title for metric in SHOWN},
    "real_time": "Time per iteration",
    "cpu_time": "CPU per iteration",
}
ALONE = (
    "one run on a side has no interval, so no difference can be told: measure several on both, with"
    " `wiretrial compare URL --trials 5`"
)
ONE_DAY_EACH = (
    "each is of one occasion: what another boot or day adds is in no interval, so a difference may"
    " be the day's (`study run --add-occasion DIR`)"
)
HIGHER_IS_BETTER = {metric.key for metric in SHOWN if metric.higher_is_better}


@dataclass(frozen=True)
class Row:
    """One figure of one scenario: the new result as a multiple of the old."""

    scenario: str
    figure: str
    comparison: Comparison
    verdict: Verdict

    @property
    def words(self) -> str:
        """The verdict from the new result's side."""
        if self.verdict == "invalid":
            return "cannot be told"
        better = {"A faster": "better", "B faster": "worse"}
        return better.get(self.verdict, self.verdict)

    @property
    def ratio(self) -> str:
        """`1.05 (1.02 to 1.08)`."""
        return figure_words.interval_ratio(self.comparison)


def of_trials(trials: Sequence[Trial]) -> Figures:
    """The figures of our own trials; unusable ones are left out."""
    found: dict[str, dict[str, Series]] = {}
    for trial in trials:
        measured = Measured(trial)
        if not measured.is_usable or trial.scenario.twin_of is not None:
            continue
        figures = found.setdefault(trial.scenario.name, {})
        for metric in SHOWN:
            value = metric.of(measured)
            if value is not None and value > 0:
                series = figures.setdefault(metric.key, Series())
                series.values.append(value)
                series.occasions.append(trial.occasion)
                if trial.judgement.verdict == "client-bound":
                    series.bound = metric.bound
    for scenario, metric in _short(trials):
        found[scenario].pop(metric.key, None)
    return found


def withheld(trials: Sequence[Trial]) -> list[str]:
    """The quantiles that are not compared because trials are too short, a sentence each."""
    return [f"{scenario}: {reason}" for (scenario, _), reason in _short(trials).items()]


def _short(trials: Sequence[Trial]) -> dict[tuple[str, Metric], str]:
    """The figures that a usable trial has too few values for, and why, by scenario."""
    usable = (run for trial in trials if (run := Measured(trial)).is_usable)
    return {
        (run.trial.scenario.name, metric): reason
        for run in usable
        if run.trial.scenario.twin_of is None
        for metric in SHOWN
        if (reason := metric.withheld(run)) is not None
    }


def of_imported(imported: Imported) -> Figures:
    """The figures of another tool."""
    return {
        series.name: {
            "real_time": Series([*series.real_ns]),
            "cpu_time": Series([*series.cpu_ns]),
        }
        for series in imported.series
    }


def compare(new: Figures, old: Figures) -> list[Row]:
    """Every figure that both have; Holm over all of one figure."""
    shared = [
        (scenario, figure)
        for scenario, figures in new.items()
        for figure in figures
        if figure in old.get(scenario, {})
    ]
    found = {(s, f): _ratio(new[s][f], old[s][f]) for s, f in shared}
    rows: list[Row] = []
    for figure in dict.fromkeys(figure for _, figure in shared):
        family = [key for key in shared if key[1] == figure]
        adjusted = holm([found[key].p for key in family])
        for (scenario, _), p in zip(family, adjusted, strict=True):
            said = verdict(found[scenario, figure], p, higher_is_better=figure in HIGHER_IS_BETTER)
            rows.append(Row(scenario, figure, found[scenario, figure], said))
    place = {scenario: index for index, scenario in enumerate(new)}
    return sorted(rows, key=lambda row: place[row.scenario])


def _ratio(new: Series, old: Series) -> Comparison:
    found = welch(new.values, old.values, occasions=(new.occasions, old.occasions))
    return replace(found, bound=bounds.ratio(new.bound, old.bound))


def on_days(new: Figures, old: Figures) -> list[str]:
    """What the intervals leave out, or take for granted, where a side is of one occasion."""
    most = [_most_occasions(side) for side in (new, old)]
    if max(most) == 1 and min(most) == 1:
        return [ONE_DAY_EACH]
    if max(most) > 1 == min(most):
        side = "first" if most[0] == 1 else "second"
        return [f"the {side} is of one occasion: it is taken to scatter over days as the other"]
    return []


def _most_occasions(figures: Figures) -> int:
    """0 where nothing is known of them."""
    every = (series for one in figures.values() for series in one.values())
    return max((len(set(series.occasions)) for series in every), default=0)


def unmatched(new: Figures, old: Figures) -> list[str]:
    """What only one of the two has, a sentence each."""
    said = []
    if only := [name for name in new if name not in old]:
        said.append(f"only in the first: {units.listed(only)}")
    if only := [name for name in old if name not in new]:
        said.append(f"only in the second: {units.listed(only)}")
    return said
