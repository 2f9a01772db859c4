"""Readings of process trees, compared with what the processes say of themselves."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from wiretrial.machine import counters
from wiretrial.observation import Descriptors
from wiretrial.subjects import observe
from wiretrial.subjects.tree import CLOCK_RESOLUTION_NS, Tree, split

pytestmark = pytest.mark.alone

BURN = """
import os, sys, time
child = os.fork()
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    pass
os.write(1, b"%d\\n" % time.process_time_ns())
sys.stdin.read()
if child:
    os.waitpid(child, 0)
"""
THREADS = """
import sys, threading, time
def rest():
    for _ in range(50):
        time.sleep(0.001)
def stay():
    rest()
    sys.stdin.read()
staying = threading.Thread(target=stay)
ending = threading.Thread(target=rest)
staying.start()
ending.start()
print("both", flush=True)
ending.join()
print("one", flush=True)
staying.join()
"""
OPEN = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))
child = os.fork()
held = [os.open("/dev/null", os.O_RDONLY) for _ in range(20 if child else 0)]
os.write(1, b"open\\n")
sys.stdin.read()
if child:
    os.waitpid(child, 0)
"""
WRITE = """
import os, sys
with open(sys.argv[1], "wb") as file:
    file.write(bytes(16_384))
    file.flush()
    os.fsync(file.fileno())
os.write(1, b"written\\n")
sys.stdin.read()
"""
TICK_NS = counters.TICK_NS
DEADLINE_S = 20.0
NOBODY = 65_534


def as_nobody(question: Callable[[], object]) -> bool:
    """Whether a user without rights gets None for an answer. A fork has our modules already."""
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        os._exit(0 if question() is None else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_cpu_time_is_that_of_the_whole_tree() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BURN, "0.3"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(2)]
        tree = Tree([process.pid])
        assert len(tree.members) == 2
        reading = tree.read()
        process.communicate()
    used = reading.cpu_user_ns + reading.cpu_system_ns
    # What each process printed is a lower bound, to the nanosecond; afterwards both only wait.
    assert used >= sum(told)
    assert used <= sum(told) + sum(told) // 2
    assert reading.cpu_resolution_ns == CLOCK_RESOLUTION_NS
    assert reading.rss_bytes > 0
    assert reading.threads == 2


def test_several_trees_are_one() -> None:
    burn = [sys.executable, "-c", BURN, "0.05"]
    with (
        subprocess.Popen(burn, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as one,
        subprocess.Popen(burn, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other,
    ):
        for process in (one, other):
            assert process.stdout is not None
            process.stdout.readline()
            process.stdout.readline()
        both, alone = Tree([one.pid, other.pid]), Tree([one.pid])
        assert len(both.members) == 2 * len(alone.members) == 4
        assert both.read().cpu_user_ns > alone.read().cpu_user_ns
        whole, part = both.memory(), alone.memory()
        assert whole is not None
        assert part is not None
        assert whole.pss_bytes > part.pss_bytes > 0
        for process in (one, other):
            process.communicate()
    with pytest.raises(ProcessLookupError):
        both.read()


def test_descriptors_are_those_of_the_tree_and_of_its_fullest_process() -> None:
    program = [sys.executable, "-c", OPEN]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.readline()
        tree = Tree([process.pid])
        counts = [len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in tree.members]
        found = tree.descriptors()
        process.communicate()
    assert found is not None
    assert (found.open, found.fullest, found.limit) == (sum(counts), max(counts), 50)
    # While the child has the fewer of them, both together are full when the other one is.
    assert found.most == round(50 * sum(counts) / max(counts))
    assert tree.descriptors() == Descriptors(open=0, fullest=0, limit=None)


def test_what_went_to_disks_is_the_kernel_s_own_count(tmp_path: Path) -> None:
    program = [sys.executable, "-c", WRITE, str(tmp_path / "log")]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        told = Path(f"/proc/{process.pid}/io").read_text(encoding="ascii")
        found = Tree([process.pid]).written_bytes()
        process.communicate()
    assert f"\nwrite_bytes: {found}\n" in told


@pytest.mark.parametrize(
    ("on_cpu", "user_ticks", "system_ticks", "expected"),
    [
        (None, 3, 2, (3.0, 2.0)),
        (5.0, 5, 0, (5.0, 0.0)),
        (5.9, 5, 0, (5.45, 0.45)),
        (5.0, 3, 1, (3.5, 1.5)),
        (6.0, 3, 1, (4.0, 2.0)),
        (0.4, 0, 0, (0.2, 0.2)),
        (0.0, 0, 0, (0.0, 0.0)),
    ],
)
def test_ticks_split_the_exact_sum(
    on_cpu: float | None, user_ticks: int, system_ticks: int, expected: tuple[float, float]
) -> None:
    whole = None if on_cpu is None else round(on_cpu * TICK_NS)
    found = split(whole, user_ticks * TICK_NS, system_ticks * TICK_NS)
    assert found == tuple(round(ticks * TICK_NS) for ticks in expected)
    assert whole in (None, sum(found))


def test_what_threads_did_is_kept_when_they_end() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "both\n"
        tree = Tree([process.pid])
        before = tree.read_threads()
        assert process.stdout.readline() == "one\n"
        # Joined is not yet gone for the kernel.
        deadline = time.monotonic() + DEADLINE_S
        while len((after := tree.read_threads()).on_cpu_ns) == 3:
            assert time.monotonic() < deadline
        assert set(before.on_cpu_ns) >= {process.pid}
        process.communicate()
    assert before.voluntary_switches is not None
    assert after.voluntary_switches is not None
    assert before.involuntary_switches is not None
    # Each of the naps of the one that stays was a switch, and what the other had done stays too.
    assert after.voluntary_switches >= before.voluntary_switches
    assert after.voluntary_switches >= 50
    assert before.run_queue_ns is not None
    assert after.run_queue_ns is not None
    assert after.run_queue_ns >= before.run_queue_ns


def test_what_may_not_be_read_is_none() -> None:
    assert as_nobody(Tree([os.getpid() if os.geteuid() == 0 else 1]).memory)
    assert as_nobody(Tree([os.getpid() if os.geteuid() == 0 else 1]).written_bytes)
    assert as_nobody(counters.socket_slab_bytes)


def test_readings_never_go_back() -> None:
    with subprocess.Popen([sys.executable, "-c", BURN, "1"], stdin=subprocess.PIPE) as process:
        with observe.Observer([process.pid]) as observer:
            threading.Event().wait(0.9)
        process.communicate()
    seen = observer.seen
    assert len(seen.readings) >= 3
    for earlier, later in zip(seen.readings, seen.readings[1:], strict=False):
        assert later.at_ns > earlier.at_ns
        assert (
            later.cpu_user_ns + later.cpu_system_ns >= earlier.cpu_user_ns + earlier.cpu_system_ns
        )
    first, last = seen.details[0], seen.details[-1]
    assert max(last.threads.on_cpu_ns.values()) > max(first.threads.on_cpu_ns.values())
    assert 0 < seen.cost_ns < seen.ended_ns - seen.begun_ns
    assert [plateau.name for plateau in seen.plateaus] == ["before"]
    assert seen.plateaus[0].pss_bytes


def test_a_death_is_told_at_once() -> None:
    told = threading.Event()
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process,
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other,
        observe.Observer([process.pid, other.pid], told.set) as observer,
    ):
        early = observer.died
        other.send_signal(signal.SIGKILL)
        assert told.wait(DEADLINE_S)
        assert (early, observer.died) == (False, True)
        process.communicate(b"\n")


def test_connections_of_both_sides_are_followed_from_the_plateau_on() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as ours,
        listening.accept()[0] as theirs,
        observe.Observer([os.getpid()], port=listening.getsockname()[1]) as observer,
    ):
        ours.sendall(b"x" * 100)
        observer.plateau("connected", 1)
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            last = observer.seen.details[-1].sockets
            if "server" in last and last["server"].receive_queue_byte_ns:
                break
            select.select([], [], [], 0.02)
        assert theirs.recv(200) == b"x" * 100
    server, generator = last["server"], last["generator"]
    assert server.receive_queue_byte_ns == 100 * server.followed_ns
    assert generator.receive_queue_byte_ns == 0
