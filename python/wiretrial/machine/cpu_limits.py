"""A limit on the CPU time of a server's processes, so that one machine stands for smaller ones.

A control group with a quota: in each period of 100 ms its processes run for so long, together, and
wait for the next period when that is used up ("CFS Bandwidth Control" in the kernel's
documentation). Knows the files of both versions of control groups; must not know whose processes
are limited, nor when.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Literal

import psutil

from wiretrial.errors import UsageProblem
from wiretrial.machine import identity

PERIOD_US: Final = 100_000
"""The kernel's own: what containers are given, too."""
LEAST_CPUS: Final = 0.01
"""The kernel takes no quota below 1 ms of a period."""
REMOVAL_LIMIT_S = 2.0
"""The kernel may take so long to see that a group's last process has ended."""
REMEDY = "run it as root where control groups can be written, or leave sizes below 1 CPU out"
_PREFIX = "wiretrial-cpu-"
_numbers = itertools.count()


@dataclass(frozen=True)
class Hierarchy:
    """Where groups with a quota are made, and of which version they are."""

    folder: Path
    version: Literal[1, 2]


def hierarchy(mounts: Path = Path("/proc/self/mounts")) -> Hierarchy:
    """This machine's. Raises `UsageProblem` where control groups have no quota here."""
    found: dict[int, Path] = {}
    for line in mounts.read_text("utf-8").splitlines():
        _, place, kind, options, *_ = line.split()
        folder = Path(place)
        if kind == "cgroup" and "cpu" in options.split(","):
            found[1] = folder
        elif kind == "cgroup2" and "cpu" in _words(folder / "cgroup.controllers"):
            found[2] = folder
    if 1 in found:
        return Hierarchy(found[1], 1)
    if 2 in found:
        return Hierarchy(found[2], 2)
    raise UsageProblem("no control groups that limit CPU time are mounted here", REMEDY)


@dataclass(frozen=True)
class Throttling:
    """How often a limit held, since its group was made."""

    periods: int
    """In which a process of the group wanted to run."""
    throttled_periods: int
    """In which the time was used up, so that processes waited for the next."""
    throttled_ns: int
    """How long they waited, summed over the CPUs on which they did."""


class Group:
    """A control group that will hold processes to so many CPUs. A context manager.

    It is empty and has no limit at first. Leaving the context removes it: whatever it holds must
    have ended by then. Raises `UsageProblem` where it can't be made.
    """

    def __init__(self, cpus: float, where: Hierarchy | None = None) -> None:
        where = where or hierarchy()
        self.cpus = cpus
        self.version = where.version
        _sweep(where.folder)
        maker = "-".join(map(str, identity.own()))
        self._folder = where.folder / f"{_PREFIX}{maker}-{next(_numbers)}"
        try:
            if where.version == 2 and "cpu" not in _words(where.folder / "cgroup.subtree_control"):
                (where.folder / "cgroup.subtree_control").write_text("+cpu", "ascii")
            self._folder.mkdir()
        except OSError as error:
            raise _refused(error) from error

    def __enter__(self) -> Group:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        deadline = time.monotonic() + REMOVAL_LIMIT_S
        while True:
            try:
                return self._folder.rmdir()
            except FileNotFoundError:
                return None
            except OSError:
                if time.monotonic() > deadline:
                    # The next group that is made sweeps it away.
                    return None
                time.sleep(0.01)

    def take(self, roots: Sequence[int]) -> None:
        """Takes processes in, with all that descend from them, also those that come later."""
        inside: set[int] = set()
        # One that was born meanwhile is found in the next turn: those of a member are members.
        while missing := [pid for pid in _tree(roots) if pid not in inside]:
            for pid in missing:
                # It may have ended.
                with contextlib.suppress(ProcessLookupError):
                    self._write("cgroup.procs", str(pid))
            inside.update(missing)

    def hold(self) -> None:
        """From now on its processes have no more CPU time than that."""
        quota = round(max(self.cpus, LEAST_CPUS) * PERIOD_US)
        if self.version == 1:
            self._write("cpu.cfs_period_us", str(PERIOD_US))
            self._write("cpu.cfs_quota_us", str(quota))
        else:
            self._write("cpu.max", f"{quota} {PERIOD_US}")

    def read(self) -> Throttling:
        """How often the limit held up to now."""
        text = (self._folder / "cpu.stat").read_text("ascii")
        told = {name: int(value) for name, value in (line.split() for line in text.splitlines())}
        return Throttling(
            periods=told.get("nr_periods", 0),
            throttled_periods=told.get("nr_throttled", 0),
            throttled_ns=told.get("throttled_time", 1000 * told.get("throttled_usec", 0)),
        )

    def _write(self, file: str, text: str) -> None:
        try:
            (self._folder / file).write_text(text, "ascii")
        except ProcessLookupError:
            raise
        except OSError as error:
            raise _refused(error) from error


def refusal(cpus: float) -> str | None:
    """Why processes can't be held to so many CPUs here, in one line; None: they can."""
    try:
        with Group(cpus) as group:
            group.hold()
    except UsageProblem as problem:
        return problem.line()
    return None


def _refused(error: OSError) -> UsageProblem:
    what = f"the CPU time of a server can't be limited here: {error.filename}: {error.strerror}"
    return UsageProblem(what, REMEDY)


def _sweep(folder: Path) -> None:
    """Removes empty groups whose makers were killed."""
    for one in folder.glob(f"{_PREFIX}*"):
        maker, _, _ = one.name.removeprefix(_PREFIX).rpartition("-")
        # A name of another form is not ours; a group that is not empty stays.
        with contextlib.suppress(ValueError, OSError):
            if identity.read(maker.split("-")).is_gone:
                one.rmdir()


def _tree(roots: Sequence[int]) -> list[int]:
    """Processes with all their descendants, as they are now."""
    found = list(roots)
    for root in roots:
        with contextlib.suppress(psutil.NoSuchProcess):
            found += [child.pid for child in psutil.Process(root).children(recursive=True)]
    return found


def _words(file: Path) -> list[str]:
    try:
        return file.read_text("ascii").split()
    except OSError:
        return []
