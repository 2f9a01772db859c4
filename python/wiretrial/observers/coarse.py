"""Whether a window holds enough scrapes for what a Prometheus tells of it, and what to do if not.

Pure. Knows instants; must not know what was counted. Costs are taken between scrapes, so that few
of them make no figure wrong: more of the window is left out at its edges, and one scrape that was
late or missed counts for much.
"""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median
from typing import Final

from wiretrial.observers.watch import Watched

LEAST_WINDOW_S: Final = 60.0
LEAST_SCRAPES: Final = 4
"""Within the window that counts."""
NEARLY: Final = 0.9
"""Of a minute that was asked for, so much is left where warm-up took longer than thought."""


def length_s(interval_s: float) -> float:
    """The shortest measurement that scrapes so far apart tell something of."""
    # A scrape is some milliseconds early or late.
    return max(LEAST_WINDOW_S, LEAST_SCRAPES * round(interval_s, 1))


def words(watched: Watched, start_ns: int, end_ns: int) -> str | None:
    """Why the figures of a window are coarse, in a sentence with the remedy; None: they are not.

    The window is by our monotonic clock.
    """
    if watched.kind != "prometheus" or watched.failed:
        return None
    parts = [[one.at_ns for one in part.readings] for part in watched.parts]
    at_ns = max([[one.at_ns for one in watched.host], *parts], key=len)
    inside = sum(start_ns <= one <= end_ns for one in at_ns)
    window_s = (end_ns - start_ns) / 1e9
    if inside >= LEAST_SCRAPES and window_s >= NEARLY * LEAST_WINDOW_S:
        return None
    gaps = [(after - before) / 1e9 for before, after in pairwise(at_ns)]
    wanted_s = length_s(median(gaps) if gaps else 0.0)
    scrapes = "1 scrape lies" if inside == 1 else f"{inside} scrapes lie"
    return (
        f"{scrapes} in the {window_s:.0f} s that count, so that figures of {watched.place} are"
        f" coarse: measure for longer (-d {math.ceil(wanted_s)}s), or shorten scrape_interval"
    )
