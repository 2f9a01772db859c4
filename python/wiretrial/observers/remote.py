"""Watches parts of an application on hosts that are reached by ssh.

Knows which addresses share a host; must not know what ssh is asked nor what is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from wiretrial.observers.address import Remote
from wiretrial.observers.far import Far
from wiretrial.observers.local import NO_GROUP
from wiretrial.observers.readings import Sought
from wiretrial.observers.stream import ObserveWatch


def watches(addresses: Sequence[Remote], engine: Path, every_ns: int) -> Iterator[ObserveWatch]:
    """A watch for each host, connected and not started.

    Raises `ObserverFailed` for a host that can't be reached, or a part that is not there.
    """
    hosts: dict[tuple[str | None, str, int | None], list[Remote]] = {}
    for one in addresses:
        hosts.setdefault((one.user, one.host, one.port), []).append(one)
    for parts in hosts.values():
        yield _watch(parts, engine, every_ns)


def _watch(parts: Sequence[Remote], engine: Path, every_ns: int) -> ObserveWatch:
    far = Far(parts[0], engine)
    try:
        sought = _sought(parts, far)
    except BaseException:
        far.close()
        raise
    return ObserveWatch(parts[0].host, far, sought, is_here=False, every_ns=every_ns)


def _sought(parts: Sequence[Remote], far: Far) -> list[Sought]:
    """Those beside the host, which is watched in any case."""
    found = []
    for part, place in zip(parts, far.find(parts), strict=True):
        if place is not None:
            lacks = (NO_GROUP,) if part.what == "container" and place.cgroup is None else ()
            found.append(Sought(part.name, part.text, place.pid, place.cgroup, lacks))
    return found
