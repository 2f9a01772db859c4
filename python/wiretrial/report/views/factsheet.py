"""Facts, folded: tables of machine, versions, plans and order, and the trials themselves."""

from __future__ import annotations

import base64
import gzip
import re

from markupsafe import Markup

from wiretrial.report import facts
from wiretrial.report.model import ReportModel

_HISTOGRAM = re.compile(rb'"(HISTFAAAA[A-Za-z0-9+/=]*)"')


def sections(model: ReportModel) -> Markup:
    """One folded table per section."""
    return Markup("").join(_section(section) for section in model.facts)


def raw_data(model: ReportModel) -> Markup:
    """All trials as JSON lines, gzip, base64: `zcat` reads them after base64 is undone."""
    lines = b"\n".join(trial.model_dump_json(by_alias=True).encode() for trial in model.trials)
    packed = base64.b64encode(gzip.compress(lines, compresslevel=9, mtime=0)).decode("ascii")
    return Markup(
        '<script type="application/gzip;base64" id="trials" data-count="{}">{}</script>'
    ).format(len(model.trials), Markup(packed))


def _section(section: facts.Section) -> Markup:
    head = Markup("").join(Markup("<th>{}</th>").format(cell) for cell in section.head)
    rows = Markup("").join(
        Markup("<tr>{}</tr>").format(
            Markup("").join(Markup("<td>{}</td>").format(cell) for cell in row)
        )
        for row in section.rows
    )
    return Markup(
        '<details><summary>{}</summary><div class="scroll"><table class="prose facts"><thead><tr>'
        "{}</tr></thead><tbody>{}</tbody></table></div></details>"
    ).format(section.title, head, rows)
