"""Warnings, each once, with its cause and what to do about it."""

from __future__ import annotations

from markupsafe import Markup

from wiretrial.report.alerts import WarningRow
from wiretrial.report.model import ReportModel


def items(model: ReportModel) -> Markup:
    """The list of warnings, or a sentence that there are none."""
    if not model.warnings:
        return Markup("<p>None.</p>")
    return Markup('<ul class="warnings">{}</ul>').format(
        Markup("").join(_item(row) for row in model.warnings)
    )


def _item(row: WarningRow) -> Markup:
    return Markup(
        '<li><p><strong>{}</strong> <span class="muted">{}</span></p><p>{}</p></li>'
    ).format(_sentence(row.message), row.where, row.advice)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
