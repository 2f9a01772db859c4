"""Programs that can't outlive whoever started them."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from wiretrial import launch
from wiretrial.closing import last_words

DEADLINE_S = 20.0

MIDDLE = """
import subprocess, sys, time
from wiretrial import launch
child = subprocess.Popen(launch.command_line(
    [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"],
    death_signal=9,
))
print(child.pid, flush=True)
time.sleep(60)
"""


def test_the_program_runs_on_the_cpus_that_it_was_given() -> None:
    cpu = max(os.sched_getaffinity(0))
    show = [sys.executable, "-c", "import os; print(sorted(os.sched_getaffinity(0)))"]
    done = subprocess.run(
        launch.command_line(show, cpus=[cpu]), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"[{cpu}]"


def test_a_program_that_is_not_there_is_told_in_one_line() -> None:
    done = subprocess.run(
        launch.command_line(["no-such-program"]), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "no-such-program: No such file or directory\n"


def test_it_dies_with_its_parent() -> None:
    package = str(Path(launch.__file__).parent.parent)
    with subprocess.Popen(
        [sys.executable, "-c", MIDDLE],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": package},
    ) as middle:
        assert middle.stdout is not None
        lines = {middle.stdout.readline().strip(), middle.stdout.readline().strip()}
        (number,) = lines - {"up"}
        grandchild = os.pidfd_open(int(number))
        try:
            middle.send_signal(signal.SIGKILL)
            ended, _, _ = select.select([grandchild], [], [], DEADLINE_S)
        finally:
            os.close(grandchild)
    assert ended


def test_a_kept_program_goes_with_all_that_it_has_begun() -> None:
    script = "(setsid sleep 600 &); sleep 600 & echo words; wait"
    with subprocess.Popen(
        launch.keeper_command_line(["sh", "-c", script]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as keeper:
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        assert keeper.stderr is not None
        assert psutil.Process(int(keeper.stdout.readline())).parent() == psutil.Process(keeper.pid)
        assert keeper.stderr.readline() == "words\n"
        below = psutil.Process(keeper.pid).children(recursive=True)
        while len(below) < 3:
            below = psutil.Process(keeper.pid).children(recursive=True)
        keeper.stdin.close()
        assert keeper.wait(DEADLINE_S) == 0
    assert [process for process in below if process.is_running()] == []


def test_a_keeper_tells_how_its_program_ended() -> None:
    for script, how in (("exit 3", "exited 3"), ("kill -SEGV $$", "killed 11")):
        with subprocess.Popen(
            launch.keeper_command_line(["sh", "-c", script]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as keeper:
            assert keeper.stdout is not None
            pid = int(keeper.stdout.readline())
            assert keeper.stdout.readline() == f"{how}\n"
            # Not waited for yet: nobody else can have the id.
            assert psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_keeper_tells_when_its_program_was_forked() -> None:
    before_ns = time.monotonic_ns()
    with subprocess.Popen(
        launch.keeper_command_line(["sh", "-c", "exit 0"], timed=True),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as keeper:
        assert keeper.stdout is not None
        pid, begun_ns = map(int, keeper.stdout.readline().split())
        assert psutil.Process(pid).parent() == psutil.Process(keeper.pid)
        assert before_ns < begun_ns < time.monotonic_ns()


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("", ""),
        ("one\ntwo\n\n", "two"),
        (
            "\nthread 'w-0' (7) panicked at src/a.rs:9:\nassertion failed: a\nstack backtrace:\n",
            "thread 'w-0' (7) panicked at src/a.rs:9: assertion failed: a",
        ),
    ],
)
def test_what_a_program_said_last_is_told(text: str, last: str) -> None:
    assert last_words(text) == last
