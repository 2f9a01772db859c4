"""The figures that a report shows, in one table.

Knows names, units and how to take each figure from a trial; must not know how it is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from wiretrial.report import resources, units
from wiretrial.report.measures import Measured
from wiretrial.report.sums import total
from wiretrial.report.units import Unit
from wiretrial.results import quantiles
from wiretrial.results.hdr import Hdr
from wiretrial.stats.bounds import Bound
from wiretrial.words import MESSAGE, Noun


@dataclass(frozen=True)
class Metric:
    """One figure: `of` takes it from a trial, None where it cannot be told."""

    key: str
    title: str
    units: tuple[units.Unit, ...]
    of: Callable[[Measured], float | None]
    higher_is_better: bool = False
    withheld: Callable[[Measured], str | None] = lambda _: None
    """Why a trial has too few values to tell it; None: it has enough, or it takes none."""
    beyond: Callable[[Measured], str | None] = lambda _: None
    """Why a trial's figure is longer than any time: it lies among failures. None: it does not."""
    called: str = ""
    """Within a sentence; empty: as its title. `{message}` stands for what is sent."""
    best: str = ""
    """What its best is called; empty: the shortest, as of a quantile of a time."""
    worse: str = "as long"
    """How a worse one stands to the best, behind `2.10 times`."""
    wins: str = "faster"
    """What is said of a winner, behind its name."""
    bound: Bound = "exact"
    """What a figure is of which the generator was the limit: the server may do better."""
    short: str = ""
    """In the head of a narrow table; empty: as its title."""

    @property
    def most(self) -> float:
        """The greatest value that it can have: 1 of a share."""
        return 1.0 if self.units == (units.PERCENT,) else math.inf

    @property
    def head(self) -> str:
        """In the head of a narrow table."""
        return self.short or self.title

    def quantity(self, what: Noun) -> str:
        """Within a sentence: `server CPU per message`."""
        return what.in_text(self.called or self.title)

    def superlative(self, what: Noun) -> str:
        """Its best: `least server CPU per message`."""
        return what.in_text(self.best or f"shortest {self.title}")

    def unit(self, values: Iterable[float], what: Noun) -> Unit:
        """The unit that fits the values; of a rate, of what is sent."""
        known = units.rates(what) if self.units is units.RATES else self.units
        return units.fitting(known, values)


def _waiting(key: str, q: float) -> Metric:
    """A quantile of the response or service time."""
    told = _quantile(key, quantiles.name(q), q, lambda m: m.waiting_time, quantiles.REPLIES)
    # Of a rate that was not reached, they grow for as long as the trial lasts.
    overloaded = f"{told.title} grows with the run: the offered rate was not reached"

    def of(measured: Measured) -> float | None:
        # A failed message is no fast one: where some may fail, they count as slower than any reply.
        if measured.is_overloaded or told.of(measured) is None:
            return None
        return quantiles.of_all(measured.waiting_time, measured.failed, q)

    def beyond(measured: Measured) -> str | None:
        if measured.is_overloaded:
            return None
        return quantiles.beyond(measured.waiting_time, measured.failed, q)

    def withheld(measured: Measured) -> str | None:
        if measured.is_overloaded:
            return overloaded
        return beyond(measured) or told.withheld(measured)

    return replace(told, of=of, withheld=withheld, beyond=beyond)


def _quantile(key: str, title: str, q: float, of: Callable[[Measured], Hdr], what: str) -> Metric:
    return Metric(
        key,
        title,
        units.TIMES,
        lambda m: quantiles.told(of(m), q),
        withheld=lambda m: quantiles.withheld(of(m).count, q, what),
    )


WALL = Metric(
    "wall",
    "Round trip",
    units.TIMES,
    lambda m: m.round_trip_ns,
    called="time per round trip",
    best="shortest round trip",
    short="round trip",
)
CLIENT = Metric(
    "client",
    "Client CPU",
    (units.MICROSECONDS,),
    lambda m: m.client_ns,
    called="client CPU per round trip",
    best="least client CPU per round trip",
    worse="as much",
    wins="needs less",
    short="client CPU",
)
CLIENT_USER = Metric(
    "client_user", "Client CPU, user", (units.MICROSECONDS,), lambda m: m.client_user_ns
)
CLIENT_SYSTEM = Metric(
    "client_system", "Client CPU, system", (units.MICROSECONDS,), lambda m: m.client_system_ns
)
THROUGHPUT = Metric(
    "throughput",
    "Throughput",
    units.RATES,
    lambda m: m.throughput,
    higher_is_better=True,
    bound="at least",
    called="throughput",
    best="highest throughput",
    worse="the throughput of",
    short="throughput",
)
P50 = _waiting("p50", 0.5)
P90 = _waiting("p90", 0.9)
P99 = _waiting("p99", 0.99)
P999 = _waiting("p999", 0.999)
P9999 = _waiting("p9999", 0.9999)
SERVER = Metric(
    "server",
    "Server CPU",
    (units.MICROSECONDS,),
    lambda m: m.server_ns,
    called="server CPU per {message}",
    best="least server CPU per {message}",
    worse="as much",
    wins="needs less",
    short="server CPU",
)
SERVER_USER = Metric(
    "server_user", "Server CPU, user", (units.MICROSECONDS,), lambda m: m.server_user_ns
)
SERVER_SYSTEM = Metric(
    "server_system", "Server CPU, system", (units.MICROSECONDS,), lambda m: m.server_system_ns
)
DATABASE = Metric(
    "database",
    "Database CPU",
    (units.MICROSECONDS,),
    resources.database_ns,
    called="CPU of its database per {message}",
    short="database CPU",
)
BACKEND = Metric(
    "backend",
    "Backend CPU",
    (units.MICROSECONDS,),
    resources.backend_ns,
    called="CPU of its backend per {message}",
    short="backend CPU",
)
SESSION = Metric(
    "server_session",
    "Server CPU per session",
    (units.MICROSECONDS,),
    lambda m: m.server_session_ns,
    called="server CPU per session",
)
MEMORY = Metric(
    "memory",
    "Server memory",
    units.BYTES,
    resources.memory_bytes,
    called="memory of the server",
    best="least memory of the server",
    worse="as much",
    wins="needs less",
    short="memory",
)
SESSIONS = Metric(
    "sessions",
    "Sessions",
    (units.Unit("sessions/s", "/s"),),
    lambda m: m.session_rate,
    higher_is_better=True,
    bound="at least",
)
STREAMED = Metric(
    "streamed",
    "Messages of streams",
    units.rates(MESSAGE),
    lambda m: m.streamed or None,
    higher_is_better=True,
    bound="at least",
    called="rate of messages of streams",
    best="most messages of streams",
    worse="the messages of",
)
SERVER_STREAMED = Metric(
    "server_streamed",
    "Server CPU per message of a stream",
    (units.MICROSECONDS,),
    lambda m: m.server_message_ns,
    called="server CPU per message of a stream",
    best="least server CPU per message of a stream",
    worse="as much",
    wins="needs less",
)
REACH_P50 = _quantile(
    "reach_p50", "Last receiver, p50", 0.5, lambda m: m.reach_time, quantiles.EVENTS
)
REACH_P99 = _quantile(
    "reach_p99", "Last receiver, p99", 0.99, lambda m: m.reach_time, quantiles.EVENTS
)
GENERATOR = Metric("generator", "Generator CPU", (units.MICROSECONDS,), lambda m: m.generator_ns)
APPLICATION_BYTES = Metric(
    "application_bytes", "Application", (units.BYTES[0],), lambda m: m.application_bytes
)
TRANSPORT_BYTES = Metric(
    "transport_bytes", "TCP payload", (units.BYTES[0],), lambda m: m.transport_bytes
)
BYTE_RATE = Metric(
    "byte_rate",
    "Bandwidth",
    units.BANDWIDTHS,
    lambda m: m.byte_rate,
    called="bandwidth",
)
WIRE_BYTES = Metric("wire_bytes", "On the wire", (units.BYTES[0],), lambda m: m.wire_bytes)
CONNECT = _quantile(
    "connect", "Connect time, p50", 0.5, lambda m: m.connect_time, quantiles.CONNECTIONS
)
ELAPSED = Metric(
    "elapsed",
    "Time",
    units.TIMES,
    lambda m: m.elapsed_ns,
    bound="at most",
    called="time",
    best="shortest time",
    short="time",
)
USER_MEMORY = Metric(
    "user_memory",
    "Memory per connection, user",
    units.BYTES,
    lambda m: m.per_connection(lambda g: g.pss_bytes),
    called="memory per connection",
    best="least memory per connection",
    worse="as much",
    wins="needs less",
    short="memory",
)
KERNEL_MEMORY = Metric(
    "kernel_memory",
    "Memory per connection, kernel",
    units.BYTES,
    lambda m: m.per_connection(lambda g: total(g.tcp_memory_bytes, g.socket_slab_bytes)),
)
CONNECT_RATE = Metric(
    "connect_rate",
    "Connections opened",
    units.CONNECT_RATES,
    lambda m: m.connect_rate,
    higher_is_better=True,
    bound="at least",
    called="rate of opening connections",
    best="fastest connects",
    worse="the rate of",
    short="connects",
)
BANDWIDTH = Metric(
    "bandwidth",
    "Payload echoed",
    units.BANDWIDTHS,
    lambda m: m.bandwidth,
    higher_is_better=True,
    bound="at least",
    called="rate of echoed bytes",
    best="most bytes per second",
    worse="the bytes of",
    short="bytes echoed",
)
ALIVE = Metric("alive", "Until each had answered", units.TIMES, lambda m: m.alive_ns)
ERRORS = Metric("errors", "Failed messages", (units.PERCENT,), lambda m: m.failed_share)
FAILED = Metric(
    "failed",
    "Failed",
    (units.PERCENT,),
    lambda m: m.lost_share if m.trial.judgement.allowed_errors else None,
    called="share of {messages} that failed",
)
"""Where some may fail: elsewhere a trial with failures has no figures at all."""
SOFTIRQ = Metric(
    "softirq", "Server's CPUs, soft interrupts", (units.PERCENT,), lambda m: m.server_cpus.softirq
)
SERVER_CPUS = Metric(
    "server_cpus",
    "Server's CPUs, busy",
    (units.MICROSECONDS,),
    lambda m: None if m.is_driven else m.busy_ns,
    called="busy time of the server's CPUs per {message}",
)
CLIENT_CPUS = Metric(
    "client_cpus",
    "Client's CPUs, busy",
    (units.MICROSECONDS,),
    lambda m: m.busy_ns if m.is_driven else None,
    called="busy time of the client's CPUs per round trip",
)
SOFTIRQ_OF_BUSY = Metric(
    "softirq_of_busy",
    "Soft interrupts, of the busy time of the subject's CPUs",
    (units.PERCENT,),
    lambda m: m.softirq_of_busy,
)
IDLE = Metric(
    "idle",
    "Idle server CPU",
    (units.PERCENT,),
    lambda m: m.server_cpus.idle,
    higher_is_better=True,
)

WAITING = (P50, P90, P99, P999, P9999)
COSTS = (
    CLIENT,
    CLIENT_USER,
    CLIENT_SYSTEM,
    SERVER,
    SERVER_USER,
    SERVER_SYSTEM,
    DATABASE,
    BACKEND,
    SESSION,
    STREAMED,
    SERVER_STREAMED,
    REACH_P50,
    REACH_P99,
    GENERATOR,
    APPLICATION_BYTES,
    TRANSPORT_BYTES,
    WIRE_BYTES,
    CONNECT,
    MEMORY,
    USER_MEMORY,
    KERNEL_MEMORY,
    FAILED,
    IDLE,
    SOFTIRQ,
)
CHARGED = (SERVER_CPUS, CLIENT_CPUS, SOFTIRQ_OF_BUSY)
"""What tells who pays for receiving."""
METRICS = (
    *(THROUGHPUT, SESSIONS, ELAPSED, WALL, CONNECT_RATE, BANDWIDTH, BYTE_RATE, ALIVE),
    *WAITING,
    *COSTS,
    *CHARGED,
)
PER_MESSAGE = (
    *(CLIENT, CLIENT_USER, CLIENT_SYSTEM, SERVER, SERVER_USER, SERVER_SYSTEM, DATABASE, BACKEND),
    GENERATOR,
    *(APPLICATION_BYTES, TRANSPORT_BYTES, WIRE_BYTES, SERVER_CPUS, CLIENT_CPUS),
)


HELD = (USER_MEMORY, KERNEL_MEMORY, ALIVE)
"""What stands beside the rate at which held connections were opened."""
BY_KEY = {metric.key: metric for metric in METRICS}


def ranked_metric(
    *,
    is_open_loop: bool,
    is_at_common_rate: bool = False,
    is_timed: bool = False,
    is_driven: bool = False,
) -> Metric:
    """What scenarios are ranked by: throughput, p99 where the rate is given from outside.

    At a rate that was chosen so that all sustain it, the server's CPU per message tells them apart;
    where the number of messages is given, the time that they take. Of a client library it is the
    round trip.
    """
    if is_driven:
        return WALL
    if is_timed:
        return ELAPSED
    if is_at_common_rate:
        return SERVER
    return P99 if is_open_loop else THROUGHPUT


def beside(ranked: Metric) -> Metric:
    """What is compared beside what is ranked: the cost, or where that is ranked, the response."""
    return P99 if ranked is SERVER else cost_of(ranked)


def cost_of(ranked: Metric) -> Metric:
    """What stands beside what is ranked: the subject's CPU time, or its memory."""
    if ranked is CONNECT_RATE:
        return USER_MEMORY
    return CLIENT if ranked is WALL else SERVER
