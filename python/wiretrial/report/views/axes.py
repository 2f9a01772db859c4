"""What pictures share: log axes that start where the data start, and names at the ends of lines.

Knows numbers and places; must not know what is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from wiretrial.report.canvas import Frame, broken

SHORT_DOMAIN = 3
MOST_TICKS = 8
LABEL_PITCH = 17
WIDE_NAME = 24
NARROW_NAME = 15
_TICKS = (1, 1.5, 2, 3, 4, 5, 6, 8)
_COARSE_TICKS = (1, 2, 5)


def domain_of(values: Sequence[float]) -> tuple[float, float]:
    """The data's range with a little air; never so tight that noise looks like a finding."""
    low, high = min(values), max(values)
    return with_air(low, high, 1.1 if high / low < 1.1 else 1.02)


def with_air(low: float, high: float, least: float = 1.0) -> tuple[float, float]:
    """A little more of a log axis at either end than lies between them."""
    air = max((high / low) ** 0.04, least)
    return low / air, high * air


def ticks(low: float, high: float) -> list[float]:
    """Round values inside the domain: one or more per decade, or even steps where it is short."""
    if high / low < SHORT_DOMAIN:
        return _even_ticks(low, high)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for steps in ((1,), _COARSE_TICKS, _TICKS):
        values = (round(step * 10.0**decade, 12) for decade in decades for step in steps)
        found = [value for value in values if low <= value <= high]
        if len(found) >= 3:
            break
    return found[:: math.ceil(len(found) / MOST_TICKS)]


def two_lines(name: str, frame: Frame) -> str:
    """The name as it stands at a line's end: on two lines where it is long."""
    return broken(name, NARROW_NAME if frame.is_narrow else WIDE_NAME)


def height_for(names: Iterable[str], frame: Frame, usual: float) -> float:
    """The plot's height: more than usual where many names stand at the ends of lines."""
    known = list(names)
    return max(usual, pitch(known, frame) * (len(known) - 1))


def pitch(names: Sequence[str], frame: Frame) -> float:
    """How far apart the names at the ends of lines stand."""
    is_broken = any("\n" in two_lines(name, frame) for name in names)
    return 2 * LABEL_PITCH - 4 if is_broken else LABEL_PITCH


def spread(wanted: Mapping[str, float], pitch: float, height: float) -> dict[str, float]:
    """Positions near the wanted ones, in the same order, at least `pitch` apart where they fit."""
    order = sorted(wanted, key=wanted.__getitem__)
    placed: list[float] = []
    for name in order:
        placed.append(max(wanted[name], placed[-1] + pitch if placed else 0.0))
    limit = height
    for i in reversed(range(len(placed))):
        placed[i] = min(placed[i], limit)
        limit = placed[i] - pitch
    return dict(zip(order, placed, strict=True))


def _even_ticks(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, three to eight of them."""
    power = 10.0 ** math.floor(math.log10((high - low) / 3))
    step = max(
        (s * power for s in _COARSE_TICKS if len(_multiples(s * power, low, high)) >= 3),
        default=power / 2,
    )
    return _multiples(step, low, high)


def _multiples(step: float, low: float, high: float) -> list[float]:
    return [round(i * step, 12) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
