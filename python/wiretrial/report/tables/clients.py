"""Client libraries side by side, and each group's round trips with the CPU in them.

Knows libraries and the bare socket; must not know how a table is drawn.
"""

from __future__ import annotations

from wiretrial.report import clients, figure_words, leading, metrics, units
from wiretrial.report.blocks import NO_FIGURE, NOTHING, Cell, Column, Table, Text, key, words
from wiretrial.report.families import Group
from wiretrial.report.metrics import Metric
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.tables import cells

US = units.MICROSECONDS
SHOWN = (metrics.WALL, metrics.CLIENT, metrics.P50, metrics.P99, metrics.SERVER)


def side_by_side(found: clients.Table) -> Table:
    """A row per library: round trip and CPU in each protocol, and how many times the baseline's."""
    several = len({row.language for row in found.rows}) > 1
    language = [Column("Language", is_figure=False, is_spare=True)] if several else []
    heads = (Column(f"{protocol}\nµs / CPU µs") for protocol in found.protocols)
    rows = []
    for row in found.rows:
        figures = (_both(row.cells.get(protocol)) for protocol in found.protocols)
        spoken = (Cell(row.language),) if several else ()
        rows.append((Cell(row.name, colour=row.colour), *spoken, *figures))
    return Table((*words("Library"), *language, *heads), tuple(rows))


def _both(cell: clients.Cell | None) -> Cell:
    if cell is None:
        return NO_FIGURE
    wall, cpu = (cell.scenario.median(metric) for metric in (metrics.WALL, metrics.CLIENT))
    told = (NOTHING if value is None else US.figure(value) for value in (wall, cpu))
    ratios = [cell.wall_ratio, cell.client_ratio]
    times = [units.significant(ratio) if ratio else NOTHING for ratio in ratios]
    aside = (f"× {' / '.join(times)}",) if any(ratios) else ()
    return Cell(" / ".join(told), aside=aside, value=wall)


def how_to_read(model: ReportModel, found: clients.Table) -> Text:
    """What the figures are, and what the fastest of them speaks."""
    text = (
        "Microseconds per round trip, then the client's own CPU in it (user and system, all "
        "threads): medians over trials."
    )
    if model.baselines:
        text += " ×: how many times the bare socket's."
    if found.floor:
        text += f" Below them: {found.floor}."
    return key(text)


def round_trips(model: ReportModel, group: Group) -> Table:
    """Places by time and by CPU, figures with their intervals, multiples of the baseline's."""
    base = leading.base_of(group, model.baselines)
    ranking, by_cost = group.contest.ranking.ranks, group.contest.by_cost.ranks
    rows = tuple(
        (
            Cell(str(ranking.get(scenario.name, NOTHING))),
            Cell(str(by_cost.get(scenario.name, NOTHING))),
            cells.named(group, scenario),
            *(cells.of(scenario, metric, US) for metric in SHOWN),
            _times(group, scenario, base, metrics.WALL),
            _times(group, scenario, base, metrics.CLIENT),
        )
        for scenario in group.ranked
    )
    heads = [Column(f"{metric.title}, µs") for metric in SHOWN]
    whose = "the bare socket's" if base else "the baseline's"
    against = (Column(f"Time, times {whose}"), Column("CPU, times"))
    first = (Column("Place by time"), Column("by CPU"), *words("Library"))
    return Table((*first, *heads, *against), rows, names=3)


def _times(
    group: Group, scenario: ScenarioResult, base: ScenarioResult | None, metric: Metric
) -> Cell:
    """The ratio to the baseline with its interval."""
    if base is None or base is scenario:
        return NO_FIGURE
    found = (p for p in group.contest.against(base.name, metric) if p.a == scenario.name)
    return Cell(next((figure_words.ratio_text(pair) for pair in found), NOTHING))
