"""An advice about machines in words, as a table of its resources, and as a picture.

Knows an advice's document; must not know how it was worked out, nor terminals or pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from wiretrial.report import limits, units
from wiretrial.report.blocks import NO_FIGURE, Block, Cell, Column, Drawing, Section, Table, key
from wiretrial.report.views import response, utilisation
from wiretrial.results.advice import (
    Advice,
    Alternative,
    Check,
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
CROWD = 1000
"""Users whose costs are told together: of one they would be millionths."""


def headline(advice: Advice) -> str:
    """The answer in one line."""
    demand, unit = advice.demand, advice.limit.unit
    carried = f"{units.trimmed(demand.highest)} {unit}"
    if demand.users is not None:
        carried = f"{demand.users:,} users"
    if advice.stopped_by:
        return (
            f"No number of instances carries {carried}: {advice.stopped_by}, which all ask, is"
            " full before."
        )
    many, ending = units.plural(advice.instances, "instance"), "s" * (advice.instances == 1)
    goals = "goal" if len(advice.limit.goals) == 1 else "goals"
    verb = f"meet{ending} the {goals} for" if advice.limit.goals else f"sustain{ending}"
    return f"{many} {verb} {carried}; {advice.instances + 1} survive losing one."


def lines(advice: Advice) -> Iterator[tuple[str, str]]:
    """What the answer rests on in short lines, each with its label; nine where nothing is left out.

    What else was asked for (other protocols, machines, growth) stands between them.
    """
    yield "Goal", _goal(advice)
    yield "Capacity", _capacity(advice)
    if told := _binds(advice):
        yield "Binds", told
    yield from _costs(advice)
    if told := _worst(advice):
        yield "Worst route", told
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


def details(advice: Advice) -> Iterator[tuple[str, str]]:
    """What is behind the short lines, each with its label."""
    if advice.demand.users is not None:
        yield "Demand", _demand(advice)
    if advice.uses:
        yield "CPU time", _cpu_time(advice)
    if told := _memory(advice):
        yield "Memory", told
    if advice.check is not None:
        yield "Prediction", _prediction(advice.check)


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
        Section("What the answer rests on", tuple(_behind(advice))),
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


def _behind(advice: Advice) -> Iterator[Block]:
    rows = tuple((Cell(label), Cell(told)) for label, told in details(advice))
    if rows:
        columns = (Column("", is_figure=False), Column("", is_figure=False))
        yield Table(columns, rows, names=1)


def _by_route(advice: Advice) -> Iterator[Block]:
    if not advice.routes:
        return
    yield routes_table(advice)
    yield key(
        f"By a regression over {len(advice.mixes)} other mixes and the kept levels, each flow alone"
        " and cut short after some of its requests, with 95 % intervals. Shares are those of the"
        " file's own mix."
    )


def _goal(advice: Advice) -> str:
    demand, limit = advice.demand, advice.limit
    held = limits.goals(limit) or "all is answered"
    told = f"{held} at {units.trimmed(demand.highest)} {limit.unit}"
    if demand.peak != 1:
        told += f", {demand.peak:.3g} times the average"
    if demand.users is not None:
        told += f", one per user every {units.length(1e9 * demand.users / demand.rate)}"
    return told


def _demand(advice: Advice) -> str:
    demand, limit = advice.demand, advice.limit
    waits = []
    if demand.think_ns:
        waits.append(f"waits {units.length(demand.think_ns)}")
    waits.append(f"takes {units.duration(demand.stay_ns)}")
    told = f"{' and '.join(waits)}: {units.trimmed(demand.rate)} {limit.unit} on average"
    if advice.bytes_per_second:
        told += f", {_bandwidth(advice.bytes_per_second)} at the highest"
    return f"each of {demand.users:,} users {told}"


def _capacity(advice: Advice) -> str:
    limit = advice.limit
    assert limit.rate is not None
    at_least = "at least " if limit.is_at_least else ""
    told = f"{at_least}{units.trimmed(limit.rate)} {limit.unit} each"
    if limit.low is not None and limit.high is not None:
        told += f" ({units.trimmed(limit.low)} to {units.trimmed(limit.high)})"
    confirmed = sum(one.is_confirmed for one in limit.searches)
    many = {0: "no confirmed search", 1: "1 search"}.get(confirmed, f"{confirmed} searches")
    if not advice.occasions:
        return f"{told}, {many} on one day"
    apart = units.percent(max(advice.occasions) / min(advice.occasions) - 1)
    return f"{told}, {many} over {len(advice.occasions)} occasions, {apart} apart"


def _binds(advice: Advice) -> str:
    limit = advice.limit
    found = limits.binds(limit)
    told = f"{found.what}: {found.evidence}" if found else ""
    if found and found.remedy:
        told += f"; {found.remedy}"
    if found is None and limit.end == "time":
        return "not known: the time was over before a rate was refused for certain (--within)"
    use = _of(advice, advice.binding)
    if use is None or not use.of_cpus or use.at_capacity is None:
        return told
    share = f"{units.percent(use.at_capacity / use.of_cpus)} of its CPUs"
    if found is None:
        return f"{use.name}: {share} busy at the capacity"
    is_said = found.what == limits.CPU and len(advice.uses) == 1
    return told if is_said else f"{told}; {use.name} busiest, {share}"


def _costs(advice: Advice) -> Iterator[tuple[str, str]]:
    """Of one message, then of a thousand users or, where a rate was asked for, of a connection."""
    one, demand = advice.limit.unit.removesuffix("s/s"), advice.demand
    parts = [f"{use.name} {_cost(use)}" for use in advice.uses]
    costs = [f"CPU of {', '.join(parts)}"] if parts else []
    if advice.bytes_per_second:
        costs.append(units.octets(advice.bytes_per_second / demand.highest))
    if costs:
        yield f"Per {one}", "; ".join(costs)
    memory = _each_connection(advice)
    if demand.users is None:
        if advice.bytes_per_second:
            yield "In all", _bandwidth(advice.bytes_per_second)
        if memory:
            yield "Per connection", f"memory of {', '.join(memory)}"
        return
    told = []
    if advice.uses:
        most, cpu_ns = _sum((use.slope_ns, use.low_ns, use.high_ns) for use in advice.uses)
        cpus = cpu_ns / 1e9 * demand.highest / demand.users
        told.append(f"{most}{units.significant(CROWD * cpus)} CPUs")
    if advice.bytes_per_second:
        told.append(_bandwidth(CROWD * advice.bytes_per_second / demand.users))
    if memory:
        most, octets = _sum(
            (each.each_bytes, each.low_bytes, each.high_bytes)
            for use in advice.uses
            if (each := use.memory) is not None
        )
        octets += advice.kernel_bytes or 0.0
        told.append(f"{most}{units.octets(CROWD * octets)} of memory")
    if told:
        yield f"{CROWD:,} users", units.listed(told)


def _bandwidth(octets: float) -> str:
    return f"{8 * octets / 1e6:,.3g} Mbit/s"


def _sum(parts: Iterable[tuple[float, float, float]]) -> tuple[str, float]:
    """Of figures with the ends of their intervals; one that may be nothing has its upper end."""
    every = list(parts)
    is_most = any(low <= 0 for _, low, _ in every)
    whole = sum(high if low <= 0 else value for value, low, high in every)
    return "at most " if is_most else "", whole


def _cost(use: Use) -> str:
    if use.low_ns <= 0:
        # The levels scatter by more than a message takes.
        return f"at most {units.duration(use.high_ns)}"
    ends = f"{units.duration(use.low_ns)} to {units.duration(use.high_ns)}"
    return f"{units.duration(use.slope_ns)} ({ends})"


def _cpu_time(advice: Advice) -> str:
    parts = []
    for use in advice.uses:
        kernel = use.of_kernel
        part = "" if kernel is None else f", {units.percent(kernel)} of it in the kernel"
        parts.append(f"{use.name} {_cost(use)}{part}")
    return f"per {advice.limit.unit.removesuffix('s/s')}: {'; '.join(parts)}"


def _each_connection(advice: Advice) -> list[str]:
    """What a connection takes of each server's memory, and of the kernel's."""
    parts = [f"{use.name} {_each(use.memory)}" for use in advice.uses if use.memory is not None]
    if parts and advice.kernel_bytes is not None:
        parts.append(f"kernel {units.octets(advice.kernel_bytes)}")
    return parts


def _memory(advice: Advice) -> str:
    """What a connection takes, and what the users of one instance take together."""
    parts, users = _each_connection(advice), advice.users_each
    if not parts:
        return ""
    told = f"per connection: {', '.join(parts)}"
    if users is None:
        return told
    own = [use.memory for use in advice.uses if use.memory and not use.is_shared]
    whole = sum(one.at(users) for one in own) + (advice.kernel_bytes or 0.0) * users
    told += (
        f". {units.trimmed(users)} users of one instance, a connection each: {units.octets(whole)}"
        f" and {units.trimmed(users)} descriptors"
    )
    most = min(one.most for one in own) if own else 0
    return f"{told}, extrapolated from {most:,}" if own and users > FURTHEST * most else told


def _each(memory: Memory) -> str:
    if memory.low_bytes <= 0:
        return f"at most {units.octets(memory.high_bytes)}"
    ends = f"{units.octets(memory.low_bytes)} to {units.octets(memory.high_bytes)}"
    return f"{units.octets(memory.each_bytes)} ({ends})"


def _worst(advice: Advice) -> str:
    """The route that takes most CPU time; all are in the page's table."""
    if advice.routes_lack:
        return f"can't be told: {advice.routes_lack}"
    if not advice.routes:
        return ""
    worst = advice.by_cpu[0]
    return (
        f"{worst.name}: {units.percent(worst.of_messages)} of the requests,"
        f" {units.percent(worst.of_cpu)} of the CPU time ({units.duration(worst.ns)} each)"
    )


def routes_table(advice: Advice) -> Table:
    """A row per route, the most CPU time first."""
    servers = [cost.server for cost in advice.routes[0].costs]
    columns = (
        Column("Route", is_figure=False),
        Column("Share of\nrequests"),
        Column("Share of\nCPU"),
        *(Column(f"{server}:\nCPU each") for server in servers),
    )
    return Table(columns, tuple(map(_route_row, advice.by_cpu)), names=1)


def _route_row(route: RouteUse) -> tuple[Cell, ...]:
    return (
        Cell(route.name),
        Cell(units.percent(route.of_messages), value=route.of_messages),
        Cell(units.percent(route.of_cpu), value=route.of_cpu),
        *(_interval(cost.ns, cost.low_ns, cost.high_ns) for cost in route.costs),
    )


def _interval(ns: float, low_ns: float, high_ns: float) -> Cell:
    ends = f"{units.duration(max(low_ns, 0.0))} to {units.duration(high_ns)}"
    return Cell(units.duration(ns), (ends,), value=ns)


def _advised(advice: Advice) -> str:
    limit = advice.limit
    if advice.stopped_by and (use := _of(advice, advice.stopped_by)) and use.full_at:
        return (
            f"give {use.name} more than its {use.of_cpus or 0:.3g} CPUs, or split it: it is full at"
            f" {units.trimmed(use.full_at)} {limit.unit}"
        )
    assert limit.rate is not None
    told = f"each at {units.percent(advice.each / limit.rate)} of capacity"
    near = advice.near
    if near is None or near.time_ns is None:
        return told
    at = f"{units.trimmed(near.rate)} {limit.unit}"
    return f"{told}; {limit.time} was {units.duration(near.time_ns)} at {at}"


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
        f"{told}: each of {advice.instances} carries {units.percent(whole)} of what one does alone."
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
    months, many = int(growth.months), advice.instances
    last = "lasts" if many == 1 else "last"
    told = f"{units.plural(many, 'instance')} {last} {units.plural(months, 'month')}"
    told += f" at {100 * growth.per_month:.3g} % a month"
    return (
        told
        if growth.in_a_year is None
        else f"{told}; {growth.in_a_year:,} needed in twelve months"
    )


def _evidence(advice: Advice) -> str:
    told, check = units.plural(len(advice.levels), "level"), advice.check
    if check is None:
        return f"{told}; too few low ones to predict the highest"
    highest = f"{check.name}'s CPU at {units.trimmed(check.rate)}"
    return f"{told}; low ones predict {highest} ({_error(check)} off)"


def _error(check: Check) -> str:
    return f"{100 * check.error:+.0f} %"


def _prediction(check: Check) -> str:
    return (
        f"levels up to 60 % of the capacity predict {check.predicted:.3g} CPUs of {check.name} at"
        f" {units.trimmed(check.rate)}; {check.measured:.3g} were measured ({_error(check)})"
    )


def _void(advice: Advice) -> str:
    reasons = ["other machine, version or traffic", "uneven load"]
    unmeasured = [use.name for use in advice.uses if use.is_shared and use.advised is None]
    if unmeasured:
        reasons.append(f"{units.listed(unmeasured)} can't take that much (not measured)")
    elif advice.scaling is None and not any(use.is_shared for use in advice.uses):
        reasons.append("anything shared")
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
        NO_FIGURE if memory is None else Cell(units.octets(memory)),
    )


def _cpus(cpus: float | None) -> Cell:
    return NO_FIGURE if cpus is None else Cell(units.significant(cpus), value=cpus)
