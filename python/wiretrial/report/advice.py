"""An advice about machines in words, as a table of its resources, and as a picture.

Knows an advice's document; must not know how it was worked out, nor terminals or pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from wiretrial.report import limits, units
from wiretrial.report.blocks import NO_FIGURE, Block, Cell, Column, Drawing, Section, Table, key
from wiretrial.report.views import response, utilisation
from wiretrial.results.advice import (
    Advice,
    Alternative,
    Coefficient,
    Growth,
    Memory,
    Purchase,
    RouteUse,
    Scaling,
    Use,
)

FURTHEST = 2
"""Times the connections that were measured; beyond it a figure is called extrapolated."""
MOST_ROUTES = 3
"""Beside the worst one, in a line; all are in the page's table."""


def headline(advice: Advice) -> str:
    """The answer in one line."""
    demand, unit = advice.demand, advice.limit.unit
    carried = f"{units.trimmed(demand.highest)} {unit}"
    if demand.users is not None:
        carried = f"{demand.users:,} users ({carried})"
    if advice.stopped_by:
        return (
            f"No number of instances carries {carried}: {advice.stopped_by}, which all ask, is"
            " full before."
        )
    many = units.plural(advice.instances, "instance")
    verb = "carries" if advice.instances == 1 else "carry"
    return f"{many} {verb} {carried}; {advice.instances + 1} survive losing one."


def lines(advice: Advice) -> Iterator[tuple[str, str]]:
    """What the answer rests on, each with its label."""
    limit = advice.limit
    yield "Goal", units.listed(limit.goals) if limit.goals else "all is answered at the rate"
    yield "Demand", _demand(advice)
    yield "Capacity", _capacity(advice)
    if told := _binds(advice):
        yield "Binds", told
    if advice.uses:
        yield "Costs", _costs(advice)
    if told := _memory(advice):
        yield "Memory", told
    if told := _routes(advice):
        yield "Routes", told
    yield "Advice", _advised(advice)
    if advice.scaling is not None:
        yield "Divides", _divides(advice, advice.scaling)
    for other in advice.instead:
        yield "Instead", _instead(advice, other)
    if advice.purchases:
        yield "Machines", purchases(advice.purchases)
    if advice.growth is not None:
        yield "Growth", _growth(advice, advice.growth)
    yield "Evidence", _evidence(advice)
    yield "Void if", _void(advice)


def table(advice: Advice) -> Table:
    """A row per resource."""
    one = advice.limit.unit.removesuffix("s/s")
    columns = (
        Column("Server", is_figure=False),
        Column(f"CPU per\n{one}"),
        Column("Busy at\nthe capacity"),
        Column("Busy at\nthe advice"),
        Column("CPUs that\nit can use"),
        Column("Memory", is_spare=True),
    )
    return Table(columns, tuple(_row(use) for use in advice.uses), names=1)


def sections(advice: Advice) -> tuple[Section, ...]:
    """The page: resources over the rate, then the levels of the search."""
    return (
        Section("Load, use and time", tuple(_resources(advice))),
        Section("What each route costs", tuple(_by_route(advice))),
        limits.every_level(advice.limit),
    )


def _resources(advice: Advice) -> Iterator[Block]:
    if utilisation.can_be_drawn(advice):
        yield Drawing(partial(utilisation.picture, advice), key=utilisation.KEY)
    if response.can_be_drawn(advice):
        yield Drawing(partial(response.picture, advice), key=response.KEY)
    if not advice.uses:
        return
    yield table(advice)
    yield key(
        "CPU time by a straight line through the levels, with its 95 % interval. CPUs busy at the"
        " capacity and at the advised load by the same line; of what is shared, for all instances"
        " together."
    )


def _by_route(advice: Advice) -> Iterator[Block]:
    if not advice.routes:
        return
    yield routes_table(advice)
    yield key(
        f"By a regression over {len(advice.mixes)} other mixes and the kept levels, each flow alone"
        " and cut short after some of its requests, with 95 % intervals. Shares are those of the"
        " file's own mix."
    )


def _demand(advice: Advice) -> str:
    demand, limit = advice.demand, advice.limit
    told = f"{units.trimmed(demand.rate)} {limit.unit}"
    if demand.users is not None:
        waits = []
        if demand.think_ns:
            waits.append(f"waits {units.duration(demand.think_ns)}")
        waits.append(f"takes {units.duration(demand.stay_ns)}")
        told = f"{demand.users:,} users, each of whom {' and '.join(waits)}: {told}"
    if demand.peak != 1:
        told += f"; {units.trimmed(demand.highest)} at {demand.peak:.3g} times the average"
    return told


def _capacity(advice: Advice) -> str:
    limit = advice.limit
    assert limit.rate is not None
    at_least = "at least " if limit.is_at_least else ""
    told = f"one instance: {at_least}{units.trimmed(limit.rate)} {limit.unit}"
    if limit.low is not None and limit.high is not None:
        told += f" ({units.trimmed(limit.low)} to {units.trimmed(limit.high)})"
    confirmed = sum(one.is_confirmed for one in limit.searches)
    told += f", {confirmed} {'search' if confirmed == 1 else 'searches'}"
    if not advice.occasions:
        return f"{told} on one day"
    apart = max(advice.occasions) / min(advice.occasions) - 1
    return f"{told} over {len(advice.occasions)} occasions, {_percent(apart)} apart"


def _binds(advice: Advice) -> str:
    limit = advice.limit
    first = limits.binds(limit)
    use = _of(advice, advice.binding)
    if use is None or not use.of_cpus or use.at_capacity is None:
        return first.removesuffix(".")
    share = use.at_capacity / use.of_cpus
    return f"{first} Busiest there: {use.name}, {100 * share:.0f} % of its CPUs".strip()


def _costs(advice: Advice) -> str:
    one = advice.limit.unit.removesuffix("s/s")
    whole = sum(use.slope_ns for use in advice.uses)
    parts = [f"{use.name} {_cost(use)}" for use in advice.uses]
    told = f"CPU per {one}: {', '.join(parts)}"
    users = advice.demand.users
    if users:
        cpus = whole / 1e9 * advice.demand.highest / users
        told += f"; {units.significant(1e3 * cpus)} CPUs per 1,000 users"
    octets = advice.limit.levels[0].bytes
    if octets:
        told += f"; {_bytes(octets)} per message"
    if advice.bytes_per_second:
        told += f", {8 * advice.bytes_per_second / 1e6:,.3g} Mbit/s in all"
    return told


def _cost(use: Use) -> str:
    if use.low_ns <= 0:
        # The levels scatter by more than a message takes.
        return f"at most {units.duration(use.high_ns)}"
    ends = f"{units.duration(use.low_ns)} to {units.duration(use.high_ns)}"
    kernel = "" if use.of_kernel is None else f", {_percent(use.of_kernel)} in the kernel"
    return f"{units.duration(use.slope_ns)} ({ends}{kernel})"


def _memory(advice: Advice) -> str:
    """What a connection takes, and what the users of one instance take together."""
    known = [use for use in advice.uses if use.memory is not None]
    if not known:
        return ""
    parts = [f"{use.name} {_each(use.memory)}" for use in known if use.memory]
    if advice.kernel_bytes is not None:
        parts.append(f"kernel {_bytes(advice.kernel_bytes)}")
    told = f"per connection: {', '.join(parts)}"
    users = advice.users_each
    if users is None:
        return told
    own = [use.memory for use in known if use.memory and not use.is_shared]
    whole = sum(one.at(users) for one in own) + (advice.kernel_bytes or 0.0) * users
    told += (
        f". {units.trimmed(users)} users of one instance, a connection each: {_bytes(whole)} and"
        f" {units.trimmed(users)} descriptors"
    )
    most = min(one.most for one in own) if own else 0
    return f"{told}, extrapolated from {most:,}" if own and users > FURTHEST * most else told


def _each(memory: Memory) -> str:
    if memory.low_bytes <= 0:
        return f"at most {_bytes(memory.high_bytes)}"
    ends = f"{_bytes(memory.low_bytes)} to {_bytes(memory.high_bytes)}"
    return f"{_bytes(memory.each_bytes)} ({ends})"


def _bytes(value: float) -> str:
    return units.fitting(units.BYTES, (value,)).text(value)


def _routes(advice: Advice) -> str:
    """The route that takes most CPU time first, then the others, each with its share."""
    if advice.routes_lack:
        return f"what each takes can't be told: {advice.routes_lack}"
    worst = advice.worst
    if worst is None:
        return ""
    told = (
        f"worst: {worst.name}, {_percent(worst.of_messages)} of the requests and"
        f" {_percent(worst.of_cpu)} of the CPU ({units.duration(worst.ns)} each)"
    )
    others = sorted(advice.routes, key=lambda route: -route.of_cpu)[1:]
    shown = [
        f"{route.name} {_percent(route.of_cpu)} ({units.duration(route.ns)})"
        for route in others[:MOST_ROUTES]
    ]
    if left := others[MOST_ROUTES:]:
        share = sum(route.of_cpu for route in left)
        shown.append(f"{len(left)} more {_percent(share)}")
    return f"{told}; {', '.join(shown)}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def routes_table(advice: Advice) -> Table:
    """A row per route, the most CPU time first."""
    servers = [cost.server for cost in advice.routes[0].costs]
    columns = (
        Column("Route", is_figure=False),
        Column("Share of\nrequests"),
        Column("Share of\nCPU"),
        *(Column(f"{server}:\nCPU each") for server in servers),
    )
    by_cpu = sorted(advice.routes, key=lambda route: -route.of_cpu)
    return Table(columns, tuple(_route_row(route) for route in by_cpu), names=1)


def _route_row(route: RouteUse) -> tuple[Cell, ...]:
    return (
        Cell(route.name),
        Cell(_percent(route.of_messages), value=route.of_messages),
        Cell(_percent(route.of_cpu), value=route.of_cpu),
        *(_interval(cost.ns, cost.low_ns, cost.high_ns) for cost in route.costs),
    )


def _interval(ns: float, low_ns: float, high_ns: float) -> Cell:
    ends = f"{units.duration(max(low_ns, 0.0))} to {units.duration(high_ns)}"
    return Cell(units.duration(ns), (ends,), value=ns)


def _advised(advice: Advice) -> str:
    limit, each = advice.limit, units.trimmed(advice.each)
    if advice.stopped_by and (use := _of(advice, advice.stopped_by)) and use.full_at:
        return (
            f"give {use.name} more than its {use.of_cpus or 0:.3g} CPUs, or split it: it is full at"
            f" {units.trimmed(use.full_at)} {limit.unit}"
        )
    assert limit.rate is not None
    share = 100 * advice.each / limit.rate
    told = (
        f"{advice.instances} keep the goals, each at {each} {limit.unit}"
        f" ({share:.0f} % of its capacity); {advice.instances + 1} keep them where one is lost"
    )
    near = advice.near
    if near is not None and near.time_ns is not None:
        told += (
            f". {limit.time} was {units.duration(near.time_ns)} at {units.trimmed(near.rate)},"
            " as measured"
        )
    return told


def _divides(advice: Advice, scaling: Scaling) -> str:
    """What several of them carried together, and the law through it."""
    first, *several = scaling.sizes
    parts = [
        f"{size.instances} carried {units.trimmed(size.rate)} {advice.limit.unit},"
        f" {size.rate / first.rate:.3g} times one"
        for size in several
    ]
    told = f"{'; '.join(parts)}. Contention {_coefficient(scaling.contention)}"
    if scaling.coherency.low is not None:
        told += f", coherency {_coefficient(scaling.coherency)}"
    whole = scaling.at(advice.instances) / advice.instances / scaling.unit
    return (
        f"{told}: each of {advice.instances} carries {_percent(whole)} of what one does alone."
        f" Nothing is told beyond {2 * scaling.most}"
    )


def _coefficient(found: Coefficient) -> str:
    value = f"{100 * found.value:.2g} %"
    if found.low is None or found.high is None:
        return value
    return f"{value} ({100 * found.low:.2g} to {100 * found.high:.2g})"


def _instead(advice: Advice, other: Alternative) -> str:
    rate = f"one carries {units.trimmed(other.capacity)} {other.unit}"
    return f"{other.name}: {other.instances} instead of {advice.instances} ({rate}, {other.target})"


def purchases(bought: Sequence[Purchase]) -> str:
    """The cheapest that holds, then the next one; more are counted."""
    first, *others = map(_purchase, bought)
    told = f"{first}, one of them to spare"
    if others:
        told += f". Next: {others[0]}"
    if len(others) > 1:
        told += f"; {units.plural(len(others) - 1, 'type')} more"
    return told


def _purchase(bought: Purchase) -> str:
    many = units.plural(bought.machines, "machine")
    price = ""
    if bought.per_hour is not None:
        price = f", {bought.per_hour:,.2f} per hour"
    each = units.plural(bought.instances_each, "instance")
    return f"{bought.name}: {many} of {each} each{price}"


def _growth(advice: Advice, growth: Growth) -> str:
    months = units.plural(int(growth.months), "month")
    told = f"at {100 * growth.per_month:.3g} % a month {advice.instances} are enough for {months}"
    if growth.in_a_year is None:
        return told
    return f"{told}; in twelve months it takes {growth.in_a_year:,}"


def _evidence(advice: Advice) -> str:
    check, levels = advice.check, len(advice.limit.levels) + len(advice.beside)
    told = f"{levels} measured levels of {advice.limit.target}"
    if check is None:
        return f"{told}; those up to 60 % of the capacity are too few or too low for a prediction"
    return (
        f"{told}; those up to 60 % of the capacity predict {check.predicted:.3g} CPUs of"
        f" {check.name} at {units.trimmed(check.rate)}, {check.measured:.3g} were measured"
        f" ({100 * check.error:+.0f} %)"
    )


def _void(advice: Advice) -> str:
    reasons = [
        "another machine or version serves",
        "users send otherwise than what was measured",
        "the load is not spread evenly",
    ]
    unmeasured = [use.name for use in advice.uses if use.is_shared and use.advised is None]
    if unmeasured:
        reasons.append(
            f"{units.listed(unmeasured)} can't take that much: it is beyond twice what was measured"
        )
    elif advice.scaling is None and not any(use.is_shared for use in advice.uses):
        reasons.append("the instances share something, such as a database (--shared)")
    if advice.limit.is_at_least:
        reasons.append(
            "never for want of capacity: one instance may carry more than could be measured"
        )
    return "; ".join(reasons)


def _of(advice: Advice, name: str | None) -> Use | None:
    return next((use for use in advice.uses if use.name == name), None)


def _row(use: Use) -> tuple[Cell, ...]:
    name = f"{use.name} (shared)" if use.is_shared else use.name
    memory = use.memory_bytes
    return (
        Cell(name),
        _interval(use.slope_ns, use.low_ns, use.high_ns),
        _cpus(use.at_capacity),
        _cpus(use.advised),
        _cpus(use.of_cpus),
        NO_FIGURE if memory is None else Cell(units.fitting(units.BYTES, (memory,)).text(memory)),
    )


def _cpus(cpus: float | None) -> Cell:
    return NO_FIGURE if cpus is None else Cell(units.significant(cpus), value=cpus)
