"""The observer of this machine: begun, marked, stopped, and what becomes of it where it fails."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from tests.observers.conftest import Limited, Start
from tests.waiting import until
from wiretrial.engine import Engine
from wiretrial.errors import ObserverFailed
from wiretrial.observers import address, local, opening
from wiretrial.observers.stream import ObserveWatch
from wiretrial.observers.watch import MOST_READINGS, SHORTEST_INTERVAL_NS, interval_ns

SECOND_NS = 1_000_000_000


def watch(engine: Engine, *texts: str, every_ns: int = 50_000_000) -> ObserveWatch:
    return local.watch(address.parse_all(texts), engine.binary, every_ns)


def test_counters_grow_from_mark_to_mark(engine: Engine, burner: Start) -> None:
    server = burner(100)
    with watch(engine, f"app=pid:{server.pid}", f"self=pid:{os.getpid()}") as one:
        one.start()
        begun = time.monotonic_ns()
        one.mark("first")
        burnt = time.process_time_ns() + 100_000_000
        while time.process_time_ns() < burnt:
            pass
        one.mark("second")
        found = one.stop()
        ended = time.monotonic_ns()
    assert (found.failed, found.clock_error_ns, found.has_generator) == (None, 0, True)
    assert [part.name for part in found.parts] == ["app", "self"]
    marks = [mark for mark in found.marks if mark.name in ("first", "second")]
    assert [mark.name for mark in marks] == ["first", "second"]
    assert begun <= marks[0].at_ns < marks[1].at_ns <= ended
    at = {one.at_ns: one for one in found.parts[1].readings}
    first, second = (at[mark.at_ns] for mark in marks)
    assert first.user_ns is not None
    assert second.user_ns is not None
    assert first.system_ns is not None
    assert second.system_ns is not None
    grown = second.user_ns + second.system_ns - first.user_ns - first.system_ns
    # Two parts, each known to a tick.
    assert grown >= 100_000_000 - 2 * found.parts[1].cpu_resolution_ns
    assert found.cpus == psutil.cpu_count()
    host = [one.cpu.user_ns for one in found.host]
    assert None not in host
    assert host == sorted(one for one in host if one is not None)
    # The proportional memory is read at marks alone.
    with_memory = {one.at_ns for one in found.parts[0].readings if one.pss_bytes is not None}
    assert with_memory <= {mark.at_ns for mark in found.marks}
    assert with_memory or found.parts[0].lacks


def test_a_process_that_is_not_there_is_refused(engine: Engine, burner: Start) -> None:
    server = burner(1)
    gone = server.pid
    server.process.kill()
    server.process.wait()
    with watch(engine, f"pid:{gone}") as one, pytest.raises(ObserverFailed) as refused:
        one.start()
    assert f"process {gone}" in refused.value.message
    assert refused.value.remedy


def test_a_group_that_is_not_there_is_refused(engine: Engine) -> None:
    with watch(engine, "cgroup:/no/such/group") as one, pytest.raises(ObserverFailed) as refused:
        one.start()
    assert "/no/such/group" in refused.value.message


def test_an_observer_that_is_killed_leaves_what_it_told(engine: Engine, burner: Start) -> None:
    server = burner(1)
    before = {child.pid for child in psutil.Process().children()}
    with watch(engine, f"pid:{server.pid}") as one:
        one.start()
        (observer,) = {child.pid for child in psutil.Process().children()} - before
        os.kill(observer, signal.SIGKILL)
        until(lambda: one._over)  # noqa: SLF001 (there is no other sign of it)
        one.mark("late")
        found = one.stop()
    assert found.failed is not None
    assert found.parts[0].readings
    assert not [mark for mark in found.marks if mark.name == "late"]


def test_nothing_runs_on_when_it_is_left(engine: Engine, burner: Start) -> None:
    server = burner(1)
    before = {child.pid for child in psutil.Process().children()}
    with watch(engine, f"pid:{server.pid}") as one:
        one.start()
        assert {child.pid for child in psutil.Process().children()} - before
    assert not {child.pid for child in psutil.Process().children()} - before
    with watch(engine, f"pid:{server.pid}") as one:
        assert one.stop().failed == "it was not started"


def test_a_server_that_is_killed_shows(engine: Engine, burner: Start) -> None:
    server = burner(1)
    with watch(engine, f"pid:{server.pid}") as one:
        one.start()
        one.mark("alive")
        # A mark is not waited for, and the server is to be there when it is answered.
        until(lambda: one._answered >= 0)  # noqa: SLF001 (likewise)
        server.process.kill()
        server.process.wait()
        one.mark("gone")
        found = one.stop()
    lives = {reading.at_ns: reading for reading in found.parts[0].readings}
    alive, gone = (lives[mark.at_ns] for mark in found.marks)
    assert (alive.life or "").startswith(f"{server.pid} started at ")
    assert (gone.life, gone.processes) == (None, 0)


def test_a_limit_shows_in_the_group_and_in_its_process(
    engine: Engine, burner: Start, limited: Limited
) -> None:
    server = burner(1, group=limited.folder)
    with watch(engine, f"group=cgroup:{limited.folder}", f"app=pid:{server.pid}") as one:
        one.start()
        one.mark("now")
        found = one.stop()
    at_ns = found.marks[0].at_ns
    for part in found.parts:
        reading = next(reading for reading in part.readings if reading.at_ns == at_ns)
        assert reading.quota_cpus == limited.cpus
        assert reading.periods is not None
        assert reading.life == f"{server.pid} started at {_started(server.pid)}"
    assert [part.shares_group for part in found.parts] == [False, True]


def _started(pid: int) -> int:
    text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    return int(text.rpartition(")")[2].split()[19])


@pytest.mark.parametrize(
    ("length_ns", "expected"),
    [
        (None, SECOND_NS),
        (SECOND_NS, SHORTEST_INTERVAL_NS),
        (1000 * SECOND_NS, SHORTEST_INTERVAL_NS),
        (8 * 3600 * SECOND_NS, 7_200_000_000),
    ],
)
def test_long_runs_are_read_less_often(length_ns: int | None, expected: int) -> None:
    assert interval_ns(length_ns) == expected
    assert length_ns is None or length_ns // expected <= MOST_READINGS


def test_all_parts_of_this_machine_share_a_watch(engine: Engine) -> None:
    parts = address.parse_all([f"pid:{os.getpid()}", "cgroup:/"])
    (one,) = opening.watches(parts, engine.binary, SECOND_NS)
    assert one.place == local.HERE
    assert opening.watches([], engine.binary, SECOND_NS) == ()
