"""How the CPUs of one side spent the observed part of a window.

Knows the kernel's states of a CPU; must not know which side it is or what was sent.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from wiretrial.report.sums import total
from wiretrial.results.observation import Observation

OTHER_WORK = 0.1
"""Of the CPUs' time: where other work took more, they say nothing of the side."""


@dataclass(frozen=True)
class CpuShares:
    """Shares of the time that there was. None: it is not known."""

    there_ns: int = 0
    """The observed part of the window, times the CPUs."""
    idle: float | None = None
    """Idle, or waiting for a disk: some kernels book all idle time of a CPU as such a wait while
    a task sleeps in io_uring."""
    softirq: float | None = None
    busy: float | None = None
    """Neither of these."""

    def busy_beside(self, own: float) -> float | None:
        """The busy share, where `own` is that of the side's processes.

        Beside these it holds what came in while they slept, which the kernel charges to no process.
        None where more than `OTHER_WORK` went to something else.
        """
        if not self.busy or self.busy - (self.softirq or 0.0) - own > OTHER_WORK:
            return None
        return self.busy


def shares(seen: Observation | None, cpus: Collection[int]) -> CpuShares:
    """The mean over these CPUs."""
    if seen is None or seen.start_ns is None or seen.end_ns is None:
        return CpuShares()
    own = [use for use in seen.cpus if use.cpu in cpus]
    there = (seen.end_ns - seen.start_ns) * len(own)
    if there <= 0:
        return CpuShares()
    idle, softirq = total(*(u.idle_ns for u in own)), total(*(u.softirq_ns for u in own))
    unused = None if idle is None else idle + (total(*(u.iowait_ns for u in own)) or 0)
    return CpuShares(
        there,
        idle=None if unused is None else min(unused / there, 1.0),
        softirq=None if softirq is None else min(softirq / there, 1.0),
        busy=None if unused is None else max(1 - unused / there, 0.0),
    )
