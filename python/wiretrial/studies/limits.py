"""The highest rate of one target that keeps its goals: several searches, level by level.

Pure: knows the rules of the search and how long a level lasts; must not know how a level is
measured, nor which clock tells the time that is left.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from wiretrial.results import offered
from wiretrial.results.limits import Binding, Found, Level
from wiretrial.results.model import Trial
from wiretrial.snapshot import Interval
from wiretrial.stats.knee import Observation, Refusal, Search, backlog_growth, refusal
from wiretrial.stats.limit import Between, between
from wiretrial.studies.bottleneck import SERVER_BOUND

LONGEST = 12
"""A level at a low rate lasts longer, so that enough messages come, up to so many times as long."""
MARGIN = 1.1
"""More messages than a quantile needs: the window is a little shorter than what was asked for."""
AGAIN = 1.3
"""A search that begins where the last one ended leaves that rate in steps of this factor."""
BESIDE_NS = 700_000_000
"""What a level takes beside its load: connecting, the drain, the end."""
BRACKETING = 8
"""Levels until both sides of a limit are known; only an estimate for people."""
CROWDED = 0.8
"""Connections that had this share of what may be in flight made messages wait."""
MOST_LEVELS = 60
"""A search that has not ended by then never will."""


@dataclass(frozen=True)
class Settings:
    """What is searched for, and how long that may take. Rates are per second."""

    first: float
    ceiling: float
    searches: int
    tolerance: float
    level_ns: int
    """How long a level is measured, where its rate is not too low for that."""
    warmup_ns: int
    within_ns: int
    needed: float
    """Messages that a level must have, so that its goals can be told; at the target's rate."""
    seed: int = 0

    @property
    def floor(self) -> float:
        """The lowest rate at which a level has enough messages."""
        return MARGIN * self.needed * 1e9 / (LONGEST * self.level_ns)

    def length_ns(self, rate: float) -> int:
        """How long a level at this rate is measured."""
        return max(self.level_ns, math.ceil(MARGIN * self.needed * 1e9 / rate))

    def whole_ns(self, rate: float) -> int:
        """The same with all that is around it."""
        return self.length_ns(rate) + self.warmup_ns + BESIDE_NS


@dataclass(frozen=True)
class Step:
    """The level to measure next. `left_ns`: about what all of the rest takes."""

    search: int
    number: int
    rate: float
    length_ns: int
    left_ns: int


def climb(
    settings: Settings, measure: Callable[[Step], Level], elapsed_ns: Callable[[], int]
) -> Iterator[Level]:
    """Measures level after level, until all searches have ended or the time is over.

    Each search after the first begins close to where the one before ended, at a rate that is drawn
    anew: searches on the same rates would agree by that alone.
    """
    draw = random.Random(settings.seed)
    search, number = _search(settings, settings.first), 0
    for which in range(1, settings.searches + 1):
        for _ in range(MOST_LEVELS):
            rate = search.next_rate()
            if rate is None or elapsed_ns() + settings.whole_ns(rate) > settings.within_ns:
                break
            number += 1
            left_ns = min(_left_ns(settings, search, which), settings.within_ns - elapsed_ns())
            level = measure(Step(which, number, rate, settings.length_ns(rate), left_ns))
            search.see(rate, level.is_kept)
            yield level
        if search.next_rate() is not None or search.low is None:
            # The time is over, or there is nothing to find.
            return
        shift = (1 + settings.tolerance) ** draw.uniform(-1, 0)
        search = _search(settings, search.low * shift, AGAIN)


def found(settings: Settings, levels: Sequence[Level]) -> tuple[Found, ...]:
    """How each search ended, replayed from its levels."""
    told = []
    for which in sorted({level.search for level in levels}):
        own = [level for level in levels if level.search == which]
        search = _search(settings, own[0].rate, 2.0 if which == 1 else AGAIN)
        for level in own:
            search.see(level.rate, level.is_kept)
        measured = {level.rate for level in own}
        # The rate below a disproved one is a guess until it is measured.
        kept = search.low if search.low in measured else None
        told.append(
            Found(
                search=which,
                kept=kept,
                refused=search.high,
                is_confirmed=kept is not None and search.next_rate() is None,
            )
        )
    return tuple(told)


def interval(searches: Sequence[Found]) -> Between | None:
    """Of the searches that came to their end; of the first one as far as it came, if none did."""
    ended = [one for one in searches if one.is_confirmed] or list(searches[:1])
    kept = [one.kept for one in ended if one.kept is not None]
    if not kept:
        return None
    return between(kept, [one.refused for one in ended if one.kept is not None])


def shown(levels: Sequence[Level], searches: Sequence[Found]) -> Level | None:
    """The level that shows what binds: refused at the lowest rate above the figure.

    Where searches differ much, what one of them was refused another one kept.
    """
    ended = [one for one in searches if one.is_confirmed] or list(searches[:1])
    numbers = {one.search: one.refused for one in ended}
    refused = [
        level for level in levels if not level.is_kept and numbers.get(level.search) == level.rate
    ]
    # Where a level was lost for another reason, one that missed a goal says more.
    telling = [level for level in refused if level.reason != "invalid"] or refused
    figure = interval(searches)
    above = [level for level in telling if figure is not None and level.rate > figure.value]
    return min(above or telling, key=lambda level: level.rate, default=None)


def binding(refused: Level | None) -> Binding:
    """What keeps the rate from being higher than it is."""
    if refused is None:
        return "ceiling"
    if refused.bottleneck == "generator":
        return "generator"
    if refused.bottleneck == "connections" or refused.occupied >= CROWDED:
        return "connections"
    if refused.bottleneck == "server" or (refused.server_busy or 0.0) >= SERVER_BOUND:
        return "server"
    return "goal" if refused.reason == "goal" else "overload"


def observation(trial: Trial, *, counts_failed: bool) -> Observation:
    """What became of a level's rate; of sessions, where the load is of those.

    `counts_failed`: a goal says how many may fail, so that those count as answered.
    """
    return Observation(
        offered=offered.rate(trial),
        achieved=offered.kept_up(trial, counts_failed=counts_failed),
        growth=backlog_growth(offered.backlog(trial)),
        response_ns=None,
    )


def refused(seen: Observation) -> Refusal | None:
    """Why the rate was not reached; None where it was, whatever the goals say."""
    return refusal(seen, None)


def occupied(trial: Trial) -> float:
    """The share of the messages that may be in flight which were, on average."""
    inside, load = offered.counted(trial), trial.plan.load
    slots = load.slots * max(len(inside), 1)
    if trial.plan.traffic is not None and load.users is None:
        return sum(_open(one) for one in inside) / slots
    return sum(one.counters.in_flight for one in inside) / slots


def _open(one: Interval) -> int:
    """Users in a session."""
    return sum(flow.open for flow in one.traffic.flows) if one.traffic is not None else 0


def _search(settings: Settings, first: float, stride: float = 2.0) -> Search:
    return Search(
        first=max(first, settings.floor),
        ceiling=max(settings.ceiling, settings.floor),
        tolerance=settings.tolerance,
        floor=settings.floor,
        stride=stride,
    )


def _left_ns(settings: Settings, search: Search, which: int) -> int:
    """About what this search and those after it still take."""
    rate = search.low or search.high or search.first
    later = settings.searches - which
    return round((_levels(search) + later * _levels_again(settings)) * settings.whole_ns(rate))


def _levels(search: Search) -> float:
    """About so many more levels of a search: half of those of a bisection are tried again."""
    confirming = search.confirmations // 2 + 1
    if search.low is None or search.high is None:
        return BRACKETING + confirming
    wide = math.log(search.high / search.low) / math.log(1 + search.tolerance)
    return 1.5 * math.ceil(math.log2(max(wide, 1.0))) + confirming


def _levels_again(settings: Settings) -> float:
    """Of a search that begins where another ended."""
    wide = math.log(AGAIN) / math.log(1 + settings.tolerance)
    return 3 + 1.5 * math.ceil(math.log2(max(wide, 1.0))) + 2
