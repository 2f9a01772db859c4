"""The comparisons behind the ranks: each pair's ratio with its interval and verdict."""

from __future__ import annotations

from markupsafe import Markup

from wiretrial.report import metrics, sentences
from wiretrial.report.contest import Pair
from wiretrial.report.families import Group


def table(group: Group) -> Markup:
    """One row per pair, the ranked metric and the server's CPU time beside each other."""
    shown = [
        metric
        for metric in (group.contest.metric, metrics.beside(group.contest.metric))
        if group.contest.pairs.get(metric.key)
    ]
    if not shown:
        return Markup("")
    head = Markup("").join(
        Markup('<th class="num">{} ratio</th><th>Verdict</th>').format(metric.title)
        for metric in shown
    )
    rows = zip(*(group.contest.pairs[metric.key] for metric in shown), strict=True)
    body = Markup("").join(
        Markup("<tr><td>{} / {}</td>{}</tr>").format(
            row[0].a, row[0].b, Markup("").join(_cells(pair) for pair in row)
        )
        for row in rows
    )
    return Markup(
        '<div class="scroll"><table><thead><tr><th>Pair</th>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>"
    ).format(head, body)


def _cells(pair: Pair) -> Markup:
    return Markup('<td class="num">{}</td><td>{}</td>').format(
        sentences.ratio_text(pair), sentences.verdict_text(pair)
    )
