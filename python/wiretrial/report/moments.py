"""A run over its time: throughput, times and errors of its intervals, joined to readable steps.

Knows a trial's intervals; must not know how they are drawn. A quantile is told only where enough
messages came (`results.quantiles`), so times may have longer steps than throughput.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from wiretrial import words
from wiretrial.report.measures import Measured
from wiretrial.results import hdr, quantiles
from wiretrial.results.hdr import Hdr
from wiretrial.results.model import Trial
from wiretrial.snapshot import Interval
from wiretrial.words import Noun

MOST = 150
"""Steps of a picture: more would be narrower than its line."""
FEWEST = 10
"""Below this, the course of a run can't be seen."""
SHOWN = 0.99
"""Steps of times are as long as this quantile needs, where enough of them are left."""


@dataclass(frozen=True)
class Moment:
    """One step of a run; seconds from its first message, rates per second, times in nanoseconds."""

    start_s: float
    end_s: float
    throughput: float
    errors: float
    p50: float | None
    p99: float | None
    longest: float | None
    disturbed: bool
    """The generator was kept from running, so that its figures are no server's."""

    @property
    def middle_s(self) -> float:
        """Where it stands on the axis."""
        return (self.start_s + self.end_s) / 2


@dataclass(frozen=True)
class Course:
    """A whole run. `window`: the part that counts, in seconds."""

    rates: tuple[Moment, ...]
    times: tuple[Moment, ...]
    window: tuple[float, float]
    from_due: bool
    """Times are response times then, else service times."""
    what: Noun
    """What was sent."""
    stages: tuple[float, ...] = ()
    """Where one stage of the load ends and the next begins, seconds."""

    @property
    def has_errors(self) -> bool:
        """Whether any message failed."""
        return any(moment.errors for moment in self.rates)


def course(trial: Trial, most: int = MOST) -> Course | None:
    """The run over its time, in `most` steps; None where it was too short to have one."""
    begin, counted = trial.summary.first_send_ns, inside(trial)
    if len(counted) < FEWEST:
        return None
    from_due = Measured(trial).from_due
    metric = "response_time" if from_due else "service_time"

    def told(count: int) -> tuple[Moment, ...]:
        return tuple(_moment(part, metric, begin) for part in joined(counted, count))

    replies = sum(one.counters.ok for one in counted)
    steps = min(most, max(FEWEST, replies // quantiles.needed(SHOWN)))
    window = trial.window
    return Course(
        rates=told(most),
        times=told(steps),
        window=((window.start_ns - begin) / 1e9, (window.end_ns - begin) / 1e9),
        from_due=from_due,
        what=words.of_target(trial.plan.target),
        stages=tuple(_stages(trial)),
    )


def inside(trial: Trial) -> list[Interval]:
    """The intervals from the first message on, until the last reply."""
    begin, end = trial.summary.first_send_ns, trial.summary.end_ns
    return [one for one in trial.intervals if one.end_ns > begin and one.start_ns < end]


def joined(parts: Sequence[Interval], count: int) -> Iterator[Sequence[Interval]]:
    """The intervals in at most so many steps of as many each."""
    each = -(-len(parts) // count)
    return (parts[at : at + each] for at in range(0, len(parts), each))


def _stages(trial: Trial) -> Iterator[float]:
    """The ends of stages within the run."""
    summary = trial.summary
    begin_ns = summary.measure_start_ns - trial.plan.phases.warmup_ns
    ends = accumulate(stage.for_ns for stage in trial.plan.load.stages)
    for end in sorted(set(ends)):
        if summary.first_send_ns < begin_ns + end < summary.measure_end_ns:
            yield (begin_ns + end - summary.first_send_ns) / 1e9


def _moment(part: Sequence[Interval], metric: str, begin_ns: int) -> Moment:
    start, end = part[0].start_ns, part[-1].end_ns
    length = max(sum(one.end_ns - one.start_ns for one in part), 1)
    times: Hdr = hdr.merge(one.histograms[metric] for one in part if metric in one.histograms)
    return Moment(
        start_s=max(start - begin_ns, 0) / 1e9,
        end_s=(end - begin_ns) / 1e9,
        throughput=sum(one.counters.ok for one in part) * 1e9 / length,
        errors=sum(sum(one.counters.errors.values()) for one in part) * 1e9 / length,
        p50=quantiles.told(times, 0.5),
        p99=quantiles.told(times, 0.99),
        longest=times.max if times.count else None,
        disturbed=any(one.disturbed for one in part),
    )
