"""From the lines of `wiretrial-engine observe` to the readings of each part of an application.

Pure: knows what the kernel's counters of a process tree and of a control group mean. Must not know
how the lines came here. Samples are made small as they come: a long run has thousands.

The CPU time of a tree is that of its processes and of those of their children that ended and were
waited for. A process that ended and was waited for by nobody of the tree takes its time away with
it: what was last seen of it is added again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from wiretrial.observation import (
    CpuTicks,
    Group,
    Instants,
    Processes,
    Sample,
    Source,
    Start,
    TargetSample,
)
from wiretrial.observers import clock
from wiretrial.observers.clock import Laid, Question
from wiretrial.observers.watch import HostCpu, HostReading, Mark, Part, Reading, Watched

SECOND_NS: Final = 1_000_000_000
MICROSECOND_NS: Final = 1_000

LACKS: Final = {
    "stat": "CPU time",
    "schedstat": "time spent waiting for a CPU",
    "smaps_rollup": "proportional memory (PSS)",
    "io": "bytes written to disks",
    "cgroup": "its control group",
    "cgroup cpu.stat": "CPU limit and throttling",
    "cgroup memory": "memory of its control group",
    "scaling_cur_freq": "CPU frequency",
    "kernel configuration": "how the kernel charges interrupts",
}
"""Sources of the observer whose lack changes what can be told, in words."""
DENIED: Final = "permission denied"
NO_LIMIT: Final = (
    "CPU limit and throttling: the controller of CPUs is not in this control group, so that it has"
    " no limit of its own"
)


@dataclass(frozen=True)
class Sought:
    """A part to watch: a process tree by its root, or a control group; one of both is given."""

    name: str
    address: str
    pid: int | None = None
    cgroup: str | None = None
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """A question of ours that a sample answers, by our clock."""

    name: str
    asked_ns: int
    heard_ns: int


class Taking:
    """All that an observer told, as it came."""

    def __init__(self, start: Start, sought: Sequence[Sought]) -> None:
        self._start = start
        self._tick_ns = SECOND_NS // max(start.clock_ticks, 1)
        self._sought = tuple(sought)
        self._accounts = [_Tree(self._tick_ns) for _ in sought]
        self._readings: list[list[Reading]] = [[] for _ in sought]
        self._unread = [0 for _ in sought]
        self._counts = [False for _ in sought]
        """Whether the control group tells its CPU time."""
        self._controls = [False for _ in sought]
        """Whether it has the controller of CPUs, which counts periods."""
        self._groups: list[Group | None] = [None for _ in sought]
        self._host: list[HostReading] = []
        self._answers: list[tuple[Answer, Question, int]] = []
        self._own_cpu: list[int] = []

    @property
    def has_begun(self) -> bool:
        """Whether there are counters."""
        return bool(self._host)

    def take(self, sample: Sample, answer: Answer | None) -> None:
        """One more sample. Its instants are the other clock's until all have come."""
        at_ns = _middle(sample.before, sample.after)
        self._host.append(_host(sample, at_ns, self._tick_ns))
        self._own_cpu.append(sample.own_cpu_ns)
        for one in sample.targets:
            # They are called by their numbers, and come in the order of the observer: trees first.
            number = int(one.name)
            of_group = self._sought[number].cgroup is not None
            self._readings[number].append(self._reading(number, one, at_ns, of_group=of_group))
            self._unread[number] = max(self._unread[number], one.processes.unread)
            self._groups[number] = one.cgroup or self._groups[number]
        if answer is not None:
            there = sample.reading_ns + (sample.memory_reading_ns or 0)
            question = Question(
                answer.asked_ns, sample.before.monotonic_ns, answer.heard_ns - there
            )
            self._answers.append((answer, question, at_ns))

    def watched(
        self, place: str, *, is_here: bool, failed: str | None, own_boot: str | None = None
    ) -> Watched:
        """Everything by our clock. `own_boot`: what names this start of our kernel."""
        laid = None if is_here else clock.laid([one for _, one, _ in self._answers])
        start = self._start
        return Watched(
            place=place,
            kind="observe",
            parts=tuple(self._part(number, laid) for number in range(len(self._sought))),
            host=tuple(replace(one, at_ns=_ours(laid, one.at_ns)) for one in self._host),
            marks=tuple(
                Mark(answer.name, _ours(laid, at_ns), question.round_trip_ns)
                for answer, question, at_ns in self._answers
            ),
            has_generator=is_here or (own_boot is not None and own_boot == start.boot_id),
            cpus=start.cpus,
            charges_softirq=_inverse(start.accounting.irq_time_accounting),
            clock_error_ns=laid.error_ns if laid else 0,
            own_cpu_ns=self._own_cpu[-1] - self._own_cpu[0] if self._own_cpu else None,
            kernel=start.kernel,
            lacks=tuple(_lacks(start.sources, None)),
            failed=failed,
        )

    def _part(self, number: int, laid: Laid | None) -> Part:
        sought, unread = self._sought[number], self._unread[number]
        lacks = [*sought.lacks, *_lacks(self._start.sources, str(number))]
        if unread:
            lacks.append(f"{unread} of its processes: {DENIED}; run as root")
        group = self._groups[number]
        if self._counts[number] and not self._controls[number]:
            lacks.append(NO_LIMIT)
        return Part(
            name=sought.name,
            address=sought.address,
            readings=tuple(
                replace(one, at_ns=_ours(laid, one.at_ns)) for one in self._readings[number]
            ),
            lacks=tuple(lacks),
            cpu_resolution_ns=self._resolution_ns(sought, group),
            shares_group=sought.cgroup is None,
        )

    def _resolution_ns(self, sought: Sought, group: Group | None) -> int:
        """Version 2 counts both parts in microseconds, all else in ticks."""
        is_fine = sought.cgroup is not None and group is not None and group.versions == (2,)
        return MICROSECOND_NS if is_fine else self._tick_ns

    def _reading(self, number: int, target: TargetSample, at_ns: int, *, of_group: bool) -> Reading:
        processes, group = target.processes, target.cgroup
        # One that has ended and was not waited for yet is there in name only.
        alive = processes.count - sum(one.state == "Z" for one in processes.members)
        here = alive > 0
        tree = self._accounts[number].take(processes)
        found = Reading(
            at_ns=at_ns,
            user_ns=tree.user_ns,
            system_ns=tree.system_ns,
            total_ns=tree.total_ns,
            run_queue_ns=_sum(processes.run_queue_ns, processes.ended.run_queue_ns),
            rss_bytes=processes.rss_bytes if here else None,
            pss_bytes=processes.pss_bytes if here else None,
            written_bytes=tree.written_bytes,
            descriptors=processes.descriptors if here else None,
            processes=alive,
            threads=processes.threads,
            life=_life(processes, None if of_group else self._sought[number].pid),
        )
        # The root of all groups has no limit, and whatever runs on the host is in it.
        if group is None or (not of_group and group.path == "/"):
            return found
        limit = group.cpu
        found = replace(
            found,
            throttled_ns=limit.throttled_ns,
            throttled_periods=limit.throttled_periods,
            periods=limit.periods,
            quota_cpus=_quotient(limit.quota_ns, limit.period_ns),
            oom_kills=group.memory.oom_kills,
            limit_bytes=group.memory.limit_bytes,
        )
        if not of_group:
            return found
        found = replace(found, group_bytes=group.memory.current_bytes)
        self._controls[number] |= limit.periods is not None or group.path == "/"
        if limit.usage_ns is None and not self._counts[number]:
            return found
        # The group counts what has ended, too; once it is gone, its processes are no substitute.
        self._counts[number] = True
        return replace(
            found, user_ns=limit.user_ns, system_ns=limit.system_ns, total_ns=limit.usage_ns
        )


@dataclass(frozen=True)
class _Spent:
    """What a tree used up to now, from the first sample on."""

    user_ns: int
    system_ns: int
    total_ns: int | None
    written_bytes: int | None


class _Tree:
    """Sums up what a tree used from sample to sample: it never falls."""

    def __init__(self, tick_ns: int) -> None:
        self._tick_ns = tick_ns
        self._last: Processes | None = None
        self._user = self._system = self._written = 0
        self._written_last: int | None = None
        self._is_exact = True
        """No thread has ended: what the scheduler tells of those that are there is everything."""

    def take(self, now: Processes) -> _Spent:
        """The time up to this sample."""
        before, self._last = self._last or now, now
        user = now.user_ticks + now.children_user_ticks
        user -= before.user_ticks + before.children_user_ticks
        system = now.system_ticks + now.children_system_ticks
        system -= before.system_ticks + before.children_system_ticks
        lost_user = now.ended.user_ticks - before.ended.user_ticks
        lost_system = now.ended.system_ticks - before.ended.system_ticks
        waited_for = now.children_user_ticks - before.children_user_ticks
        waited_for += now.children_system_ticks - before.children_system_ticks
        if waited_for < lost_user + lost_system:
            user, system = user + lost_user, system + lost_system
        self._user += max(user, 0)
        self._system += max(system, 0)
        if now.ended.on_cpu_ns != before.ended.on_cpu_ns or now.on_cpu_ns is None:
            self._is_exact = False
        return _Spent(
            self._user * self._tick_ns,
            self._system * self._tick_ns,
            now.on_cpu_ns if self._is_exact else None,
            self._written_until(now.written_bytes),
        )

    def _written_until(self, now: int | None) -> int | None:
        """Bytes that went to disks; less than before means that a process took its own with it."""
        if now is None:
            return None
        before = now if self._written_last is None else self._written_last
        self._written_last = now
        self._written += max(now - before, 0)
        return self._written


def _life(processes: Processes, root: int | None) -> str | None:
    """The root's id and start; of a control group those of its oldest process."""
    for one in processes.members:
        if one.state != "Z" and root in (None, one.pid):
            return f"{one.pid} started at {one.start_ticks}"
    return None


def _host(sample: Sample, at_ns: int, tick_ns: int) -> HostReading:
    cpus = sample.host.cpus
    return HostReading(
        at_ns=at_ns,
        cpu=HostCpu(
            user_ns=_all(cpus, tick_ns, "user", "nice"),
            system_ns=_all(cpus, tick_ns, "system"),
            irq_ns=_all(cpus, tick_ns, "irq"),
            softirq_ns=_all(cpus, tick_ns, "softirq"),
            steal_ns=_all(cpus, tick_ns, "steal"),
            idle_ns=_all(cpus, tick_ns, "idle", "iowait"),
        ),
        frequency_khz=_mean([one.khz for one in sample.host.frequencies or ()]),
    )


def _all(cpus: Sequence[CpuTicks], tick_ns: int, *states: str) -> int | None:
    """What all CPUs spent in these states; None where none tells of one of them."""
    told = [getattr(cpu, state) for cpu in cpus for state in states]
    known = [ticks for ticks in told if ticks is not None]
    return sum(known) * tick_ns if known else None


def _lacks(sources: Sequence[Source], target: str | None) -> Iterator[str]:
    for one in sources:
        what = LACKS.get(one.name)
        if what is None or one.target != target or not one.missing:
            continue
        remedy = "; run as root, or as its user" if one.missing == DENIED else ""
        yield f"{what}: {one.missing}{remedy}"


def _ours(laid: Laid | None, at_ns: int) -> int:
    return laid.ours(at_ns) if laid else at_ns


def _middle(before: Instants, after: Instants) -> int:
    return (before.monotonic_ns + after.monotonic_ns) // 2


def _sum(first: int | None, second: int) -> int | None:
    return None if first is None else first + second


def _quotient(part: int | None, whole: int | None) -> float | None:
    return part / whole if part is not None and whole else None


def _inverse(flag: bool | None) -> bool | None:
    return None if flag is None else not flag


def _mean(values: Sequence[int]) -> float | None:
    return sum(values) / len(values) if values else None
