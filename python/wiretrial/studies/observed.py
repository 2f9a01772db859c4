"""From an observer's readings to the record's observation, cut to the window that counts.

Pure: knows both forms and how to interpolate; must not know how anything was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TypeVar

from wiretrial.machine import sockets
from wiretrial.machine.counters import TICK_NS
from wiretrial.machine.cpu_limits import PERIOD_US, Group
from wiretrial.machine.links import LinkedNamespace, Wire
from wiretrial.machine.namespaces import INTERFACE
from wiretrial.machine.shapers import UNLIMITED, Rates
from wiretrial.results.model import ProcessSample, SubjectFacts, Window
from wiretrial.results.observation import (
    CpuLimit,
    CpuUse,
    EmulatedLink,
    Isolation,
    LinkCarried,
    LinkUse,
    Observation,
    PerConnection,
    Plateau,
    SocketUse,
    TcpUse,
)
from wiretrial.subjects import observe
from wiretrial.subjects.observe import Detail, Seen, Side
from wiretrial.subjects.process import Server
from wiretrial.subjects.tree import Reading

_Key = TypeVar("_Key", int, str)


@dataclass(frozen=True)
class Origin:
    """What the readings don't say themselves."""

    begun_ns: int
    """The run's offset 0 on our monotonic clock."""
    alone: bool
    interfaces: tuple[str, ...]
    tells_memory: bool
    """Whether connections stand, and the server had none before, so that memory is theirs."""
    rates: Rates = UNLIMITED
    """What the link lets through."""


def samples(readings: Iterable[Reading], begun_ns: int) -> tuple[ProcessSample, ...]:
    """The readings of the tree, each at its offset from the run's begin."""
    return tuple(
        ProcessSample(
            offset_ns=reading.at_ns - begun_ns,
            cpu_user_ns=reading.cpu_user_ns,
            cpu_system_ns=reading.cpu_system_ns,
            rss_bytes=reading.rss_bytes,
            threads=reading.threads,
        )
        for reading in readings
    )


def observation(seen: Seen, window: Window, origin: Origin) -> Observation:
    """The record's part. Needs one reading of the tree at least."""
    span = _span(seen.details, window, origin.begun_ns)
    plateaus = tuple(_plateau(plateau, origin.begun_ns) for plateau in seen.plateaus)
    whole = Observation(
        cpu_resolution_ns=max((r.cpu_resolution_ns for r in seen.readings), default=TICK_NS),
        tick_ns=TICK_NS,
        cost_ns=seen.cost_ns,
        watched_ns=seen.ended_ns - seen.begun_ns,
        threads_peak=max((reading.threads for reading in seen.readings), default=None),
        alone=origin.alone,
        plateaus=plateaus,
        per_connection=_per_connection(plateaus) if origin.tells_memory else None,
    )
    if span is None:
        return whole
    return whole.model_copy(
        update={
            "start_ns": span.start_ns - origin.begun_ns,
            "end_ns": span.end_ns - origin.begun_ns,
            "voluntary_switches": span.growth(lambda detail: detail.threads.voluntary_switches),
            "involuntary_switches": span.growth(lambda detail: detail.threads.involuntary_switches),
            "run_queue_ns": span.growth(lambda detail: detail.threads.run_queue_ns),
            "written_bytes": span.growth(lambda detail: detail.written_bytes),
            "cpus": _cpus(span),
            "link": _link(span, origin),
            "tcp": TcpUse(**tcp) if (tcp := span.growths(lambda detail: detail.tcp)) else None,
            "sockets": _sockets(span),
        }
    )


def isolation(server: Server) -> Isolation:
    """Where a server that we started runs."""
    namespace = server.isolation
    if namespace is None:
        return Isolation(kind="loopback")
    wire = namespace.wire if isinstance(namespace, LinkedNamespace) else None
    return Isolation(
        kind="link" if wire else "namespace",
        interface=INTERFACE,
        mtu=namespace.mtu,
        settings=tuple(namespace.settings.items()),
        link=_emulated(wire) if wire else None,
        receiving_cpus=namespace.steering.server if namespace.steering else (),
    )


def limited(group: Group) -> CpuLimit:
    """The limit on a server's CPU time, and how often it held up to now."""
    told = group.read()
    return CpuLimit(
        cpus=group.cpus,
        version=group.version,
        period_ns=PERIOD_US * 1000,
        periods=told.periods,
        throttled_periods=told.throttled_periods,
        throttled_ns=told.throttled_ns,
    )


def carried(subject: SubjectFacts, server: Server) -> SubjectFacts:
    """The same, with what a link has carried since those facts were told."""
    here = subject.isolation
    now = isolation(server)
    if here is None or here.link is None or now.link is None:
        return subject
    up, down = now.link.carried_up, now.link.carried_down
    link = now.link.model_copy(
        update={
            "carried_up": up.since(here.link.carried_up) if up else None,
            "carried_down": down.since(here.link.carried_down) if down else None,
        }
    )
    return subject.model_copy(update={"isolation": now.model_copy(update={"link": link})})


def _emulated(wire: Wire) -> EmulatedLink:
    account = wire.account()
    return EmulatedLink(
        name=wire.link.name,
        up=wire.link.up,
        down=wire.link.down,
        seed=wire.seed,
        carrier=wire.carrier,
        realtime=wire.realtime,
        carried_up=LinkCarried.model_validate(account["up"]) if account else None,
        carried_down=LinkCarried.model_validate(account["down"]) if account else None,
    )


def queued(seen: Seen, window: Window, begun_ns: int) -> float:
    """How many threads of the subject, on average over the window, waited for a CPU."""
    span = _span(seen.details, window, begun_ns)
    waited = span.growth(lambda detail: detail.threads.run_queue_ns) if span else None
    return waited / span.length_ns if span and waited else 0.0


def busiest_thread(seen: Seen, window: Window, begun_ns: int) -> float:
    """The greatest share of the window that one thread of the subject was on a CPU."""
    span = _span(seen.details, window, begun_ns)
    if span is None:
        return 0.0
    used = span.growths(lambda detail: detail.threads.on_cpu_ns)
    return max((one for one in used.values() if one is not None), default=0) / span.length_ns


@dataclass(frozen=True)
class _Span:
    """The part of the window that readings lie around, and the readings."""

    details: Sequence[Detail]
    start_ns: int
    end_ns: int

    @property
    def length_ns(self) -> int:
        return self.end_ns - self.start_ns

    def growth(self, counter: Callable[[Detail], float | None]) -> int | None:
        """How much a counter grew; None where the readings at the edges don't have it."""
        read = ((detail.at_ns, counter(detail)) for detail in self.details)
        points = [(at_ns, value) for at_ns, value in read if value is not None]
        if len(points) < 2 or points[0][0] > self.start_ns or points[-1][0] < self.end_ns:
            return None
        return round(_at(points, self.end_ns) - _at(points, self.start_ns))

    def growths(self, counters: Callable[[Detail], Mapping[_Key, int]]) -> dict[_Key, int | None]:
        """How much each counter of a group grew."""

        def of(key: _Key) -> Callable[[Detail], int | None]:
            return lambda detail: counters(detail).get(key)

        return {key: self.growth(of(key)) for key in counters(self.details[-1])}


def _span(details: Sequence[Detail], window: Window, begun_ns: int) -> _Span | None:
    if len(details) < 2:
        return None
    start = max(window.start_ns + begun_ns, details[0].at_ns)
    end = min(window.end_ns + begun_ns, details[-1].at_ns)
    return _Span(details, start, end) if end > start else None


def _cpus(span: _Span) -> tuple[CpuUse, ...]:
    def states(cpu: int | None) -> Callable[[Detail], Mapping[str, int]]:
        return lambda detail: detail.cpus.get(cpu, {})

    return tuple(
        CpuUse.model_validate(
            {"cpu": cpu}
            | {f"{state}_ns": grown for state, grown in span.growths(states(cpu)).items()}
        )
        for cpu in span.details[-1].cpus
    )


def _link(span: _Span, origin: Origin) -> LinkUse | None:
    grown = span.growths(lambda detail: detail.link)
    if not grown:
        return None
    known = {
        "interfaces": origin.interfaces,
        "send_rate_bytes": origin.rates.send,
        "receive_rate_bytes": origin.rates.receive,
    }
    return LinkUse.model_validate({**known, **grown})


def _sockets(span: _Span) -> tuple[SocketUse, ...]:
    found = (_socket_use(span, side) for side in span.details[-1].sockets)
    return tuple(use for use in found if use is not None)


def _socket_use(span: _Span, side: Side) -> SocketUse | None:
    """The side's sums over the window; what was before its first connection counts as nothing."""

    def totals(detail: Detail) -> Mapping[str, int]:
        return asdict(detail.sockets.get(side, sockets.Totals()))

    grown = {name: value or 0 for name, value in span.growths(totals).items()}
    followed = grown["followed_ns"]
    if not followed:
        return None
    return SocketUse(
        side=side,
        followed_ns=followed,
        busy_ns=grown["busy_ns"],
        receive_window_limited_ns=grown["receive_window_limited_ns"],
        send_buffer_limited_ns=grown["send_buffer_limited_ns"],
        retransmitted_segments=grown["retransmitted"],
        mean_send_queue_bytes=grown["send_queue_byte_ns"] / followed,
        mean_receive_queue_bytes=grown["receive_queue_byte_ns"] / followed,
    )


def _plateau(plateau: observe.Plateau, begun_ns: int) -> Plateau:
    read = asdict(plateau)
    offset = read.pop("at_ns") - begun_ns
    return Plateau.model_validate({**read, "offset_ns": offset})


def _per_connection(plateaus: Sequence[Plateau]) -> PerConnection | None:
    named = {plateau.name: plateau for plateau in plateaus}
    before, connected = named.get("before"), named.get("connected")
    if before is None or connected is None or not connected.connections:
        return None

    def slope(name: str) -> float | None:
        low, high = getattr(before, name), getattr(connected, name)
        return None if low is None or high is None else (high - low) / connected.connections

    return PerConnection(**{name: slope(name) for name in PerConnection.model_fields})


def _at(points: Sequence[tuple[int, float]], x: int) -> float:
    """The curve's value at `x`, linear between its points; `x` lies among them."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x <= x1:
            return y1 if x1 == x0 else y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return points[-1][1]
