"""`--stages 30s:100,2m:500,30s:0`: load over time, as it was typed.

Knows the option's words; must not know whether a URL or a traffic file is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wiretrial import quantities
from wiretrial.cli.options import STEADY, Loop
from wiretrial.errors import UsageProblem
from wiretrial.plan import Stage

FLAG = "--stages"
USUAL_CONNECTIONS = "10"
"""What -c is where nobody gives it."""
MOST_CONNECTIONS = 2**32 - 1


@dataclass(frozen=True)
class Staged:
    """The load over time, as shares of the most there is at once."""

    most: float
    """Connections, or messages per second where `is_open`; for a traffic file users, or sessions
    per second."""
    is_open: bool
    stages: tuple[Stage, ...]

    @property
    def length_ns(self) -> int:
        """Of all stages together; 0 where all are steps."""
        return sum(stage.for_ns for stage in self.stages)


def of(loop: Loop) -> Staged | None:
    """What was typed, checked; None: nothing was."""
    if loop.stages is None:
        return None
    parts = list(_parts(loop.stages))
    is_open = loop.rate is not None or any(level.endswith("/s") for _, level in parts)
    _require_alone(loop, is_open=is_open)
    start = quantities.rate(loop.rate, "--rate") if loop.rate is not None else 0.0
    levels = [_level(level, is_open=is_open) for _, level in parts]
    most = max(start, *levels)
    if most <= 0:
        raise UsageProblem(f"{FLAG} {loop.stages}: all of it is nothing", "give a level above 0")
    before = [start, *levels]
    stages = tuple(
        Stage.model_validate({"for_ns": for_ns, "from": begin / most, "to": end / most})
        for (for_ns, _), begin, end in zip(parts, before, levels, strict=False)
    )
    return Staged(most, is_open, stages)


def _parts(text: str) -> Iterator[tuple[int, str]]:
    for part in text.split(","):
        time, colon, level = part.strip().partition(":")
        if not colon or not time or not level:
            raise UsageProblem(
                f"{FLAG}: {part.strip()!r} is no stage",
                "write TIME:LEVEL,..., such as 30s:100,2m:500,30s:0",
            )
        yield quantities.duration_ns(time, FLAG), level.strip()


def _level(text: str, *, is_open: bool) -> float:
    if text.removesuffix("/s") in ("0", "0.0"):
        return 0.0
    if is_open:
        return quantities.rate(text, FLAG)
    return float(quantities.count(text, FLAG, most=MOST_CONNECTIONS))


def _require_alone(loop: Loop, *, is_open: bool) -> None:
    """Raises for an option that says something else about who sends when."""
    if loop.hold or loop.pattern != STEADY:
        other = "--hold" if loop.hold else "--pattern"
        raise UsageProblem(f"{FLAG} and {other} exclude each other", "keep one")
    if is_open and loop.pacing in ("phased", "after-response"):
        raise UsageProblem(
            f"--pacing {loop.pacing} has one rate, and {FLAG} changes it",
            "use --pacing constant or poisson",
        )
    if not is_open and loop.connections != USUAL_CONNECTIONS:
        raise UsageProblem(
            f"{FLAG} and -c both say how many connections there are",
            f"leave -c out, or write rates: {FLAG} 30s:100/s",
        )
