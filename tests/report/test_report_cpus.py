"""Shares of a CPU's time, from the kernel's states."""

from __future__ import annotations

import pytest

from wiretrial.report.cpus import CpuShares, shares
from wiretrial.results.observation import CpuUse, Observation


def observed(use: CpuUse) -> Observation:
    """One CPU over 1,000 ns."""
    return Observation(
        cpu_resolution_ns=1,
        tick_ns=10_000_000,
        cost_ns=1,
        watched_ns=1000,
        start_ns=0,
        end_ns=1000,
        alone=False,
        cpus=(use,),
    )


@pytest.mark.parametrize(("idle", "iowait"), [(800, 0), (0, 800), (500, 300)])
def test_a_cpu_that_waits_for_a_disk_is_idle(idle: int, iowait: int) -> None:
    use = CpuUse(cpu=0, idle_ns=idle, iowait_ns=iowait, softirq_ns=50)
    found = shares(observed(use), {0})
    assert found.idle == pytest.approx(0.8)
    assert found.busy == pytest.approx(0.2)
    assert found.softirq == pytest.approx(0.05)


def test_without_readings_nothing_is_known() -> None:
    assert shares(None, {0}) == CpuShares()
    assert shares(observed(CpuUse(cpu=1, idle_ns=800)), {0}) == CpuShares()
    assert shares(observed(CpuUse(cpu=0)), {0}).idle is None
