"""How many bytes per second a server's link lets through, where the kernel was told to limit it.

Knows queueing disciplines (tbf, netem); must not know who set them up or why. A link without any is
as fast as the machine, and no rate is told.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from wiretrial.machine import namespaces

PARAMETERS = {
    "tbf": ("TCA_TBF_RATE64", "TCA_TBF_PARMS"),
    "netem": ("TCA_NETEM_RATE64", "TCA_NETEM_RATE"),
}
"""Where each keeps its rate. The wide figure is there only where the other can't hold it."""


@dataclass(frozen=True)
class Rates:
    """Bytes per second, as the server sees them. None: not limited, or not known."""

    send: float | None = None
    receive: float | None = None


UNLIMITED = Rates()


def rates(pid: int, interfaces: Iterable[str]) -> Rates:
    """The limits of these interfaces in the network namespace of `pid`, and of their other ends."""
    # Imported where it is needed: it takes a third of a second, and few runs need it.
    from pyroute2.netlink.exceptions import NetlinkError

    send: list[float] = []
    receive: list[float] = []
    try:
        with namespaces.routes_of(pid) as inside, namespaces.routes_of(os.getpid()) as outside:
            for name in interfaces:
                for link in inside.get_links(ifname=name):
                    send += _limits(inside.get_qdiscs(index=link["index"]))
                    peer = link.get_attr("IFLA_LINK")
                    if peer is not None:
                        receive += _limits(outside.get_qdiscs(index=peer))
    except (NetlinkError, OSError):
        return UNLIMITED
    return Rates(min(send, default=None), min(receive, default=None))


def _limits(disciplines: Iterable[Any]) -> Iterator[float]:
    for discipline in disciplines:
        wide, usual = PARAMETERS.get(discipline.get_attr("TCA_KIND"), (None, None))
        options = discipline.get_attr("TCA_OPTIONS")
        if wide is None or options is None:
            continue
        found = options.get_attr(wide) or (options.get_attr(usual) or {}).get("rate")
        if found:
            yield float(found)
