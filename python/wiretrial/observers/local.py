"""Watches parts of an application on this machine: processes, control groups, containers.

Knows how a container is found by the program that runs it; must not know what is read of it. A
container is watched by its control group, which counts what has ended, too, and stays the same
when the container is started again; where it has none of its own, by its process tree.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from wiretrial.closing import last_words
from wiretrial.errors import ObserverFailed
from wiretrial.observers.address import Address, Container, ControlGroup, Process
from wiretrial.observers.program import Here
from wiretrial.observers.readings import Sought
from wiretrial.observers.stream import ObserveWatch

HERE: Final = "this machine"
INSPECT_LIMIT_S: Final = 20
GROUPS: Final = Path("/sys/fs/cgroup")
NO_GROUP: Final = (
    "limits and page cache of the container: it has no control group of its own that can be seen"
    " here"
)


def watch(addresses: Sequence[Address], engine: Path, every_ns: int) -> ObserveWatch:
    """One watch for all of them, not started."""
    sought = [sought_of(one) for one in addresses]
    return ObserveWatch(HERE, Here(engine), sought, is_here=True, every_ns=every_ns)


def sought_of(address: Address) -> Sought:
    """What the observer is told to watch."""
    match address:
        case Process(pid=pid):
            return Sought(address.name, address.text, pid=pid)
        case ControlGroup(path=path):
            return Sought(address.name, address.text, cgroup=path)
        case Container():
            return _container(address)
        case _:
            raise TypeError(f"{address.text} is not of this machine")


class _State(BaseModel):
    model_config = ConfigDict(extra="ignore")

    pid: int = Field(alias="Pid")


class Inspected(BaseModel):
    """What `docker inspect` and `podman inspect` say alike."""

    model_config = ConfigDict(extra="ignore")

    id: str = Field(alias="Id")
    state: _State = Field(alias="State")


_INSPECTED: Final = TypeAdapter(list[Inspected])
_NOT_THERE: Final = re.compile("no such (container|object)", re.IGNORECASE)


def inspected(text: bytes) -> Inspected | None:
    """The first container of an answer; None where it can't be understood."""
    try:
        found = _INSPECTED.validate_json(text)
    except ValidationError:
        return None
    return found[0] if found else None


def own_group(memberships: str, container_id: str) -> str | None:
    """The control group of the container, from its process's `/proc/PID/cgroup`.

    It is the one that the container's id is part of the name of; podman puts the processes into a
    group within that.
    """
    for line in memberships.splitlines():
        path = line.split(":", 2)[-1]
        names = path.split("/")
        for depth, name in enumerate(names):
            if container_id in name:
                return "/".join(names[: depth + 1])
    return None


def _container(address: Container) -> Sought:
    found = _inspect(address)
    if found.state.pid <= 0:
        raise ObserverFailed(
            f"the container {address.container} does not run",
            f"start it: {address.tool} start {address.container}",
        )
    group = _group_of(found)
    if group is not None:
        return Sought(address.name, address.text, cgroup=group)
    return Sought(address.name, address.text, pid=found.state.pid, lacks=(NO_GROUP,))


def _inspect(address: Container) -> Inspected:
    tool, name = address.tool, address.container
    command = [tool, "inspect", "--type", "container", name]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=INSPECT_LIMIT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        raise ObserverFailed(
            f"{address.text}: {tool} is not installed here", "name a process of it: pid:4711"
        ) from error
    except (OSError, subprocess.SubprocessError) as error:
        raise ObserverFailed(
            f"{address.text}: {tool} does not answer ({error})", f"try {' '.join(command)}"
        ) from error
    if done.returncode:
        said = last_words(done.stderr.decode(errors="replace"))
        if not _NOT_THERE.search(said):
            # Docker's client is there, its daemon may not be, or not for everybody.
            raise ObserverFailed(
                f"{address.text}: {tool} can't say what runs there ({said})",
                f"get `{tool} ps` to work first, or name a process of it: pid:4711",
            )
        raise ObserverFailed(
            f"{address.text}: {tool} knows no such container ({said})",
            f"name one that `{tool} ps` lists; containers of root are seen by root alone",
        )
    found = inspected(done.stdout)
    if found is None:
        raise ObserverFailed(
            f"{address.text}: the answer of {tool} can't be understood",
            f"try {' '.join(command)}, or name a process of it: pid:4711",
        )
    return found


def _group_of(container: Inspected) -> str | None:
    """Its own control group, where it is within our sight."""
    try:
        memberships = Path(f"/proc/{container.state.pid}/cgroup").read_text(encoding="utf-8")
    except OSError:
        return None
    path = own_group(memberships, container.id)
    if path is None:
        return None
    below = path.lstrip("/")
    places = (GROUPS / below, *GROUPS.glob(f"*/{below}"))
    return path if any(place.is_dir() for place in places) else None
