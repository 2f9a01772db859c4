"""Who was the bottleneck, per scenario, with the evidence of its trials; marked trials by name.

Of a search for the highest rate: at the knee, and just above it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from wiretrial.report import sentences, units
from wiretrial.report.knees import Step
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import TrialRow
from wiretrial.report.views.ranking import swatch


def table(model: ReportModel) -> Markup:
    """One row per scenario, and two per search."""
    rows = Markup("").join(
        Markup("<tr><td>{}{}</td><td>{}</td><td>{}</td></tr>").format(
            swatch(colour), name, sentences.bottleneck_counts(trials), _evidence(trials)
        )
        for colour, name, trials in _rows(model)
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


def _rows(model: ReportModel) -> Iterator[tuple[int, str, Sequence[TrialRow | Step]]]:
    for group in model.groups:
        for scenario in group.ranked:
            yield scenario.colour, scenario.name, scenario.trials
    for knee in model.knees:
        for name, steps in knee.ends:
            rate = units.fitting(units.RATES, (steps[0].offered,)).text(steps[0].offered)
            yield knee.colour, f"{knee.name}, {name} ({rate})", steps


def _evidence(trials: Sequence[TrialRow | Step]) -> str:
    """The evidence of the middle one of the trials that share the usual bottleneck."""
    usual = Counter(row.bottleneck for row in trials).most_common(1)[0][0]
    texts = [row.evidence for row in trials if row.bottleneck == usual]
    return texts[len(texts) // 2]
