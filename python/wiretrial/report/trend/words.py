"""What was found in a line, in sentences.

Knows figures, places and words; must not know how a page or a terminal shows them.
"""

from __future__ import annotations

from wiretrial.report import units
from wiretrial.report.trend.found import Judged, Step
from wiretrial.report.trend.points import Line, Point
from wiretrial.stats import bounds
from wiretrial.stats.change import ALPHA

SHORT = 10
"""Letters of a commit that are shown."""
RATE = (
    "Where nothing changed, a line shows a change all the same in at most"
    f" {ALPHA * 100:g} % of looks (permutation test)."
)
NONE = "no change shown"


def revision(point: Point) -> str:
    """What was measured: the short form of its commit, or a version; empty: not known."""
    return (point.revision or "")[:SHORT]


def place(point: Point) -> str:
    """`2026-01-31 12:00 (3f2a91c)`."""
    when = point.at[:16].replace("T", " ")
    return f"{when} ({revision(point)})" if point.revision else when


def figure(line: Line, point: Point) -> str:
    """`84.0` in the line's unit, of a bound `≥ 84.0`."""
    return f"{bounds.SIGNS[point.bound]}{line.unit.figure(point.value)}"


def share(ratio: float) -> str:
    """`+5.1 %`."""
    percent = (ratio - 1) * 100
    return f"{'+' if percent >= 0 else '−'}{abs(percent):.1f} %"


def head(line: Line) -> str:
    """Of what the line is: `echo, ws: Throughput, 30 results, 2026-01-01 to 2026-01-31`."""
    if not line.points:
        return f"{line.scenario}: {line.title}, no result"
    first, last = line.points[0].day, line.points[-1].day
    many = units.plural(len(line.points), "result")
    tools = {point.imported for point in line.points if point.imported}
    told = f", imported from {units.listed(sorted(tools))}" if tools else ""
    days = first if first == last else f"{first} to {last}"
    return f"{line.scenario}: {line.title}, {many}{told}, {days}"


def sentence(line: Line, step: Step) -> str:
    """One change or mark."""
    levels = _levels(line, step)
    if step.kind in ("worse", "better"):
        return _change(step, levels)
    if step.kind == "boot":
        return (
            f"a boot of the machine at {place(step.after)}: {levels}. Another boot may differ by as"
            " much: measure on more boots before it is taken for a change"
        )
    if step.kind == "machine" and step.p is not None:
        assert step.reference is not None
        return (
            f"the machine changed at {place(step.after)}: {levels}, and the reference server moved"
            f" too ({share(step.reference)}); not the server's"
        )
    what = "the machine changed" if step.kind == "machine" else "another load"
    told = f"{what} at {place(step.after)} ({'; '.join(step.differs)}): {levels}"
    if step.reference is not None:
        told += f"; the reference server {share(step.reference)}"
    return f"{told}. The two sides are not compared"


def verdict(judged: Judged) -> str:
    """What is said where no change was found."""
    if judged.changes:
        return ""
    if judged.resolution is None:
        return "not tested"
    return f"{NONE}; about {judged.resolution * 100:.1f} % would be, in the middle"


def kind(step: Step) -> str:
    """One or two words for a table."""
    told = {"machine": "machine changed", "boot": "boot", "asked": "another load"}
    return told.get(step.kind, step.kind)


def change_in_short(step: Step) -> str:
    """`worse since 2026-01-31 12:00 (3f2a91c), +5.1 %`."""
    return f"{step.kind} since {place(step.after)}, {share(step.ratio)}"


def _change(step: Step, levels: str) -> str:
    told = f"{step.kind} since {place(step.after)}: {levels}"
    if step.low is not None and step.high is not None:
        low, high = sorted((step.low, step.high))
        told += f" ({share(low)} to {share(high)})"
    before, after = step.results
    told += f", {before} results before and {after} since"
    if step.net is not None and step.reference is not None:
        told += (
            f"; the reference server moved by {share(step.reference)} too, which leaves"
            f" {share(step.net)}"
        )
    if step.is_same_commit:
        told += "; both sides are of one revision, so its code is not why"
    return told


def _levels(line: Line, step: Step) -> str:
    one, other = step.values
    unit = line.unit
    return f"{unit.figure(one)} → {unit.figure(other)} {unit.name}, {share(step.ratio)}"
