"""What a page carries along without showing it: its trials and its study, as data.

Knows how they are packed; must not know the page.
"""

from __future__ import annotations

import base64
import lzma
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from wiretrial.report import merged
from wiretrial.report.model import ReportModel
from wiretrial.results.model import Trial

MOST_WHOLE = 192 * 1024
"""Packed bytes up to which a page carries each interval's own histograms."""


def raw_data(carried: Carried, document: str) -> Markup:
    """The trials as JSON lines, xz, base64: `xzcat` reads them after base64 is undone."""
    packed = base64.b64encode(carried.packed).decode("ascii")
    return study_data(document) + Markup(
        '<script type="application/xz;base64" id="trials" data-count="{}" data-histograms="{}">'
        "{}</script>"
    ).format(carried.count, "merged" if carried.is_merged else "all", Markup(packed))


@dataclass(frozen=True)
class Carried:
    """The trials inside the page. `is_merged`: one histogram per metric and window."""

    packed: bytes
    count: int
    is_merged: bool


def carry(model: ReportModel) -> Carried:
    """All trials whole, or with their intervals' histograms merged where that would be too much."""
    packed = _packed(model.trials)
    is_merged = len(packed) > MOST_WHOLE
    if is_merged:
        packed = _packed([merged.of(trial) for trial in model.trials])
    return Carried(packed, len(model.trials), is_merged)


def _packed(trials: Sequence[Trial]) -> bytes:
    lines = b"\n".join(trial.model_dump_json(by_alias=True).encode() for trial in trials)
    return lzma.compress(lines)


def study_data(document: str) -> Markup:
    """The study as JSON, where a page can hold it: no `</` may end it too early."""
    if not document:
        return Markup("")
    return Markup('<script type="application/json" id="study">{}</script>\n').format(
        Markup(document.replace("</", "<\\/"))
    )
