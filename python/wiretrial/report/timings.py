"""All histograms of a part of a run in one table, those of its routes and flows among them.

Knows where a part has them; must not know what becomes of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from wiretrial.snapshot import FlowFigures, Interval, RouteFigures, Summary

Part = TypeVar("Part", Interval, Summary)
"""An interval, or the whole run."""


def of(part: Part) -> dict[str, str]:
    """By name; `routes 0 response_time` is one of the first route."""
    return dict(part.histograms) | {
        prefix + name: text for prefix, one in _below(part) for name, text in one.histograms.items()
    }


def put(part: Part, table: Mapping[str, str]) -> Part:
    """The part with these and no others."""
    below = [
        one.model_copy(update={"histograms": _named(table, prefix)}) for prefix, one in _below(part)
    ]
    own = {"histograms": {name: text for name, text in table.items() if " " not in name}}
    if part.traffic is None:
        return part.model_copy(update=own)
    count = len(part.traffic.routes)
    groups = {"routes": tuple(below[:count]), "flows": tuple(below[count:])}
    return part.model_copy(update={**own, "traffic": part.traffic.model_copy(update=groups)})


def _below(part: Part) -> Iterator[tuple[str, RouteFigures | FlowFigures]]:
    """Each route and each flow, with what the names of its histograms begin with."""
    if part.traffic is not None:
        for index, route in enumerate(part.traffic.routes):
            yield f"routes {index} ", route
        for index, flow in enumerate(part.traffic.flows):
            yield f"flows {index} ", flow


def _named(table: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {
        name.removeprefix(prefix): text for name, text in table.items() if name.startswith(prefix)
    }
