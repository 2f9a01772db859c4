"""Held connections as tables: a row per scenario, and the slope of the memory per server."""

from __future__ import annotations

from markupsafe import Markup

from wiretrial.report import held
from wiretrial.report.model import ReportModel


def tables(model: ReportModel) -> Markup:
    """All tables, as far as there is anything to tell; from the second on each with its title."""
    parts = []
    for index, table in enumerate(held.tables(model)):
        if index:
            parts.append(Markup("<h3>{}</h3>").format(table.title))
        parts += [_table(table), Markup('<p class="key muted">{}</p>').format(table.key)]
    return Markup("").join(parts)


def _table(table: held.Table) -> Markup:
    classes = ["num" if is_figure else "" for _, is_figure in table.columns]
    head = Markup("").join(
        Markup('<th class="{}">{}</th>').format(kind, title)
        for kind, (title, _) in zip(classes, table.columns, strict=True)
    )
    body = Markup("").join(
        Markup("<tr><td>{}</td>{}</tr>").format(
            name,
            Markup("").join(
                Markup('<td class="{}">{}</td>').format(kind, text)
                for kind, text in zip(classes, texts, strict=True)
            ),
        )
        for name, *texts in table.rows
    )
    return Markup(
        '<div class="scroll"><table class="cases"><thead><tr><th>Server</th>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>"
    ).format(head, body)
