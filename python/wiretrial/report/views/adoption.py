"""What each subject is like to adopt, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from wiretrial.report.adoption import COLUMNS, KEY, rows
from wiretrial.results.adoption import Adopted


def table(adopted: Sequence[Adopted]) -> Markup:
    """The rows; nothing where there is none."""
    if not adopted:
        return Markup("")
    head = Markup("").join(
        Markup('<th class="{}">{}</th>').format(_class(index), title)
        for index, (title, _) in enumerate(COLUMNS)
    )
    body = Markup("").join(
        Markup("<tr><td>{}</td>{}</tr>").format(
            name,
            Markup("").join(
                Markup('<td class="{}">{}</td>').format(_class(index), text)
                for index, text in enumerate(texts)
            ),
        )
        for name, *texts in rows(adopted)
    )
    return Markup(
        '<div class="scroll"><table class="cases tight"><thead><tr><th>Subject</th>{}</tr></thead>'
        '<tbody>{}</tbody></table></div><p class="key muted">{}</p>'
    ).format(head, body, KEY)


def _class(column: int) -> str:
    """Words stand left, figures right."""
    return "" if column < 2 else "num"
