"""Break-even: what set-up and message cost on both sides, and after how many messages it pays.

The first place is drawn, too.
"""

from __future__ import annotations

from markupsafe import Markup

from wiretrial.report import break_even, markup
from wiretrial.report.break_even import Place
from wiretrial.report.canvas import NARROW, WIDE, Frame
from wiretrial.report.model import ReportModel
from wiretrial.report.views import amortised


def tables(model: ReportModel) -> Markup:
    """A table per environment and level; empty where no set-up was timed."""
    parts = []
    for number, place in enumerate(model.places):
        parts.append(markup.heading(place.title[:1].upper() + place.title[1:]))
        if number == 0:
            parts += _pictures(model, place)
        parts.append(_table(place))
    if parts:
        parts.append(
            markup.key(
                "Per connection: the set-up, and each message with its reply. In brackets the 95 %"
                " interval (Fieller) over blocks."
            )
        )
    return markup.joined(parts)


def _pictures(model: ReportModel, place: Place) -> list[Markup]:
    drawn = [
        markup.both(
            *(amortised.picture(model, place, quantity, Frame(width)) for width in (WIDE, NARROW))
        )
        for quantity in amortised.quantities(place)
    ]
    return [*drawn, markup.key(amortised.KEY)] if drawn else []


def _table(place: Place) -> Markup:
    head = Markup("").join(
        Markup('<th class="num">{}</th>').format(text) for text in break_even.HEAD[1:5]
    )
    body = Markup("").join(
        Markup("<tr><td>{}</td>{}<td>{}</td></tr>").format(
            row[0],
            Markup("").join(Markup('<td class="num">{}</td>').format(text) for text in row[1:5]),
            row[5],
        )
        for row in break_even.rows(place)
    )
    return Markup(
        '<div class="scroll"><table><thead><tr><th></th><th class="num" colspan="2">HTTP</th>'
        '<th class="num" colspan="2">socket</th><th></th></tr><tr><th></th>{}'
        "<th>{}</th></tr></thead>"
        "<tbody>{}</tbody></table></div>"
    ).format(head, break_even.HEAD[5], body)
