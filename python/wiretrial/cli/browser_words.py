"""What the ways of a browser say together: limit, lock and link, each by what it adds.

Pure: from a report's figures to sentences. Every number, and every "because", comes from what was
measured. A cause is named only where it shows: by how many requests were under way, or, where the
browser does not tell that, by times that differ by `APART` or more. What HTTP/2 gains is told by
the ratio of the times within blocks, with its interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wiretrial.report import browsed, contest, figure_words, metrics, units
from wiretrial.report.model import ReportModel
from wiretrial.stats.compare import Comparison
from wiretrial.studies import ways
from wiretrial.studies.ways import Way

Gain = Literal["quicker", "slower", "alike", "untold"]
GAINED_NOTHING: dict[Gain, str] = {
    "slower": "is slower here",
    "alike": "is not shown to be quicker",
    "untold": "whether that is quicker cannot be told from these trials",
}
APART = 1.5
"""Two times that differ by less than this factor are not told apart."""
LOOPBACK = "loopback"


def verdict(made: ReportModel) -> Sequence[str]:
    """The explanation, the environment with the longest round trips first."""
    places = [place for found in made.browsed if (place := _place(found))]
    places.sort(key=lambda place: -place.one)
    if not places:
        return ()
    first, *others = places
    return (*explained(first), *(beside(first, other) for other in others))


def beside_others(made: ReportModel) -> Sequence[str]:
    """The same as one paragraph, for a study that asks in other ways too."""
    told = verdict(made)
    if not told:
        return ()
    text = " ".join(told)
    return (f"In {made.browsed[0].program}: {text[:1].lower()}{text[1:]}",)


@dataclass(frozen=True)
class Place:
    """What was found in one environment, nanoseconds."""

    where: str
    requests: int
    one: float
    """One request, where each waits for the one before."""
    at_once: dict[str, float]
    """All of them, by the way's label."""
    under_way: dict[str, int]
    second: Comparison | None = None
    """The time of HTTP/2 by that of HTTP/1.1, with a URL each; None without two blocks."""

    def time(self, way: Way) -> float | None:
        """All of them in one way; None where it was not measured."""
        return self.at_once.get(way.label)

    def is_wider(self, one: Way, other: Way) -> bool:
        """Whether more requests are under way at once in one way than in the other."""
        widths = [self.under_way.get(way.label, 0) for way in (one, other)]
        if all(widths):
            return widths[0] > widths[1]
        return (self.time(other) or 0.0) >= APART * (self.time(one) or math.inf)

    @property
    def begins(self) -> str:
        """How a sentence about it begins."""
        return "Over loopback" if self.where == LOOPBACK else f"Over the link {self.where}"


def explained(place: Place) -> list[str]:
    """What holds requests up in one environment, a sentence each."""
    same, unique = place.time(ways.SAME), place.time(ways.UNIQUE)
    if same is None or unique is None:
        return []
    found = (
        _lock(place, same, unique),
        _parts(place, same, unique),
        _no_store(place),
        _second_version(place),
        _sockets(place),
    )
    return [sentence for sentence in found if sentence]


def _lock(place: Place, same: float, unique: float) -> str:
    n, one = place.requests, units.duration(place.one)
    head = (
        f"{place.begins}, {n} requests at once take {units.duration(same)} over HTTP/1.1 where all"
        f" ask for one URL, and {units.duration(unique)} where each asks for its own; one request"
        f" takes {one}"
    )
    turns, width = same / place.one, place.under_way.get(ways.SAME.label, 0)
    if not place.is_wider(ways.UNIQUE, ways.SAME):
        return f"{head}: no lock of the cache shows."
    how = f"that is {units.significant(turns)} times one request"
    if width:
        how += f", with at most {width} under way"
    return f"{head}. The first is a lock: {how}."


def _parts(place: Place, same: float, unique: float) -> str:
    """What each adds: the first request, then the limit, then the lock."""
    width = place.under_way.get(ways.UNIQUE.label, 0)
    limit = max(unique - place.one, 0.0)
    lock = max(same - unique, 0.0)
    shares = [
        (f"the lock makes up {_share(lock, same)}", lock),
        (f"the limit of {width} connections {_share(limit, same)}", limit if width else 0.0),
        (f"link and server {_share(place.one, same)}", place.one),
    ]
    told = units.listed(text for text, part in shares if part > 0)
    text = f"Of the {units.duration(same)} {told}"
    if 0 < width < place.requests:
        turns = -(-place.requests // width)
        measured = units.significant(unique / place.one)
        text += (
            f"; at most {width} were under way with a URL each, so {place.requests} need {turns}"
            f" turns, and took {measured} times one request"
        )
    return f"{text}."


def _no_store(place: Place) -> str | None:
    bare = place.time(ways.NO_STORE)
    if bare is None or not place.is_wider(ways.UNIQUE, ways.SAME):
        return None
    if place.is_wider(ways.NO_STORE, ways.SAME):
        return (
            f"With no-store, which leaves the cache out, one URL takes {units.duration(bare)}: the"
            " lock is the cache's."
        )
    return (
        f"With no-store one URL takes {units.duration(bare)}: leaving the cache out does not lift"
        " the lock."
    )


def _second_version(place: Place) -> str | None:
    same, unique = place.time(ways.SAME_2), place.time(ways.UNIQUE_2)
    if same is None or unique is None:
        return None
    width = place.under_way.get(ways.UNIQUE_2.label, 0)
    is_wider = place.is_wider(ways.UNIQUE_2, ways.UNIQUE)
    is_locked = place.is_wider(ways.UNIQUE_2, ways.SAME_2)
    gain = _gain(place.second)
    is_lifted = is_wider and gain == "quicker"
    lifted = "HTTP/2 lifts the limit" if is_lifted else "HTTP/2 does not lift the limit"
    if is_wider and not is_lifted:
        lifted = f"HTTP/2 has more requests under way at once, but {GAINED_NOTHING[gain]}"
    if is_locked:
        kept = "but not the lock" if is_lifted else "nor the lock"
        kept = kept if is_lifted or not is_wider else "and keeps the lock"
    else:
        kept = "and no lock shows"
    under = f", {width} under way" if width else ""
    ratio = ""
    if place.second is not None:
        ratio = f"; {figure_words.interval_ratio(place.second)} times that of HTTP/1.1"
    return (
        f"{lifted} ({units.duration(unique)} with a URL each{under}{ratio}), {kept}"
        f" ({units.duration(same)} with one URL)."
    )


def _gain(found: Comparison | None) -> Gain:
    """What the interval of a ratio of times says."""
    if found is None or found.low is None or found.high is None:
        return "untold"
    if found.high < 1:
        return "quicker"
    return "slower" if found.low > 1 else "alike"


def _sockets(place: Place) -> str | None:
    told = [
        f"{way.label} {units.duration(time)}"
        for way in (ways.WEBSOCKET, ways.SOCKET_IO)
        if (time := place.time(way)) is not None
    ]
    if not told:
        return None
    return f"A socket knows neither: {place.requests} at once take over {units.listed(told)}."


def beside(first: Place, other: Place) -> str:
    """The same in another environment, in one sentence."""
    same, unique = other.time(ways.SAME), other.time(ways.UNIQUE)
    if same is None or unique is None:
        return ""
    times = units.significant((first.time(ways.SAME) or 0.0) / same)
    return (
        f"{other.begins} the same take {units.duration(same)} and {units.duration(unique)} (one"
        f" request {units.duration(other.one)}): the link makes the first {times} times as long."
    )


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %"


def _place(found: browsed.Place) -> Place | None:
    unique = found.way(ways.UNIQUE.label)
    alone = unique.alone if unique else None
    total = alone.median(metrics.ELAPSED) if alone else None
    if alone is None or total is None:
        return None
    return Place(
        where=found.environment,
        requests=found.requests,
        one=total / browsed.requests(alone),
        at_once={way.label: way.time for way in found.ways if way.time is not None},
        under_way={way.label: way.under_way for way in found.ways},
        second=_second(found),
    )


def _second(found: browsed.Place) -> Comparison | None:
    sides = (found.way(way.label) for way in (ways.UNIQUE_2, ways.UNIQUE))
    one, other = (side.at_once if side else None for side in sides)
    return contest.against(one, other, metrics.ELAPSED) if one and other else None
