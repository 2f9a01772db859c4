"""What was measured, scenario by scenario: whose it is, its figures, its place, and its permalink.

Knows reports and what is kept of them; must not know pages. Where trials are kept, the figures are
those of the report's model; of a study of which only figures are kept they are read from its
tables, which say no place.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from wiretrial.report import figure_words, metrics
from wiretrial.report.blocks import NOTHING, Cell, Mark, Table, Text
from wiretrial.report.families import Group
from wiretrial.report.found import Found
from wiretrial.report.knees import Knee
from wiretrial.report.metrics import Metric
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.tables import cells
from wiretrial.report.tables.claims import TITLE as CLAIMS
from wiretrial.report.tables.held import TITLE as HELD
from wiretrial.report.tables.occasions import TITLE as OCCASIONS
from wiretrial.report.tables.receiving import TITLE as RECEIVING
from wiretrial.results.model import Scenario

BESIDE = (metrics.THROUGHPUT, metrics.SERVER, metrics.CLIENT, metrics.P50, metrics.P99)
"""What stands beside the figure that a scenario is ranked by."""
LONGEST_SLUG = 60
DIGITS = 6
"""Of the digest that tells two names apart whose letters are the same."""
CLIENT = "-client"
"""Tables of client libraries leave it out of their names."""
_APART = (
    CLAIMS,
    HELD,
    OCCASIONS,
    RECEIVING,
    "What each is like to adopt",
    "Break-even",
    "Not measured",
)
"""Sections whose tables hold no scenario's figure, by how their titles begin."""


@dataclass(frozen=True)
class Figure:
    """One figure with its unit, and its interval where it has one."""

    metric: str
    text: str
    interval: str = ""
    mark: Mark = ""


@dataclass(frozen=True)
class Measured:
    """One scenario of one result."""

    name: str
    subject: str
    configuration: str
    group: str
    """What it is compared within."""
    figures: tuple[Figure, ...]
    """The one that it is ranked by, then what stands beside it."""
    place: str = ""
    """`1 of 9`; empty where none can be told."""
    trials: int | None = None
    protocol: str = ""
    version: str = ""
    language: str = ""

    @property
    def anchor(self) -> str:
        """Its permalink within its result: it follows from the name alone."""
        return anchor(self.name)


def anchor(name: str) -> str:
    """The name as an address: readable, and another for each name, whatever others there are."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower())[:LONGEST_SLUG].strip("-")
    digest = hashlib.sha256(name.encode()).hexdigest()[:DIGITS]
    return f"{slug}-{digest}" if slug else digest


def slug(subject: str) -> str:
    """The file that a subject's page has for a name: its own where it is one of the catalogue."""
    return subject if re.fullmatch(r"[a-z0-9][a-z0-9.-]*", subject) else anchor(subject)


def of_model(model: ReportModel) -> tuple[Measured, ...]:
    """Every scenario of a report, group by group and best first, then the searches."""
    scenarios = {trial.scenario.name: trial.scenario for trial in model.trials}
    searched = {
        trial.scenario.search: (trial.scenario, trial.subject.version if trial.subject else "")
        for trial in model.trials
        if trial.scenario.search
    }
    found = [
        _of_scenario(group, one, scenarios[one.name])
        for group in model.groups
        for one in group.ranked
    ]
    found += [_of_knee(knee, *searched[knee.name]) for knee in model.knees]
    return tuple(found)


def _of_scenario(group: Group, one: ScenarioResult, scenario: Scenario) -> Measured:
    ranked = group.contest.metric
    rank = group.contest.ranking.ranks.get(one.name)
    is_placed = rank is not None and len(group.scenarios) > 1 and not group.is_outside
    beside = (metric for metric in BESIDE if metric is not ranked)
    shown = [metric for metric in (ranked, *beside) if metric.key in one.estimates]
    return Measured(
        name=one.name,
        subject=one.subject,
        configuration=scenario.configuration,
        group=group.title,
        figures=tuple(
            _figure(one, metric, cells.mark_in(group, one) if metric is ranked else "")
            for metric in shown
        )
        or (Figure(ranked.title, _no_figure(one)),),
        place=f"{rank} of {len(group.scenarios)}" if is_placed else "",
        trials=one.usable,
        protocol=one.protocol,
        version=one.version,
        language=one.language,
    )


def _figure(one: ScenarioResult, metric: Metric, mark: Mark) -> Figure:
    estimate = one.estimates[metric.key]
    unit = metric.unit((estimate.median,), one.what)
    return Figure(
        metric.title,
        f"{one.bound(metric)}{unit.text(estimate.median)}",
        figure_words.interval_text(estimate, unit),
        mark,
    )


def _no_figure(one: ScenarioResult) -> str:
    stalled = any(row.verdict == "stalled" for row in one.trials)
    return "stalled" if stalled else "no usable trial"


def _of_knee(knee: Knee, scenario: Scenario, version: str) -> Measured:
    figure = f"{knee.figure} {knee.what.many}/s" if knee.sustained else "no rate sustained"
    return Measured(
        name=knee.name,
        subject=scenario.subject,
        configuration=scenario.configuration,
        group=knee.group,
        figures=(Figure(f"Highest rate with {knee.objective.words}", figure),),
        trials=len(knee.steps),
        protocol=scenario.protocol,
        version=version,
    )


def of_kept(found: Found, subjects: Collection[str]) -> tuple[Measured, ...]:
    """What the tables of a kept result say of these subjects, case by case."""
    every: dict[str, Measured] = {}
    for one in _in_tables(found, subjects):
        known = every.get(one.name)
        every[one.name] = (
            one if known is None else replace(known, figures=(*known.figures, *one.figures))
        )
    return tuple(every.values())


def _in_tables(found: Found, subjects: Collection[str]) -> Iterator[Measured]:
    for section in found.sections:
        if section.title.startswith(_APART):
            continue
        heading = ""
        for block in section.blocks:
            if isinstance(block, Text):
                heading = block.text if block.style == "heading" else heading
            elif isinstance(block, Table):
                yield from _in_table(_Place(section.title, heading, tuple(subjects)), block)


@dataclass(frozen=True)
class _Place:
    """Where a table stands, and who may be spoken of."""

    title: str
    heading: str
    subjects: tuple[str, ...] = field(repr=False)

    @property
    def metric(self) -> str:
        """`Server CPU, µs: sizes` is of `Server CPU, µs`."""
        return self.title.partition(": ")[0]

    @property
    def group(self) -> str:
        """What stands behind it: the workload."""
        return ", ".join(filter(None, (self.title.partition(": ")[2], self.heading)))

    def subject(self, name: str) -> str:
        """Whose a row or a column is by its name; empty: nobody's that is known."""
        head = re.split(r"[,:]", name)[0].strip()
        return next((one for one in (head, f"{head}{CLIENT}") if one in self.subjects), "")

    @property
    def own(self) -> str:
        """Whose the whole table is, as in `bots, table-netty`."""
        return self.subject(self.title.rpartition(", ")[2])


def _in_table(place: _Place, table: Table) -> Iterator[Measured]:
    names = [at for at, column in enumerate(table.columns) if not column.is_figure]
    titles = [column.title for column in table.columns]
    trials = titles.index("Trials") if "Trials" in titles else None
    for row in table.rows[: len(table.rows) - table.has_floor]:
        down = ", ".join(row[at].text for at in names)
        count = row[trials].text if trials is not None else ""
        for at, (column, cell) in enumerate(zip(table.columns, row, strict=True)):
            if column.is_figure and at != trials and cell.text not in ("", NOTHING):
                # A ranking's only figure is its median; every other column says at which level.
                across = "" if column.title == "Median" else column.title.replace("\n", ", ")
                yield from _of_cell(place, down, across, cell, count)


def _of_cell(place: _Place, down: str, across: str, cell: Cell, count: str) -> Iterator[Measured]:
    """The figure with the name that it would have as a scenario: `LABEL: GROUP`."""
    label, level = (down, across) if place.subject(down) else (across, down)
    subject = place.subject(label) or place.own
    if not subject:
        return
    if not place.subject(label):
        label = f"{subject}, {label}" if label else subject
    workload = place.group.removesuffix(f", {subject}")
    group = ", ".join(filter(None, (workload, level)))
    configuration = label.partition(",")[0].partition(":")[2].strip()
    yield Measured(
        name=f"{label}: {group}" if group else label,
        subject=subject,
        configuration=configuration,
        group=group,
        figures=(Figure(place.metric, cell.text, "; ".join(cell.aside), cell.mark),),
        trials=int(count) if count.isdigit() else None,
    )


def by_subject(rows: Sequence[Measured]) -> dict[str, list[Measured]]:
    """The scenarios of each subject, in the order of the result."""
    found: dict[str, list[Measured]] = {}
    for one in rows:
        found.setdefault(one.subject, []).append(one)
    return found
