"""What a page carries along without showing it: its trials and its study, as data.

Knows how they are packed; must not know the page.
"""

from __future__ import annotations

import base64
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from wiretrial.report import coarse, merged, outlined, sampled
from wiretrial.report.model import ReportModel
from wiretrial.results.model import Trial

Histograms = Literal["all", "merged", "outlined"]
"""Each interval's own; one per metric and window; those in outline, of the fewest intervals."""

MOST_WHOLE = 192 * 1024
"""Packed bytes up to which a page carries each interval's own histograms."""
MOST_MERGED = 4 * 1024 * 1024
"""And up to which it carries each window's: a browser takes long to open tens of megabytes."""


def raw_data(carried: Carried, document: str) -> Markup:
    """The trials as JSON lines, xz, base64: `xzcat` reads them after base64 is undone."""
    packed = base64.b64encode(carried.packed).decode("ascii")
    return study_data(document) + Markup(
        '<script type="application/xz;base64" id="trials" data-count="{}" data-histograms="{}">'
        "{}</script>"
    ).format(carried.count, carried.histograms, Markup(packed))


@dataclass(frozen=True)
class Carried:
    """The trials inside the page, and what of their histograms."""

    packed: bytes
    count: int
    histograms: Histograms


def carry(model: ReportModel) -> Carried:
    """All trials, with as much of their histograms as is not too much."""
    trials = model.trials
    if packed := sampled.within(trials, _packed, MOST_WHOLE):
        return Carried(packed, len(trials), "all")
    windows = [merged.of(trial) for trial in trials]
    if packed := sampled.within(windows, _packed, MOST_MERGED):
        return Carried(packed, len(trials), "merged")
    drawn = [outlined.of(coarse.of(trial, 1), outlined.PICTURES) for trial in windows]
    return Carried(_packed(drawn), len(trials), "outlined")


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
