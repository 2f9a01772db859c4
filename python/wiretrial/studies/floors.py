"""What a case takes at least, by arithmetic: its server's work, its threads, its link.

Pure. Knows cases and links; must not know how long anything took.
"""

from __future__ import annotations

from wiretrial.machine import links
from wiretrial.plan import SECURE, ClosedLoop
from wiretrial.stats.floor import Demand, Floor, floor
from wiretrial.studies.spec import Browsing, Case
from wiretrial.subjects.spec import Protocol
from wiretrial.words import CALLS, QUIC


def told(case: Case) -> Case:
    """The case, with its floor in its scenario, so that its trials carry it."""
    found = floor_of(case)
    update = {
        "floor_ns": found.ns if found else None,
        "floor_formula": found.formula if found else None,
        "trials": case.trials,
    }
    return case.model_copy(update={"scenario": case.scenario.model_copy(update=update)})


def floor_of(case: Case) -> Floor | None:
    """The least time of a closed loop whose length is given in messages; None of any other."""
    if isinstance(case.sending, Browsing):
        return _of_browser(case, case.sending)
    if case.messages is None or not isinstance(case.load.executor, ClosedLoop):
        return None
    if case.load.depth > 1 or case.knee or case.server_threads is None or case.sending:
        return None
    producers = case.load.connections
    return floor(
        Demand(
            each=case.messages / producers,
            producers=producers,
            threads=case.server_threads,
            work_ns=case.delay_ms * 1_000_000,
            path_ns=round_trips(case) * round_trip_ns(case) + _setup_ns(case),
        )
    )


def _of_browser(case: Case, browsing: Browsing) -> Floor | None:
    """Connections stand before the first request: the link is crossed once, or once by each."""
    turns = (case.requests or 1) if browsing.pattern == "sequential" else 1
    ns = turns * round_trip_ns(case)
    return Floor(ns, "path", f"{turns} RTT") if ns else None


def setup_round_trips(protocol: Protocol) -> int:
    """How often a connection's set-up crosses the path and comes back: TCP, TLS 1.3, an upgrade,
    the greeting of Socket.IO, which is answered, and the server's settings of HTTP/2, for which
    calls wait and requests don't. QUIC has TLS in its own set-up."""
    if protocol == QUIC:
        return 1
    upgraded = "ws" in protocol
    greeted = protocol.startswith("socketio") or protocol in CALLS
    return 1 + (protocol in SECURE) + upgraded + greeted


def _setup_ns(case: Case) -> int:
    """A connection's set-up, shared among its messages, where it is part of the time."""
    each = case.requests_each
    if each is None or case.load.requests_per_connection != each:
        return 0
    if each == 1:
        # Counted with the one exchange.
        return 0
    return _setup_trips(case) * round_trip_ns(case) // each


def exchange_ns(case: Case) -> int:
    """How long one exchange takes where nobody is slow: its turn for a thread, and the path."""
    turns = -(-case.load.connections * case.load.depth // (case.server_threads or 1))
    work = turns * case.delay_ms * 1_000_000
    return work + round_trips(case) * round_trip_ns(case)


def round_trips(case: Case) -> int:
    """How often an exchange crosses the path and comes back."""
    if case.load.requests_per_connection != 1:
        return 1
    return 1 + _setup_trips(case)


def _setup_trips(case: Case) -> int:
    """Of a connection's set-up, as far as its first request waits for it: early data does not."""
    return 0 if case.http.early_data else setup_round_trips(case.spoken)


def round_trip_ns(case: Case) -> int:
    """Of the case's link; 0 where there is none."""
    link = links.of_environment(case.scenario.environment)
    return link.round_trip_ns if link else 0
