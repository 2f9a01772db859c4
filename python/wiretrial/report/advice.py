"""An advice about machines in words: its lines, and the sections of its page.

Knows an advice's document; must not know how it was worked out, nor terminals or pages.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

from wiretrial.report import advice_costs, limits, units
from wiretrial.report.blocks import Block, Cell, Column, Drawing, Section, Table, key
from wiretrial.report.tables import advised
from wiretrial.report.views import response, utilisation
from wiretrial.results.advice import (
    Advice,
    Alternative,
    Check,
    Coefficient,
    Growth,
    Purchase,
    Scaling,
    Together,
    Use,
)


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
    if advice.is_at_least and advice.scaling is not None:
        known = f"how they divide the load is known up to {advice.scaling.furthest}"
        held = f"meet the {goals} for" if advice.limit.goals else "sustain"
        return f"At least {many} {held} {carried}; {known}."
    verb = f"meet{ending} the {goals} for" if advice.limit.goals else f"sustain{ending}"
    return f"{many} {verb} {carried}; {advice.instances + 1} if one may fail."


def lines(advice: Advice) -> Iterator[tuple[str, str]]:
    """What the answer rests on in short lines, each with its label; nine where nothing is left out.

    What else was asked for (other protocols, machines, growth) stands between them.
    """
    yield "Goal", _goal(advice)
    yield "Capacity", _capacity(advice)
    if told := _binds(advice):
        yield "Binds", told
    if near := limits.close_to(advice.limit):
        yield "Close to", near
    for use in advice.uses:
        if use.lacks_descriptors:
            yield "Binds", advice_costs.lacking(advice, use)
    yield from advice_costs.lines(advice)
    if told := _worst(advice):
        yield "Worst route", told
    yield _advised(advice)
    if advice.scaling is not None:
        yield "Scaling", _divides(advice, advice.scaling)
        if advice.scaling.lacks:
            yield "Scaling", f"the contention has no interval: {advice.scaling.lacks}"
        for many in advice.together:
            if told := _binds_together(many):
                yield "Scaling", told
        for told in _beside(advice.scaling):
            yield "Scaling", told
    elif advice.division_lacks:
        yield "Scaling", f"not measured: {advice.division_lacks}"
    for other in advice.instead:
        yield "Instead", _instead(advice, other)
    if advice.purchases:
        yield "Machines", purchases(advice.purchases, is_at_least=advice.is_at_least)
    if advice.growth is not None:
        yield "Growth", _growth(advice, advice.growth)
    yield "Evidence", _evidence(advice)
    yield "Void if", _void(advice)


def details(advice: Advice) -> Iterator[tuple[str, str]]:
    """What is behind the short lines, each with its label."""
    if advice.demand.users is not None:
        yield "Demand", _demand(advice)
    if advice.uses:
        yield "CPU time", advice_costs.cpu_time(advice)
    if told := advice_costs.memory(advice):
        yield "Memory", told
    if told := advice_costs.descriptors(advice):
        yield "Descriptors", told
    if told := advice_costs.disks(advice):
        yield "Disks", told
    if advice.check is not None:
        yield "Prediction", _prediction(advice.check)


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
    yield advised.resources(advice)
    yield key(
        "CPU time by a straight line through the levels, with its 95 % interval. CPUs busy at the"
        " capacity and at the advised load by the same line; of what is shared, for all instances"
        " together. Memory and open descriptors (of so many that it may have): at the highest rate"
        " that was kept. To disk: by such a line, too."
    )


def _behind(advice: Advice) -> Iterator[Block]:
    rows = tuple((Cell(label), Cell(told)) for label, told in details(advice))
    if rows:
        columns = (Column("", is_figure=False), Column("", is_figure=False))
        yield Table(columns, rows, names=1)


def _by_route(advice: Advice) -> Iterator[Block]:
    if not advice.routes:
        return
    yield advised.routes(advice)
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
        told += f", {advice_costs.bandwidth(advice.bytes_per_second)} at the highest"
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
    if len(advice.uses) > 1:
        return f"{told}; {use.name} busiest, {share}"
    is_said = found.what == limits.CPU or "CPU" in found.evidence
    return told if is_said else f"{told}; {use.name}: {share} busy"


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


def _advised(advice: Advice) -> tuple[str, str]:
    """What each of them carries; or what is to be done first, where more of them do not help."""
    limit = advice.limit
    if advice.stopped_by and (use := _of(advice, advice.stopped_by)) and use.full_at:
        return "Advice", (
            f"give {use.name} more than its {use.of_cpus or 0:.3g} CPUs, or split it: it is full at"
            f" {units.trimmed(use.full_at)} {limit.unit}"
        )
    assert limit.rate is not None
    share = units.percent(advice.each / limit.rate)
    told = f"{_most(advice.is_at_least)}{units.trimmed(advice.each)} {limit.unit}"
    told += f", {share} of capacity"
    near = advice.near
    if near is not None and near.time_ns is not None:
        time = units.duration(near.time_ns)
        told += f"; {limit.time} was {time} at {units.trimmed(near.rate)}"
    return "Each carries", told


def _divides(advice: Advice, scaling: Scaling) -> str:
    """What several of them carried together, and the law through it."""
    first, *several = scaling.sizes
    parts = [
        f"{size.instances} together carried {units.trimmed(size.rate)} {advice.limit.unit},"
        f" {size.rate / first.rate:.3g} times one"
        for size in several
    ]
    lost = f"contention {_coefficient(scaling.contention)}"
    if scaling.coherency.low is not None:
        lost += f", coherency {_coefficient(scaling.coherency)}"
    many = min(max(advice.instances, 2), scaling.furthest)
    whole = units.percent(scaling.each(many) / scaling.unit)
    each = f"each of {many} carries {whole} of one alone ({lost})"
    return f"{'; '.join(parts)}; {each}. Not known beyond {scaling.furthest}"


def _binds_together(many: Together) -> str:
    """What kept several from carrying more; a server that all of them ask is named by its CPUs."""
    found, refused = limits.binds(many.limit), many.limit.refused
    if found is None or refused is None:
        return ""
    shares = {
        one.name: one.cpus / one.of_cpus for one in refused.resources if one.cpus and one.of_cpus
    }
    told = f"of {many.instances} together {found.what} binds: {found.evidence}"
    if len(shares) < 2:
        return told
    busiest = max(shares, key=lambda name: shares[name])
    return f"{told}; {busiest} busiest, {units.percent(shares[busiest])} of its CPUs"


def _beside(scaling: Scaling) -> Iterator[str]:
    """What else took part in what they did not divide."""
    if any(size.is_spread for size in scaling.sizes):
        yield "connections were spread by the load generator; a proxy would take its part, too"
    shared = [size.shared_cpus for size in scaling.sizes if size.shared_cpus is not None]
    if shared:
        cpus = units.plural(min(shared), "CPU")
        yield f"they shared {cpus} with the load generator, which is a part of it"


def _coefficient(found: Coefficient) -> str:
    value = f"{_hundredths(found.value)} %"
    if found.low is None or found.high is None:
        return value
    return f"{value} ({_hundredths(found.low)} to {_hundredths(found.high)})"


def _hundredths(share: float) -> str:
    """In two digits, or in more where there are as many before the point."""
    return f"{100 * share:,.0f}" if share >= 0.1 else f"{100 * share:.2g}"


def _instead(advice: Advice, other: Alternative) -> str:
    # A lower bound of what one carries is an upper one of how many it takes.
    many = f"{_least(other.is_at_least)}{_most(other.carries_more)}{other.instances}"
    own = f"{_least(advice.is_at_least)}{_most(advice.limit.is_at_least)}{advice.instances}"
    carried = f"{_least(other.carries_more)}{units.trimmed(other.capacity)}"
    rate = f"one carries {carried} {other.unit}, {other.target}"
    if advice.scaling is not None and not other.is_divided:
        rate += "; how they divide the load was not measured"
    return f"{other.name}: {many} instead of {own} ({rate})"


def _least(is_bound: bool) -> str:
    return "at least " if is_bound else ""


def _most(is_bound: bool) -> str:
    return "at most " if is_bound else ""


def purchases(bought: Sequence[Purchase], *, is_at_least: bool = False) -> str:
    """The cheapest that holds, then the next one; more are counted.

    `is_at_least`: it may take more instances than these hold.
    """
    first, *others = (_purchase(one, _least(is_at_least)) for one in bought)
    told = f"{first}, one of them to spare"
    if others:
        told += f". Next: {others[0]}"
    if len(others) > 1:
        told += f"; {units.plural(len(others) - 1, 'type')} more"
    return told


def _purchase(bought: Purchase, least: str) -> str:
    many = f"{least}{units.plural(bought.machines, 'machine')}"
    price = ""
    if bought.per_hour is not None:
        price = f", {least}{bought.per_hour:,.2f} per hour"
    each = units.plural(bought.instances_each, "instance")
    return f"{bought.name}: {many} of {each} each{price}"


def _growth(advice: Advice, growth: Growth) -> str:
    many = advice.instances
    last = "lasts" if many == 1 else "last"
    # Where it may take more of them, so many last no longer than that: no month is cut off.
    months = math.ceil(growth.months) if advice.is_at_least else int(growth.months)
    lasting = f"{_most(advice.is_at_least)}{units.plural(months, 'month')}"
    if growth.months < 1:
        lasting = "less than a month"
    told = f"{units.plural(many, 'instance')} {last} {lasting}"
    told += f" at {100 * growth.per_month:.3g} % a month"
    return (
        told
        if growth.in_a_year is None
        else f"{told}; {growth.in_a_year:,} needed in twelve months"
    )


def _evidence(advice: Advice) -> str:
    told, check = units.plural(len(advice.levels), "level"), advice.check
    if check is None:
        return f"{told}; too few lower ones to predict the highest"
    highest = f"{check.name}'s CPU at {units.trimmed(check.rate)}"
    return f"{told}; lower ones predict {highest} (off by {_error(check)})"


def _error(check: Check) -> str:
    # No error has no sign.
    return f"{round(100 * check.error) or 0:+d} %".replace("+0", "0")


def _prediction(check: Check) -> str:
    return (
        f"levels up to 60 % of the capacity predict {check.predicted:.3g} CPUs of {check.name} at"
        f" {units.trimmed(check.rate)}; {check.measured:.3g} were measured ({_error(check)})"
    )


def _void(advice: Advice) -> str:
    reasons = ["another machine, version or traffic", "uneven load"]
    unmeasured = [use.name for use in advice.uses if use.is_shared and use.advised is None]
    if unmeasured:
        reasons.append(f"{units.listed(unmeasured)} can't take that much (not measured)")
    elif advice.scaling is None and not any(use.is_shared for use in advice.uses):
        reasons.append("a shared part")
    return "; ".join(reasons)


def _of(advice: Advice, name: str | None) -> Use | None:
    return next((use for use in advice.uses if use.name == name), None)
