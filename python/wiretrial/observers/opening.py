"""From the addresses of an application's parts to the watches of the places where they run.

Knows which kind of address is whose to open; must not know how any of them is read. Parts on one
host share a watch, so that its counters are read at the same instants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from wiretrial.errors import UsageProblem
from wiretrial.observers.address import (
    OPTION,
    Address,
    Container,
    ControlGroup,
    Process,
    Remote,
    Scraped,
)
from wiretrial.observers.watch import Watch


def watches(
    addresses: Sequence[Address], engine: Path, every_ns: int, length_ns: int | None = None
) -> tuple[Watch, ...]:
    """A watch for each place, none of them started.

    `engine`: the binary that observes here. `every_ns`: time between two readings.
    `length_ns`: how long is measured; None where a load ends after a number of messages.

    Raises `UsageProblem` for a measurement that is too short for a kind of address, and
    `ObserverFailed` for a part that is not there.
    """
    with ExitStack() as opened:
        every = _opened(addresses, engine, every_ns, length_ns)
        found = tuple(opened.enter_context(one) for one in every)
        opened.pop_all()
    return found


def require_length(addresses: Sequence[Address], length_ns: int | None) -> None:
    """Refuses a measurement that is too short for a kind of address; see `watches`."""
    for one in addresses:
        if isinstance(one, Scraped):
            from wiretrial.observers import prometheus

            prometheus.require_length(one.text, length_ns)


def require_prompt(addresses: Sequence[Address]) -> None:
    """Refuses what is read too rarely for measurements of seconds, many in a row."""
    for one in addresses:
        if isinstance(one, Scraped):
            raise UsageProblem(
                f"{OPTION} {one.text}: a Prometheus scrapes too rarely for the levels of a search",
                "leave it out, and measure the rate that is found: wiretrial load --rate R -d 60s",
            )


def waits(addresses: Sequence[Address]) -> bool:
    """Whether what is known of them comes some time after the load."""
    return any(isinstance(one, Scraped) for one in addresses)


def _opened(
    addresses: Sequence[Address], engine: Path, every_ns: int, length_ns: int | None
) -> Iterator[Watch]:
    here = [one for one in addresses if isinstance(one, Process | ControlGroup | Container)]
    far = [one for one in addresses if isinstance(one, Remote)]
    scraped = [one for one in addresses if isinstance(one, Scraped)]
    if here:
        from wiretrial.observers import local

        yield local.watch(here, engine, every_ns)
    if far:
        from wiretrial.observers import remote

        yield from remote.watches(far, engine, every_ns)
    if scraped:
        from wiretrial.observers.prometheus import PrometheusWatch

        yield from (PrometheusWatch(one, length_ns) for one in scraped)
