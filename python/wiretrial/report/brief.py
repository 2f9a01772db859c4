"""The answer first: what a study's last screen and a report's first lines say.

Knows findings and warnings; must not know terminals or pages. At most `MOST_LINES` lines answer the
question; what does not fit stands in the report. Warnings and rows that are left out are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from wiretrial import warnings as codes
from wiretrial.report import case_tables, figure_words, metrics, phrases, units
from wiretrial.report.families import unit_of
from wiretrial.report.finding import Finding
from wiretrial.report.metrics import Metric
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import ScenarioResult

WIDTH = 80
"""Columns that the answer is measured in."""
MOST_LINES = 5
MOST_WARNINGS = 5
MOST_ROWS = 12
MOST_METRICS = 3
BESIDE = (metrics.SERVER, metrics.P99, metrics.P50)
ASIDE = ("bottleneck", "twins")
"""Findings about the trials, not about what was measured."""
FEW_WORKLOADS = 3
"""Of more, the first sentence says who leads in how many."""


@dataclass(frozen=True)
class Table:
    """Texts in rows; the first column to the left, the others to the right."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0
    """Rows that were left out."""


def answer(model: ReportModel, width: int) -> tuple[str, ...]:
    """Sentences that fill at most `MOST_LINES` lines of `width`; the bottleneck is the last."""
    if model.is_run:
        return tuple(model.verdict_sentences)
    limit = phrases.say(model.limit)
    found = [one for one in model.findings if not one.is_beside and one.kind not in ASIDE]
    # Of client libraries the baseline leads, which says nothing.
    workloads = [one for one in model.by_workload if one.metric is not metrics.WALL]
    for say in (phrases.say, phrases.shorter):
        told = [*(model.answer or map(say, found))]
        if not model.answer and len(workloads) > FEW_WORKLOADS:
            told = [*filter(None, [phrases.leads(workloads)]), *told]
        if sum(lines(sentence, width) for sentence in (*told, limit)) <= MOST_LINES:
            break
    return (*_first_that_fit(told, MOST_LINES - lines(limit, width), width), limit)


def _first_that_fit(told: Sequence[str], left: int, width: int) -> list[str]:
    """The first sentence in any case, then each that still has room."""
    kept = [*told[:1]]
    left -= sum(lines(sentence, width) for sentence in kept)
    for sentence in told[1:]:
        needed = lines(sentence, width)
        if needed <= left:
            kept.append(sentence)
            left -= needed
    return kept


def lines(sentence: str, width: int) -> int:
    """How many lines of `width` the sentence fills."""
    return len(wrap(sentence, width))


def warnings(model: ReportModel) -> tuple[tuple[str, ...], int]:
    """The gravest, a line each without what to do about it; how many more there are.

    That all is of one occasion is always among them: it goes for every figure above.
    """
    told = [*_absent(model)]
    told += [f"{row.message} ({row.where})" if row.where else row.message for row in model.warnings]
    shown = told[:MOST_WARNINGS]
    is_one = bool(model.warnings) and model.warnings[-1].code == codes.Code.ONE_OCCASION
    if is_one and told[-1] not in shown:
        shown[-1] = told[-1]
    return tuple(shown), max(len(told) - MOST_WARNINGS, 0)


def scenarios(model: ReportModel) -> Table | None:
    """A row per scenario, best first; None where they are too many, or have several levels."""
    families = [family for family in model.families if not family.is_outside]
    groups = [family.groups[0] for family in families]
    found = [scenario for group in groups for scenario in group.ranked]
    if len(found) > MOST_ROWS or any(len(family.groups) > 1 for family in families):
        return None
    known = {key for scenario in found for key in scenario.estimates}
    ranked = dict.fromkeys(group.contest.metric for group in groups)
    beside = [metric for metric in BESIDE if metric not in ranked and metric.key in known]
    shown = [*ranked, *beside][:MOST_METRICS]
    fitted = {metric: unit_of(groups, metric) for metric in shown}
    rows = []
    for scenario in found:
        cells = (_cell(scenario, one, fitted[one], is_first=one in ranked) for one in shown)
        rows.append((scenario.name, *cells))
    heads = (metric.head for metric in shown)
    units_shown = (fitted[metric].short for metric in shown)
    titles = (f"{head}, {unit}" for head, unit in zip(heads, units_shown, strict=True))
    return Table(("scenario", *titles), tuple(rows))


def _cell(scenario: ScenarioResult, metric: Metric, unit: units.Unit, *, is_first: bool) -> str:
    """The median, with its interval where the scenarios are ranked by it."""
    if is_first:
        return figure_words.figure_text(scenario, metric, unit).replace("–", "-")
    value = scenario.median(metric)
    return "-" if value is None else f"{scenario.bound(metric)}{unit.figure(value)}"


def overview(model: ReportModel) -> Table | None:
    """A row per workload: who leads, its figure, and who follows; None without two workloads."""
    rows = [_row(found) for found in model.by_workload if found.kind != "safest"]
    if len(rows) < 2:
        return None
    return Table(
        ("workload", "best", "figure", "next", "times"),
        tuple(rows[:MOST_ROWS]),
        more=max(len(rows) - MOST_ROWS, 0),
    )


def safest(model: ReportModel) -> Table | None:
    """A row per subject over all cases: how far from the best, how often the best; else None."""
    family = next((one for one in model.families if one.is_cases and not one.is_outside), None)
    found = next((one for one in model.findings if one.kind == "safest"), None)
    if family is None or found is None:
        return None
    furthest = {other.label: other.ratio for other in found.others}
    best = dict.fromkeys(family.labels, 0)
    stalled = dict.fromkeys(family.labels, 0)
    for table in case_tables.tables(family):
        for row in table.rows:
            best[row.label] += sum(bool(cell and cell.is_best) for cell in row.cells)
            stalled[row.label] += sum(bool(cell and cell.stalls) for cell in row.cells)
    ordered = dict.fromkeys((*furthest, *family.labels))
    rows = [
        (
            label,
            f"{units.significant(furthest[label])} x" if label in furthest else "-",
            str(best[label] or "-"),
            str(stalled[label] or "-"),
        )
        for label in ordered
    ]
    heads = ("", "at most, times the best", "best in cases", "stalled in cases")
    return Table(heads, tuple(rows[:MOST_ROWS]), more=max(len(rows) - MOST_ROWS, 0))


def _row(finding: Finding) -> tuple[str, ...]:
    """Workload and metric, the best with its figure, the next with its multiple."""
    assert finding.metric is not None
    metric = finding.metric.head
    where = f"{finding.where}: {metric}" if finding.where else metric
    if what := _WHAT.get(finding.kind):
        return (where, finding.what.in_text(what), "", "", "")
    if finding.kind == "counted":
        if not finding.counts:
            return (where, "no single winner", "", "", "")
        label, n = finding.counts[0]
        return (where, f"{label}, {n} of {finding.levels}", "", "", "")
    first = finding.others[0] if finding.others else None
    more = f" +{len(finding.leaders) - 1}" if len(finding.leaders) > 1 else ""
    best = (where, f"{finding.leaders[0]}{more}", phrases.figure(finding))
    return (*best, first.label, phrases.times(first)) if first else (*best, "", "")


def _absent(model: ReportModel) -> Iterator[str]:
    """Subjects that have no trial, then those of which only some scenarios have none."""
    names = list(dict.fromkeys(row.subject for row in model.absent))
    here = {trial.scenario.subject for trial in model.trials}
    nowhere = [name for name in names if name not in here]
    if len(nowhere) == 1:
        why = next(row.reason for row in model.absent if row.subject == nowhere[0])
        yield f"{nowhere[0]} was not measured: {why}"
    elif nowhere:
        yield f"{len(nowhere)} subjects were not measured: {units.listed(nowhere)}"
    if partly := [name for name in names if name in here]:
        yield f"not measured in some scenarios: {units.listed(partly)}"


_WHAT = {
    "untold": "no difference shown",
    "bound": "only bounds, not ranked",
    "overloaded": "rate not reached, not ranked",
    "short": "too few {messages}",
    "single": "one trial each",
    "lacking": "too few usable trials",
}
