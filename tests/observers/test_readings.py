"""What the observer's counters mean, sample by sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.observers.made import SECOND, group, processes, sample, start
from wiretrial.observation import Descriptors, Group, Processes, Source
from wiretrial.observers.readings import NO_LIMIT, Answer, Sought, Taking
from wiretrial.observers.watch import Reading, Watched

TREE = Sought("app", "pid:7", pid=7)
GROUP = Sought("db", "cgroup:/app", cgroup="/app")
TICK = SECOND // 100


def taken(
    sought: Sought, *found: tuple[Processes, Group | None], sources: tuple[Source, ...] = ()
) -> Watched:
    """One sample a second."""
    taking = Taking(start(sources=sources), [sought])
    for second, one in enumerate(found):
        taking.take(sample(second * SECOND, one), None)
    assert taking.has_begun
    return taking.watched("here", is_here=True, failed=None)


def spent(found: Watched) -> list[int | None]:
    """CPU time of the part in ticks, in programs and in the kernel together."""
    return [_ticks(one) for one in found.parts[0].readings]


def _ticks(one: Reading) -> int | None:
    if one.user_ns is None or one.system_ns is None:
        return None
    return (one.user_ns + one.system_ns) // TICK


TREES: dict[str, tuple[Sequence[Processes], list[int]]] = {
    "one process": ([processes(10, 5), processes(30, 6), processes(30, 9)], [0, 21, 24]),
    "a child that was waited for": (
        [
            processes(10, members=((7, 1), (8, 2))),
            processes(6, children=9, ended=(1, 5, 0)),
        ],
        # Its 5 ticks of the first sample are among the 9 that it had when it ended.
        [0, 5],
    ),
    "a child that nobody waited for": (
        [
            processes(10, members=((7, 1), (8, 2))),
            processes(6, ended=(1, 5, 0)),
        ],
        # What was last seen of it is added again: it grew by 1.
        [0, 1],
    ),
    "all are gone": (
        [processes(10), processes(20), processes(members=(), ended=(1, 20, 0))],
        [0, 10, 10],
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_the_cpu_time_of_a_tree_never_falls(name: str) -> None:
    given, expected = TREES[name]
    found = taken(TREE, *((one, None) for one in given))
    assert spent(found) == expected
    assert found.parts[0].cpu_resolution_ns == TICK


def test_the_scheduler_s_sum_is_whole_until_a_thread_ends() -> None:
    found = taken(
        TREE,
        (processes(10, on_cpu_ns=101), None),
        (processes(20, on_cpu_ns=205), None),
        (processes(20, on_cpu_ns=150, ended=(0, 0, 60)), None),
        (processes(20, on_cpu_ns=170, ended=(0, 0, 60)), None),
    )
    assert [one.total_ns for one in found.parts[0].readings] == [101, 205, None, None]


def test_bytes_that_went_to_disks_never_fall() -> None:
    # A child went at last that nobody of the tree had waited for.
    counted = (5000, 9000, None, 9500, 4000, 4100)
    found = taken(TREE, *((processes(1, written_bytes=one), None) for one in counted))
    written = [one.written_bytes for one in found.parts[0].readings]
    assert written == [0, 4000, None, 4500, 4500, 4600]


def test_descriptors_are_those_of_marks() -> None:
    opened = Descriptors(open=30, fullest=20, limit=100)
    found = taken(TREE, (processes(1), None), (processes(1, descriptors=opened), None))
    assert [one.descriptors for one in found.parts[0].readings] == [None, opened]
    assert opened.most == 150
    assert Descriptors(open=3, fullest=3, limit=None).most is None


def test_a_process_is_known_by_its_start() -> None:
    found = taken(
        TREE,
        (processes(1, members=((7, 1), (8, 2))), None),
        (processes(1, members=((8, 2),)), None),
        (processes(members=()), None),
    )
    assert [one.life for one in found.parts[0].readings] == ["7 started at 1", None, None]
    assert [one.processes for one in found.parts[0].readings] == [2, 1, 0]
    assert [one.rss_bytes for one in found.parts[0].readings] == [1000, 1000, None]


def test_a_group_counts_by_itself_and_is_known_by_its_oldest_process() -> None:
    limited: dict[str, Any] = {
        "quota_ns": 50,
        "period_ns": 100,
        "periods": 9,
        "throttled_periods": 2,
    }
    found = taken(
        GROUP,
        (
            processes(1, members=((30, 4), (31, 5))),
            group(7000, user_ns=5000, system_ns=2000, **limited),
        ),
        (processes(1, members=((31, 5),)), group(9000, user_ns=6000, system_ns=3000, **limited)),
    )
    one, other = found.parts[0].readings
    assert (one.user_ns, one.system_ns, one.total_ns) == (5000, 2000, 7000)
    assert other.total_ns == 9000
    assert (one.life, other.life) == ("30 started at 4", "31 started at 5")
    assert (one.quota_cpus, one.periods, one.throttled_periods) == (0.5, 9, 2)
    assert (one.group_bytes, one.limit_bytes, one.oom_kills) == (5000, 9000, 0)
    assert not found.parts[0].shares_group
    assert found.parts[0].cpu_resolution_ns == 1000


def test_of_a_process_its_group_tells_the_limit_alone() -> None:
    found = taken(TREE, (processes(10), group(7000, quota_ns=50, period_ns=100, periods=3)))
    (one,) = found.parts[0].readings
    assert (one.user_ns, one.group_bytes) == (0, None)
    assert (one.quota_cpus, one.periods) == (0.5, 3)
    assert found.parts[0].shares_group
    # Whatever runs on a host is in the root of all groups, which has no limit.
    found = taken(TREE, (processes(10), group(7000, path="/", periods=3)))
    assert found.parts[0].readings[0].periods is None


@pytest.mark.parametrize(
    ("found", "lacks"),
    [
        pytest.param(group(7000), (NO_LIMIT,), id="version 2 beside controllers of version 1"),
        pytest.param(group(7000, periods=0), (), id="no limit is set"),
        pytest.param(group(7000, path="/"), (), id="the root, which never has one"),
        pytest.param(group(None), (), id="it tells nothing at all"),
    ],
)
def test_a_group_without_the_controller_of_cpus_is_told(
    found: Group, lacks: tuple[str, ...]
) -> None:
    assert taken(GROUP, (processes(1), found)).parts[0].lacks == lacks
    # Of a process, nobody asked for its group.
    assert taken(TREE, (processes(1), found)).parts[0].lacks == ()


def test_parts_are_told_apart_by_their_names_in_whatever_order_they_come() -> None:
    taking = Taking(start(), [GROUP, TREE])
    told = sample(0, (processes(1), group(7000)), (processes(2), group(9000, path="/")))
    taking.take(told.model_copy(update={"targets": told.targets[::-1]}), None)
    found = taking.watched("here", is_here=True, failed=None)
    assert [one.name for one in found.parts] == ["db", "app"]
    assert [one.readings[0].total_ns for one in found.parts] == [7000, None]


def test_a_group_that_is_gone_has_no_counter() -> None:
    found = taken(GROUP, (processes(1), group(7000)), (processes(members=()), group(None)))
    last = found.parts[0].readings[-1]
    assert (last.processes, last.user_ns, last.total_ns, last.rss_bytes) == (0, None, None, None)


def test_the_host_is_the_sum_of_its_cpus() -> None:
    taking = Taking(start(irq_time_accounting=False), [])
    taking.take(sample(0, busy_ticks=7), None)
    found = taking.watched("here", is_here=True, failed="it broke")
    (one,) = found.host
    cpu = one.cpu
    assert (cpu.user_ns, cpu.system_ns, cpu.idle_ns) == (9 * TICK, 4 * TICK, 6 * TICK)
    assert (cpu.irq_ns, cpu.softirq_ns, cpu.steal_ns) == (8 * TICK, 10 * TICK, 12 * TICK)
    assert (found.has_generator, found.failed, found.cpus) == (True, "it broke", 2)
    assert found.charges_softirq is True
    assert found.parts == ()


def test_what_could_not_be_read_is_told_where_it_matters() -> None:
    sources = (
        Source(name="smaps_rollup", target="0", missing="permission denied"),
        Source(name="schedstat", target="0", missing=None),
        Source(name="net/snmp", target="0", missing="permission denied"),
        Source(name="scaling_cur_freq", target=None, missing="it is not there"),
        Source(name="pressure", target=None, missing="it is not there"),
    )
    found = taken(TREE, (processes(1, unread=2), None), sources=sources)
    assert found.lacks == ("CPU frequency: it is not there",)
    assert found.parts[0].lacks == (
        "proportional memory (PSS): permission denied; run as root, or as its user",
        "2 of its processes: permission denied; run as root",
    )


def test_instants_of_another_host_are_laid_on_our_clock() -> None:
    taking = Taking(start(), [TREE])
    offset = 5_000 * SECOND
    for second in range(4):
        there = second * SECOND
        # 2 ms there, 1 ms of reading, 2 ms back.
        answer = Answer("m", there + offset - 2_000_000, there + offset + 3_000_000)
        taking.take(sample(there, (processes(1), None), mark="m", reading_ns=1_000_000), answer)
    found = taking.watched("there", is_here=False, failed=None)
    assert found.clock_error_ns == 2_000_000
    assert not found.has_generator
    # A reading stands in the middle of the time that it took.
    expected = [second * SECOND + offset + 500_000 for second in range(4)]
    assert [one.at_ns for one in found.parts[0].readings] == expected
    assert [one.at_ns for one in found.marks] == expected
    assert {one.round_trip_ns for one in found.marks} == {4_000_000}
    assert found.own_cpu_ns == 3 * SECOND // 100
