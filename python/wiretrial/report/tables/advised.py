"""An advice's resources and routes as tables.

Knows which figures belong there; must not know how they were worked out, nor how a table is drawn.
"""

from __future__ import annotations

from wiretrial.report import units
from wiretrial.report.blocks import NO_FIGURE, Cell, Column, Mark, Table
from wiretrial.results.advice import Advice, RouteUse, Use, Written
from wiretrial.results.watched import MemoryKind

COUNTED: dict[MemoryKind, str] = {
    "proportional": "PSS",
    "resident": "RSS, at most",
    "control group": "control group",
}


def resources(advice: Advice) -> Table:
    """A row per server; of descriptors and disks, where anything is known of them."""
    one = advice.limit.unit.removesuffix("s/s")
    uses = advice.uses
    opens = any(use.descriptors is not None for use in uses)
    writes = any(use.written is not None for use in uses)
    columns = (
        Column("Server", is_figure=False),
        Column(f"CPU per\n{one}"),
        Column("CPUs busy\nat capacity"),
        Column("CPUs busy\nas advised"),
        Column("CPUs it\ncan use"),
        Column("Memory", is_spare=True),
        *((Column("Descriptors", is_spare=True),) if opens else ()),
        *((Column(f"To disk per\n{one}", is_spare=True),) if writes else ()),
    )
    rows = (
        (
            *_usual(use),
            *((_descriptors(use),) if opens else ()),
            *((_written(use.written),) if writes else ()),
        )
        for use in uses
    )
    return Table(columns, tuple(rows), names=1)


def routes(advice: Advice) -> Table:
    """A row per route, the most CPU time first."""
    servers = [cost.server for cost in advice.routes[0].costs]
    columns = (
        Column("Route", is_figure=False),
        Column("Share of\nrequests"),
        Column("Share of\nCPU"),
        *(Column(f"{server}:\nCPU each") for server in servers),
    )
    return Table(columns, tuple(map(_route, advice.by_cpu)), names=1)


def _usual(use: Use) -> tuple[Cell, ...]:
    name = f"{use.name} (shared)" if use.is_shared else use.name
    memory = use.memory_bytes
    return (
        Cell(name),
        _interval(use.slope_ns, use.low_ns, use.high_ns),
        _cpus(use.at_capacity),
        _cpus(use.advised),
        _cpus(use.of_cpus),
        NO_FIGURE if memory is None else Cell(units.octets(memory), _counted(use)),
    )


def _counted(use: Use) -> tuple[str, ...]:
    """How memory was counted."""
    return () if use.memory_kind is None else (COUNTED[use.memory_kind],)


def _descriptors(use: Use) -> Cell:
    if use.descriptors is None:
        return NO_FIGURE
    limit = use.descriptor_limit
    aside = () if limit is None else (f"of {limit:,}",)
    mark: Mark = "no" if use.lacks_descriptors else ""
    return Cell(f"{use.descriptors:,}", aside, mark, value=use.descriptors)


def _written(written: Written | None) -> Cell:
    if written is None:
        return NO_FIGURE
    if written.is_nothing:
        return Cell("0", value=0.0)
    ends = f"{units.octets(written.low_bytes)} to {units.octets(written.high_bytes)}"
    return Cell(units.octets(written.each_bytes), (ends,), value=written.each_bytes)


def _route(route: RouteUse) -> tuple[Cell, ...]:
    return (
        Cell(route.name),
        Cell(units.percent(route.of_messages), value=route.of_messages),
        Cell(units.percent(route.of_cpu), value=route.of_cpu),
        *(_interval(cost.ns, cost.low_ns, cost.high_ns) for cost in route.costs),
    )


def _interval(ns: float, low_ns: float, high_ns: float) -> Cell:
    ends = f"{units.duration(max(low_ns, 0.0))} to {units.duration(high_ns)}"
    return Cell(units.duration(ns), (ends,), value=ns)


def _cpus(cpus: float | None) -> Cell:
    return NO_FIGURE if cpus is None else Cell(units.significant(cpus), value=cpus)
