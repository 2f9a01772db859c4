"""What several instances carry together: from limits that were measured at several numbers of them.

By Gunther's law (`stats.scalability`) where four numbers or more were measured; of fewer, by the
part that the largest of them did not divide (Amdahl's law). Nothing is said beyond twice the
largest number that was measured. Pure: knows limits; must not know what carried them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from wiretrial.advise import sizing
from wiretrial.errors import MeasurementInvalid, UsageProblem
from wiretrial.results.advice import Coefficient, Scaling, Size, Together
from wiretrial.results.limits import Limit
from wiretrial.stats import scalability
from wiretrial.stats.limit import Ends, Times, times

FEWEST = 4
"""Numbers of instances for both coefficients of the law."""


def of(one: Limit, several: Sequence[Together], occasions: int = 1) -> Scaling:
    """The law through all of them. Raises where one of them can't be laid beside the others.

    `occasions`: on so many was the one measured.
    """
    assert one.rate is not None
    sizes = [Size(instances=1, target=one.target, rate=one.rate)]
    for many in sorted(several, key=lambda many: many.instances):
        limit = many.limit
        _require_alike(many.instances, limit, one)
        assert limit.rate is not None
        sizes.append(
            Size(
                instances=many.instances,
                target=limit.target,
                rate=limit.rate,
                is_spread=many.is_spread,
                shared_cpus=many.shared_cpus,
            )
        )
    if len(sizes) < FEWEST:
        largest = max(several, key=lambda many: many.instances)
        return _by_largest(sizes, _times(one, largest, occasions), occasions)
    found = scalability.fit(
        [size.instances for size in sizes], [size.rate for size in sizes], FEWEST
    )
    return Scaling(
        sizes=tuple(sizes),
        unit=found.unit.value,
        contention=_told(found.contention),
        coherency=_told(found.coherency),
    )


def needed(
    scaling: Scaling, demand: float, share: float, *, goes_on: bool = False
) -> tuple[int, bool]:
    """The fewest instances that carry a demand, and whether it may take more.

    `share`: the lower end of what one carries, as a share of the most likely figure. `goes_on`:
    beyond what can be told each counts for what each of the furthest carries. Raises where no
    number carries it, and where that can't be told.
    """
    most = scaling.furthest
    for number in range(1, most + 1):
        if scaling.at(number) * share >= demand:
            return number, False
    best = max(range(1, most + 1), key=scaling.at)
    if best < most:
        _require_own_cpus(scaling)
        some = "1 instance carries" if best == 1 else f"{best} instances together carry"
        raise MeasurementInvalid(
            f"no number of instances carries {demand:,.4g} per second: by the measurements, {some}"
            f" the most, {scaling.at(best) * share:,.4g}",
            "find what they share, or split it",
        )
    if goes_on:
        # What they lose to shared CPUs bounds nothing: on machines of their own fewer may do.
        _require_own_cpus(scaling)
        return sizing.instances(demand, scaling.each(most) * share), True
    raise MeasurementInvalid(
        f"{demand:,.4g} per second need more than {most} instances, and {scaling.most} were"
        " measured together: beyond twice as many it is not known how they divide the load",
        "measure more of them together, and name that with --size N=FILE",
    )


def _require_own_cpus(scaling: Scaling) -> None:
    """Several that shared the CPUs of one machine tell nothing of machines of their own."""
    for size in scaling.sizes:
        if size.shared_cpus is None:
            continue
        raise MeasurementInvalid(
            f"{size.instances} instances together carried {size.rate:,.4g} per second, one alone"
            f" {scaling.unit:,.4g}. They shared {size.shared_cpus} CPUs with the load generator, so"
            " this does not say what they carry on machines of their own",
            "measure on more CPUs, or leave the others out (--instances 1, also with --from)",
        )


def _require_alike(number: int, limit: Limit, one: Limit) -> None:
    if limit.rate is None:
        raise UsageProblem(f"--size {number}: no rate of it kept its goals", "leave it out")
    if limit.unit != one.unit or limit.goals != one.goals:
        raise UsageProblem(
            f"--size {number} was held against {', '.join(limit.goals) or 'no goal'}, in"
            f" {limit.unit}, and one instance against {', '.join(one.goals) or 'no goal'}, in"
            f" {one.unit}",
            "measure both with the same goals and messages",
        )
    if limit.is_at_least or one.is_at_least:
        which = f"--size {number}" if limit.is_at_least else "what one instance carries"
        raise UsageProblem(
            f"{which} is a lower bound, which tells no division",
            "measure it with more --threads",
        )


def ends(limit: Limit) -> Ends:
    """What its searches that came to their end kept and refused."""
    ended = [
        (one.kept, one.refused)
        for one in limit.searches
        if one.is_confirmed and one.kept is not None and one.refused is not None
    ]
    return Ends([kept for kept, _ in ended], [refused for _, refused in ended])


def _times(one: Limit, many: Together, occasions: int) -> Times | None:
    """Where it lies how many times one alone several carry; None where that can't be told."""
    if many.times is not None:
        return Times(*many.times)
    # Searches of other days would stand against those of one.
    return None if occasions > 1 else times(ends(many.limit), ends(one))


def _by_largest(sizes: list[Size], found: Times | None, occasions: int) -> Scaling:
    """Contention alone, so that the largest comes out as it was measured."""
    first, last = sizes[0], sizes[-1]

    def lost(gained: float) -> float:
        return max((last.instances / gained - 1) / (last.instances - 1), 0.0)

    return Scaling(
        sizes=tuple(sizes),
        unit=first.rate,
        contention=Coefficient(
            value=lost(last.rate / first.rate),
            low=lost(found.high) if found else None,
            high=lost(found.low) if found else None,
        ),
        coherency=Coefficient(value=0.0),
        lacks=None if found else _lacks(last.instances, occasions),
    )


def _lacks(number: int, occasions: int) -> str:
    """Why there is no interval, and what would give one."""
    if occasions > 1:
        return (
            f"{number} together were not searched for on each of {occasions} occasions, or too"
            " seldom: measure both on each, with --searches 3"
        )
    return (
        f"one alone or {number} together were searched for once, which tells no scatter: measure"
        " both with --searches 3"
    )


def _told(found: scalability.Coefficient) -> Coefficient:
    high = found.high if math.isfinite(found.high) else None
    return Coefficient(value=found.value, low=found.low, high=high)
