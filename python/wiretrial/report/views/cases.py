"""A table label x case: the best of each case green, the worst red, and a mark for either."""

from __future__ import annotations

from markupsafe import Markup

from wiretrial.report import sentences, units
from wiretrial.report.families import Family
from wiretrial.report.marks import BEST, WORST, extremes
from wiretrial.report.metrics import Metric
from wiretrial.report.model import Group, ScenarioResult
from wiretrial.report.views.ranking import is_bound, swatch


def table(family: Family) -> Markup:
    """A row per case, a column per label: many cases read better downwards."""
    head = Markup("").join(
        Markup('<th class="num">{}{}</th>').format(swatch(_colour(family, label)), label)
        for label in family.labels
    )
    rows = Markup("").join(
        Markup("<tr><td>{}</td>{}</tr>").format(
            family.level(group),
            Markup("").join(
                _cell(family.of(label, group), group, family.metric) for label in family.labels
            ),
        )
        for group in family.groups
    )
    return Markup(
        '<div class="scroll"><table class="cases"><thead><tr><th>Case</th>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>"
        '<p class="key muted">{} best, {} worst of the case; several where no difference between '
        "them is shown, none where none is shown at all.</p>"
    ).format(head, rows, BEST, WORST)


def _cell(scenario: ScenarioResult | None, group: Group, metric: Metric) -> Markup:
    estimate = None if scenario is None else scenario.estimates.get(metric.key)
    if scenario is None or estimate is None:
        return Markup('<td class="num">–</td>')
    best, worst = extremes(group)
    is_best = scenario.name in best
    is_worst = scenario.name in worst and not is_best
    style, mark = ("best", BEST) if is_best else ("worst", WORST) if is_worst else ("", "")
    unit = units.fitting(metric.units, (estimate.median,))
    word = " (best)" if is_best else " (worst)" if is_worst else ""
    return Markup(
        '<td class="num {}"><span aria-hidden="true">{}</span> {}{}'
        '<span class="said">{}</span><small>{}</small></td>'
    ).format(
        style,
        mark,
        "≥ " if is_bound(scenario, metric) else "",
        unit.text(estimate.median),
        word,
        sentences.interval_text(estimate, unit) or "–",
    )


def _colour(family: Family, label: str) -> int:
    return next(s.colour for g in family.groups if (s := family.of(label, g)) is not None)
