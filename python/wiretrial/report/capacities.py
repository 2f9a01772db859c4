"""Capacities: what lower levels predict of a server, against what it was measured to carry.

Knows trials of a top, which is a closed loop or what a search found, and of the levels below it;
must not know how a table is drawn. Each occasion predicts by its own levels and is held against its
own top: so an advice is made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from wiretrial.report import facts, units
from wiretrial.report.knees import Knee
from wiretrial.report.measures import Measured
from wiretrial.results import offered
from wiretrial.results.model import USABLE, Trial
from wiretrial.stats import capacity
from wiretrial.stats.capacity import Prediction
from wiretrial.stats.summary import Estimate, summarise

Cause = Literal["idle", "cheaper", "dearer", "scatter"]

FAR = 0.10
"""A prediction that is off by more is explained."""
BUSY = 0.90
"""With less of its CPU time used at the top, something else binds."""
CHANGED = 0.05
"""What a message costs at the top, against the highest level below: less is the scatter's."""
OF_MEDIAN = 1.57
"""The median of normal values scatters like the mean of so many fewer (pi / 2; of few, less)."""
CAUSES: Mapping[Cause, str] = {
    "idle": "less than 90 % of its CPU time was used at the top, so that something else bound it:"
    " the prediction expects that all of it can be used",
    "cheaper": "a message takes less CPU at the top than the levels told, because more of them are"
    " handled at a time: too little is predicted",
    "dearer": "a message takes more CPU at the top than the levels told (contention, queues, the"
    " limit itself): too much is predicted",
    "scatter": "the levels or the tops scatter by as much",
}
NO_LEVELS = "the levels are too few or too much alike to predict from"
NO_TOP = "no usable trial at the top"
BOUND = "the load generator saturated first: the measured is a lower bound"


@dataclass(frozen=True)
class Capacity:
    """One server in one place on one occasion. Rates per second: of messages, or of sessions."""

    scenario: str
    label: str
    workload: str
    cpus: float
    """That it had."""
    occasion: int
    machine: str
    """Its CPUs and kernel; an occasion is of one machine."""
    is_of_sessions: bool
    measured: Estimate | None
    is_bound: bool
    """Whether the generator was the limit at the top."""
    predicted: Prediction | None
    busy: float | None
    """Share of its CPU time that it used at the top."""
    change: float | None
    """By which share a message costs more at the top than at the highest level below, beyond what
    the levels told of that."""
    throttled: float | None
    """Share of the periods at the top in which its limit held it; None: it has no such limit."""
    refused: float | None = None
    """The lowest rate that a search refused; None: it refused none, or there was no search."""
    goal: str | None = None
    """What a search had to keep: `p99 within 20 ms`."""

    @property
    def is_told(self) -> bool:
        """Whether a prediction stands against a measured capacity."""
        return self.predicted is not None and self.measured is not None and not self.is_bound

    @property
    def error(self) -> float | None:
        """How far the prediction is off, as a share of what was measured.

        Of a search that is the geometric middle of the rate that was sustained and the one that was
        refused: where exactly it lies between those two, the search did not ask.
        """
        if not self.is_told or self.predicted is None or self.measured is None:
            return None
        sustained = self.measured.median
        return self.predicted.error(math.sqrt(sustained * (self.refused or sustained)))

    @property
    def scatter(self) -> float | None:
        """How far a single level lies off the curve, as a share of the CPU time of a message.

        That time is what a message has at the measured capacity, if all CPU time is used there.
        """
        if self.predicted is None or self.measured is None:
            return None
        return self.predicted.curve.scatter * self.measured.median / self.cpus

    @property
    def is_held(self) -> bool:
        """Whether the interval of the prediction holds what was measured."""
        if not self.is_told or self.predicted is None:
            return False
        measured = _middle(self.measured)
        if self.refused is None:
            return self.predicted.holds(measured)
        return self.predicted.low < self.refused and measured <= self.predicted.high

    @property
    def cause(self) -> Cause | None:
        """Why the prediction is far off; None: it is not."""
        if self.error is None or _off(self) <= FAR:
            return None
        if self.error > 0 and self.busy is not None and self.busy < BUSY:
            return "idle"
        if self.change is not None and abs(self.change) > CHANGED:
            is_dearer = self.change > 0
            if is_dearer == (self.error > 0):
                return "dearer" if is_dearer else "cheaper"
        return "scatter"

    @property
    def why_untold(self) -> str | None:
        """Why nothing stands against each other; None: it does."""
        if self.measured is None:
            return NO_TOP
        if self.is_bound:
            return BOUND
        return NO_LEVELS if self.predicted is None else None


@dataclass(frozen=True)
class Errors:
    """The distribution of errors over capacities that are told."""

    title: str
    count: int
    middle: float
    """Median of the errors' sizes."""
    ninetieth: float
    """Nine in ten are no larger."""
    bias: float
    """Median of the errors with their signs."""
    near: float
    """Share of those of at most 10 %."""
    held: float
    """Share of the intervals that hold what was measured."""
    scatter: float
    """Median of how far single levels lie off their curves."""
    machine: str = ""
    """Of a single occasion."""


def of_trials(trials: Sequence[Trial], searched: Sequence[Knee] = ()) -> tuple[Capacity, ...]:
    """One per top that has levels, and per occasion, in the order of the trials' first ones."""
    levels: dict[tuple[str, int], list[Measured]] = {}
    tops: dict[tuple[str, int], list[Measured]] = {}
    wanted = {trial.scenario.level_of for trial in trials if trial.scenario.level_of}
    for trial in trials:
        own = trial.scenario
        name = own.level_of or own.search or own.name
        if name in wanted and own.twin_of is None:
            kind = levels if own.level_of else tops
            kind.setdefault((name, trial.occasion), []).append(Measured(trial))
    knees = {(one.name, one.occasion): one for knee in searched for one in knee.each}
    return tuple(
        _capacity(
            name, occasion, runs, levels.get((name, occasion), ()), knees.get((name, occasion))
        )
        for (name, occasion), runs in tops.items()
    )


def errors(title: str, found: Iterable[Capacity], machine: str = "") -> Errors | None:
    """Of those that are told; None: none is."""
    told = [one for one in found if one.is_told]
    signed = [one.error for one in told if one.error is not None]
    if not signed:
        return None
    sizes = sorted(map(abs, signed))
    return Errors(
        title=title,
        count=len(sizes),
        middle=median(sizes),
        ninetieth=sizes[-(-9 * len(sizes) // 10) - 1],
        bias=median(signed),
        near=sum(size <= FAR for size in sizes) / len(sizes),
        held=sum(one.is_held for one in told) / len(told),
        scatter=median(one.scatter or 0.0 for one in told),
        machine=machine,
    )


def distributions(found: Sequence[Capacity]) -> tuple[Errors, ...]:
    """Of all, then by occasion where there are several, by workload, by the number of CPUs."""
    parts = [
        errors(workload, (one for one in found if one.workload == workload))
        for workload in dict.fromkeys(one.workload for one in found)
    ]
    parts += [
        errors(size(cpus), (one for one in found if one.cpus == cpus))
        for cpus in sorted({one.cpus for one in found})
    ]
    whole, told = errors("all", found), [one for one in parts if one]
    if whole is None:
        return ()
    # Where there is one workload in one size, all is said.
    is_one = len(told) == 2 and all(one.count == whole.count for one in told)
    return (whole, *by_occasion(found), *(() if is_one else told))


def by_occasion(found: Sequence[Capacity]) -> tuple[Errors, ...]:
    """Each occasion with its machine; nothing where there is one."""
    machines = {one.occasion: one.machine for one in found}
    made = (
        errors(f"occasion {occasion}", (one for one in found if one.occasion == occasion), machine)
        for occasion, machine in sorted(machines.items())
        if len(machines) > 1
    )
    return tuple(one for one in made if one)


def sentences(found: Sequence[Capacity]) -> tuple[str, ...]:
    """What the predictions are worth, and where they are worse; nothing without any levels."""
    whole = errors("all", found)
    if whole is None:
        whys = dict.fromkeys(one.why_untold for one in found if one.why_untold)
        told = f"No prediction is held against a measured capacity: {'; '.join(whys)}."
        return (told,) if whys else ()
    told = "1 capacity" if whole.count == 1 else f"{whole.count} capacities"
    first = (
        f"{told}, predicted from loads up to 60 % of each: the median error is"
        f" {percent(whole.middle)}, nine in ten are within {percent(whole.ninetieth)}, and"
        f" {percent(whole.held)} of the 95 % intervals hold what was measured."
    )
    bound = sum(one.is_bound for one in found)
    if bound:
        are = "is a lower bound" if bound == 1 else "are lower bounds"
        first += f" {bound} more {are}, because the load generator saturated first."
    if alike := sum(one.why_untold == NO_LEVELS for one in found):
        have = "has" if alike == 1 else "have"
        first += f" {alike} more {have} no prediction: {NO_LEVELS}."
    if occasions := by_occasion(found):
        middles, scatters = (
            units.listed([percent(size) for size in sizes])
            for sizes in ([o.middle for o in occasions], [o.scatter for o in occasions])
        )
        first += (
            f" By occasion the median error is {middles}, where a single level lies {scatters} off"
            " its curve in the middle."
        )
    return (first, *_worse(found))


def by_cause(found: Iterable[Capacity]) -> dict[Cause, list[Capacity]]:
    """Those that are off by more than 10 %, the worst first, by why; the most frequent first."""
    far: dict[Cause, list[Capacity]] = {}
    ordered = sorted(found, key=_off, reverse=True)
    for one in ordered:
        if one.cause:
            far.setdefault(one.cause, []).append(one)
    return dict(sorted(far.items(), key=lambda pair: -len(pair[1])))


def size(cpus: float) -> str:
    """`0.25 CPUs`."""
    return "1 CPU" if cpus == 1 else f"{cpus:g} CPUs"


def percent(share: float) -> str:
    """`4.2 %`."""
    return f"{100 * share:.0f} %" if abs(share) >= 0.1 else f"{100 * share:.1f} %"


def _worse(found: Sequence[Capacity]) -> tuple[str, ...]:
    causes = by_cause(found)
    far = sorted((one for some in causes.values() for one in some), key=_off, reverse=True)
    if not far:
        return ()
    told = "; ".join(f"{len(some)} because {CAUSES[cause]}" for cause, some in causes.items())
    are = "is" if len(far) == 1 else "are"
    worst = f"The worst is {far[0].scenario} ({signed(far[0].error or 0.0)})."
    return (f"{len(far)} {are} off by more than 10 %: {told}. {worst}",)


def _off(one: Capacity) -> float:
    return abs(one.error or 0.0)


def signed(share: float) -> str:
    """`-12 %`."""
    return f"{100 * share:+.0f} %" if abs(share) >= 0.1 else f"{100 * share:+.1f} %"


def _middle(measured: Estimate | None) -> float:
    return measured.median if measured else 0.0


def _capacity(
    name: str,
    occasion: int,
    runs: Sequence[Measured],
    below: Sequence[Measured],
    knee: Knee | None,
) -> Capacity:
    scenario = runs[0].trial.scenario
    usable = [run for run in runs if run.is_usable and _rate(run)]
    if knee is not None:
        usable = [run for run in usable if offered.rate(run.trial) == knee.sustained]
    rates = [rate for run in usable if (rate := _rate(run))]
    tops = max(len(rates), _confirming(knee) if knee else 0)
    cpus = _cpus(runs[0].trial)
    reached = [knee.sustained] if knee and knee.sustained is not None else rates
    measured = summarise(reached) if reached else None
    is_bound = _is_bound(usable) if knee is None else knee.at_least
    busy = [found for run in usable if (found := _busy(run)) is not None]
    known = [run for run in below if run.is_usable and _rate(run) and _busy(run)]
    predicted = _predicted(known, cpus, tops) if rates else None
    return Capacity(
        scenario=name,
        label=scenario.label or name,
        workload=str(scenario.levels.get("workload", "")),
        cpus=cpus,
        occasion=occasion,
        machine=facts.machine_words(runs[0].trial.machine.facts),
        is_of_sessions=runs[0].session_rate is not None,
        measured=replace(measured, bound="at least") if measured and is_bound else measured,
        is_bound=is_bound,
        predicted=predicted,
        busy=median(busy) / cpus if busy else None,
        change=_change(usable, known, predicted) if predicted else None,
        throttled=_throttled(usable),
        refused=knee.refused.offered if knee and knee.refused else None,
        goal=knee.objective.words if knee else None,
    )


def _confirming(knee: Knee) -> int:
    """So many trials stand behind what a search found; not each of them has to be kept."""
    return sum(step.offered == knee.sustained and step.verdict in USABLE for step in knee.steps)


def _predicted(below: Sequence[Measured], cpus: float, tops: int) -> Prediction | None:
    trials = tops / OF_MEDIAN if tops > 2 else tops
    try:
        return capacity.predicted(
            [_rate(run) or 0.0 for run in below], [_busy(run) or 0.0 for run in below], cpus, trials
        )
    except ValueError:
        return None


def _rate(run: Measured) -> float | None:
    """What it carried: sessions where it was asked for those."""
    return run.throughput if run.session_rate is None else run.session_rate


def _busy(run: Measured) -> float | None:
    """CPUs that the server kept busy."""
    cost, throughput = run.server_ns, run.throughput
    return None if cost is None or throughput is None else cost * throughput / 1e9


def _cost(run: Measured) -> float | None:
    rate, busy = _rate(run), _busy(run)
    return busy / rate if rate and busy else None


def _change(
    tops: Sequence[Measured], below: Sequence[Measured], predicted: Prediction
) -> float | None:
    rates = [_rate(run) or 0.0 for run in below]
    # The highest level, which all of its trials reached about.
    highest = [run for run, rate in zip(below, rates, strict=True) if rate > 0.95 * max(rates)]
    ends = [[run for run in runs if _cost(run)] for runs in (tops, highest)]
    if not all(ends):
        return None
    top, lower = (median(_cost(run) or 0.0 for run in runs) for runs in ends)
    told, told_lower = (
        _told_cost(predicted, median(_busy(run) or 0.0 for run in runs)) for runs in ends
    )
    return top / lower * told_lower / told - 1 if told and told_lower else None


def _told_cost(predicted: Prediction, cpus: float) -> float | None:
    """What a message takes where so many CPUs are busy, by the levels, with the part at rest."""
    rate = predicted.curve.rate(cpus)
    return cpus / rate if rate else None


def _cpus(trial: Trial) -> float:
    subject = trial.subject
    if subject and subject.limit:
        return subject.limit.cpus
    return float(len(subject.cpus) if subject and subject.cpus else 1)


def _is_bound(usable: Sequence[Measured]) -> bool:
    return any(run.trial.judgement.verdict == "client-bound" for run in usable)


def _throttled(usable: Sequence[Measured]) -> float | None:
    shares = [
        run.trial.subject.limit.throttled
        for run in usable
        if run.trial.subject and run.trial.subject.limit
    ]
    return median(shares) if shares else None
