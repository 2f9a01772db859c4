"""Client libraries: the table of all, and per group the round trip beside the client's own CPU."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from wiretrial.report import client_words, markup, metrics, palette, sentences, units
from wiretrial.report import clients as rows_of
from wiretrial.report.canvas import NARROW, WIDE, Frame, Padding, Picture, Row
from wiretrial.report.clients import Cell, Table
from wiretrial.report.families import Family, Group
from wiretrial.report.metrics import Metric
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.views import dots, pairs
from wiretrial.report.views.axes import domain_of
from wiretrial.report.views.plot import Plot, log, placed
from wiretrial.report.views.ranking import swatch

US = units.MICROSECONDS
WIDE_ROW = 30
NARROW_ROW = 44
KEY = (
    "Filled: the round trip, the median over trials of their means; line: its 95 % interval. Ring: "
    "the client's CPU in it. What lies between them is the server's work and waiting."
)


def overview(model: ReportModel) -> Markup:
    """Every library beside every other: the first thing to see."""
    found = rows_of.tables(model)
    if not found:
        return markup.NOTHING
    parts: list[Markup] = []
    for table in found:
        parts.append(markup.heading(table.title) if len(found) > 1 else markup.NOTHING)
        parts.append(_table(table))
    note = (
        "Microseconds per round trip, and of them the client's own CPU (user and system, all "
        "threads): medians over trials."
    )
    if model.baselines:
        note += " ×: how many times the bare socket's."
    if floor := found[0].floor:
        note += f" Below them: {floor}."
    parts.append(markup.key(note))
    return markup.section("Libraries side by side", *parts)


def results(model: ReportModel, family: Family) -> Markup:
    """A picture and a ranking for each group of the family."""
    parts: list[Markup] = []
    for group in family.groups:
        if not any(s.median(metrics.WALL) for s in group.scenarios):
            continue
        if len(family.groups) > 1:
            parts.append(markup.heading(family.level(group)))
        parts.append(markup.both(picture(group, Frame(WIDE)), picture(group, Frame(NARROW))))
        parts.append(markup.fold("Figures and places", _figures(model, group)))
        parts.append(markup.fold("Pair by pair", pairs.table(group)))
    if parts:
        parts.append(markup.key(KEY))
    return markup.section(f"Round trip and CPU: {family.title}", *parts)


def picture(group: Group, frame: Frame) -> Picture:
    """A row per library, the shortest round trip first: a dot for it, a ring for the CPU."""
    drawn = [s for s in group.ranked if s.median(metrics.WALL)]
    pitch = NARROW_ROW if frame.is_narrow else WIDE_ROW
    padding = Padding(10, 10, 8, 44) if frame.is_narrow else Padding(200, 190, 4, 44)
    rows = [_drawn(group, scenario, index) for index, scenario in enumerate(drawn)]
    domain = domain_of([row[key] for row in rows for key in ("from", "low", "high", "x")])
    plot = Plot(
        *(frame, padding, pitch * len(rows)),
        x=log(domain, "µs per round trip, log scale; less is better"),
        y=placed(-0.6, len(rows) - 0.4),
    )
    plot.draw("rule", rows, x="from", x2="x", strokeWidth=1, opacity=0.45)
    plot.draw("rule", rows, x="low", x2="high", strokeWidth=4, opacity=0.45)
    with_cpu = [row for row in rows if row["cpu"]]
    plot.draw("point", with_cpu, x="cpu", aria=False, filled=False, size=55, strokeWidth=2)
    plot.draw("point", rows, size=80)
    _label(plot, rows)
    return plot.picture(_alternative(group, drawn))


def _drawn(group: Group, scenario: ScenarioResult, index: int) -> Row:
    cpu = scenario.median(metrics.CLIENT) or 0.0
    name, aside = group.called[scenario.name], f"CPU {US.figure(cpu)}" if cpu else "CPU unknown"
    row = dots.median(scenario, name, metrics.WALL, US, "x", " per round trip")
    return {
        **row,
        "y": index,
        "name": name,
        "cpu": cpu / US.size,
        "from": cpu / US.size or row["x"],
        "figure": US.text(scenario.estimates[metrics.WALL.key].median),
        "aside": aside,
        "text": f"{row['text']}; {aside}",
    }


def _label(plot: Plot, rows: Sequence[Row]) -> None:
    """Name and figures beside each row, or above it."""
    name: Row = {"fontSize": 13.5, "color": palette.INK}
    figure: Row = {**name, "fontWeight": 600, "text": "figure"}
    if plot.frame.is_narrow:
        plot.draw("text", rows, text="name", x=0, dy=-15, **name)
        plot.draw("text", rows, x=plot.width, dy=-15, align="right", **figure)
        return
    plot.draw("text", rows, text="name", x=-192, **name)
    plot.draw("text", rows, x=plot.width + 14, **figure)
    plot.draw("text", rows, text="aside", x=plot.width + 100, color=palette.MUTED)


def _alternative(group: Group, drawn: Sequence[ScenarioResult]) -> str:
    parts = units.listed(
        f"{group.called[s.name]} {US.figure(s.median(metrics.WALL) or 0.0)} µs with "
        f"{US.figure(s.median(metrics.CLIENT) or 0.0)} µs of CPU"
        for s in drawn
    )
    return f"Round trip and client CPU of {group.title}, shortest first: {parts}."


def _table(table: Table) -> Markup:
    heads = Markup("").join(
        Markup('<th class="num">{}</th><th class="num">CPU</th>').format(protocol)
        for protocol in table.protocols
    )
    several = len({row.language for row in table.rows}) > 1
    body = Markup("").join(
        Markup("<tr><td>{}{}</td>{}{}</tr>").format(
            swatch(row.colour),
            row.name,
            Markup("<td>{}</td>").format(row.language) if several else "",
            Markup("").join(_cells(row.cells.get(protocol)) for protocol in table.protocols),
        )
        for row in table.rows
    )
    return Markup(
        '<div class="scroll"><table class="cases tight"><thead><tr><th>Library</th>{}{}</tr>'
        "</thead><tbody>{}</tbody></table></div>"
    ).format(Markup("<th>Language</th>") if several else "", heads, body)


def _cells(cell: Cell | None) -> Markup:
    if cell is None:
        return Markup('<td class="num">–</td><td class="num">–</td>')
    return Markup("").join(
        Markup('<td class="num">{}<small>{}</small></td>').format(
            "–" if (value := cell.scenario.median(metric)) is None else US.figure(value),
            f"× {units.significant(ratio)}" if ratio else "",
        )
        for metric, ratio in (
            (metrics.WALL, cell.wall_ratio),
            (metrics.CLIENT, cell.client_ratio),
        )
    )


def _figures(model: ReportModel, group: Group) -> Markup:
    """Places by time and by CPU, figures with their intervals, and the server's part."""
    contest = group.contest
    shown = (metrics.WALL, metrics.CLIENT, metrics.P50, metrics.P99, metrics.SERVER)
    base = client_words.base_of(group, model.baselines)
    head = Markup("").join(
        Markup('<th class="num">{}, µs</th>').format(metric.title) for metric in shown
    )
    body = Markup("").join(
        Markup(
            '<tr><td class="num">{}</td><td class="num">{}</td><td>{}{}</td>{}'
            '<td class="num">{}</td><td class="num">{}</td></tr>'
        ).format(
            contest.ranking.ranks.get(scenario.name, "–"),
            contest.by_cost.ranks.get(scenario.name, "–"),
            swatch(scenario.colour),
            group.called[scenario.name],
            Markup("").join(_figure(scenario, metric) for metric in shown),
            _ratio(group, scenario, base, metrics.WALL),
            _ratio(group, scenario, base, metrics.CLIENT),
        )
        for scenario in group.ranked
    )
    against = "the bare socket's" if base else "the baseline's"
    return Markup(
        '<div class="scroll"><table><thead><tr><th class="num">Place by time</th>'
        '<th class="num">by CPU</th><th>Library</th>{}<th class="num">Time, times {}</th>'
        '<th class="num">CPU, times</th></tr></thead><tbody>{}</tbody></table></div>'
    ).format(head, against, body)


def _figure(scenario: ScenarioResult, metric: Metric) -> Markup:
    estimate = scenario.estimates.get(metric.key)
    if estimate is None:
        return Markup('<td class="num">–</td>')
    return Markup('<td class="num">{}<small>{}</small></td>').format(
        US.figure(estimate.median), sentences.interval_text(estimate, US)
    )


def _ratio(
    group: Group, scenario: ScenarioResult, base: ScenarioResult | None, metric: Metric
) -> str:
    """The ratio to the baseline with its interval."""
    if base is None or base is scenario:
        return "–"
    found = (p for p in group.contest.against(base.name, metric) if p.a == scenario.name)
    return next((sentences.ratio_text(pair) for pair in found), "–")
