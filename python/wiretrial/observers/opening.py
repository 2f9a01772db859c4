"""From the addresses of an application's parts to the watches of the places where they run.

Knows which kind of address is whose to open; must not know how any of them is read. Parts on one
host share a watch, so that its counters are read at the same instants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from wiretrial.errors import UsageProblem
from wiretrial.observers.address import OPTION, Address, Container, ControlGroup, Process, Remote
from wiretrial.observers.watch import Watch


def watches(addresses: Sequence[Address], engine: Path, every_ns: int) -> tuple[Watch, ...]:
    """A watch for each place, none of them started.

    `engine`: the binary that observes here. `every_ns`: time between two readings.

    Raises `UsageProblem` for a kind of address that can't be watched, and `ObserverFailed` for a
    part that is not there.
    """
    with ExitStack() as opened:
        found = tuple(opened.enter_context(one) for one in _opened(addresses, engine, every_ns))
        opened.pop_all()
    return found


def _opened(addresses: Sequence[Address], engine: Path, every_ns: int) -> Iterator[Watch]:
    here = [one for one in addresses if isinstance(one, Process | ControlGroup | Container)]
    far = [one for one in addresses if isinstance(one, Remote)]
    for one in addresses:
        if one not in (*here, *far):
            raise UsageProblem(
                f"{OPTION} {one.text}: this kind of address can't be watched",
                "name a process, a control group or a container, of this machine or over ssh",
            )
    if here:
        from wiretrial.observers import local

        yield local.watch(here, engine, every_ns)
    if far:
        from wiretrial.observers import remote

        yield from remote.watches(far, engine, every_ns)
