"""Where the kernel refuses io_uring: the engine goes on with epoll and says why, unless told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wiretrial.engine import Engine

SANDBOX = Path(__file__).parent / "programs" / "without_io_uring.py"
WHY = "io_uring: cannot set up a ring"


def load(engine: Engine, url: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(engine.binary), "load", url, "-c", "2", "-n", "20", *options]
    return subprocess.run(
        [sys.executable, str(SANDBOX), *command],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def url(engine: Engine) -> Iterator[str]:
    """An echo of our own, under the same refusal."""
    command = [str(engine.binary), "respond", "--http", "127.0.0.1:0"]
    server = subprocess.Popen(
        [sys.executable, str(SANDBOX), *command], stdout=subprocess.PIPE, text=True
    )
    with server:
        try:
            assert server.stdout is not None
            ready = server.stdout.readline()
            yield f"ws://{ready.split('http=')[1].split()[0]}/"
        finally:
            server.terminate()


def test_epoll_takes_over_and_the_reason_is_told(engine: Engine, url: str) -> None:
    done = load(engine, url)
    assert done.returncode == 0, done.stderr
    assert f"epoll ({WHY}: " in done.stdout
    assert "ok 20" in done.stdout


def test_who_asked_for_io_uring_is_refused_with_one_line(engine: Engine, url: str) -> None:
    done = load(engine, url, "--poller", "uring")
    assert done.returncode == 1
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert WHY in line


def test_epoll_asked_for_is_no_shortfall(engine: Engine, url: str) -> None:
    done = load(engine, url, "--poller", "epoll", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["poller"] == "epoll"
    assert WHY not in done.stdout
