"""What one trial measured, within its window.

Knows a trial's record and how to reduce it to figures; must not know other trials. Times are
nanoseconds, figures per message are per verified reply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from wiretrial.results import hdr
from wiretrial.results.model import Trial
from wiretrial.snapshot import Interval, Summary


@dataclass(frozen=True)
class Measured:
    """The figures of one trial. Those that cannot be told are None."""

    trial: Trial

    @property
    def is_usable(self) -> bool:
        """Whether its figures may enter an estimate; a client-bound rate does, as a lower bound."""
        return self.trial.judgement.verdict in ("valid", "client-bound")

    @property
    def is_open_loop(self) -> bool:
        """Whether messages were due at instants that no reply moves."""
        return self.trial.plan.load.executor.kind == "open"

    @cached_property
    def is_whole(self) -> bool:
        """Whether nothing is cut from the run, so that its totals are the best figures."""
        summary, window = self.trial.summary, self.trial.window
        return window.start_ns <= summary.first_send_ns and window.end_ns >= summary.measure_end_ns

    @cached_property
    def counted(self) -> tuple[Interval, ...]:
        """The intervals that count: they lie in the window, and none was disturbed.

        Where all were, all count: the trial carries a warning.
        """
        window = self.trial.window
        inside = tuple(
            interval
            for interval in self.trial.intervals
            if interval.start_ns >= window.start_ns and interval.end_ns <= window.end_ns
        )
        return tuple(interval for interval in inside if not interval.disturbed) or inside

    @cached_property
    def counted_ns(self) -> int:
        """Length of what counts."""
        if self._from_totals:
            return self.trial.summary.measure_end_ns - self.trial.summary.first_send_ns
        return sum(interval.end_ns - interval.start_ns for interval in self.counted)

    @cached_property
    def ok(self) -> int:
        """Verified replies in what counts."""
        return sum(part.counters.ok for part in self._parts)

    @cached_property
    def throughput(self) -> float | None:
        """Verified replies per second."""
        return _per_second(self.ok, self.counted_ns)

    @cached_property
    def rate(self) -> float | None:
        """Messages sent per second."""
        return _per_second(sum(part.counters.sent for part in self._parts), self.counted_ns)

    @cached_property
    def service_time(self) -> hdr.Hdr:
        """done - sent."""
        return self._histogram("service_time")

    @cached_property
    def response_time(self) -> hdr.Hdr:
        """done - due; open loop only."""
        return self._histogram("response_time")

    @cached_property
    def pacing_lag(self) -> hdr.Hdr:
        """sent - due; open loop only."""
        return self._histogram("pacing_lag")

    @cached_property
    def connect_time(self) -> hdr.Hdr:
        """TCP established - connect, of the whole run: most connections stand before the window."""
        text = self.trial.summary.histograms.get("connect_time")
        return hdr.merge(() if text is None else (text,))

    @property
    def waiting_time(self) -> hdr.Hdr:
        """Response time of an open loop, service time of a closed one."""
        return self.response_time if self.is_open_loop else self.service_time

    @cached_property
    def generator_ns(self) -> float | None:
        """The generator's CPU time per message."""
        cpu = sum(p.generator.cpu_user_ns + p.generator.cpu_system_ns for p in self._parts)
        return self._per_message(cpu)

    @cached_property
    def server_user_ns(self) -> float | None:
        """The subject's user CPU time per message."""
        return self._server(lambda sample: sample.cpu_user_ns)

    @cached_property
    def server_system_ns(self) -> float | None:
        """The subject's system CPU time per message."""
        return self._server(lambda sample: sample.cpu_system_ns)

    @cached_property
    def server_ns(self) -> float | None:
        """The subject's CPU time per message."""
        user, system = self.server_user_ns, self.server_system_ns
        return None if user is None or system is None else (user + system) or None

    @cached_property
    def application_bytes(self) -> float | None:
        """Protocol bytes sent and received per message, inside TLS."""
        total = sum(p.bytes.application_sent + p.bytes.application_received for p in self._parts)
        return self._per_message(total)

    @cached_property
    def transport_bytes(self) -> float | None:
        """Bytes to and from the kernel per message: TCP payload."""
        return self._per_message(sum(p.bytes.sent + p.bytes.received for p in self._parts))

    @property
    def sent_bytes(self) -> float | None:
        """Bytes handed to the kernel per message."""
        return self._per_message(sum(p.bytes.sent for p in self._parts))

    @property
    def received_bytes(self) -> float | None:
        """Bytes got from the kernel per message."""
        return self._per_message(sum(p.bytes.received for p in self._parts))

    @property
    def _from_totals(self) -> bool:
        return self.is_whole or not self.counted

    @property
    def _parts(self) -> tuple[Interval | Summary, ...]:
        """What the figures are summed over: the intervals that count, or the run as a whole."""
        return (self.trial.summary,) if self._from_totals else self.counted

    def _per_message(self, total: float) -> float | None:
        return total / self.ok if self.ok and total else None

    def _histogram(self, metric: str) -> hdr.Hdr:
        """The metric over what counts, and over the drain where the window ends with the load.

        What was sent in the window and came back late counts too, or stalls would be lost.
        """
        summary = self.trial.summary
        parts = self._parts
        if not self._from_totals and self.trial.window.end_ns >= summary.measure_end_ns:
            last = self.counted[-1].end_ns
            late = (i for i in self.trial.intervals if i.start_ns >= last and not i.disturbed)
            parts = (*parts, *late)
        return hdr.merge(p.histograms[metric] for p in parts if metric in p.histograms)

    def _server(self, reading: Callable[..., int]) -> float | None:
        """Growth of a cumulative reading per message, over what window and samples share."""
        samples, intervals = self.trial.subject_samples, self.trial.intervals
        if len(samples) < 2 or not intervals:
            return None
        start = max(self.trial.window.start_ns, samples[0].offset_ns)
        end = min(self.trial.window.end_ns, samples[-1].offset_ns)
        if end <= start:
            return None
        cpu = [(sample.offset_ns, float(reading(sample))) for sample in samples]
        replies = list(accumulate((i.counters.ok for i in intervals), initial=0))
        edges = [intervals[0].start_ns, *(i.end_ns for i in intervals)]
        curve = [(edge, float(n)) for edge, n in zip(edges, replies, strict=True)]
        messages = _at(curve, end) - _at(curve, start)
        return (_at(cpu, end) - _at(cpu, start)) / messages if messages > 0 else None


def _per_second(count: int, duration_ns: int) -> float | None:
    return count * 1e9 / duration_ns if duration_ns > 0 else None


def _at(curve: Sequence[tuple[int, float]], x: int) -> float:
    """The curve's value at `x`, linear between its points, constant outside."""
    if x <= curve[0][0]:
        return curve[0][1]
    for (x0, y0), (x1, y1) in pairwise(curve):
        if x <= x1:
            return y1 if x1 == x0 else y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return curve[-1][1]
