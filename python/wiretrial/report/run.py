"""The report of one run: a load's figures in words, and no claim that one run can't carry.

Knows one trial; must not know where it is stored or how a report is written. One run cannot show
how much runs vary: the report says so, and what can.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from wiretrial.report import drift, load_lines, load_words, model
from wiretrial.report.model import ReportModel
from wiretrial.results.model import Trial

ONE_RUN = (
    "This is one run. It cannot show how much runs vary; wiretrial compare URL --trials 5 can."
)
_APART = re.compile(r" {2,}")
"""What a terminal sets apart by blanks."""
_MICRO = re.compile(r"(?<=\d) us\b")


def build(trial: Trial) -> ReportModel:
    """The report of a run by itself."""
    return model.build(
        [trial],
        title=load_words.place(trial),
        question=_micro(load_lines.asked(trial)),
        command=trial.command or f"wiretrial load {shlex.quote(trial.plan.target.url)}",
        own=tuple(_sentences(trial)),
        is_run=True,
    )


def _sentences(trial: Trial) -> Iterator[str]:
    yield load_words.found(trial)
    yield load_words.judged(trial)
    if drifted := drift.of(trial):
        yield drifted.sentence
    yield ONE_RUN


def rows(trial: Trial) -> Iterator[tuple[str, str]]:
    """What the run took, label and value: the lines that `load` shows."""
    for label, value in load_lines.rows(trial):
        yield label, _APART.sub(" · ", _micro(value))


def _micro(words: str) -> str:
    """A page has every letter; a terminal may not."""
    return _MICRO.sub(" µs", words)
