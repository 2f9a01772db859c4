"""Client drivers: programs around client libraries, run by their contract.

Knows the contract's command line and its lines of JSON; must not know what is compared with what.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, Self

from hdrh.histogram import HdrHistogram
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from wiretrial import launch
from wiretrial.closing import last_words
from wiretrial.errors import SubjectFailed
from wiretrial.plan import HttpVersion
from wiretrial.subjects.build import Build
from wiretrial.subjects.spec import ConfigurationName, Mode, Subject, fill

SCHEMA: Final = "wiretrial-driver"
LARGEST_OUTPUT = 16 << 20
"""A driver that says more is ended: a line of a repetition has a few kilobytes."""
HIGHEST_NS = 60_000_000_000
SIGNIFICANT_DIGITS = 3


@dataclass(frozen=True)
class Job:
    """What a driver is asked to do."""

    url: str
    payload: int
    """Bytes of each message; 0: a GET, where the protocol has one."""
    mode: Mode
    iterations: int
    warmup: int = 0
    repetitions: int = 1
    authority: Path | None = None
    """What vouches for the server; None without TLS."""
    expect: Path | None = None
    """A file with the right content of the reply to a GET."""
    timeout_s: float = 10.0
    """Bound of one iteration."""
    http: HttpVersion = "1.1"

    def flags(self) -> list[str]:
        """The job as a driver's command line says it."""
        flags = ["--url", self.url, "--payload", str(self.payload), "--mode", self.mode]
        flags += ["--warmup", str(self.warmup), "--iterations", str(self.iterations)]
        flags += ["--repetitions", str(self.repetitions), "--timeout", f"{self.timeout_s:g}"]
        if self.http != "1.1":
            flags += ["--http", self.http]
        if self.authority:
            flags += ["--cacert", str(self.authority)]
        if self.expect:
            flags += ["--expect", str(self.expect)]
        return flags


class Repetition(BaseModel):
    """What a driver tells of one repetition. Times are nanoseconds."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    schema_name: Literal["wiretrial-driver"] = Field(alias="schema")
    version: Literal[1]
    library: str = Field(min_length=1)
    repetition: int = Field(ge=0)
    mode: Mode
    iterations: int = Field(ge=1)
    errors: int = Field(ge=0)
    first_error: str | None
    connections: int | None = Field(ge=0)
    """Connections opened for it, where the library tells."""
    wall_ns: int = Field(gt=0)
    cpu_user_ns: int = Field(ge=0)
    cpu_system_ns: int = Field(ge=0)
    histogram: str
    """Round trips: HdrHistogram V2, compressed, base64."""

    @field_validator("histogram")
    @classmethod
    def _readable(cls, text: str) -> str:
        try:
            _decode(text)
        except Exception as error:  # Whatever the decoder stumbles over.
            raise ValueError(f"no HdrHistogram V2 payload ({error})") from error
        return text

    @cached_property
    def round_trips(self) -> HdrHistogram:
        """The histogram, decoded."""
        return _decode(self.histogram)


@dataclass(frozen=True)
class Ended:
    """How a driver's process went."""

    status: int | None
    """Exit status, or a signal's number below zero; None: it was ended at its deadline."""
    output: str
    errors: str
    elapsed_ns: int

    def last_words(self) -> str:
        """The last line on its standard error, or else of its output."""
        return last_words(self.errors) or last_words(self.output) or "it said nothing"


class Driver:
    """A client library's driver in one configuration."""

    def __init__(
        self,
        subject: Subject,
        build: Build,
        configuration: ConfigurationName,
        *,
        engine: Path,
        cpus: Sequence[int] = (),
    ) -> None:
        self.name = subject.spec.name
        self._cpus = tuple(cpus)
        self._configuration = subject.configuration(configuration)
        self._source = subject.folder
        self._values = {
            "source": str(subject.folder),
            "build": str(build.folder),
            "prefix": build.prefix,
            "engine": str(engine),
            "cpus": ",".join(str(cpu) for cpu in cpus),
        }

    def run(self, job: Job, deadline_s: float) -> tuple[Repetition, ...]:
        """Does the job. Raises `SubjectFailed` unless every repetition was told of properly."""
        return self.told(job, self.execute(job, deadline_s), deadline_s)

    def told(self, job: Job, ended: Ended, deadline_s: float) -> tuple[Repetition, ...]:
        """The repetitions of a driver that ended well. Raises `SubjectFailed` for any other."""
        if ended.status is None:
            raise self._failed(f"did not end in {deadline_s:g} s", ended)
        if ended.status < 0:
            raise self._failed(f"ended by {signal.Signals(-ended.status).name}", ended)
        if ended.status > 0:
            raise self._failed(f"ended with {ended.status}", ended)
        return self.repetitions(job, ended)

    def repetitions(self, job: Job, ended: Ended) -> tuple[Repetition, ...]:
        """What the driver told of its repetitions; raises where that is not what was asked for."""
        lines = ended.output.splitlines()
        try:
            told = tuple(Repetition.model_validate_json(line) for line in lines)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "line"
            raise self._failed(f"wrote a line out of contract ({where}: {first['msg']})") from error
        numbers = [one.repetition for one in told]
        if numbers != list(range(job.repetitions)):
            raise self._failed(f"told of the repetitions {numbers}, not of {job.repetitions}")
        for one in told:
            if one.mode != job.mode or one.iterations != job.iterations:
                raise self._failed(
                    f"did {one.iterations} iterations {one.mode}, not {job.iterations} {job.mode}"
                )
            recorded = int(one.round_trips.get_total_count())
            if recorded != one.iterations - one.errors:
                raise self._failed(
                    f"recorded {recorded} round trips of {one.iterations} iterations with"
                    f" {one.errors} errors"
                )
            if (one.first_error is None) != (one.errors == 0):
                raise self._failed(f"counted {one.errors} errors, the first {one.first_error!r}")
        return told

    def execute(self, job: Job, deadline_s: float) -> Ended:
        """Runs the driver to its end, or to the deadline; leaves nothing of it running."""
        with self.start(job, deadline_s) as running:
            for _ in running:
                pass
        return running.ended()

    def start(self, job: Job, deadline_s: float) -> Running:
        """The driver at work, for whoever looks on."""
        with contextlib.ExitStack() as stack:
            run = stack.enter_context(tempfile.TemporaryDirectory(prefix=f"wiretrial-{self.name}-"))
            folder = Path(run)
            values = {**self._values, "run": run}
            for name, source in self._configuration.files.items():
                text = (self._source / source).read_text(encoding="utf-8")
                (folder / name).write_text(fill(text, values), encoding="utf-8")
            command = [fill(word, values) for word in self._configuration.command]
            running = Running([*command, *job.flags()], folder, self._cpus, deadline_s)
            running.forget = stack.pop_all().close
            return running

    def _failed(self, what: str, ended: Ended | None = None) -> SubjectFailed:
        words = f" ({ended.last_words()})" if ended else ""
        return SubjectFailed(
            f"the driver {self.name} {what}{words}", f"see `wiretrial subject verify {self.name}`"
        )


class Running:
    """A driver at work. A context manager: leaving it leaves nothing of it running.

    Iterate for the instants, on our monotonic clock, at which its lines came; it ends with the
    driver, or at the deadline.
    """

    def __init__(
        self, command: Sequence[str], folder: Path, cpus: Sequence[int], deadline_s: float
    ) -> None:
        self.forget: Callable[[], None] = lambda: None
        """Called when it has ended."""
        self._began = time.monotonic_ns()
        self._deadline = self._began + round(deadline_s * 1e9)
        self._process = subprocess.Popen(
            launch.command_line(command, cpus=cpus, death_signal=signal.SIGKILL),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.pid = self._process.pid
        self._pidfd = os.pidfd_open(self.pid)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._streams = (self._process.stdout, self._process.stderr)
        for stream in self._streams:
            os.set_blocking(stream.fileno(), False)
        self._output, self._errors = (_Pipe(stream.fileno()) for stream in self._streams)
        self._ended: Ended | None = None
        self._in_time = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # Its first process is not reaped yet, so the group's number is still its own.
        os.killpg(self.pid, signal.SIGKILL)
        status = self._process.wait()
        elapsed_ns = time.monotonic_ns() - self._began
        os.close(self._pidfd)
        for pipe in (self._output, self._errors):
            while pipe.take():
                pass
        for stream in self._streams:
            stream.close()
        self.forget()
        self._ended = Ended(
            status=status if self._in_time else None,
            output=self._output.text,
            errors=self._errors.text,
            elapsed_ns=elapsed_ns,
        )

    def __iter__(self) -> Iterator[int]:
        pipes = {pipe.descriptor: pipe for pipe in (self._output, self._errors)}
        lines = 0
        with selectors.DefaultSelector() as selector:
            for descriptor in (self._pidfd, *pipes):
                selector.register(descriptor, selectors.EVENT_READ)
            while not self._in_time:
                left_s = (self._deadline - time.monotonic_ns()) / 1e9
                ready = [key.fd for key, _ in selector.select(max(left_s, 0))]
                at_ns = time.monotonic_ns()
                for descriptor in ready:
                    if descriptor in pipes and not pipes[descriptor].take():
                        selector.unregister(descriptor)
                # The last line and the end may come at once.
                self._in_time = self._pidfd in ready
                while self._in_time and self._output.take():
                    pass
                for _ in range(lines, self._output.lines):
                    yield at_ns
                lines = self._output.lines
                said = sum(pipe.size for pipe in pipes.values())
                if left_s <= 0 or said > LARGEST_OUTPUT:
                    return

    def ended(self) -> Ended:
        """How it went; known when it was left."""
        assert self._ended is not None
        return self._ended


class _Pipe:
    """What came through a pipe so far."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.lines = 0
        self._said = bytearray()

    @property
    def size(self) -> int:
        return len(self._said)

    @property
    def text(self) -> str:
        return bytes(self._said).decode(errors="replace")

    def take(self) -> bool:
        """Reads once; False where there is nothing more for now, or at all, or too much already."""
        if len(self._said) > LARGEST_OUTPUT:
            return False
        try:
            piece = os.read(self.descriptor, 65_536)
        except BlockingIOError:
            return False
        self._said += piece
        self.lines += piece.count(b"\n")
        return bool(piece)


def _decode(text: str) -> HdrHistogram:
    histogram = HdrHistogram(1, HIGHEST_NS, SIGNIFICANT_DIGITS)
    histogram.decode_and_add(text)
    return histogram
