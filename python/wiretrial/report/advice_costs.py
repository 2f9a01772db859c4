"""What an advice's messages, connections and users take of each server, in words.

Knows an advice's document; must not know which lines stand where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from wiretrial.report import units
from wiretrial.results.advice import Advice, Memory, Opened, Use, Written

FURTHEST = 2
"""Times the connections that were measured; beyond it a figure is called extrapolated."""
CROWD = 1000
"""Users whose costs are told together: of one they would be millionths."""


def lines(advice: Advice) -> Iterator[tuple[str, str]]:
    """Of one message, then of a thousand users or, where a rate was asked for, of a connection."""
    one, demand = advice.limit.unit.removesuffix("s/s"), advice.demand
    parts = [f"{use.name} {_cost(use)}" for use in advice.uses]
    costs = [f"CPU of {', '.join(parts)}"] if parts else []
    if advice.bytes_per_second:
        costs.append(f"{units.octets(advice.bytes_per_second / demand.highest)} of traffic")
    costs += [f"{use.name} writes {_to_disk(written)}" for use, written in _writing(advice)]
    if costs:
        yield f"Per {one}", "; ".join(costs)
    held = _each_connection(advice)
    if demand.users is None:
        if advice.bytes_per_second:
            yield "In all", f"{bandwidth(advice.bytes_per_second)} of traffic"
        if held:
            yield "Per connection", f"memory of {', '.join(held)}"
        return
    told = []
    if advice.uses:
        most, cpu_ns = _sum((use.slope_ns, use.low_ns, use.high_ns) for use in advice.uses)
        cpus = cpu_ns / 1e9 * demand.highest / demand.users
        told.append(f"{most}{units.significant(CROWD * cpus)} CPUs")
    if advice.bytes_per_second:
        told.append(bandwidth(CROWD * advice.bytes_per_second / demand.users))
    if held:
        most, octets = _sum(
            (each.each_bytes, each.low_bytes, each.high_bytes)
            for use in advice.uses
            if (each := use.memory) is not None
        )
        octets += advice.kernel_bytes or 0.0
        told.append(f"{most}{units.octets(CROWD * octets)} of memory")
    if writing := _writing(advice):
        most, octets = _sum((one.each_bytes, one.low_bytes, one.high_bytes) for _, one in writing)
        per_user = octets * demand.highest / demand.users
        told.append(f"{most}{units.octets_per_second(CROWD * per_user)} to disk")
    if told:
        yield f"{CROWD:,} users", units.listed(told)


def cpu_time(advice: Advice) -> str:
    """Of each server for a message, and how much of it the kernel takes."""
    parts = []
    for use in advice.uses:
        kernel = use.of_kernel
        part = "" if kernel is None else f", {units.percent(kernel)} of it in the kernel"
        parts.append(f"{use.name} {_cost(use)}{part}")
    return f"per {advice.limit.unit.removesuffix('s/s')}: {'; '.join(parts)}"


def memory(advice: Advice) -> str:
    """What a connection takes, and what the users of one instance take together."""
    parts, users = _each_connection(advice), advice.users_each
    if not parts:
        return _bounds(advice)
    told = f"per connection: {', '.join(parts)}"
    bounds = f". {bound[:1].upper()}{bound[1:]}" if (bound := _bounds(advice)) else ""
    if users is None:
        return f"{told}{bounds}"
    own = [use.memory for use in advice.uses if use.memory and not use.is_shared]
    at_most, whole = _sum(
        (one.at(users), one.low_bytes, one.base_bytes + one.high_bytes * users) for one in own
    )
    whole += (advice.kernel_bytes or 0.0) * users
    many = _each_has(advice, users)
    told += f". {many[:1].upper()}{many[1:]} users of one instance, a connection each: "
    told += f"{at_most}{units.octets(whole)}"
    most = min(one.most for one in own) if own else 0
    if own and users > FURTHEST * most:
        told += f", extrapolated from {most:,}"
    return f"{told}{bounds}"


def _bounds(advice: Advice) -> str:
    """Whose memory is no more than an upper bound."""
    names = [use.name for use in advice.uses if use.memory_kind == "resident" and use.memory_bytes]
    if not names:
        return ""
    return (
        f"that of {units.listed(names)} is resident (RSS), an upper bound: pages that processes"
        " share count for each"
    )


def descriptors(advice: Advice) -> str:
    """What a connection and what the users of one instance take of each server's."""
    parts, users = [], advice.users_each
    for use in advice.uses:
        if use.opened is None:
            continue
        part = f"{use.name} {_opened(use.opened)} per connection"
        if users is not None and use.descriptors_advised is not None:
            part += f", {units.trimmed(use.descriptors_advised)} with {units.trimmed(users)} users"
            if users > FURTHEST * use.opened.most:
                part += f" (extrapolated from {use.opened.most:,})"
        if use.descriptor_limit is not None:
            part += f", limit {use.descriptor_limit:,}"
        parts.append(part)
    return "; ".join(parts)


def lacking(advice: Advice, use: Use) -> str:
    """That the users of one instance need more descriptors than its server may have."""
    users, needed = advice.users_each, use.descriptors_advised
    assert users is not None
    assert needed is not None
    return (
        f"the descriptor limit of {use.name}: {_each_has(advice, users)} users of one instance need"
        f" {units.trimmed(needed)}, and it allows {use.descriptor_limit:,}; raise it (ulimit -n)"
    )


def disks(advice: Advice) -> str:
    """What each server writes for a message, and in a second at the capacity."""
    one, parts = advice.limit.unit.removesuffix("s/s"), []
    for use in advice.uses:
        written = use.written
        if written is None:
            continue
        if written.is_nothing:
            parts.append(f"{use.name} writes nothing")
            continue
        part = f"{use.name} writes {_to_disk(written)} per {one}"
        if written.at_capacity is not None:
            part += f", {units.octets_per_second(written.at_capacity)} at the capacity"
        parts.append(part)
    return "; ".join(parts)


def bandwidth(octets: float) -> str:
    """Bytes per second as networks are sold."""
    return f"{8 * octets / 1e6:,.3g} Mbit/s"


def _each_has(advice: Advice, users: float) -> str:
    """Users of one instance; where it may take more of those, each has no more users."""
    return f"{'at most ' if advice.is_at_least else ''}{units.trimmed(users)}"


def _each_connection(advice: Advice) -> list[str]:
    """What a connection takes of each server's memory, and of the kernel's."""
    parts = [f"{use.name} {_each(use.memory)}" for use in advice.uses if use.memory is not None]
    if parts and advice.kernel_bytes is not None:
        parts.append(f"kernel {units.octets(advice.kernel_bytes)}")
    return parts


def _sum(parts: Iterable[tuple[float, float, float]]) -> tuple[str, float]:
    """Of figures with the ends of their intervals; where one may be nothing, of the upper ends.

    An upper end and a figure would be no bound of both.
    """
    every = list(parts)
    if any(low <= 0 for _, low, _ in every):
        return "at most ", sum(high for _, _, high in every)
    return "", sum(value for value, _, _ in every)


def _cost(use: Use) -> str:
    return _interval(use.slope_ns, use.low_ns, use.high_ns, units.duration)


def _each(memory: Memory) -> str:
    return _interval(memory.each_bytes, memory.low_bytes, memory.high_bytes, units.octets)


def _opened(opened: Opened) -> str:
    return _interval(opened.each, opened.low, opened.high, units.trimmed)


def _writing(advice: Advice) -> list[tuple[Use, Written]]:
    """The servers that write to disks for messages."""
    return [(use, use.written) for use in advice.uses if use.written and not use.written.is_nothing]


def _to_disk(written: Written) -> str:
    return _interval(written.each_bytes, written.low_bytes, written.high_bytes, units.octets)


def _interval(value: float, low: float, high: float, shown: Callable[[float], str]) -> str:
    """A figure with its interval, where that differs from it as both are shown.

    Of one that may be nothing, as levels scatter by more than it is, only the upper end.
    """
    if low <= 0:
        return f"at most {shown(high)}"
    told, ends = shown(value), (shown(low), shown(high))
    return told if ends == (told, told) else f"{told} ({' to '.join(ends)})"
