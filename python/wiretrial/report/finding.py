"""One thing that was found, as data: its kind, who leads, by how much, at which levels.

Knows which facts each kind holds; must not know how they were found (`findings`) or how they are
put into words (`phrases`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from wiretrial import words
from wiretrial.report.break_even import Crossing
from wiretrial.report.contest import Pair
from wiretrial.report.knees import Knee
from wiretrial.report.metrics import Metric
from wiretrial.stats import bounds
from wiretrial.stats.bounds import Bound
from wiretrial.stats.compare import Comparison
from wiretrial.stats.summary import Estimate
from wiretrial.words import ROUTE, Noun

Kind = Literal[
    "alone",  # one scenario, compared with nobody
    "best",  # one leader; the others are worse
    "shared",  # several leaders, between which no difference is shown
    "untold",  # no difference is shown at all
    "bound",  # the generator saturated first, so that the figures are bounds
    "overloaded",  # the offered rate was not reached, so that response times grow with the run
    "short",  # trials enough, but too few messages for the quantile
    "single",  # one trial each, as was wanted
    "lacking",  # too few usable trials
    "counted",  # the answer is not the same at all levels
    "multiples",  # the others as multiples of a baseline
    "nearest",  # client libraries by their distance from the baseline
    "safest",  # never far from the best of any case
    "stalls",  # who stopped answering, in how many cases
    "floors",  # how many times have measured their theoretical minimum
    "knees",  # the highest sustained rates
    "break-even",  # after how many messages a socket costs less than HTTP
    "slowest",  # which route takes longest
    "apart",  # the route on which two scenarios differ most
    "bottleneck",  # what limited how many trials
    "twins",  # a scenario measured twice, which must not differ from itself
]


@dataclass(frozen=True)
class Multiple:
    """How many times the leader's or the baseline's figure a label has, with the interval.

    Against a leader it is above 1: where more is better, so many times less. Over several levels of
    a baseline its ends are the least and the greatest ratio.
    """

    label: str
    ratio: float
    low: float | None = None
    high: float | None = None
    bound: Bound = "exact"
    is_range: bool = False
    """Whether its ends are the least and the greatest ratio, because levels are shown to differ."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """What may be shown beside the ratio of one level; None of a bound."""
        return bounds.interval(self.low, self.high, self.bound)

    @property
    def inverse(self) -> Multiple:
        """The same seen from the other side."""
        return replace(
            self,
            ratio=1 / self.ratio,
            low=None if self.high is None else 1 / self.high,
            high=None if self.low is None else 1 / self.low,
            bound=bounds.inverse(self.bound),
        )

    @classmethod
    def of(cls, label: str, found: Comparison) -> Multiple:
        """What a comparison says of `label`."""
        return cls(label, found.ratio, found.low, found.high, found.bound)


@dataclass(frozen=True)
class Part:
    """What is the same at `n` levels, or in `n` trials."""

    kind: Kind
    n: int
    labels: tuple[str, ...] = ()
    at: str = ""
    """Which levels these are; empty where nobody has to know."""
    resolution: float | None = None
    """Where no difference is shown: the smallest that could be shown at each, as a share."""


@dataclass(frozen=True)
class Slow:
    """The slowest route of a label, and its p99 (or p50)."""

    label: str
    route: str
    ns: float
    time: str
    part: Noun = ROUTE
    """What the route is: of a conversation, a step."""


@dataclass(frozen=True)
class Finding:
    """One thing that was found. `figure` is the first leader's or the baseline's, in base units.

    Over several levels its ends are the least and the greatest median.
    `where` names the workload; empty where the study has only one. `base` is the baseline.
    `others` begin with the one next to the leader.
    """

    kind: Kind
    where: str = ""
    metric: Metric | None = None
    leaders: tuple[str, ...] = ()
    figure: Estimate | None = None
    bound: Bound = "exact"
    base: str = ""
    others: tuple[Multiple, ...] = ()
    unshown: tuple[str, ...] = ()
    """Labels that are not shown to differ from the first leader, or from the baseline."""
    parts: tuple[Part, ...] = ()
    """What the levels show one by one, the most frequent first."""
    levels: int = 1
    told: int | None = None
    """It speaks of so many of the levels; None: of all."""
    lacking: tuple[tuple[str, int], ...] = ()
    """Labels that have a figure at so many of the levels only."""
    is_cases: bool = False
    """Whether the levels are cases."""
    is_together: bool = False
    """Whether its multiples are over all levels at once, with intervals."""
    resolution: float | None = None
    """The smallest difference that could be shown, as a share, where none is."""
    is_closed_loop: bool = False
    """Whether each spent the CPU that is compared at a rate of its own, as in a closed loop."""
    is_beside: bool = False
    """Whether it stands beside a more important finding, which is enough for a first look."""
    marked: int = 0
    """How many trials are not simply valid."""
    drifting: int = 0
    """How many trials never settled."""
    knees: tuple[Knee, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    pair: Pair | None = None
    slow: tuple[Slow, ...] = ()
    """The slowest route of each label, the slowest of all first; of `apart` that of the base."""
    what: Noun = words.MESSAGE
    """What the whole report's scenarios send."""

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """Who leads alone, at how many of the levels."""
        return tuple((part.labels[0], part.n) for part in self.parts if part.kind == "best")

    @property
    def names(self) -> tuple[str, ...]:
        """Every label that a sentence about it may begin with."""
        parts = (label for part in self.parts for label in part.labels)
        labels = (*self.leaders, self.base, *(other.label for other in self.others), *parts)
        return tuple(label for label in labels if label)
