"""A simulated agent's engine: what a real one told once, told again at the instants of another run.

It costs its host next to nothing, so that hundreds of agents fit beside those who lead them. What
reaches the coordinator is in number, size and time what real engines would send.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wiretrial.closing import Closing
from wiretrial.engine import EngineRun
from wiretrial.errors import EngineFailed
from wiretrial.plan import Plan

INSTANTS = ("first_send_ns", "measure_start_ns", "measure_end_ns", "end_ns")


def record(binary: Path, plan: Plan, file: Path) -> None:
    """Runs the plan once with a real engine, and keeps its lines."""
    with EngineRun(binary, plan) as run:
        file.write_bytes(b"".join(run.lines()))


class Replay(Closing):
    """Takes the place of `EngineRun` in an agent."""

    def __init__(self, file: Path, plan: Plan) -> None:
        assert plan.share is not None
        assert plan.share.start_monotonic_ns is not None
        self._told: list[dict[str, Any]] = [
            json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()
        ]
        self._origin_ns = plan.share.start_monotonic_ns
        self._interval_ns = plan.phases.interval_ns
        self._changed = threading.Condition()
        self._begin_ns: int | None = None
        self._cut = False

    def lines(self) -> Iterator[bytes]:
        """The recorded run, its load moved to where this one begins."""
        start, *rest = self._told
        yield _line(start)
        yield _line({"kind": "connected", "at_ns": time.monotonic_ns() - self._origin_ns})
        intervals = [one for one in rest if one["kind"] == "interval"]
        connecting = [one for one in intervals if one["phase"] == "connect"]
        yield from self._connect(connecting[-1])
        if self._cut:
            return
        assert self._begin_ns is not None
        moved_ns = self._begin_ns - connecting[-1]["end_ns"]
        for one in intervals[len(connecting) :]:
            start_ns, end_ns = one["start_ns"] + moved_ns, one["end_ns"] + moved_ns
            if not self._wait(end_ns):
                return
            index = start_ns // self._interval_ns
            yield _line({**one, "index": index, "start_ns": start_ns, "end_ns": end_ns})
        summary = rest[-1]
        yield _line({**summary, **{name: summary[name] + moved_ns for name in INSTANTS}})

    def begin(self, offset_ns: int) -> None:
        """Says when the load begins."""
        with self._changed:
            self._begin_ns = offset_ns
            self._changed.notify_all()

    def stop(self) -> None:
        """Simulated loads end by themselves, or at once."""
        self.kill()

    def kill(self) -> None:
        """Ends it at once."""
        with self._changed:
            self._cut = True
            self._changed.notify_all()

    def close(self) -> None:
        """Nothing runs."""
        self.kill()

    def death(self) -> EngineFailed:
        """Why there is no summary."""
        return EngineFailed("the simulated engine was ended")

    def _connect(self, like: dict[str, Any]) -> Iterator[bytes]:
        """Intervals until the load begins."""
        index = 0
        while self._begin_ns is None or index * self._interval_ns < self._begin_ns:
            start_ns, end_ns = index * self._interval_ns, (index + 1) * self._interval_ns
            if not self._wait(end_ns):
                return
            yield _line({**like, "index": index, "start_ns": start_ns, "end_ns": end_ns})
            index += 1

    def _wait(self, offset_ns: int) -> bool:
        """Waits for an instant of the run; whether it still goes on."""
        left_s = (self._origin_ns + offset_ns - time.monotonic_ns()) / 1e9
        with self._changed:
            self._changed.wait_for(lambda: self._cut, timeout=max(0.0, left_s))
            return not self._cut


def _line(snapshot: dict[str, Any]) -> bytes:
    # The kind goes first, as the engine has it.
    return (
        json.dumps({"kind": snapshot["kind"], **snapshot}, separators=(",", ":")).encode() + b"\n"
    )
