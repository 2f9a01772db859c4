"""What the study of web frameworks says first: who costs least at one rate, and what Express costs.

Knows the names of its workloads, and findings; must not know how these were found or are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from wiretrial.report import phrases
from wiretrial.report.finding import Finding
from wiretrial.report.model import ReportModel
from wiretrial.report.units import significant

NAME: Final = "web-frameworks"
AT_ONE_RATE: Final = tuple(
    f"{kind}, at one rate" for kind in ("JSON", "one row", "page", "session")
)
BASE: Final = "express"
_TUNED: Final = ":tuned"
"""What each is, where nothing else is said."""


def verdict(made: ReportModel) -> Sequence[str]:
    """The answer, and every framework at one rate; what else was found stands with its workload."""
    first = summary(_at_one_rate(made))
    return (first, *(phrases.say(one, whole=True) for one in _told(made))) if first else ()


def answer(made: ReportModel) -> Sequence[str]:
    """The same in short sentences, for the first screen."""
    first = summary(_at_one_rate(made))
    return (first, *map(phrases.shorter, _told(made))) if first else ()


def summary(found: Sequence[Finding]) -> str | None:
    """The workloads at one rate in one sentence; None where nobody leads any of them."""
    led = [one for one in found if one.kind == "best" and len(one.leaders) == 1]
    if not led:
        return None
    [(leader, n)] = Counter(_plain(one.leaders[0]) for one in led).most_common(1)
    text = f"At one rate {leader} needs the least CPU per request in {n} of {len(found)} workloads"
    ratios = [ratio for one in led if _plain(one.leaders[0]) == leader and (ratio := _of_base(one))]
    if ratios:
        ends = dict.fromkeys(map(significant, (min(ratios), max(ratios))))
        text += f"; {BASE} needs {' to '.join(ends)} times as much there"
    return f"{text}."


def _at_one_rate(made: ReportModel) -> list[Finding]:
    return [one for one in made.by_workload if one.where in AT_ONE_RATE]


def _told(made: ReportModel) -> list[Finding]:
    """What is told beside that: each of these workloads, and the highest rates."""
    found = (one for one in made.findings if not one.is_beside)
    return [one for one in found if one.where in AT_ONE_RATE or one.kind == "knees"]


def _of_base(found: Finding) -> float | None:
    """How many times as much it costs there: tuned, where both of its forms were measured."""
    ratios = {other.label: other.ratio for other in found.others}
    return ratios.get(f"{BASE}{_TUNED}", ratios.get(BASE))


def _plain(label: str) -> str:
    return label.removesuffix(_TUNED)
