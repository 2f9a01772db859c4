"""Reads results over time, and tells since when a scenario's level is another.

Knows what was typed; must not know how changes are found.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path

from wiretrial.cli import labels, output
from wiretrial.cli import past as places
from wiretrial.cli.forms import TrendForm
from wiretrial.cli.past import Past
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.report import units
from wiretrial.report.trend import forms, found, points
from wiretrial.report.trend.found import Judged
from wiretrial.results import imported

_DAYS = re.compile(r"(\d{1,5})d")


@dataclass(frozen=True)
class Typed:
    """What is followed, as it was typed."""

    wanted: tuple[str, ...] = ()
    metric: str | None = None
    by: str = "result"
    since: str | None = None
    where: tuple[str, ...] = ()
    against: str | None = None
    commits: str | None = None


def trend(typed: Typed, results: str, form: TrendForm, file: Path | None) -> int:
    """Follows what was asked for, and shows it."""
    if file:
        output.require_writable(file)
    judged, problems = follow(typed, results)
    if form is TrendForm.JSON:
        text = output.as_json(forms.document(judged, problems))
    elif form is TrendForm.MARKDOWN:
        text = forms.markdown(judged, problems)
    else:
        text = forms.text(judged, problems, output.width())
    output.emit(text, file)
    return EXIT_GOOD


def follow(typed: Typed, results: str) -> tuple[list[Judged], tuple[str, ...]]:
    """The lines that were asked for of a folder or a store, and the files that can't be read."""
    past = places.named(results)
    asked = points.Asked(
        metric=typed.metric,
        by=typed.by,
        wanted=_wanted(typed.wanted),
        where=labels.parse(typed.where, "--where"),
        against=typed.against,
        commits=_commits(typed.commits) if typed.commits else (),
    )
    since = _since(typed.since) if typed.since else None
    read = past.read(_read(asked), since)
    lines = points.lines(read.results, asked)
    if not any(line.points for line in lines):
        raise _nothing(typed, past, [why for line in lines for _, why in line.left_out])
    return [found.judge(line) for line in lines], read.problems


def _wanted(patterns: tuple[str, ...]) -> Callable[[str, str], bool]:
    """Whether a study or a scenario is named; without a name all are."""
    return lambda study, scenario: (
        not patterns
        or any(
            name in (study, scenario) or fnmatchcase(study, name) or fnmatchcase(scenario, name)
            for name in patterns
        )
    )


def _read(asked: points.Asked) -> Callable[[str, str], bool]:
    """What is wanted, and what it is divided by."""
    return lambda study, scenario: scenario == asked.against or asked.wanted(study, scenario)


def _nothing(typed: Typed, past: Past, reasons: list[str]) -> UsageProblem:
    """Why there is no line, with what there is instead."""
    if reasons:
        return UsageProblem(
            f"no result in {past.shown} has the figure: {reasons[0]}", "choose another --metric"
        )
    known = sorted(set(past.known()))
    if not known:
        return UsageProblem(f"{past.shown} holds no result", "measure something first")
    narrowed = [
        flag
        for flag, given in (
            ("--since", typed.since),
            ("--where", typed.where),
            ("--commits", typed.commits),
            ("--against", typed.against),
            ("another name", typed.wanted),
        )
        if given
    ]
    return UsageProblem(
        f"no result in {past.shown} is what was asked for",
        f"there are {units.listed(known)}; change {' or '.join(narrowed) or 'the metric'}",
    )


def _since(text: str) -> datetime:
    days = _DAYS.fullmatch(text)
    if days:
        return datetime.now(UTC) - timedelta(days=int(days[1]))
    at = imported.instant(text)
    if at is None:
        raise UsageProblem(f"--since {text!r} is no date", "write it as 2026-01-31 or 90d")
    return at


def _commits(name: str) -> list[str]:
    """The first word of each line, so that `git log --oneline --reverse` will do."""
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise UsageProblem(
            f"--commits {name} can't be read: {reason}", "git rev-list --reverse HEAD > FILE"
        ) from error
    found = [words[0] for line in text.splitlines() if (words := line.split())]
    if not found:
        raise UsageProblem(
            f"--commits {name} names no commit", "git rev-list --reverse HEAD > FILE"
        )
    return found
