"""The trials in words: what limited them, and whether a scenario agrees with itself.

Knows findings about trials; must not know what the trials have measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from wiretrial import warnings
from wiretrial.report import units
from wiretrial.report.contest import Pair
from wiretrial.report.figure_words import ratio_text
from wiretrial.report.finding import Finding, Part
from wiretrial.report.knees import Step
from wiretrial.report.scenarios import TrialRow
from wiretrial.results.model import Warning
from wiretrial.stats.compare import ALPHA

BOTTLENECKS = {
    "server": "the server",
    "generator": "the generator",
    "rate": "the offered rate",
    "link": "the link",
    "connections": "too few connections",
    "unknown": "unknown",
    "client": "the client",
    "waiting": "waiting",
}
ROUND_TRIPS = {"client": "the client's CPU", "server": "the server's CPU"}
"""Where the time of a client library's round trip went."""


def bottleneck(finding: Finding, whole: bool) -> str:
    """What limited most trials; in full, and of client libraries, all that did."""
    if not finding.parts:
        return "Bottleneck: none told, because no rate of the search was sustained or refused"
    marked = f"{finding.marked:,} {'is' if finding.marked == 1 else 'are'} marked"
    of = units.plural(finding.levels, "trial")
    if finding.metric is not None:
        where = (f"{ROUND_TRIPS.get(p.labels[0], p.labels[0])} in {p.n:,}" for p in finding.parts)
        text = f"Most of a round trip went to {units.listed(where)} of {of}"
        return f"{text}; {marked if finding.marked else 'none is marked'}{_drifting(finding)}"
    if finding.parts[0].at:
        return "; ".join(_at_the_knee(finding.parts))
    (first, *rest) = [f"{BOTTLENECKS[part.labels[0]]} in {part.n:,}" for part in finding.parts]
    text = f"Bottleneck: {first} of {of}"
    text += f", {units.listed(rest)}" if whole and rest else ""
    if finding.marked:
        text = f"{text}; {marked}"
    elif whole:
        text = f"{text}; none is marked"
    return text + _drifting(finding)


def _drifting(finding: Finding) -> str:
    """Trials that never settled, wherever they stand."""
    if not finding.drifting:
        return ""
    return f"; {finding.drifting:,} of {units.plural(finding.levels, 'trial')} kept drifting"


def twins(finding: Finding, _: bool) -> str:
    """An A/A pair was measured twice, and must not differ."""
    pair = finding.pair
    assert pair is not None
    if pair.verdict == "invalid":
        return f"A/A check not possible: {pair.b}, measured twice, has too few valid trials"
    if pair.winner is None:
        return f"A/A check passed: {pair.b}, measured twice, {_twins_agree(pair)}"
    return _twins_differ(pair)


def bottleneck_counts(trials: Sequence[TrialRow | Step]) -> str:
    """`the server in 4 of 5 and unknown in 1 of 5`."""
    counts = Counter(row.bottleneck for row in trials).most_common()
    return units.listed(f"{BOTTLENECKS[who]} in {n} of {len(trials)}" for who, n in counts)


def twin_warning(pair: Pair) -> Warning:
    """What an A/A pair that differs says, with what to do."""
    return warnings.warn(warnings.Code.TWINS_DIFFER, _twins_differ(pair))


def _at_the_knee(parts: Sequence[Part]) -> Iterator[str]:
    head = "Bottleneck "
    for at, found in groupby(parts, attrgetter("at")):
        own = tuple(found)
        of = units.plural(sum(part.n for part in own), "trial")
        told = units.listed(f"{BOTTLENECKS[part.labels[0]]} in {part.n:,}" for part in own)
        yield f"{head}{at}: {told} of {of}"
        head = ""


def _twins_agree(pair: Pair) -> str:
    """How a pair agrees. Its own interval may leave out 1: the pairs are judged together (Holm)."""
    said = "equals itself within 3 %" if "equal" in pair.verdict else "shows no difference"
    text = f"{said}, ratio {ratio_text(pair)}"
    differs_by_itself = pair.comparison is not None and pair.comparison.p < ALPHA
    if "equal" in pair.verdict or not differs_by_itself:
        return text
    return f"{text}: by itself it would, of all pairs together it does not"


def _twins_differ(pair: Pair) -> str:
    return f"A/A check failed: two identical runs of {pair.b} differ, ratio {ratio_text(pair)}"
