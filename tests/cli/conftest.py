"""The real command, started as a person starts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.nursery import LAUNCHER as LAUNCHER
from tests.cli.nursery import ROOT as ROOT
from tests.cli.nursery import ended
from wiretrial.engine import Engine

LIMIT_S = 120.0


class _Server(ThreadingHTTPServer):
    request_queue_size = 100


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], host: str = "127.0.0.1") -> Iterator[str]:
    """Runs an application of a test's own; its origin on loopback. An empty host: all addresses."""
    with _Server((host, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def address_in(ready: str) -> str:
    """HOST:PORT in the line that the reference server prints when it listens."""
    found = re.search(r"127\.0\.0\.1:\d+", ready)
    assert found, ready
    return found[0]


@pytest.fixture(scope="module")
def reference_url() -> Iterator[str]:
    """The reference server's, over HTTP."""
    with subprocess.Popen(
        [str(Engine.find().binary), "respond", "--http", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        yield f"http://{address_in(server.stdout.readline())}/"
        server.terminate()


Run = Callable[..., subprocess.CompletedProcess[str]]
Begin = Callable[..., int]


def command(*arguments: str) -> list[str]:
    """The command line of `wiretrial` with these arguments."""
    return [sys.executable, str(LAUNCHER), *arguments]


@pytest.fixture
def wiretrial(tmp_path: Path) -> Run:
    """Runs `wiretrial` to its end, in an empty folder."""

    def run(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        # The interpreter may not be on PATH, and what it finds must be this tree.
        python = {"PYTHONPATH": str(ROOT / "python"), "COLUMNS": "80", "NO_COLOR": "1"}
        return ended(arguments, tmp_path, {**os.environ, **python, **changes}, LIMIT_S)

    return run


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Starts an application of ours and returns its port; it is ended with the test."""
    running: list[subprocess.Popen[str]] = []

    def started(program: Path, *arguments: str) -> int:
        one = subprocess.Popen(
            [sys.executable, str(program), *arguments], stdout=subprocess.PIPE, text=True
        )
        running.append(one)
        assert one.stdout
        return int(one.stdout.readline())

    yield started
    for one in running:
        one.kill()
        one.wait()
