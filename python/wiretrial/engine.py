"""Finds the engine, gives it a plan, yields its snapshots, or the exchanges of one that asks.

Knows the engine's command line and the documents of the seam; must not know what a plan is for
or what becomes of a snapshot.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from wiretrial import __version__, launch
from wiretrial.closing import Closing, last_words
from wiretrial.errors import EXIT_FAILED, EngineFailed, LimitsTooLow, TargetNotReady
from wiretrial.exchange import TOLD, Ended, Exchange
from wiretrial.plan import Plan
from wiretrial.snapshot import SNAPSHOT, Failure, Interval, Snapshot, Start

BINARY = "wiretrial-engine"
ENVIRONMENT = "WIRETRIAL_ENGINE"
_Line = TypeVar("_Line")

LIMITS = "preflight"
"""Class of a failure for want of something that so many connections need."""
OURS = ("plan", LIMITS, "interrupted", "client", "system", "feed")
"""Classes of failures that say nothing of the target."""


class Engine:
    """A checked engine binary."""

    server_host: str | None = None
    """Where a server of ours must listen to be reached by it; None: over loopback."""

    def __init__(self, binary: Path) -> None:
        self.binary = binary

    @classmethod
    def find(cls) -> Engine:
        """The engine that belongs to this laboratory."""
        binary = _locate()
        found = engine_version(binary)
        if found != __version__:
            raise EngineFailed(
                f"the engine at {binary} is version {found}, the laboratory is {__version__}",
                f"install both from one release, or point {ENVIRONMENT} at engine {__version__}",
            )
        return cls(binary)

    def run(self, plan: Plan) -> Run:
        """Starts a run. Iterate over it for its snapshots; use it as a context manager."""
        return EngineRun(self.binary, plan)

    def schema(self, document: str) -> str:
        """The JSON Schema of `plan`, `snapshot`, `exchange` or `observation`."""
        return _output([str(self.binary), "schema", document])

    def check(self, plans: Sequence[Plan]) -> None:
        """Refuses the first plan that can't be run, with the reason. Nothing is sent."""
        said = "\n".join(plan.to_json() for plan in plans).encode()
        done = self._run([str(self.binary), "check"], said, 60)
        if done.returncode:
            fault = done.stderr.decode().strip().removeprefix(f"{BINARY}: ")
            raise EngineFailed(fault, exit_code=done.returncode)

    def ask(
        self,
        plan: Plan,
        *,
        sessions: int = 1,
        connections: int = 1,
        limit_s: float = 60,
        waits: bool = True,
    ) -> tuple[Exchange, ...]:
        """Sends what a plan says one by one, without load or think times; gives what came.

        `sessions` of each flow, in turn on so many connections. Where they take longer than
        `limit_s` in all, the last exchange is one that failed. `waits`: a server that refuses
        connections may be starting.
        """
        numbers = {"--sessions": sessions, "--connections": connections}
        flags = [word for name, number in numbers.items() for word in (name, str(number))]
        flags += ["--time-limit", f"{limit_s:f}s", *(() if waits else ("--no-wait",))]
        done = self._run(
            launch.command_line([str(self.binary), "ask", *flags], death_signal=signal.SIGKILL),
            plan.to_json().encode() + b"\n",
            limit_s + plan.phases.connect_ns / 1e9 + 60,
        )
        if done.returncode:
            fault = last_words(done.stderr.decode(errors="replace"))
            raise EngineFailed(fault.removeprefix(f"{BINARY}: "), exit_code=done.returncode)
        told = [_read(TOLD, line) for line in done.stdout.splitlines()]
        return tuple(one for one in told if not isinstance(one, Ended))

    def _run(
        self, command: Sequence[str], said: bytes, limit_s: float
    ) -> subprocess.CompletedProcess[bytes]:
        """What came of it; refuses an engine that can't be started, or does not come to an end."""
        try:
            return subprocess.run(
                command, input=said, capture_output=True, timeout=limit_s, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise EngineFailed(
                f"{self.binary} does not run ({error})", "reinstall wiretrial"
            ) from error


class Run(Protocol):
    """A load that runs, on this machine or on many. A context manager; iterate for snapshots."""

    plan: Plan
    begun_ns: int | None

    def __enter__(self) -> Run: ...

    def __exit__(self, *_: object) -> None: ...

    def __iter__(self) -> Iterator[Snapshot]: ...

    def stop(self) -> None:
        """Asks for a graceful end."""

    def close(self) -> None:
        """Leaves nothing running."""


class EngineRun(Closing):
    """One run of the engine, from start to its last snapshot."""

    def __init__(self, binary: Path, plan: Plan) -> None:
        self.plan = plan
        """What is run."""
        self.begun_ns: int | None = None
        """Our monotonic clock when the first snapshot came, taken as offset 0 of the run."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self._process = subprocess.Popen(
            launch.command_line([str(binary), "run"], death_signal=signal.SIGKILL),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # A session of its own: Ctrl-C reaches the engine through us, and only through us.
            start_new_session=True,
        )
        self._write(plan.to_json().encode() + b"\n")

    @property
    def pid(self) -> int:
        """The engine's process id."""
        return self._process.pid

    def __iter__(self) -> Iterator[Snapshot]:
        """The snapshots in order. A `Failure`, or an end without a summary, raises."""
        last: Snapshot | None = None
        before: Snapshot | None = None
        for line in self.lines():
            before, last = last, parse(line)
            if isinstance(last, Failure):
                if last.class_name == LIMITS:
                    raise LimitsTooLow(last.message)
                raise failed(last, before)
            if isinstance(last, Start):
                self.begun_ns = time.monotonic_ns()
            yield last
        if last is None or last.kind != "summary":
            raise self.death()

    def lines(self) -> Iterator[bytes]:
        """The snapshots as the engine writes them, unread; the last may be missing."""
        assert self._process.stdout is not None
        yield from self._process.stdout

    def begin(self, offset_ns: int) -> None:
        """Says when the load begins, where the plan waits for that."""
        self._write(f"begin {offset_ns}\n".encode())

    def stop(self) -> None:
        """Asks for a graceful end: the drain, then the summary of what was measured so far."""
        self._write(b"stop\n")

    def kill(self) -> None:
        """Ends it at once, whoever reads its lines."""
        self._process.kill()

    def death(self) -> EngineFailed:
        """How an engine that closed its output without a summary ended."""
        return self._died(self._process.wait())

    def close(self) -> None:
        """Leaves nothing running. Whoever wants a summary asks with `stop` and reads on."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        # An engine that is gone already says why on its own standard output.
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._process.stdin.write(data)
            self._process.stdin.flush()

    def _died(self, status: int) -> EngineFailed:
        self._errors.seek(0)
        last = last_words(self._errors.read().decode(errors="replace"))
        said = f" ({last})" if last else ""
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        return EngineFailed(
            f"the engine ended by {how} before its summary{said}",
            "look for an out-of-memory kill in the kernel's log"
            if status == -signal.SIGKILL
            else "",
            exit_code=status if status > 0 else EXIT_FAILED,
        )


@functools.cache
def engine_version(binary: Path) -> str:
    """What the binary calls its own version."""
    words = _output([str(binary), "--version"]).split()
    if len(words) != 2 or words[0] != BINARY:
        raise EngineFailed(f"{binary} is not {BINARY}", f"correct {ENVIRONMENT} or PATH")
    return words[1]


def _locate() -> Path:
    named = os.environ.get(ENVIRONMENT)
    if named:
        # Absolute: subjects are started in folders of their own.
        path = Path(named).absolute()
        if not os.access(path, os.X_OK) or path.is_dir():
            raise EngineFailed(f"{ENVIRONMENT} names {named}, which can't be run", "correct it")
        return path
    beside = [Path(sys.executable).parent / BINARY, Path(sys.argv[0]).resolve().parent / BINARY]
    for path in beside:
        if os.access(path, os.X_OK):
            return path
    on_path = shutil.which(BINARY)
    if on_path:
        return Path(on_path)
    raise EngineFailed(
        f"{BINARY} was not found beside {sys.executable} or on PATH",
        f"reinstall wiretrial, or set {ENVIRONMENT} to the binary",
    )


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise EngineFailed(f"{command[0]} does not run ({error})", "reinstall wiretrial") from error
    return done.stdout


def failed(told: Failure, before: Snapshot | None, *, of: str = "") -> EngineFailed:
    """What a run raises that could not begin or go on.

    `before`: the snapshot before it. `of`: whose engine it is, as a heading.
    """
    has_begun = isinstance(before, Interval) and before.phase != "connect"
    is_of_target = told.class_name not in OURS and not has_begun
    kind = TargetNotReady if is_of_target else EngineFailed
    return kind(f"{of}{told.message}", exit_code=told.exit_code)


def parse(line: bytes) -> Snapshot:
    """One line of the engine's output. Raises `EngineFailed` where it is none."""
    return _read(SNAPSHOT, line)


def _read(kind: TypeAdapter[_Line], line: bytes) -> _Line:
    try:
        return kind.validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise EngineFailed(
            f"the engine wrote a line that this laboratory can't read ({where}: {first['msg']})",
            "install both from one release",
        ) from error
