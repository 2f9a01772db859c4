"""Readings, loads and samples as the tests make them up."""

from __future__ import annotations

from typing import Any

from wiretrial.observation import (
    Accounting,
    CpuTicks,
    Gone,
    Group,
    GroupCpu,
    GroupMemory,
    Host,
    Instants,
    Member,
    Pressure,
    Processes,
    Sample,
    Source,
    Start,
    TargetName,
    TargetSample,
)
from wiretrial.observers.cost import Curve, Load
from wiretrial.observers.watch import HostCpu, HostReading, Part, Reading, Watched

SECOND = 1_000_000_000
TICKS = 100
NO_PRESSURE = Pressure(cpu=None, memory=None, io=None)


def load(
    start_s: float = 1.0,
    end_s: float = 9.0,
    *,
    rate: float = 1000.0,
    length_s: int = 10,
    generator_cpus: float = 0.5,
    begun_ns: int = 0,
) -> Load:
    """An even load from 0 to `length_s`, of which a window counts."""
    at = tuple(begun_ns + second * SECOND for second in range(length_s + 1))
    return Load(
        begun_ns=begun_ns,
        start_ns=round(start_s * SECOND),
        end_ns=round(end_s * SECOND),
        replies=Curve(at, tuple(rate * second for second in range(length_s + 1))),
        generator_ns=Curve(
            at, tuple(generator_cpus * SECOND * second for second in range(length_s + 1))
        ),
    )


def part(*readings: Reading, **more: Any) -> Part:
    """A part with these readings."""
    return Part("app", "pid:7", readings, **more)


def even(
    cpus: float, *, every_s: float = 0.5, until_s: float = 12.0, **more: Any
) -> tuple[Reading, ...]:
    """Readings of a server that keeps so many CPUs busy, a quarter of it in the kernel."""
    found = []
    for step in range(round(until_s / every_s) + 1):
        at = round(step * every_s * SECOND)
        spent = round(cpus * at)
        found.append(
            Reading(
                at_ns=at,
                user_ns=spent * 3 // 4,
                system_ns=spent // 4,
                processes=1,
                threads=4,
                life="7 started at 1",
                **more,
            )
        )
    return tuple(found)


def host(
    busy_before: float, busy: float, *, cpus: int = 4, softirq: float = 0.0, begins_s: float = 0.0
) -> tuple[HostReading, ...]:
    """Readings from one second before the load to its end, one every half second."""
    found = []
    for step in range(-2, 21):
        at = round((begins_s + step / 2) * SECOND)
        since = at - round(begins_s * SECOND)
        spent = busy_before * min(since, 0) + busy * max(since, 0) + 10 * SECOND
        interrupts = softirq * max(since, 0)
        found.append(
            HostReading(
                at_ns=at,
                cpu=HostCpu(
                    user_ns=round(spent - interrupts),
                    system_ns=0,
                    irq_ns=0,
                    softirq_ns=round(interrupts),
                    steal_ns=0,
                    idle_ns=round(cpus * (since + 10 * SECOND) - spent),
                ),
            )
        )
    return tuple(found)


def watched(*parts: Part, **more: Any) -> Watched:
    """A place with these parts."""
    return Watched("a host", "observe", parts, **more)


def start(*targets: TargetName, sources: tuple[Source, ...] = (), **accounting: Any) -> Start:
    """The first line of an observer."""
    known: dict[str, Any] = dict.fromkeys(Accounting.model_fields)
    return Start.model_validate(
        {
            "engine": "0",
            "pid": 5,
            "boot_id": None,
            "host_hash": "0",
            "kernel": "6",
            "architecture": "x",
            "clock_ticks": TICKS,
            "page_bytes": 4096,
            "cpus": 2,
            "accounting": {**known, **accounting},
            "at": Instants(monotonic_ns=0, real_ns=0),
            "since_boot_ns": 0,
            "interval_ns": SECOND,
            "duration_ns": None,
            "targets": targets,
            "sources": sources,
        }
    )


def processes(
    user: int = 0,
    system: int = 0,
    *,
    children: int = 0,
    on_cpu_ns: int | None = None,
    ended: tuple[int, int, int] = (0, 0, 0),
    members: tuple[tuple[int, int], ...] = ((7, 1),),
    **more: Any,
) -> Processes:
    """Processes of a target; `ended`: how many, their ticks in programs, their time on a CPU."""
    fields: dict[str, Any] = {
        "count": len(members),
        "threads": len(members),
        "user_ticks": user,
        "system_ticks": system,
        "children_user_ticks": children,
        "children_system_ticks": 0,
        "on_cpu_ns": on_cpu_ns,
        "run_queue_ns": None,
        "ended": Gone(
            processes=ended[0],
            user_ticks=ended[1],
            system_ticks=0,
            on_cpu_ns=ended[2],
            run_queue_ns=0,
        ),
        "rss_bytes": 1000,
        "pss_bytes": None,
        "unread": 0,
        "members": tuple(
            Member(
                pid=pid,
                parent=1,
                start_ticks=begun,
                state="S",
                user_ticks=0,
                system_ticks=0,
                threads=1,
                rss_bytes=1000,
            )
            for pid, begun in members
        ),
        "members_left_out": 0,
    }
    return Processes.model_validate({**fields, **more})


def group(usage_ns: int | None = None, *, path: str = "/app", **cpu: Any) -> Group:
    """A control group of version 2."""
    names = ("user_ns", "system_ns", "periods", "throttled_periods", "throttled_ns", "quota_ns")
    fields: dict[str, Any] = {**dict.fromkeys((*names, "period_ns")), "usage_ns": usage_ns}
    return Group(
        path=path,
        versions=(2,),
        cpu=GroupCpu.model_validate({**fields, **cpu}),
        memory=GroupMemory(current_bytes=5000, peak_bytes=None, limit_bytes=9000, oom_kills=0),
        pressure=NO_PRESSURE,
    )


def sample(
    at_ns: int,
    *targets: tuple[Processes, Group | None],
    mark: str | None = None,
    reading_ns: int = 0,
    busy_ticks: int = 0,
) -> Sample:
    """One sample of two CPUs, of which the first is as busy as told."""
    cpus = tuple(
        CpuTicks(
            cpu=number,
            user=busy_ticks if number == 0 else 0,
            nice=1,
            system=2,
            idle=3,
            iowait=None,
            irq=4,
            softirq=5,
            steal=6,
            guest=None,
            guest_nice=None,
        )
        for number in range(2)
    )
    return Sample(
        why="mark" if mark else "interval",
        mark=mark,
        end=None,
        before=Instants(monotonic_ns=at_ns, real_ns=0),
        after=Instants(monotonic_ns=at_ns + reading_ns, real_ns=0),
        reading_ns=reading_ns,
        memory_reading_ns=0 if mark else None,
        own_cpu_ns=at_ns // 100,
        host=Host(
            cpus=cpus,
            context_switches=None,
            forks=None,
            running=None,
            blocked=None,
            softnet=None,
            tcp=None,
            frequencies=None,
            pressure=NO_PRESSURE,
        ),
        targets=tuple(
            TargetSample(name=str(number), processes=one, cgroup=found, tcp=None)
            for number, (one, found) in enumerate(targets)
        ),
    )
