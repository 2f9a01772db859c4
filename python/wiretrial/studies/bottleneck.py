"""Who limited a trial: server, generator, rate or link; or that nobody can be shown to have.

Pure: knows the rules of evidence and their order; must not know how anything was read. The first
rule that holds decides. What the others saw is told beside it, where it is worth a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wiretrial import words
from wiretrial.plan import AfterResponse, Hold, Load, OpenLoop
from wiretrial.results.ceiling import Ceiling
from wiretrial.results.model import Bottleneck, Use
from wiretrial.results.observation import CpuUse, Observation, SocketUse
from wiretrial.results.watched import WatchedPlace
from wiretrial.studies import parts
from wiretrial.studies.overload import Offered
from wiretrial.words import Noun

CLIENT_BOUND = 0.95
"""A generator that is busy, or waits for a CPU, for this share of the time has no room left."""
SERVER_BOUND = 0.90
"""A server that is on a CPU, or waits for one, for this share of the time is at its limit."""
NEAR_CEILING = 0.05
"""A throughput that is within this share of the generator's own ceiling may be the generator's."""
LINK_FULL = 0.90
"""A link that carries this share of its rate is full: the rest is gaps between packets."""
HELD_UP = 0.25
"""Connections that had no room for this share of the time were held up by that."""
FAR_BELOW = 0.5
"""Less than this share of what the reference server answers to the same load."""
AT_REST = 0.5
"""A generator that is busy or waits for a CPU for less than this share of the time holds nothing
up; one that waits for longer has measured its waiting."""
HARDLY_IDLE, OFTEN_WAITING = 0.85, 0.25
"""A generator that hardly rested, and waited for a CPU for this share of the time, was starved too:
it rested because it had sent late."""
MOSTLY = 0.5
"""A round trip that is this share of the service time decides it."""
HEARD = 0.9
"""Of the copies that are due in a window: one event more or less is at its edge."""
WORTH_SAYING = 0.05
"""Shares below this are no evidence of anything."""
MUCH_UNREAD = 1024
"""Bytes that wait in a receive queue on average; a few small messages always do."""
FULL_CPU = 0.95
UNREAD = "server: its CPU unknown"
TOO_SHORT = "the run was too short to read it twice"


@dataclass(frozen=True, kw_only=True)
class Around:
    """What is known beside what the generator told."""

    server: Use | None = None
    """None where nothing is known of it."""
    unseen: str | None = None
    """Why that is, and what to do about it."""
    seen: Observation | None = None
    places: tuple[WatchedPlace, ...] = ()
    """Hosts of servers that somebody else runs, where they were watched."""
    ceiling: Ceiling | None = None
    server_cpus: tuple[int, ...] = ()
    """Those that it is pinned to; empty: any."""
    direct: bool = False
    """Nothing but the kernel lies between both sides, and both were watched."""


@dataclass(frozen=True, kw_only=True)
class Evidence(Around):
    """Everything that the rules ask for, over the window that counts."""

    load: Load
    sent: float
    """Messages per second."""
    answered: float
    """Verified replies per second."""
    generator: Use
    generator_on_cpu: float
    """Share of its threads' time; less than the loop's where it was kept from running."""
    what: Noun = words.MESSAGE
    """What is sent."""
    begun: float | None = None
    """Sessions per second, which an open loop's rate counts; None: there are none."""
    offered: Offered | None = None
    """Of an open loop: whether its rate was reached."""
    is_opening: bool = False
    """What is timed is how connections are opened."""
    published: float | None = None
    """Copies of published events that are due per second; None: nothing is published."""
    round_trip_ns: float | None = None
    """Over a link: what a connection took to be established, in the middle."""
    service_ns: float = 0.0
    """The median service time."""

    @property
    def taken(self) -> float:
        """Share of the generator's time in which it had work or waited for a CPU to do it."""
        return max(self.generator.busy, self.generator_on_cpu + self.generator.queued)


def find(evidence: Evidence) -> tuple[Bottleneck, str]:
    """Who it was, and a sentence that says from what that follows."""
    found = list(_details(evidence))
    details = ", ".join(found)
    for rule in _RULES:
        decided = rule(evidence)
        if decided is None:
            continue
        who, reason = decided
        inside = f"{reason}, {details}" if reason else details
        if who == "rate":
            return who, f"the rate was kept ({inside})"
        if who == "connections":
            return who, f"the connections were too few for the rate ({inside})"
        return who, f"the {who} was the bottleneck ({inside})"
    if evidence.server is None and any(parts.busy(evidence.places)):
        return "unknown", f"neither side was at a limit that is known ({details})"
    if evidence.server is None:
        ours = ", ".join(part for part in found if part != UNREAD)
        text = (
            f"the generator was not the bottleneck ({ours}); the server may have been, but its CPU"
            f" could not be read: {evidence.unseen or TOO_SHORT}"
        )
        if evidence.offered and evidence.offered.is_missed and evidence.offered.is_full:
            text += f"; if it had room, the connections were too few: {_little(evidence)}"
        return "unknown", text
    return "unknown", f"neither side was at its limit ({details})"


def percent(share: float) -> str:
    """`52 %`."""
    return f"{100 * share:.0f} %"


_Found = tuple[Bottleneck, str] | None


def _rate(evidence: Evidence) -> _Found:
    """The plan asked for no more."""
    if evidence.generator.busy >= CLIENT_BOUND:
        return None
    match evidence.load.executor:
        case Hold():
            return None if evidence.is_opening else ("rate", "")
        case AfterResponse(pause_ns=pause_ns):
            # Beyond its limit a server makes them wait, and they wait for it first.
            pauses = evidence.service_ns < pause_ns and _busy_server(evidence) is None
            return ("rate", "most of each turn is its pause") if pauses else None
        case OpenLoop() if evidence.offered and not evidence.offered.is_missed:
            return "rate", ""
        case _:
            return None


def _busy_generator(evidence: Evidence) -> _Found:
    """It had no room left. A server that had none either was loaded as much as it can be."""
    server = evidence.server
    if server is not None and server.busy >= CLIENT_BOUND:
        return None
    if parts.at_limit(evidence.places):
        return None
    return ("generator", "") if evidence.taken >= CLIENT_BOUND else None


def _busy_server(evidence: Evidence) -> _Found:
    server = evidence.server
    if server is None or server.busy + server.queued < SERVER_BOUND:
        return None
    return "server", ""


def _full_part(evidence: Evidence) -> _Found:
    """A part of the application had all the CPU time that it may have."""
    reason = parts.at_limit(evidence.places)
    return ("server", reason) if reason else None


def _starved(evidence: Evidence) -> _Found:
    """It could have run and was not let. A generator that was not has measured mostly that."""
    server = evidence.server
    waiting = evidence.generator.queued
    if waiting >= AT_REST or (waiting >= OFTEN_WAITING and evidence.taken >= HARDLY_IDLE):
        return "generator", ""
    waited = server is not None and server.queued >= AT_REST
    return ("server", "") if waited and evidence.taken < AT_REST else None


def _ceiling(evidence: Evidence) -> _Found:
    """As fast as the generator goes against the cheapest server, however idle it looked."""
    ceiling = evidence.ceiling
    if ceiling is None:
        return None
    most = ceiling.messages_per_second
    if abs(evidence.answered / most - 1) > NEAR_CEILING:
        # Beyond it: what was measured as the ceiling is none.
        return None
    reached = f"{evidence.answered:,.0f} {evidence.what.many}/s"
    return "generator", f"{reached} where its own ceiling is {most:,.0f} {evidence.what.many}/s"


def _full_link(evidence: Evidence) -> _Found:
    share = max((share for share, _ in _link_shares(evidence)), default=0.0)
    return ("link", "") if share >= LINK_FULL else None


def _far_link(evidence: Evidence) -> _Found:
    """Most of each message's time is the way there and back, which no server shortens."""
    way = evidence.round_trip_ns
    if way is None or way < MOSTLY * evidence.service_ns or evidence.taken >= AT_REST:
        return None
    return "link", f"there and back are {way / 1e6:.3g} of {evidence.service_ns / 1e6:.3g} ms"


def _no_room(evidence: Evidence) -> _Found:
    """A receive window is the reader's, a send buffer the writer's."""
    for side, other in (("server", "generator"), ("generator", "server")):
        window = _share(evidence, other, lambda use: use.receive_window_limited_ns)
        buffer = _share(evidence, side, lambda use: use.send_buffer_limited_ns)
        if max(window, buffer) >= HELD_UP:
            return ("server" if side == "server" else "generator"), ""
    return None


def _few_connections(evidence: Evidence) -> _Found:
    """All had as much in flight as they may, and the server is known to have had room."""
    offered = evidence.offered
    if offered is None or not offered.is_missed or not offered.is_full or evidence.server is None:
        return None
    return "connections", _little(evidence)


def _idle_server(evidence: Evidence) -> _Found:
    """Nobody works, nothing is full, and another server answers far more to the same load."""
    ceiling = evidence.ceiling
    if ceiling is None or evidence.server is None or not evidence.direct:
        return None
    share = evidence.answered / ceiling.reached
    if share >= FAR_BELOW or evidence.taken >= AT_REST:
        return None
    waited = f"{evidence.what.many} waited in it"
    return "server", f"{waited}: {percent(share)} of what the reference server answers"


def _published(evidence: Evidence) -> _Found:
    """Copies come as events are published, and neither side is at a limit."""
    due = evidence.published
    if due is None or evidence.server is None:
        return None
    return ("rate", "") if evidence.answered >= HEARD * due else None


_RULES: tuple[Callable[[Evidence], _Found], ...] = (
    _rate,
    _busy_generator,
    _full_part,
    _busy_server,
    _full_link,
    _no_room,
    _starved,
    _ceiling,
    _few_connections,
    _idle_server,
    _far_link,
    _published,
)


def _details(evidence: Evidence) -> Iterator[str]:
    executor = evidence.load.executor
    if isinstance(executor, OpenLoop):
        rate = evidence.offered.rate if evidence.offered else executor.rate
        sent = f"{evidence.what.many}/s sent"
        if evidence.begun is None:
            yield f"{evidence.sent:,.0f} of {rate:,.0f} {sent}"
        else:
            begun = f"{evidence.begun:,.0f} of {rate:,.0f} sessions/s begun"
            yield f"{begun}, {evidence.sent:,.0f} {sent}"
        if evidence.offered and evidence.offered.is_missed and evidence.offered.growth:
            yield f"{evidence.offered.growth:,.0f} more each second without a reply"
    ours, server = evidence.generator, evidence.server
    # The loop takes the wait after a wake-up for rest, which it is not.
    yield f"our loop {percent(max(0.0, 1 - evidence.taken))} idle{_waiting(ours)}"
    known = tuple(parts.busy(evidence.places))
    if server:
        yield f"server: its {_cpus(server)} {percent(server.busy)} busy{_waiting(server)}"
        if server.limit:
            yield f"held back in {percent(server.limit.throttled)} of its limit's periods"
    elif not known:
        yield UNREAD
    yield from known
    yield from _crowded(evidence)
    for share, text in _link_shares(evidence):
        if share >= AT_REST:
            yield text
    for side, other in (("server", "generator"), ("generator", "server")):
        window = _share(evidence, other, lambda use: use.receive_window_limited_ns)
        if window >= WORTH_SAYING:
            yield f"no room in the {side}'s receive window {percent(window)} of the time"
        buffer = _share(evidence, side, lambda use: use.send_buffer_limited_ns)
        if buffer >= WORTH_SAYING:
            yield f"the {side}'s send buffer full {percent(buffer)} of the time"
        for use in _sockets(evidence, side):
            if use.mean_receive_queue_bytes >= MUCH_UNREAD:
                unread = f"{use.mean_receive_queue_bytes:,.0f} bytes per connection"
                yield f"{unread} not read by the {side} yet"


def _cpus(server: Use) -> str:
    return f"{server.limit.cpus:g} CPUs" if server.limit else "CPU"


def _waiting(use: Use) -> str:
    if use.queued < WORTH_SAYING:
        return ""
    return f" and {percent(use.queued)} waiting for a CPU"


def _crowded(evidence: Evidence) -> Iterator[str]:
    """CPUs of the server that somebody else had."""
    for cpu in evidence.seen.cpus if evidence.seen else ():
        if cpu.cpu not in evidence.server_cpus:
            continue
        whole, idle, stolen = _spent(cpu)
        if not whole:
            continue
        if stolen >= WORTH_SAYING * whole:
            yield f"{percent(stolen / whole)} of CPU {cpu.cpu} taken by the hypervisor"
        waited = evidence.server is not None and evidence.server.queued >= WORTH_SAYING
        if waited and whole - idle >= FULL_CPU * whole:
            yield f"CPU {cpu.cpu} full"


def _spent(cpu: CpuUse) -> tuple[int, int, int]:
    """All of its time, the idle part, and what the hypervisor took."""
    states = cpu.model_dump(exclude={"cpu"})
    idle = (cpu.idle_ns or 0) + (cpu.iowait_ns or 0)
    return sum(ns or 0 for ns in states.values()), idle, cpu.steal_ns or 0


def _link_shares(evidence: Evidence) -> Iterator[tuple[float, str]]:
    """How full the link was in each direction whose rate is known."""
    seen = evidence.seen
    if seen is None or seen.link is None or seen.start_ns is None or seen.end_ns is None:
        return
    link, seconds = seen.link, (seen.end_ns - seen.start_ns) / 1e9
    for way, carried, rate in (
        ("from", link.sent_bytes, link.send_rate_bytes),
        ("to", link.received_bytes, link.receive_rate_bytes),
    ):
        if carried is None or not rate or not seconds:
            continue
        used = carried / seconds
        yield (
            used / rate,
            f"{used * 8 / 1e6:,.3g} of {rate * 8 / 1e6:,.3g} Mbit/s {way} the server",
        )


def _share(evidence: Evidence, side: str, held: Callable[[SocketUse], int]) -> float:
    """The share of the time in which a side's connections were held up so."""
    return max((held(use) / use.followed_ns for use in _sockets(evidence, side)), default=0.0)


def _sockets(evidence: Evidence, side: str) -> list[SocketUse]:
    """What was seen of a side's connections: one entry, or none."""
    seen = evidence.seen.sockets if evidence.seen else ()
    return [use for use in seen if use.side == side and use.followed_ns]


def _little(evidence: Evidence) -> str:
    """How many connections the rate takes, by Little's law."""
    offered = evidence.offered
    assert offered is not None
    what = evidence.what.many if evidence.begun is None else "sessions"
    took = offered.time_ns / 1e6
    return (
        f"all {offered.slots:,} places in flight were taken, for {took:.3g} ms each; at that time"
        f" {offered.rate:,.0f} {what}/s need {offered.needed:,} connections (Little's law)"
    )
