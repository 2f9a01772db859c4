"""Who was the bottleneck, per scenario, with the evidence of its trials; marked trials by name."""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup

from wiretrial.report import sentences, units
from wiretrial.report.model import ReportModel, ScenarioResult
from wiretrial.report.views.ranking import swatch


def table(model: ReportModel) -> Markup:
    """One row per scenario."""
    rows = Markup("").join(
        Markup("<tr><td>{}{}</td><td>{}</td><td>{}</td></tr>").format(
            swatch(scenario.colour), scenario.name, _counts(scenario), _evidence(scenario)
        )
        for group in model.groups
        for scenario in group.ranked
    )
    return Markup(
        '<div class="scroll"><table class="prose"><thead><tr><th>Scenario</th><th>Bottleneck</th>'
        "<th>Evidence (a typical trial)</th></tr></thead><tbody>{}</tbody></table></div>"
    ).format(rows)


def marked(model: ReportModel) -> Markup:
    """The marked trials, empty if there are none."""
    if not model.marked:
        return Markup("")
    items = Markup("").join(
        Markup("<li>{}{}, block {}: <strong>{}</strong>, {}</li>").format(
            swatch(scenario.colour), scenario.name, row.block + 1, row.verdict, row.evidence
        )
        for scenario, row in model.marked
    )
    return Markup('<h3>Marked trials (hollow in the ranking)</h3><ul class="plain">{}</ul>').format(
        items
    )


def _counts(scenario: ScenarioResult) -> str:
    return units.listed(
        f"{sentences.BOTTLENECKS[who]} in {n} of {len(scenario.trials)}"
        for who, n in scenario.bottlenecks.items()
    )


def _evidence(scenario: ScenarioResult) -> str:
    """The evidence of the middle one of the trials that share the usual bottleneck."""
    usual = Counter(row.bottleneck for row in scenario.trials).most_common(1)[0][0]
    texts = [row.evidence for row in scenario.trials if row.bottleneck == usual]
    return texts[len(texts) // 2]
