"""Warnings, each once, with its cause and what to do about it."""

from __future__ import annotations

from markupsafe import Markup

from wiretrial.report import units
from wiretrial.report.model import ReportModel, WarningRow


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
    ).format(_sentence(row.message), _where(row), row.advice)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _where(row: WarningRow) -> str:
    if not row.trials:
        return ""
    return f"{units.plural(row.trials, 'trial')} · {_who(row)}"


def _who(row: WarningRow) -> str:
    if len(row.scenarios) > 3:
        return f"{row.scenarios[0]}, {row.scenarios[1]} and {len(row.scenarios) - 2} more"
    return units.listed(row.scenarios)
