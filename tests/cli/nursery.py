"""Starts `wiretrial` again and again without importing it each time.

A process that has imported the command waits, and forks for each run: what runs is a process of its
own, with its own streams, folder, environment, signals and exit code, begun where a fresh
interpreter would be after its imports. Most runs of the tests are shorter than these.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import re
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from wiretrial.errors import EXIT_INVALID

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = ROOT / "wiretrial.data" / "scripts" / "wiretrial"

MODULES = (
    "wiretrial.cli.app",
    "wiretrial.cli.load",
    "wiretrial.cli.loading",
    "wiretrial.cli.compare",
    "wiretrial.cli.comparing",
    "wiretrial.cli.study",
    "wiretrial.cli.studying",
    "wiretrial.cli.limiting",
    "wiretrial.cli.reporting",
    "wiretrial.cli.gating",
    "wiretrial.cli.traffic",
    "wiretrial.cli.subject",
    "wiretrial.cli.results",
)
"""What most commands import; the rest is imported where it is run."""

OF_THE_START = ("PYTHON", "LANG", "LC_", "TZ", "OPENBLAS", "OMP")
"""Variables with these beginnings are read when an interpreter or a library starts."""
KEPT_AWAY = re.compile(r"generator\s+was\s+kept\s+from\s+running\s+in\s")
"""In what a load says that was void because it had no CPU."""
WRITING = frozenset({"-o", "--report", "--learn-to"})
"""Options of a load with which it writes a file."""
AGAIN = 2
MOST_BYTES = 1 << 18
"""Of a request: less than a socket takes at once."""


@dataclass(frozen=True)
class Nursery:
    """The process that forks."""

    channel: socket.socket
    environment: Mapping[str, str]

    def takes(self, environment: Mapping[str, str]) -> bool:
        """Whether a run with these variables is the same as one that is started anew."""
        names = {
            name
            for name in (*environment, *self.environment)
            if name.startswith(OF_THE_START) and name != "OPENBLAS_NUM_THREADS"
        }
        return all(environment.get(name) == self.environment.get(name) for name in names)

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        limit_s: float,
    ) -> subprocess.CompletedProcess[str]:
        """Runs the command to its end, as `subprocess.run` does."""
        line = [str(LAUNCHER), *arguments]
        request = {"line": line, "folder": str(folder), "environment": dict(environment)}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            told, telling = os.pipe()
            with os.fdopen(told, "rb", buffering=0) as told_by:
                fds = [out.fileno(), err.fileno(), telling]
                try:
                    socket.send_fds(self.channel, [json.dumps(request).encode()], fds)
                finally:
                    os.close(telling)
                code = _ended(told_by, line, limit_s)
            return subprocess.CompletedProcess(line, code, _text(out), _text(err))


def _ended(told: IO[bytes], line: list[str], limit_s: float) -> int:
    """The exit code; the first line of two is the process id."""
    said, until = b"", time.monotonic() + limit_s
    while said.count(b"\n") < 2:
        if not select.select([told], [], [], max(0.0, until - time.monotonic()))[0]:
            with contextlib.suppress(ValueError, ProcessLookupError):
                os.kill(int(said), signal.SIGKILL)
            raise subprocess.TimeoutExpired(line, limit_s)
        news = told.read(64)
        if not news:
            raise OSError(f"the nursery is gone: {' '.join(line)}")
        said += news
    return int(said.split()[1])


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n").replace("\r", "\n")


def ended(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], limit_s: float
) -> subprocess.CompletedProcess[str]:
    """`wiretrial` with these arguments, run to its end in the folder.

    A load that is short may meet other work on the machine in most of its intervals, and is void
    then. That is right, and not what a test asks: it is run again, `AGAIN` times at most.
    """
    # What a run has written a second one would find there.
    may_repeat = arguments[:1] == ("load",) and not WRITING.intersection(arguments)
    done = _once(arguments, folder, environment, limit_s)
    for _ in range(AGAIN if may_repeat else 0):
        if done.returncode != EXIT_INVALID or not KEPT_AWAY.search(done.stdout):
            break
        done = _once(arguments, folder, environment, limit_s)
    return done


def _once(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], limit_s: float
) -> subprocess.CompletedProcess[str]:
    kept = _nursery()
    if kept.takes(environment):
        return kept.run(arguments, folder, environment, limit_s)
    return subprocess.run(
        [sys.executable, str(LAUNCHER), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )


@cache
def _nursery() -> Nursery:
    """The one of this process."""
    python = {"PYTHONPATH": str(ROOT / "python"), "OPENBLAS_NUM_THREADS": "1"}
    environment = {**os.environ, **python}
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(theirs.fileno())],
            env=environment,
            pass_fds=[theirs.fileno()],
            stdout=subprocess.DEVNULL,
        )

    def close() -> None:
        ours.close()
        process.wait()

    atexit.register(close)
    return Nursery(ours, environment)


def _serve(channel: socket.socket) -> list[str] | None:
    """Forks for each request. In a process that is to run one, its line; None: it is over."""
    # Whoever watches a run is waited for by nobody.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, fds, _, _ = socket.recv_fds(channel, MOST_BYTES, 3)
        if not message:
            return None
        if os.fork() == 0:
            channel.close()
            return _become(json.loads(message), *fds)
        for descriptor in fds:
            os.close(descriptor)


def _become(request: dict[str, object], out: int, err: int, telling: int) -> list[str]:
    """Goes on in a child of ours as the run that is asked for; here it is waited for."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child:
        os.close(out)
        os.close(err)
        os.write(telling, f"{child}\n".encode())
        _, how = os.waitpid(child, 0)
        # Whoever gave it up for taking too long does not listen.
        with contextlib.suppress(BrokenPipeError):
            os.write(telling, f"{os.waitstatus_to_exitcode(how)}\n".encode())
        os._exit(0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    for descriptor in (out, err, telling):
        os.close(descriptor)
    os.chdir(str(request["folder"]))
    environment, line = request["environment"], request["line"]
    assert isinstance(environment, dict)
    assert isinstance(line, list)
    os.environ.clear()
    os.environ.update(environment)
    return line


if __name__ == "__main__":
    for module in MODULES:
        importlib.import_module(module)
    gc.collect()
    # What is there stays as it is: no page of it is copied for being counted.
    gc.freeze()
    line = _serve(socket.socket(fileno=int(sys.argv[1])))
    if line is not None:
        sys.argv = line
        sys.path.insert(0, str(Path(line[0]).parent))
        runpy.run_path(line[0], run_name="__main__")
