"""The loop of a client driver: warm-up, repetitions, a line of JSON for each.

Knows the clock, the histogram and the contract in subjects/_contract/README.md; must not know any
library.
"""

from __future__ import annotations

import asyncio
import json
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from driver_options import Options, read_options
from hdrh.histogram import HdrHistogram

LONGEST_NS = 60_000_000_000
MOST_FAILURES_IN_A_ROW = 10

Deadline = Callable[[float], AbstractAsyncContextManager[object]]
"""Bounds what is done within it by seconds, with a TimeoutError."""


class Client(Protocol):
    """A library's client, with one exchange in flight."""

    @property
    def opened(self) -> int:
        """Connections that it opened so far."""

    async def open(self) -> None:
        """Connects, where the library can do so without a request."""

    async def exchange(self, message: bytes) -> bytes:
        """Sends the message and returns the content of the reply."""

    async def close(self) -> None:
        """Ends the connection in order."""


MakeClient = Callable[[Options], Client]


class WrongReply(Exception):
    """The reply is not what was expected."""


def drive(
    name: str,
    library: str,
    schemes: Sequence[str],
    make_client: MakeClient,
    *,
    deadline: Deadline = asyncio.timeout,
    tuned_loop: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> None:
    """Runs the driver as the command line says, and ends the process as the contract says.

    `tuned_loop` makes the event loop of the tuned configuration, where it has one of its own.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    options = read_options(name, library, schemes, sys.argv[1:])
    driver = _Driver(options, library, make_client, deadline)
    try:
        with asyncio.Runner(loop_factory=tuned_loop if options.tuned else None) as runner:
            runner.run(driver.run())
    except _GoesNoFurther as error:
        sys.exit(f"{name}: {error}")


class _GoesNoFurther(Exception):
    """Too many failures in a row."""


class _Driver:
    def __init__(
        self, options: Options, library: str, make_client: MakeClient, deadline: Deadline
    ) -> None:
        self._options = options
        self._library = library
        self._make_client = make_client
        self._deadline = deadline
        self._client: Client | None = None
        self._opened = 0
        self._failures_in_a_row = 0

    async def run(self) -> None:
        options = self._options
        # A kept connection stands before the clock starts: the first exchange is never recorded.
        discarded = _Recording()
        for _ in range(max(options.warmup, 1) if options.kept else options.warmup):
            await self._iterate(discarded)
        for repetition in range(options.repetitions):
            print(json.dumps(await self._repeat(repetition)), flush=True)
        await self._disconnect()

    async def _repeat(self, repetition: int) -> dict[str, Any]:
        recording = _Recording()
        kept_from_before = 1 if self._client else 0
        opened = self._opened + (self._client.opened if self._client else 0)
        cpu = resource.getrusage(resource.RUSAGE_SELF)
        start = time.perf_counter_ns()
        for _ in range(self._options.iterations):
            await self._iterate(recording)
        wall_ns = time.perf_counter_ns() - start
        cpu_end = resource.getrusage(resource.RUSAGE_SELF)
        opened = self._opened + (self._client.opened if self._client else 0) - opened
        return {
            "schema": "wiretrial-driver",
            "version": 1,
            "library": self._library,
            "repetition": repetition,
            "mode": "kept" if self._options.kept else "fresh",
            "iterations": self._options.iterations,
            "errors": recording.errors,
            "first_error": recording.first_error,
            "connections": kept_from_before + opened,
            "wall_ns": wall_ns,
            "cpu_user_ns": round((cpu_end.ru_utime - cpu.ru_utime) * 1e9),
            "cpu_system_ns": round((cpu_end.ru_stime - cpu.ru_stime) * 1e9),
            "histogram": recording.histogram.encode().decode(),
        }

    async def _iterate(self, recording: _Recording) -> None:
        try:
            async with self._deadline(self._options.timeout):
                recording.succeeded(await self._exchange())
            self._failures_in_a_row = 0
        except Exception as error:  # noqa: BLE001 - each library has its own, and each counts
            said = self._words(error)
            recording.failed(said)
            await self._disconnect()
            self._count_failure(said)
        if not self._options.kept:
            await self._disconnect()

    async def _exchange(self) -> int:
        """Nanoseconds of a verified exchange, and of its connection where there is none yet."""
        start = time.perf_counter_ns()
        client = self._client
        if client is None:
            client = self._client = self._make_client(self._options)
            await client.open()
        reply = await client.exchange(self._options.message)
        if reply != self._options.expected:
            raise WrongReply(_difference(reply, self._options.expected))
        return time.perf_counter_ns() - start

    async def _disconnect(self) -> None:
        """What goes wrong now is no failure of the exchange before."""
        client, self._client = self._client, None
        if client is None:
            return
        self._opened += client.opened
        try:
            async with self._deadline(self._options.timeout):
                await client.close()
        except Exception:  # noqa: BLE001 - a connection that is given up has nothing to tell
            return

    def _count_failure(self, said: str) -> None:
        self._failures_in_a_row += 1
        if self._failures_in_a_row == MOST_FAILURES_IN_A_ROW:
            raise _GoesNoFurther(f"{MOST_FAILURES_IN_A_ROW} failures in a row; the last: {said}")

    def _words(self, error: Exception) -> str:
        if isinstance(error, TimeoutError) and not str(error):
            return f"no reply within {self._options.timeout:g} s"
        said = "; ".join(line.strip() for line in str(error).splitlines() if line.strip())
        return said or type(error).__name__


class _Recording:
    """What one repetition found."""

    def __init__(self) -> None:
        self.histogram = HdrHistogram(1, LONGEST_NS, 3)
        self.errors = 0
        self.first_error: str | None = None

    def succeeded(self, elapsed_ns: int) -> None:
        self.histogram.record_value(min(elapsed_ns, LONGEST_NS))

    def failed(self, said: str) -> None:
        self.errors += 1
        self.first_error = self.first_error or said


def _difference(reply: bytes, expected: bytes) -> str:
    if len(reply) != len(expected):
        return f"wrong reply: {len(reply)} bytes instead of {len(expected)}"
    pairs = enumerate(zip(reply, expected, strict=True))
    at, (found, right) = next((at, pair) for at, pair in pairs if pair[0] != pair[1])
    return f"wrong reply: byte {at} is {found} instead of {right}"
