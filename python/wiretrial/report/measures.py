"""What one trial measured, within its window.

Knows a trial's record and how to reduce it to figures; must not know other trials. Times are
nanoseconds, figures per message are per verified reply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from wiretrial.plan import AfterResponse, OpenLoop
from wiretrial.report import cpus
from wiretrial.report.cpus import CpuShares
from wiretrial.report.link_bytes import link_bytes
from wiretrial.report.routes import Routed
from wiretrial.report.sums import total
from wiretrial.results import hdr, offered
from wiretrial.results.model import USABLE, ProcessSample, Trial
from wiretrial.results.observation import PerConnection
from wiretrial.snapshot import Generator, Interval, Summary

FEWEST_CONNECTIONS = 100
"""With fewer, a page of 4 KiB more or less is a great part of the memory per connection."""
LARGE_BYTES = 64 * 1024
"""From this size on, what a message costs is mostly its bytes."""


@dataclass(frozen=True)
class Measured:
    """The figures of one trial. Those that cannot be told are None."""

    trial: Trial

    @property
    def is_usable(self) -> bool:
        """Whether its figures may enter an estimate; a client-bound rate does, as a lower bound."""
        return self.trial.judgement.verdict in USABLE

    @property
    def is_overloaded(self) -> bool:
        """Whether the offered rate was not reached: its throughput is what the server can do, but
        its response times grow for as long as it lasts."""
        return self.trial.judgement.verdict == "overloaded"

    @property
    def failed_share(self) -> float | None:
        """Of the messages that were sent, the share that failed; None: none was sent."""
        counters = self.trial.summary.counters
        return sum(counters.errors.values()) / counters.sent if counters.sent else None

    @property
    def lost_share(self) -> float | None:
        """The same, and in an open loop those that still had no reply when the load had ended."""
        counters = self.trial.summary.counters
        if not counters.sent or not self.is_open_loop:
            return self.failed_share
        return (sum(counters.errors.values()) + counters.in_flight) / counters.sent

    @property
    def is_open_loop(self) -> bool:
        """Whether messages were due at instants that no reply moves."""
        return self.trial.plan.load.executor.kind == "open"

    @property
    def from_due(self) -> bool:
        """Whether times are response times, which count from the instant a message was due."""
        return self.trial.plan.load.times_from_due

    @property
    def is_driven(self) -> bool:
        """Whether a client library is the subject, and its driver sent the messages."""
        return self.trial.driven is not None

    @property
    def is_opening(self) -> bool:
        """Whether what is timed is how connections are opened, and no message."""
        plan = self.trial.plan
        return plan.load.executor.kind == "hold" and plan.stop.is_counted

    @cached_property
    def connect_rate(self) -> float | None:
        """Connections per second that were opened to be held."""
        summary = self.trial.summary
        asked, stood = summary.connect_start_ns, summary.connected_ns
        if not self.is_opening or asked is None or stood is None:
            return None
        return _per_second(self.trial.plan.load.connections, stood - asked)

    @cached_property
    def alive_ns(self) -> float | None:
        """How long it took until each held connection had answered a message."""
        summary = self.trial.summary
        return float(summary.end_ns - summary.first_send_ns) if self.is_opening else None

    @cached_property
    def bandwidth(self) -> float | None:
        """Bytes of payload per second that came back, where messages are large."""
        if not self.ok or self.trial.start.request_payload_bytes < LARGE_BYTES:
            return None
        length = self.elapsed_ns if self.trial.plan.stop.is_counted else self.counted_ns
        returned = sum(part.bytes.payload_received for part in self._parts)
        return _per_second(returned, round(length)) if length else None

    @cached_property
    def is_whole(self) -> bool:
        """Whether nothing is cut from the run, so that its totals are the best figures."""
        summary, window = self.trial.summary, self.trial.window
        return window.start_ns <= summary.first_send_ns and window.end_ns >= summary.measure_end_ns

    @cached_property
    def counted(self) -> tuple[Interval, ...]:
        """The intervals that count; see there."""
        return offered.counted(self.trial)

    @cached_property
    def counted_ns(self) -> int:
        """Length of what counts."""
        if self.uses_totals:
            return self.trial.summary.measure_end_ns - self.trial.summary.first_send_ns
        return sum(interval.end_ns - interval.start_ns for interval in self.counted)

    @cached_property
    def ok(self) -> int:
        """Verified replies in what counts."""
        return sum(part.counters.ok for part in self._parts)

    @cached_property
    def throughput(self) -> float | None:
        """Verified replies per second."""
        if self.is_opening:
            return None
        return _per_second(self.ok, self.counted_ns)

    @cached_property
    def rate(self) -> float | None:
        """Messages sent per second."""
        return _per_second(sum(part.counters.sent for part in self._parts), self.counted_ns)

    @cached_property
    def elapsed_ns(self) -> float | None:
        """From the first send to the last reply, of a run whose length was given in messages."""
        if self.is_driven:
            # How many round trips it makes is the study's choice.
            return None
        plan, summary = self.trial.plan, self.trial.summary
        whole = summary.end == "complete" and not summary.counters.in_flight
        if not plan.stop.is_counted or not whole or self.is_opening:
            return None
        begin = summary.measure_start_ns if plan.times_setup else summary.first_send_ns
        return float(summary.end_ns - begin)

    @cached_property
    def service_time(self) -> hdr.Hdr:
        """done - sent."""
        return self._histogram("service_time")

    @cached_property
    def response_time(self) -> hdr.Hdr:
        """done - due; open loop, or a pool of connections."""
        return self._histogram("response_time")

    def blocked_time(self, route: str | None) -> hdr.Hdr:
        """How long the steps of this route, or of all, waited for a connection of the pool."""
        if route is None:
            return self._histogram("blocked_time")
        named = (one.blocked for one in self.routed.routes if one.name == route)
        return next(named, hdr.merge(()))

    @cached_property
    def delivery_time(self) -> hdr.Hdr:
        """Copy there - due of its message, at each of its receivers."""
        return self._histogram("delivery_time")

    @cached_property
    def reach_time(self) -> hdr.Hdr:
        """Last copy there - due, of each event that was published."""
        return self._histogram("reach_time")

    @cached_property
    def message_time(self) -> hdr.Hdr:
        """From one message of a streamed reply, or event, to the next; see docs/statistics.md."""
        return self._histogram("message_time")

    @cached_property
    def streamed(self) -> float | None:
        """Messages of streams per second, of replies that came whole."""
        return _per_second(sum(part.counters.messages for part in self._parts), self.counted_ns)

    @cached_property
    def pacing_lag(self) -> hdr.Hdr:
        """sent - due; open loop only."""
        return self._histogram("pacing_lag")

    @cached_property
    def connect_time(self) -> hdr.Hdr:
        """TCP established - connect."""
        return self.setup_time("connect_time")

    def setup_time(self, name: str) -> hdr.Hdr:
        """Of connections, over the whole run: most of them stand before the window."""
        text = self.trial.summary.histograms.get(name)
        return hdr.merge(() if text is None else (text,))

    @cached_property
    def failed(self) -> int:
        """Failed messages in what counts."""
        return sum(sum(part.counters.errors.values()) for part in self._parts)

    @property
    def waiting_time(self) -> hdr.Hdr:
        """Response time of an open loop, or with a pool of connections; service time of others.

        Of streams of events the delivery time, where the server stamps its events.
        """
        if self.hears_events:
            return self.delivery_time
        return self.response_time if self.from_due else self.service_time

    @property
    def hears_events(self) -> bool:
        """Whether what comes are events of streams or WebSockets, which answer nothing."""
        return self.trial.plan.hears_events

    @cached_property
    def round_trip_ns(self) -> float | None:
        """The mean round trip of a client library."""
        times = self.service_time
        return times.mean if self.is_driven and times.count else None

    @cached_property
    def client_user_ns(self) -> float | None:
        """The client library's user CPU time per round trip."""
        return self._sender(lambda used: used.cpu_user_ns) if self.is_driven else None

    @cached_property
    def client_system_ns(self) -> float | None:
        """The client library's system CPU time per round trip."""
        return self._sender(lambda used: used.cpu_system_ns) if self.is_driven else None

    @cached_property
    def client_ns(self) -> float | None:
        """The client library's CPU time per round trip, all of its process's threads."""
        return self._sender(_cpu_ns) if self.is_driven else None

    @cached_property
    def generator_ns(self) -> float | None:
        """The generator's CPU time per message."""
        return None if self.is_driven else self._sender(_cpu_ns)

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
    def server_session_ns(self) -> float | None:
        """The subject's CPU time per session of traffic."""
        user = self._server(lambda sample: sample.cpu_user_ns, _sessions)
        system = self._server(lambda sample: sample.cpu_system_ns, _sessions)
        return None if user is None or system is None else (user + system) or None

    @cached_property
    def server_message_ns(self) -> float | None:
        """The subject's CPU time per message that it streams in calls."""
        return self._server(_cpu_ns, lambda part: part.counters.messages) or None

    @cached_property
    def session_rate(self) -> float | None:
        """Whole sessions of traffic per second; None where one message was sent."""
        if self.trial.start.traffic is None:
            return None
        return _per_second(sum(map(_sessions, self._parts)), self.counted_ns)

    @cached_property
    def routed(self) -> Routed:
        """The figures by route and by flow of sessions, where many routes were asked."""
        return Routed(
            self.trial,
            [part.traffic for part in self._parts if part.traffic],
            [part.traffic for part in self.late if part.traffic],
            self.counted_ns,
            self.from_due,
        )

    def per_connection(self, of: Callable[[PerConnection], float | None]) -> float | None:
        """Growth of the server's memory per connection; None where it is lost in the noise."""
        seen = self.trial.observation
        if seen is None or seen.per_connection is None:
            return None
        if self.trial.plan.load.connections < FEWEST_CONNECTIONS:
            return None
        grown = of(seen.per_connection)
        return grown if grown is not None and grown > 0 else None

    @cached_property
    def server_cpus(self) -> CpuShares:
        """The mean over the CPUs that the server was pinned to."""
        server = self.trial.server
        return cpus.shares(self.trial.observation, server.cpus if server else ())

    @property
    def server_cpu_count(self) -> int | None:
        """On how many CPUs the server was pinned; None: on none, or that is not known."""
        server = self.trial.server
        return len(server.cpus) or None if server else None

    @cached_property
    def subject_cpus(self) -> CpuShares:
        """The same of the subject, which may be a client library."""
        subject = self.trial.subject
        return cpus.shares(self.trial.observation, subject.cpus if subject else ())

    @cached_property
    def busy_ns(self) -> float | None:
        """Time in which anything ran on the subject's CPUs, per message.

        None where too much of it was other work.
        """
        seen, own_ns = self.trial.observation, self.client_ns if self.is_driven else self.server_ns
        there = self.subject_cpus.there_ns
        if not there or own_ns is None or seen is None:
            return None
        replies = self._replies(seen.start_ns or 0, seen.end_ns or 0)
        busy = self.subject_cpus.busy_beside(own_ns * replies / there)
        return None if busy is None or replies <= 0 else busy * there / replies

    @cached_property
    def softirq_of_busy(self) -> float | None:
        """Soft interrupts as a share of that time."""
        softirq, busy = self.subject_cpus.softirq, self.subject_cpus.busy
        if softirq is None or not busy or self.busy_ns is None:
            return None
        return min(softirq / busy, 1.0)

    @cached_property
    def application_bytes(self) -> float | None:
        """Protocol bytes sent and received per message, inside TLS."""
        total = sum(p.bytes.application_sent + p.bytes.application_received for p in self._parts)
        return self._per_message(total)

    @cached_property
    def transport_bytes(self) -> float | None:
        """Bytes to and from the kernel per message: TCP payload."""
        return self._per_message(sum(p.bytes.sent + p.bytes.received for p in self._parts))

    @cached_property
    def byte_rate(self) -> float | None:
        """Bytes to and from the kernel per second: TCP payload, both ways."""
        if self.is_opening:
            return None
        octets = sum(p.bytes.sent + p.bytes.received for p in self._parts)
        return _per_second(octets, self.counted_ns) or None

    @cached_property
    def wire_bytes(self) -> float | None:
        """Bytes on the wire per message, both ways; None where others share it, or none is counted.

        Over an emulated link: of IP packets, see `link_bytes`; else of frames, as the interface
        counts them.
        """
        if (octets := link_bytes(self.trial)) is not None:
            return self._per_message(octets) if self.uses_totals else None
        seen = self.trial.observation
        if seen is None or seen.link is None or not seen.alone:
            return None
        if seen.start_ns is None or seen.end_ns is None:
            return None
        both = total(seen.link.received_bytes, seen.link.sent_bytes)
        messages = self._replies(seen.start_ns, seen.end_ns)
        return both / messages if both is not None and messages > 0 else None

    @property
    def offered(self) -> float | None:
        """Messages per second if no reply took any time; None: as many as fit."""
        load = self.trial.plan.load
        match load.executor:
            case OpenLoop(rate=rate):
                return rate
            case AfterResponse(pause_ns=pause_ns):
                return load.connections * 1e9 / pause_ns if pause_ns else None
            case _:
                return None

    @property
    def sent_bytes(self) -> float | None:
        """Bytes handed to the kernel per message."""
        return self._per_message(sum(p.bytes.sent for p in self._parts))

    @property
    def received_bytes(self) -> float | None:
        """Bytes got from the kernel per message."""
        return self._per_message(sum(p.bytes.received for p in self._parts))

    @property
    def uses_totals(self) -> bool:
        """Whether the figures are those of the run as a whole."""
        if self.is_opening:
            # Messages came only after what is timed.
            return False
        return self.is_whole or not self.counted

    @cached_property
    def late(self) -> tuple[Interval, ...]:
        """The drain, where the window ends with the load: what was sent in it and came back late.

        It counts in the times, or stalls would be lost.
        """
        if self.uses_totals or self.trial.window.end_ns < self.trial.summary.measure_end_ns:
            return ()
        last = self.counted[-1].end_ns
        return tuple(i for i in self.trial.intervals if i.start_ns >= last and not i.disturbed)

    @property
    def _parts(self) -> tuple[Interval | Summary, ...]:
        """What the figures are summed over: the intervals that count, or the run as a whole."""
        return (self.trial.summary,) if self.uses_totals else self.counted

    def _sender(self, used: Callable[[Generator], int]) -> float | None:
        """CPU time of whoever sent, per message."""
        return self._per_message(sum(used(part.generator) for part in self._parts))

    def _per_message(self, total: float) -> float | None:
        return total / self.ok if self.ok and total else None

    def _histogram(self, metric: str) -> hdr.Hdr:
        """The metric over what counts, late replies included."""
        parts = (*self._parts, *self.late)
        return hdr.merge(p.histograms[metric] for p in parts if metric in p.histograms)

    def _server(
        self,
        reading: Callable[..., int],
        counted: Callable[[Interval | Summary], int] = lambda part: part.counters.ok,
    ) -> float | None:
        """Growth of a cumulative reading per message, over what window and samples share."""
        samples = self.trial.subject_samples
        if len(samples) < 2:
            return None
        start = max(self.trial.window.start_ns, samples[0].offset_ns)
        end = min(self.trial.window.end_ns, samples[-1].offset_ns)
        if end <= start:
            return None
        cpu = [(sample.offset_ns, float(reading(sample))) for sample in samples]
        messages = self._replies(start, end, counted)
        return (_at(cpu, end) - _at(cpu, start)) / messages if messages > 0 else None

    def _replies(
        self,
        start_ns: int,
        end_ns: int,
        counted: Callable[[Interval | Summary], int] = lambda part: part.counters.ok,
    ) -> float:
        """Verified replies between two instants, as if those of an interval came evenly."""
        intervals = self.trial.intervals
        if not intervals:
            return 0.0
        replies = accumulate(map(counted, intervals), initial=0)
        edges = [intervals[0].start_ns, *(i.end_ns for i in intervals)]
        curve = [(edge, float(n)) for edge, n in zip(edges, replies, strict=True)]
        return _at(curve, end_ns) - _at(curve, start_ns)


def _sessions(part: Interval | Summary) -> int:
    """Sessions that came to their end."""
    return sum(flow.done for flow in part.traffic.flows) if part.traffic else 0


def _cpu_ns(used: Generator | ProcessSample) -> int:
    return used.cpu_user_ns + used.cpu_system_ns


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
