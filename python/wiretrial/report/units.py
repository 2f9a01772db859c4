"""Numbers as people read them: three significant digits, a unit, the same everywhere.

Knows formats; must not know what the numbers mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from wiretrial import words
from wiretrial.words import Noun


@dataclass(frozen=True)
class Unit:
    """A unit with how many base units it holds. `short` stands behind a figure."""

    name: str
    short: str
    size: float = 1.0

    def figure(self, value: float) -> str:
        """`value`, given in base units, in this unit and without its name."""
        return significant(value / self.size)

    def text(self, value: float) -> str:
        """`value` with the short name of the unit."""
        return f"{self.figure(value)} {self.short}"


def rates(what: Noun) -> tuple[Unit, ...]:
    """The units of a rate of what is sent."""
    return (
        Unit(f"{what.many}/s", "/s"),
        Unit(f"thousand {what.many}/s", "k/s", 1e3),
        Unit(f"million {what.many}/s", "M/s", 1e6),
    )


RATES = rates(words.MESSAGE)
CONNECT_RATES = (Unit("connections/s", "/s"), Unit("connections/ms", "/ms", 1e3))
BANDWIDTHS = (Unit("B/s", "B/s"), Unit("kB/s", "kB/s", 1e3), Unit("MB/s", "MB/s", 1e6))
LONG_NS = 120 * 10**9
"""What lasts as long is told in minutes."""
TIMES = (Unit("ns", "ns"), Unit("µs", "µs", 1e3), Unit("ms", "ms", 1e6), Unit("s", "s", 1e9))
MICROSECONDS = TIMES[1]
PERCENT = Unit("%", "%", 0.01)
BYTES = (Unit("bytes", "B"), Unit("kB", "kB", 1e3), Unit("MB", "MB", 1e6))
SIZES = (*BYTES, Unit("GB", "GB", 1e9))
"""In running text; a table has one unit for all of its rows."""


def fitting(units: tuple[Unit, ...], values: Iterable[float]) -> Unit:
    """The unit in which the middle of `values` (on a log scale) is at least 1, for all of them."""
    logs = [math.log(value) for value in values if value > 0]
    if not logs:
        return units[0]
    # A logarithm and back loses the last digit, and 1 ms is no 1,000 µs.
    middle = math.exp((min(logs) + max(logs)) / 2) * (1 + 1e-9)
    return next((unit for unit in reversed(units) if middle >= unit.size), units[0])


def significant(value: float, digits: int = 3) -> str:
    """`value` with three significant digits, thousands separated, zeros kept."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}"


def trimmed(value: float) -> str:
    """`value` with at most three significant digits: for counts and lengths that were asked for."""
    text = significant(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def asked(value: float) -> str:
    """A level as it was asked for: a whole number with all of its digits, `1,024`."""
    return f"{value:,.0f}" if float(value).is_integer() else trimmed(value)


def duration(ns: float) -> str:
    """A time with the unit that fits it, for running text and the terminal."""
    return fitting(TIMES, (ns,)).text(ns) if ns else "0 s"


def octets(value: float) -> str:
    """So many bytes with the unit that fits them."""
    return fitting(SIZES, (value,)).text(value)


def octets_per_second(value: float) -> str:
    """So many bytes per second with the unit that fits them."""
    return fitting(BANDWIDTHS, (value,)).text(value)


def percent(share: float) -> str:
    """A share in whole percent."""
    return f"{100 * share:.0f} %"


def length(ns: float) -> str:
    """How long something lasts that was asked for: `13 s`, `2 min`."""
    if ns >= LONG_NS:
        return f"{trimmed(ns / 60e9)} min"
    unit = fitting(TIMES, (ns,))
    return f"{trimmed(ns / unit.size)} {unit.short}"


def plural(n: int, word: str) -> str:
    """`1 trial`, `2 trials`."""
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def every(n: int) -> str:
    """`both`, `all 3`: so many, and none left out."""
    return "both" if n == 2 else f"all {n}"


def listed(words: Iterable[str], gap: str = ", ") -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = [*words] or [""]
    return f"{gap.join(first)} and {last}" if first else last
