"""Watches a host by `wiretrial-engine observe`: marks go in, its counters come out.

Knows the observer's command line, its pipes and when its answers come; must not know on which host
it runs: the program is given.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from wiretrial.closing import Closing
from wiretrial.errors import ObserverFailed
from wiretrial.observation import OBSERVATION, Sample, Start
from wiretrial.observers.program import Program
from wiretrial.observers.readings import Answer, Sought, Taking
from wiretrial.observers.watch import SHORTEST_INTERVAL_NS, Watched

CLOCK_MARKS: Final = 4
"""Questions at the begin and at the end, where another clock has to be laid on ours."""
CLOCK: Final = "clock"
START_LIMIT_S: Final = 15.0
"""For the first counters, once the program runs."""
ANSWER_LIMIT_S: Final = 5.0
END_LIMIT_S: Final = 10.0


class ObserveWatch(Closing):
    """One host, and the parts on it that are sought. See `watch.Watch` for the order of calls.

    `program` runs the observer, and ends with the watch. `every_ns`: time between two samples.
    `is_here`: it is this machine, whose clock is ours, and which sends.
    """

    def __init__(
        self,
        place: str,
        program: Program,
        sought: Sequence[Sought],
        *,
        is_here: bool,
        every_ns: int = SHORTEST_INTERVAL_NS,
        start_limit_s: float = START_LIMIT_S,
    ) -> None:
        self.place = place
        self._sought = tuple(sought)
        self._program = program
        self._is_here = is_here
        self._every_ns = every_ns
        self._start_limit_s = start_limit_s
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._news = threading.Condition()
        self._asked: list[_Order] = []
        self._taking: Taking | None = None
        self._answered = -1
        """The last question that an answer came to: they come in order."""
        self._over = False
        self._is_whole = False
        """It told its last counters because it was asked to end."""
        self._problem: str | None = None

    def start(self) -> None:
        """Begins, and waits for the first counters."""
        self._process = self._program.begin(self._words())
        self._reader = threading.Thread(target=self._read, name="observe", daemon=True)
        self._reader.start()
        if not self._until(self._has_begun, self._start_limit_s):
            why = self._why_ended() if self._over else "no counters came in time"
            raise ObserverFailed(
                f"{self.place} can't be watched: {why}",
                "" if ";" in why else "check that it runs, and that its address is right",
            )
        self._tell_clock()

    def mark(self, name: str) -> None:
        """Asks for all counters, and for memory that is costly to read."""
        self._ask(name)

    def stop(self) -> Watched:
        """The last counters, and everything before them."""
        if self._process is None:
            return Watched(self.place, "observe", (), failed="it was not started")
        if not self._over:
            self._tell_clock()
            self._say("stop\n")
            assert self._process.stdin is not None
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        if not self._until(lambda: self._over, END_LIMIT_S):
            self._problem = f"it did not answer for {END_LIMIT_S:g} s"
        failed = self._problem or (None if self._is_whole else self._why_ended())
        self.close()
        if self._taking is None:
            return Watched(self.place, "observe", (), failed=failed or "it told nothing")
        return self._taking.watched(
            self.place, is_here=self._is_here, failed=failed, own_boot=_boot_id()
        )

    def close(self) -> None:
        """Leaves nothing running."""
        process = self._process
        if process is not None:
            if process.poll() is None:
                process.kill()
            process.wait()
            if self._reader is not None:
                self._reader.join()
            for stream in (process.stdin, process.stdout):
                assert stream is not None
                with contextlib.suppress(OSError):
                    stream.close()
        self._program.close()

    def _words(self) -> list[str]:
        """Parts are numbered there: their names may have what its options don't take."""
        words = ["observe", "--interval", f"{self._every_ns // 1_000_000}ms"]
        for number, one in enumerate(self._sought):
            if one.pid is not None:
                words += ["--pid", f"{number}={one.pid}"]
            else:
                words += ["--cgroup", f"{number}={one.cgroup}"]
        return words if self._sought else [*words, "--host"]

    def _tell_clock(self) -> None:
        """Asks a few times, one after the other, where its clock is not ours."""
        if self._is_here:
            return
        for _ in range(CLOCK_MARKS):
            if not self._is_answered(self._ask(CLOCK)):
                return

    def _ask(self, name: str) -> int:
        """The number of the question."""
        number = len(self._asked)
        self._asked.append(_Order(name, time.monotonic_ns()))
        self._say(f"mark {number}\n")
        return number

    def _is_answered(self, number: int) -> bool:
        """Waits for the answer to a question; whether it came."""
        return self._until(lambda: self._answered >= number, ANSWER_LIMIT_S)

    def _has_begun(self) -> bool:
        return self._taking is not None and self._taking.has_begun

    def _say(self, line: str) -> None:
        process = self._process
        if process is None or process.stdin is None:
            return
        # An observer that is gone says why where it is read.
        with contextlib.suppress(OSError, ValueError):
            process.stdin.write(line.encode())
            process.stdin.flush()

    def _read(self) -> None:
        """Takes what comes until nothing more does; runs in a thread of its own."""
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._take(line, time.monotonic_ns())
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            self._problem = f"it wrote a line that can't be read ({where}: {first['msg']})"
        with self._news:
            self._over = True
            self._news.notify_all()

    def _take(self, line: bytes, heard_ns: int) -> None:
        found = OBSERVATION.validate_json(line)
        with self._news:
            if isinstance(found, Start):
                self._taking = Taking(found, self._sought)
            elif self._taking is not None:
                self._taking.take(found, self._answer(found, heard_ns))
                self._is_whole = found.end == "input"
            self._news.notify_all()

    def _answer(self, sample: Sample, heard_ns: int) -> Answer | None:
        """The question that a sample answers; None: it was due."""
        number = int(sample.mark) if sample.mark and sample.mark.isdigit() else len(self._asked)
        if number >= len(self._asked):
            return None
        self._answered = number
        return Answer(self._asked[number].name, self._asked[number].asked_ns, heard_ns)

    def _until(self, holds: Callable[[], bool], limit_s: float) -> bool:
        """Waits for news until it holds; no use once the observer has ended."""
        with self._news:
            self._news.wait_for(lambda: holds() or self._over, limit_s)
            return holds()

    def _why_ended(self) -> str:
        """In its own words, or by how it ended."""
        if self._problem:
            return self._problem
        process = self._process
        assert process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_LIMIT_S)
        process.kill()
        status = process.wait()
        return self._program.why_ended(status)


def _boot_id() -> str | None:
    """The name of this start of our kernel: a host that tells the same is this machine."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return None


@dataclass(frozen=True)
class _Order:
    """What was asked, and when."""

    name: str
    asked_ns: int
