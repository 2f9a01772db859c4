"""The advice: from a limit, levels beside it and a demand.

Knows what the parts say; must not know how they are worked out, or shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from wiretrial import suggest
from wiretrial.advise import checking, demand, memory, resources, routes, scaling, sizing
from wiretrial.advise.demand import Asked
from wiretrial.advise.resources import Known
from wiretrial.advise.sizing import Instance, Type
from wiretrial.errors import GoalsMissed, MeasurementInvalid, UsageProblem
from wiretrial.results.advice import (
    Advice,
    Alternative,
    Demand,
    Growth,
    Purchase,
    Scaling,
    Together,
    Use,
    Written,
)
from wiretrial.results.limits import Level, Limit
from wiretrial.stats.utilisation import Line

YEAR = 12
SESSIONS = "sessions/s"
"""The unit of what is sent by a traffic file."""


@dataclass(frozen=True)
class Basis:
    """What was measured."""

    limit: Limit
    beside: Sequence[Level] = ()
    """Levels below the capacity."""
    mixes: Sequence[Level] = ()
    """Levels of other mixes of a traffic file's routes."""
    crowded: Sequence[Level] = ()
    """Levels with more connections."""
    rates: tuple[float, ...] = ()
    """The capacity of each occasion; none: all was measured on one."""
    together: Sequence[Together] = ()
    """Several instances, measured with the one."""
    division_lacks: str | None = None
    """Why several were not measured, of a server that was started for it."""
    pinned: tuple[int, ...] = ()
    """CPUs of the one and of the load generator, where other instances had the rest."""

    @property
    def levels(self) -> tuple[Level, ...]:
        """All of what is asked of it, in its own mix."""
        return (*self.limit.levels, *self.beside)


@dataclass(frozen=True)
class Wanted:
    """What is asked beside the demand."""

    shared: Collection[str] = ()
    """Names of resources that all instances ask."""
    types: Sequence[Type] = ()
    growth: float | None = None
    sizes: Mapping[int, Limit] = field(default_factory=dict)
    """Kept limits of several instances together, by their number."""
    instead: Mapping[str, Basis] = field(default_factory=dict)
    """Kept results of other protocols or servers, by what they are called."""


def advice(basis: Basis, demanded: Asked, wanted: Wanted) -> Advice:
    """Raises where no rate keeps the goals, or the levels tell too little."""
    limit, levels = basis.limit, basis.levels
    if limit.rate is None:
        raise _unfound(limit)
    asked, capacity = demand.carried(demanded, limit, levels), limit.low or limit.rate
    counted = _counted(basis, wanted, asked.highest, capacity)
    needed, divided = counted.instances, counted.scaling
    if needed > sizing.MOST_INSTANCES:
        raise UsageProblem(
            f"{asked.highest:,.4g} {limit.unit} are more than {sizing.MOST_INSTANCES:,} instances"
            f" carry at {capacity:,.4g} each",
            "ask for less",
        )
    share = _Share(each=asked.highest / needed, of=needed, asked=asked)
    known = resources.known(levels)
    _require_known(wanted.shared, known)
    uses = tuple(_use(one, basis, share, is_shared=one.name in wanted.shared) for one in known)
    own = resources.binding([one for one in known if one.name not in wanted.shared], limit.rate)
    busiest = resources.binding(known, limit.rate)
    by_route = routes.told(levels, basis.mixes)
    near = [level for level in levels if level.is_kept and level.rate >= share.each]
    return Advice(
        demand=asked,
        instances=needed,
        is_at_least=counted.is_at_least,
        each=share.each,
        binding=busiest.name if busiest else None,
        stopped_by=_stopped(uses, asked),
        uses=uses,
        routes=by_route.uses,
        routes_lack=by_route.lacks,
        check=resources.check(levels, own.name, limit.rate) if own else None,
        near=min(near, key=lambda level: level.rate, default=None),
        purchases=_purchases(uses, wanted, share),
        occasions=basis.rates,
        bytes_per_second=_bytes_per_second(basis.levels, asked.highest),
        growth=_growth(asked, needed * counted.each, wanted.growth, capacity, divided),
        scaling=divided,
        division_lacks=basis.division_lacks if divided is None else None,
        instead=tuple(
            _alternative(name, other, limit, demanded) for name, other in wanted.instead.items()
        ),
        command=checking.command(limit.command, share.each, basis.pinned),
        limit=limit,
        beside=tuple(basis.beside),
        crowded=tuple(basis.crowded),
        together=tuple(basis.together),
        pinned=basis.pinned,
        kernel_bytes=memory.of_kernel(basis.crowded),
        mixes=tuple(basis.mixes),
    )


@dataclass(frozen=True)
class _Counted:
    """How many carry the demand, and what each of them carries."""

    instances: int
    each: float
    scaling: Scaling | None = None
    is_at_least: bool = False


def _counted(basis: Basis, wanted: Wanted, demanded: float, capacity: float) -> _Counted:
    several = {many.instances: many for many in basis.together}
    for number, limit in wanted.sizes.items():
        several[number] = Together(instances=number, limit=limit)
    if not several:
        return _Counted(sizing.instances(demanded, capacity), capacity)
    assert basis.limit.rate is not None
    share = capacity / basis.limit.rate
    divided = scaling.of(basis.limit, tuple(several.values()), max(len(basis.rates), 1))
    # Who names sizes can measure more of them.
    goes_on = not wanted.sizes
    needed, is_at_least = scaling.needed(divided, demanded, share, goes_on=goes_on)
    return _Counted(needed, divided.each(needed) * share, divided, is_at_least)


def _unfound(limit: Limit) -> Exception:
    """Why no rate was found: none keeps the goals, or the search did not get so far."""
    lowest = min(limit.levels, key=lambda level: level.rate)
    if lowest.is_kept:
        return MeasurementInvalid(
            f"no capacity was found: {lowest.rate:,.4g} {limit.unit} were kept once, and no rate"
            " was confirmed before the search ended",
            "give the search more time (--within), or levels that last longer (-d)",
        )
    return GoalsMissed(
        f"no number of instances keeps the goals: one does not at {lowest.rate:,.4g}"
        f" {limit.unit}, the lowest rate that was tried ({lowest.why})",
        "relax the goal, or look with `wiretrial load` at what takes the time",
    )


def _alternative(name: str, other: Basis, own: Limit, demanded: Asked) -> Alternative:
    """What the same people would need of it. Raises where it was measured for something else."""
    kept = other.limit
    if kept.rate is None:
        raise UsageProblem(f"--instead {name}: no rate of it kept its goals", "leave it out")
    if kept.goals != own.goals or (kept.unit == SESSIONS) != (own.unit == SESSIONS):
        raise UsageProblem(
            f"--instead {name} was held against {', '.join(kept.goals) or 'no goal'}, in"
            f" {kept.unit}, and this against {', '.join(own.goals) or 'no goal'}, in {own.unit}",
            "measure both with the same goals and messages",
        )
    capacity = kept.low or kept.rate
    asked = demand.carried(demanded, kept, other.levels)
    try:
        counted = _counted(other, Wanted(), asked.highest, capacity)
    except MeasurementInvalid as error:
        raise UsageProblem(f"--instead {name}: {error.message}", "leave it out") from error
    except UsageProblem as error:
        raise UsageProblem(f"--instead {name}: {error.message}", error.remedy) from error
    return Alternative(
        name=name,
        target=kept.target,
        unit=kept.unit,
        capacity=capacity,
        instances=counted.instances,
        is_at_least=counted.is_at_least,
        is_divided=counted.scaling is not None,
        carries_more=kept.is_at_least,
    )


def _bytes_per_second(levels: Sequence[Level], rate: float) -> float | None:
    """By the highest kept level; a session has several messages, which its routes tell."""
    kept = [level for level in levels if level.is_kept and level.bytes]
    highest = max(kept, key=lambda level: level.rate, default=None)
    if highest is None or highest.bytes is None:
        return None
    messages = sum(route.rate for route in highest.routes) or highest.rate
    return highest.bytes * messages / highest.rate * rate


def _growth(
    asked: Demand, carried: float, per_month: float | None, capacity: float, divided: Scaling | None
) -> Growth | None:
    if not per_month:
        return None
    later = asked.highest * (1 + per_month) ** YEAR
    return Growth(
        per_month=per_month,
        months=sizing.months(asked.highest, carried, per_month),
        # How more of them divide the load is not known far beyond what was measured.
        in_a_year=None if divided else sizing.instances(later, capacity),
    )


def _require_known(names: Collection[str], known: Sequence[Known]) -> None:
    every = [one.name for one in known]
    for name in names:
        if name not in every:
            raise UsageProblem(
                f"--shared {name}: nothing of that name was watched",
                suggest.remedy(name, every) if every else "name it with --server NAME=ADDRESS",
            )


@dataclass(frozen=True)
class _Share:
    """What one instance carries of the demand."""

    each: float
    """The rate."""
    of: int
    """So many instances there are."""
    asked: Demand

    @property
    def users(self) -> float | None:
        """None: a rate was asked for."""
        return None if self.asked.users is None else self.asked.users / self.of


def _use(one: Known, basis: Basis, share: _Share, *, is_shared: bool) -> Use:
    highest, capacity = one.highest, basis.limit.rate
    assert capacity is not None
    load = share.asked.highest if is_shared else share.each
    opened = memory.descriptors(one.name, basis.beside, basis.crowded)
    users = None if is_shared else share.users
    return Use(
        name=one.name,
        slope_ns=one.line.slope * 1e9,
        low_ns=one.line.low * 1e9,
        high_ns=one.line.high * 1e9,
        base=one.line.base,
        at_capacity=one.line.at(capacity),
        advised=one.line.at(load),
        of_cpus=highest.of_cpus,
        of_kernel=highest.of_kernel,
        memory_bytes=highest.memory_bytes,
        memory_kind=highest.memory_kind,
        memory_limit_bytes=highest.memory_limit_bytes,
        memory=memory.per_connection(one.name, basis.beside, basis.crowded),
        descriptors=highest.descriptors,
        descriptor_limit=highest.descriptor_limit,
        opened=opened,
        descriptors_advised=opened.at(users) if opened and users is not None else None,
        written=_written(resources.written(basis.levels, one.name), capacity, load),
        is_shared=is_shared,
        full_at=one.line.full(highest.of_cpus) if highest.of_cpus else None,
    )


def _written(line: Line | None, capacity: float, load: float) -> Written | None:
    if line is None:
        return None
    return Written(
        each_bytes=line.slope,
        low_bytes=line.low,
        high_bytes=line.high,
        base_bytes=line.base,
        at_capacity=line.at(capacity),
        advised=line.at(load),
    )


def _stopped(uses: Sequence[Use], asked: Demand) -> str | None:
    """A shared resource that is full before the demand is carried."""
    full = [use for use in uses if use.is_shared and use.full_at and use.full_at < asked.highest]
    return min(full, key=lambda use: use.full_at or 0.0).name if full else None


def _purchases(uses: Sequence[Use], wanted: Wanted, share: _Share) -> tuple[Purchase, ...]:
    if not wanted.types:
        return ()
    own = [use for use in uses if not use.is_shared]
    users = share.users
    cpus = [use.of_cpus for use in own]
    memory_bytes = [_memory_bytes(use, users) for use in own]
    instance = Instance(
        cpus=sum(filter(None, cpus)) if all(cpus) else None,
        memory_bytes=round(sum(filter(None, memory_bytes))) if all(memory_bytes) else None,
    )
    found = sizing.purchases(wanted.types, instance, share.of)
    if not found:
        raise UsageProblem(
            "no --machine holds a single instance, which takes"
            f" {instance.cpus or 0:.3g} CPUs and {(instance.memory_bytes or 0) / 2**20:,.0f} MiB",
            "name a larger one",
        )
    return found


def _memory_bytes(use: Use, users: float | None) -> float | None:
    """Of one instance with its share of the users; no less than it was seen to take."""
    if use.memory is None or users is None or use.memory_bytes is None:
        return use.memory_bytes
    return max(use.memory_bytes, use.memory.at(users))
