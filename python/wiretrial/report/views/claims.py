"""Published / here: what others found beside what was found here, and a verdict per claim."""

from __future__ import annotations

from markupsafe import Markup

from wiretrial.report.claims import ClaimRow, Verdict
from wiretrial.report.marks import CLAIM_MARKS, claim_ratio
from wiretrial.report.model import ReportModel

_CLASSES: dict[Verdict, str] = {
    "reproduced": "good",
    "not reproduced": "bad",
    "arithmetic": "known",
    "cannot be told": "open",
    "not measured here": "open",
}


def table(model: ReportModel) -> Markup:
    """A row per claim; empty where there is none."""
    if not model.claims:
        return Markup("")
    rows = Markup("").join(_row(row) for row in model.claims)
    return Markup(
        '<div class="scroll"><table class="claims"><thead><tr><th>Published</th>'
        '<th class="num">There</th><th class="num">Here</th><th>Verdict</th></tr></thead>'
        "<tbody>{}</tbody></table></div>"
    ).format(rows)


def _row(row: ClaimRow) -> Markup:
    return Markup(
        '<tr><td>{}<small>{}; {}</small></td><td class="num" data-name="There">{}</td>'
        '<td class="num" data-name="Here">{}</td>'
        '<td><span class="mark {}">{}</span> <strong>{}</strong><small>{}</small></td></tr>'
    ).format(
        row.text,
        row.claim.source,
        f"{row.metric.title[:1].lower()}{row.metric.title[1:]}"
        if row.metric.title[1:2].islower()
        else row.metric.title,
        row.published,
        claim_ratio(row),
        _CLASSES[row.verdict],
        CLAIM_MARKS[row.verdict],
        row.verdict,
        row.why,
    )
