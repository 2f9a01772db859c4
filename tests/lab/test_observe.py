"""Readings of a process tree, compared with what the processes say of themselves."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading

from wiretrial.subjects import observe

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
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def test_cpu_time_is_that_of_the_whole_tree() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BURN, "0.3"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as tree:
        assert tree.stdout is not None
        told = [int(tree.stdout.readline()) for _ in range(2)]
        reading = observe.read(tree.pid)
        tree.communicate()
    used = reading.cpu_user_ns + reading.cpu_system_ns
    # What each process printed is a lower bound; afterwards both only wait.
    assert used >= sum(told) - 4 * TICK_NS
    assert used <= sum(told) + sum(told) // 2
    assert reading.rss_bytes > 0
    assert set(reading.threads_ns) >= {tree.pid}


def test_readings_never_go_back() -> None:
    with subprocess.Popen([sys.executable, "-c", BURN, "1"], stdin=subprocess.PIPE) as tree:
        with observe.Observer(tree.pid) as observer:
            threading.Event().wait(0.9)
        tree.communicate()
    assert len(observer.readings) >= 3
    for earlier, later in zip(observer.readings, observer.readings[1:], strict=False):
        assert later.at_ns > earlier.at_ns
        assert later.cpu_user_ns + later.cpu_system_ns >= (
            earlier.cpu_user_ns + earlier.cpu_system_ns - 2 * TICK_NS
        )
    assert observe.busiest_thread(observer.readings[0], observer.readings[-1]) > 0


def test_a_death_is_told_at_once() -> None:
    told = threading.Event()
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process,
        observe.Observer(process.pid, told.set) as observer,
    ):
        assert not observer.died
        process.send_signal(signal.SIGKILL)
        assert told.wait(20)
        assert observer.died


def test_a_listener_is_found_by_its_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        assert observe.listener("127.0.0.1", port) == os.getpid()
    assert observe.listener("127.0.0.1", port) is None
