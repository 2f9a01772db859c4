"""Facts, CPUs and preflight."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from wiretrial.errors import UsageProblem
from wiretrial.machine import facts, pinning, preflight


def test_facts_say_what_this_machine_is() -> None:
    found = facts.collect()
    assert found["cpu"]["logical"] == os.cpu_count()
    assert set(found["cpu"]["usable"]) == os.sched_getaffinity(0)
    assert found["kernel"] == os.uname().release
    first, last = found["sysctls"]["net.ipv4.ip_local_port_range"].split()
    assert 0 < int(first) < int(last) < 65_536
    assert set(found["sysctls"]) == set(facts.SYSCTLS)


@pytest.mark.parametrize(
    ("cpus", "server", "generator", "wanted_server", "wanted_generator", "apart"),
    [
        ([0, 1], 1, 1, (0,), (1,), True),
        ([0, 1, 2, 3], 2, 2, (0, 1), (2, 3), True),
        ([4, 6], 1, 1, (4,), (6,), True),
        ([0, 1], 4, 1, (0,), (1,), False),
        ([0, 1, 2], 2, 2, (0, 1), (2,), False),
        ([0], 1, 1, (0,), (0,), False),
    ],
)
def test_server_and_generator_get_cpus_of_their_own(
    cpus: list[int],
    server: int,
    generator: int,
    wanted_server: tuple[int, ...],
    wanted_generator: tuple[int, ...],
    apart: bool,
) -> None:
    found = pinning.split(cpus, server, generator)
    assert found.server == wanted_server
    assert found.generator == wanted_generator
    assert (found.problem is None) == apart


@pytest.mark.parametrize(
    ("cpus", "instances", "threads", "chosen", "wanted", "generator"),
    [
        ((0, 1, 2), 2, 1, (), ((0,), (1,)), (2,)),
        ((0, 2, 1, 3, 4, 5, 6, 7), 2, 1, (), ((0, 2, 1), (3, 4, 5)), (6,)),
        ((0, 1, 2, 3), 2, 1, (3,), ((0,), (1,)), (3,)),
        ((0, 1, 2, 3), 2, 1, (0, 1), ((2,), (3,)), (0, 1)),
        ((0, 1), 1, 1, (), ((0,),), (1,)),
    ],
)
def test_instances_get_cpus_of_their_own(
    cpus: tuple[int, ...],
    instances: int,
    threads: int,
    chosen: tuple[int, ...],
    wanted: tuple[tuple[int, ...], ...],
    generator: tuple[int, ...],
) -> None:
    assert pinning.dealt(cpus, instances, threads, chosen) == pinning.Dealt(wanted, generator)


@pytest.mark.parametrize(
    ("cpus", "instances", "threads", "chosen"),
    [((0, 1), 2, 1, ()), ((0,), 1, 1, ()), ((0, 1, 2, 3), 2, 3, ()), ((0, 1, 2), 2, 1, (0, 1))],
)
def test_too_few_cpus_are_dealt_to_nobody(
    cpus: tuple[int, ...], instances: int, threads: int, chosen: tuple[int, ...]
) -> None:
    assert pinning.dealt(cpus, instances, threads, chosen) is None


_TWO_THREADS = """
import sys, threading
threading.Thread(target=sys.stdin.read).start()
print("up", flush=True)
"""


def test_a_process_runs_anywhere_for_a_while() -> None:
    usable = os.sched_getaffinity(0)
    one = {min(usable)}
    words = [sys.executable, "-c", _TWO_THREADS]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        threads = [int(path.name) for path in Path(f"/proc/{process.pid}/task").iterdir()]
        assert len(threads) == 2
        for thread in threads:
            os.sched_setaffinity(thread, one)
        with pinning.anywhere([process.pid]):
            assert [os.sched_getaffinity(thread) for thread in threads] == [usable, usable]
        assert [os.sched_getaffinity(thread) for thread in threads] == [one, one]
        with pinning.anywhere([process.pid]):
            process.stdin.close()
            process.wait()
    # Whoever has ended is left alone.
    with pinning.anywhere([process.pid]):
        pass


def test_too_many_connections_are_refused_with_the_arithmetic() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    with pytest.raises(UsageProblem) as refused:
        preflight.require(preflight.Demand(connections=soft, source_addresses=10_000))
    needed = soft + preflight.SPARE_DESCRIPTORS + preflight.POLLER_DESCRIPTORS
    assert f"{needed:,} descriptors" in refused.value.message
    assert f"{soft:,} are available" in refused.value.message
    assert refused.value.remedy
    assert refused.value.exit_code == 2


def test_each_thread_has_a_table_of_descriptors() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    demand = preflight.Demand(connections=soft, threads=2, source_addresses=10_000)
    (descriptors,) = [one for one in preflight.check(demand) if one.name == "descriptors"]
    assert descriptors.enough
    assert "descriptors per thread" in descriptors.line()


def test_fresh_connections_need_local_ports() -> None:
    demand = preflight.Demand(connections=10, fresh_connections=100_000)
    short = {finding.name for finding in preflight.check(demand) if not finding.enough}
    assert short == {"ports"}
    more = preflight.Demand(connections=10, fresh_connections=100_000, source_addresses=16)
    assert all(finding.enough for finding in preflight.check(more))


@pytest.mark.parametrize("exempt", [False, True])
def test_open_files_bind_everybody_but_the_administrator(
    monkeypatch: pytest.MonkeyPatch, exempt: bool
) -> None:
    monkeypatch.setattr(facts, "administers", lambda: exempt)
    findings = preflight.check(preflight.Demand(connections=10))
    assert ("files" in {one.name for one in findings}) is not exempt


def test_the_disk_of_a_folder_that_is_not_there_yet_is_checked(tmp_path: Path) -> None:
    demand = preflight.Demand(connections=1, trials=10, folder=tmp_path / "a" / "b")
    (disk,) = [finding for finding in preflight.check(demand) if finding.name == "disk"]
    assert disk.needed == 10 * preflight.BYTES_PER_TRIAL
    assert disk.available > 0
