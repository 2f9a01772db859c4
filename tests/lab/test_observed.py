"""What was read becomes what is recorded: cut to the window, and nothing made up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.test_isolation import needs_root
from wiretrial.engine import Engine
from wiretrial.machine import sockets
from wiretrial.machine.namespaces import INTERFACE, Namespace
from wiretrial.observation import Descriptors
from wiretrial.plan import GeneratorSettings, Load, Phases, Plan, Stop, Target
from wiretrial.results.model import Scenario, SubjectFacts, Trial, Window
from wiretrial.studies import observed, sent
from wiretrial.studies.recording import Recording
from wiretrial.subjects import build, registry
from wiretrial.subjects.observe import Detail, Plateau, Seen
from wiretrial.subjects.process import Server
from wiretrial.subjects.tree import Reading, ThreadReading

pytestmark = pytest.mark.alone

BEGUN_NS = 10**12
STEP_NS = 10**8
CONNECTIONS = 8
# How the kernel writes them (include/net/tcp_states.h).
LISTENS, WAITS = "0A", "06"
SETTLE_TRIES = 500


def detail(step: int, *, run_queue: bool = True) -> Detail:
    """A reading in which every counter grows by a number of its own with each step."""
    return Detail(
        at_ns=BEGUN_NS + step * STEP_NS,
        threads=ThreadReading(10 * step, 2 * step, 10**6 * step if run_queue else None, {7: step}),
        cpus={None: {"user": 40 * step, "idle": 60 * step}, 3: {"user": 5 * step}},
        link={"sent_bytes": 1000 * step},
        tcp={"sent_segments": 3 * step},
        sockets={} if step < 2 else {"server": sockets.Totals(step, step, 0, 0, 1, 50 * step, 0)},
        written_bytes=4096 * step if run_queue else None,
    )


def plateau(name: str, connections: int, pss: int | None) -> Plateau:
    """Memory and descriptors at some instant."""
    return Plateau(
        name="before" if name == "before" else "connected",
        at_ns=BEGUN_NS,
        took_ns=5,
        connections=connections,
        threads=1,
        pss_bytes=pss,
        anonymous_bytes=None,
        tcp_memory_bytes=4096 * connections,
        tcp_sockets=connections,
        socket_slab_bytes=None,
        descriptors=Descriptors(open=5 + connections, fullest=5 + connections, limit=1024),
    )


def window(start_step: float, end_step: float) -> Window:
    """A window between two steps."""
    return Window(
        start_ns=round(start_step * STEP_NS),
        end_ns=round(end_step * STEP_NS),
        steady=True,
        rule="r",
    )


ORIGIN = observed.Origin(BEGUN_NS, alone=True, interfaces=("wire0",), tells_memory=True)


def test_growth_is_that_of_the_window_and_interpolated_at_its_edges() -> None:
    seen = Seen(details=[detail(step) for step in range(11)])
    found = observed.observation(seen, window(2.5, 7.5), ORIGIN)
    assert (found.start_ns, found.end_ns) == (250_000_000, 750_000_000)
    assert (found.voluntary_switches, found.involuntary_switches) == (50, 10)
    assert found.run_queue_ns == 5 * 10**6
    assert found.written_bytes == 5 * 4096
    everything, third = found.cpus
    assert (everything.cpu, everything.user_ns, everything.idle_ns) == (None, 200, 300)
    assert (third.cpu, third.user_ns) == (3, 25)
    assert found.link is not None
    assert (found.link.sent_bytes, found.link.interfaces) == (5000, ("wire0",))
    assert found.tcp is not None
    assert found.tcp.sent_segments == 15
    (server,) = found.sockets
    assert (server.side, server.followed_ns, server.busy_ns) == ("server", 5, 5)
    assert server.mean_send_queue_bytes == 50
    assert observed.queued(seen, window(2.5, 7.5), BEGUN_NS) == pytest.approx(0.01)


def test_what_was_not_read_is_none_and_never_zero() -> None:
    seen = Seen(details=[detail(step, run_queue=False) for step in range(11)])
    found = observed.observation(seen, window(0, 10), ORIGIN)
    assert (found.run_queue_ns, found.written_bytes) == (None, None)
    assert found.link is not None
    assert found.link.received_bytes is None
    assert found.cpus[0].steal_ns is None
    assert found.threads_peak is None
    assert found.per_connection is None
    nothing = observed.observation(Seen(), window(0, 10), ORIGIN)
    assert (nothing.start_ns, nothing.voluntary_switches, nothing.link) == (None, None, None)


def test_readings_that_end_early_shorten_what_is_covered() -> None:
    seen = Seen(details=[detail(step) for step in range(3, 6)])
    found = observed.observation(seen, window(0, 10), ORIGIN)
    assert (found.start_ns, found.end_ns) == (300_000_000, 500_000_000)
    assert found.voluntary_switches == 20


def test_memory_is_told_by_the_connections_that_stood() -> None:
    plateaus = [plateau("before", 0, 1_000_000), plateau("connected", 100, 1_500_000)]
    found = observed.observation(Seen(plateaus=plateaus), window(0, 1), ORIGIN)
    assert found.per_connection is not None
    assert found.per_connection.pss_bytes == 5000
    assert found.per_connection.tcp_memory_bytes == 4096
    assert found.per_connection.anonymous_bytes is None
    opened = [one.descriptors.open for one in found.plateaus if one.descriptors]
    assert opened == [5, 105]
    plateaus[1] = plateau("connected", 100, None)
    found = observed.observation(Seen(plateaus=plateaus), window(0, 1), ORIGIN)
    assert found.per_connection is not None
    assert found.per_connection.pss_bytes is None


def test_a_clock_of_ticks_is_said_to_be_one() -> None:
    readings = [Reading(BEGUN_NS, 1, 1, 1, 1, 4), Reading(BEGUN_NS + 1, 1, 1, 10**7, 1, 2)]
    found = observed.observation(Seen(readings=readings), window(0, 1), ORIGIN)
    assert (found.cpu_resolution_ns, found.threads_peak) == (10**7, 4)


@pytest.fixture(params=["loopback", pytest.param("namespace", marks=needs_root)])
def isolation(request: pytest.FixtureRequest) -> Iterator[Namespace | None]:
    """Where the server runs."""
    if request.param == "loopback":
        yield None
        return
    with Namespace() as made:
        yield made


def record(engine: Engine, isolation: Namespace | None) -> Trial:
    """One short trial of the reference server."""
    subject = registry.find("reference")
    built = build.install(subject, engine.binary)
    with Server(
        subject, built, "default", engine=engine.binary, cpus=(0,), isolation=isolation
    ) as server:
        server.wait_ready()
        if isolation is not None:
            wait_for_listeners_alone(server.pid)
        plan = Plan(
            target=Target(url=server.endpoint("http").url("/message")),
            load=Load(connections=CONNECTIONS),
            stop=Stop(duration_ns=1_500_000_000),
            phases=Phases(warmup_ns=300_000_000),
            generator=GeneratorSettings(threads=1),
        )
        with Recording(engine, plan, [server.pid]) as recording:
            for _ in recording:
                pass
        told = SubjectFacts(
            name="reference",
            version=built.version,
            language="Rust",
            threads=1,
            isolation=observed.isolation(server),
        )
        return sent.record(
            recording.sent("loopback", subject=told),
            Scenario(name="n", subject="reference", protocol="http", workload="w"),
            "s",
            {},
        )


def wait_for_listeners_alone(pid: int) -> None:
    """Returns when the server has closed its side of the connections that asked if it is ready."""
    for _ in range(SETTLE_TRIES):
        rows = [
            line.split()
            for name in ("tcp", "tcp6")
            for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
        ]
        if all(row[3] in (LISTENS, WAITS) for row in rows):
            return
        time.sleep(0.01)
    pytest.fail("the server keeps connections that were closed")


def test_a_real_trial_is_observed(engine: Engine, isolation: Namespace | None) -> None:
    trial = record(engine, isolation)
    found = trial.observation
    assert found is not None
    assert trial.subject is not None
    assert trial.subject.isolation is not None
    assert trial.subject.isolation.kind == ("namespace" if isolation else "loopback")
    assert found.cpu_resolution_ns == 1
    assert found.alone == (isolation is not None)
    assert found.start_ns is not None
    assert found.end_ns is not None
    assert trial.window.start_ns <= found.start_ns < found.end_ns <= trial.window.end_ns
    assert {one.cpu for one in found.cpus} >= {None, 0}
    assert found.cpus[0].idle_ns is not None
    assert [one.name for one in found.plateaus] == ["before", "connected", "end"]
    assert [one.connections for one in found.plateaus[:2]] == [0, CONNECTIONS]
    assert all(one.pss_bytes for one in found.plateaus)
    assert found.per_connection is not None
    sides = {one.side for one in found.sockets}
    assert sides == {"server", "generator"}, found.model_dump_json(exclude={"cpus"})
    messages = sum(one.counters.ok for one in trial.intervals)
    assert messages
    assert found.link is not None
    assert found.link.sent_bytes
    assert found.tcp is not None
    assert found.tcp.sent_segments
    if isolation is None:
        assert found.link.interfaces == ("lo",)
        return
    # Nobody else is in the namespace: a reply is a segment or more, a connection is a socket.
    assert found.link.interfaces == (INTERFACE,)
    inside = sum(
        one.counters.ok
        for one in trial.intervals
        if one.start_ns >= found.start_ns and one.end_ns <= found.end_ns
    )
    # Interpolated at the edges, where the rate may not be what it was around them.
    assert 0.8 * inside <= found.tcp.sent_segments <= 2 * messages
    before, connected = found.plateaus[0].tcp_sockets, found.plateaus[1].tcp_sockets
    assert before is not None
    assert connected == before + CONNECTIONS
