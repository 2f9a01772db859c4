"""Every bottleneck and every artefact, made on purpose: each is named, and by what it is.

No test asks how fast the machine is. Where the provocation is a share of a CPU, whoever is not to
be the bottleneck is given precedence, so that other work on the machine is not taken for it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.lab.test_isolation import needs_root
from wiretrial.engine import Engine
from wiretrial.machine.namespaces import ENVIRONMENT, INTERFACE, Namespace
from wiretrial.plan import (
    EchoContent,
    Expect,
    GeneratorSettings,
    LearnedContent,
    Load,
    Message,
    OpenLoop,
    Phases,
    Plan,
    SequencePayload,
    Stop,
    Target,
)
from wiretrial.results.ceiling import Ceiling
from wiretrial.results.model import Scenario, SubjectFacts, Trial
from wiretrial.snapshot import Start
from wiretrial.studies import sent
from wiretrial.studies.recording import Recording
from wiretrial.subjects import build, registry
from wiretrial.subjects.process import Server

pytestmark = pytest.mark.alone

CPUS = sorted(os.sched_getaffinity(0))
MEASURED = Stop(duration_ns=1_500_000_000)
WARMUP_NS = 300_000_000
BURNERS = 4
TRIES = 5
LINK_BYTES = 2_500_000
SMALL_WINDOW = "2304 2304 2304"
SIXTEEN = Load(connections=16)
BURN = "import os\nwhile os.getppid() == {parent}: pass"

two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="two sides need a CPU each")


class Side:
    """One start of the reference server on a CPU of its own, and the generator on another."""

    def __init__(
        self, engine: Engine, isolation: Namespace | None = None, delay_ms: int = 0
    ) -> None:
        subject = registry.find("reference")
        self.engine = engine
        self.isolation = isolation
        self.server = Server(
            subject,
            build.install(subject, engine.binary),
            "default",
            engine=engine.binary,
            cpus=CPUS[:1],
            isolation=isolation,
            delay_ms=delay_ms,
        )

    def __enter__(self) -> Side:
        self.server.wait_ready()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()

    def trial(
        self,
        target: Target,
        *,
        load: Load = SIXTEEN,
        favoured: str | None = None,
        ceiling: Ceiling | None = None,
    ) -> Trial:
        """A trial in which one side, or both (`all`), go before the rest of the machine."""
        if favoured in ("server", "all"):
            prefer(self.server.pid)
        url = self.server.endpoint("http").url(target.url)
        return recorded(
            self.engine,
            target.model_copy(update={"url": url}),
            [self.server.pid],
            load,
            prefer_generator=favoured in ("generator", "all"),
            ceiling=ceiling,
            environment=ENVIRONMENT if self.isolation else "loopback",
        )


def recorded(
    engine: Engine,
    target: Target,
    pids: Sequence[int],
    load: Load,
    *,
    stop: Stop = MEASURED,
    prefer_generator: bool = False,
    ceiling: Ceiling | None = None,
    environment: str = "loopback",
) -> Trial:
    """One trial of whatever listens at the target."""
    plan = Plan(
        target=target,
        load=load,
        stop=stop,
        phases=Phases(warmup_ns=WARMUP_NS if stop.requests is None else 0),
        generator=GeneratorSettings(threads=1, cpus=(CPUS[-1],)),
    )
    with Recording(engine, plan, pids) as recording:
        for snapshot in recording:
            if prefer_generator and isinstance(snapshot, Start):
                prefer(snapshot.pid)
    subject = SubjectFacts(
        name="s", version="1", language="", threads=1, cpus=(CPUS[0],) if pids else ()
    )
    return sent.record(
        recording.sent(environment, subject=subject, ceiling=ceiling),
        Scenario(name="n", subject="s", protocol="http", workload="w"),
        "provocations",
        {},
    )


def prefer(pid: int) -> None:
    """All threads of a process run as soon as they can. Being nice is not enough for that.

    Where even root may not, the machine has to be quiet.
    """
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.sched_setscheduler(int(task.name), os.SCHED_RR, os.sched_param(1))


@contextlib.contextmanager
def burning(cpu: int) -> Iterator[None]:
    """Processes that take all they get of a CPU; they end with us, whatever happens."""
    code = BURN.format(parent=os.getpid())
    burners = [
        subprocess.Popen(["taskset", "-c", str(cpu), sys.executable, "-S", "-c", code])
        for _ in range(BURNERS)
    ]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def echo(size: int) -> Target:
    return Target(
        url="/echo",
        message=Message(source=SequencePayload(bytes=size)),
        expect=Expect(content=EchoContent()),
    )


def until(bottleneck: str, trial: Callable[[], Trial]) -> Trial:
    """The first trial that is judged so, of a few.

    A virtual machine may be away for a while, and then there is time that neither side had.
    """
    found = trial()
    for _ in range(TRIES - 1):
        if found.judgement.bottleneck == bottleneck:
            break
        found = trial()
    return found


@two_cpus
@needs_root
def test_a_starved_generator_is_the_bottleneck(engine: Engine) -> None:
    with Side(engine) as side, burning(CPUS[-1]):
        trial = until("generator", lambda: side.trial(echo(64), favoured="server"))
    assert trial.judgement.bottleneck == "generator", trial.judgement.evidence
    assert "waiting for a CPU" in trial.judgement.evidence
    # Invalid, where it was kept from running for so long that hardly an interval is left.
    assert trial.judgement.verdict in ("client-bound", "invalid")
    assert "starved" in {warning.code for warning in trial.warnings}


@two_cpus
@needs_root
def test_a_server_whose_core_is_saturated_by_others_is_the_bottleneck(engine: Engine) -> None:
    with Side(engine) as side, burning(CPUS[0]):
        trial = until("server", lambda: side.trial(echo(64), favoured="generator"))
    assert trial.judgement.bottleneck == "server", trial.judgement.evidence
    assert f"CPU {CPUS[0]} full" in trial.judgement.evidence
    assert "busy and " in trial.judgement.evidence


@two_cpus
@needs_root
def test_a_server_that_waits_is_the_bottleneck(engine: Engine) -> None:
    # What the same load reaches without the delay, as a study measures it beforehand.
    with Side(engine) as cheap:
        alone = cheap.trial(status(), favoured="all")
    reached = alone.summary.counters.ok * 1e9 / alone.summary.measure_end_ns
    with Side(engine, delay_ms=20) as side:
        trial = side.trial(
            status(), favoured="all", ceiling=Ceiling(reached=reached, loop_utilisation=1.0)
        )
    assert trial.judgement.bottleneck == "server", trial.judgement.evidence
    assert "requests waited in it: " in trial.judgement.evidence
    assert trial.judgement.verdict == "valid"


def status() -> Target:
    return Target(url="/test/status", expect=Expect(content=LearnedContent()))


@needs_root
def test_a_small_receive_window_is_named(engine: Engine) -> None:
    with (
        Namespace(settings={"net.ipv4.tcp_rmem": SMALL_WINDOW}) as isolation,
        Side(engine, isolation) as side,
    ):
        # With four in flight on each, the window is full nearly all of the time, on any machine.
        trial = side.trial(echo(65_536), load=Load(connections=4, depth=4))
    assert trial.judgement.bottleneck == "server", trial.judgement.evidence
    assert "no room in the server's receive window" in trial.judgement.evidence


@needs_root
def test_a_full_link_is_the_bottleneck(engine: Engine) -> None:
    with Namespace() as isolation, Side(engine, isolation) as side:
        limit(isolation)
        trial = side.trial(echo(4096), favoured="all")
    assert trial.judgement.bottleneck == "link", trial.judgement.evidence
    assert "of 20 Mbit/s from the server" in trial.judgement.evidence
    assert trial.observation is not None
    assert trial.observation.link is not None
    assert trial.observation.link.send_rate_bytes == LINK_BYTES
    assert trial.observation.link.receive_rate_bytes is None


def limit(isolation: Namespace) -> None:
    """Lets so much through from the server, and no more."""
    from pyroute2 import IPRoute

    with IPRoute(netns=str(isolation.file)) as inside:
        (index,) = inside.link_lookup(ifname=INTERFACE)
        inside.tc("add", "tbf", index, rate="20mbit", burst=32_768, latency="50ms")


def test_a_rate_that_is_kept_is_the_bottleneck(engine: Engine) -> None:
    with Side(engine) as side:
        trial = side.trial(status(), load=Load(connections=2, executor=OpenLoop(rate=50)))
    assert trial.judgement.bottleneck == "rate", trial.judgement.evidence


@pytest.fixture
def two_sends() -> Iterator[tuple[int, int]]:
    """A server that runs into Nagle's algorithm: its process and its port."""
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).parent / "programs" / "two_sends.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.pid, int(process.stdout.readline())
        process.communicate()


def test_nagle_and_a_delayed_ack_are_named(engine: Engine, two_sends: tuple[int, int]) -> None:
    pid, port = two_sends
    target = Target(url=f"http://127.0.0.1:{port}/", expect=Expect(content=LearnedContent()))
    trial = recorded(engine, target, [pid], Load(connections=8))
    assert "40-ms-mode" in {warning.code for warning in trial.warnings}, trial.judgement


def test_a_limit_of_requests_per_connection_is_named(engine: Engine, tmp_path: Path) -> None:
    subject = registry.find("nginx")
    built = build.install(subject, engine.binary)
    # As nginx came before 1.19.10.
    limited = subject.model_copy(update={"folder": tmp_path / subject.folder.name})
    shutil.copytree(subject.folder, limited.folder)
    settings = limited.folder / "default.conf"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("http {", "http {\n    keepalive_requests 100;"))
    with Server(limited, built, "default", engine=engine.binary, cpus=CPUS[:1]) as server:
        server.wait_ready()
        url = server.endpoint("http").url("/message")
        target = Target(url=url, expect=Expect(content=LearnedContent()))
        stop = Stop(requests=3000)
        trial = recorded(engine, target, [server.pid], Load(connections=2), stop=stop)
    (told,) = [warning for warning in trial.warnings if warning.code == "reconnects"]
    assert "one per 100 requests" in told.message


@needs_root
def test_a_name_whose_first_address_nobody_listens_on_costs_no_connection_a_fallback(
    engine: Engine, tmp_path: Path
) -> None:
    # `localhost` as most systems have it, for this engine alone: in a mount namespace of its own.
    hosts = tmp_path / "hosts"
    hosts.write_text("::1 localhost\n127.0.0.1 localhost\n", encoding="ascii")
    own = tmp_path / "engine"
    own.write_text(
        f"#!/bin/sh\nexec unshare -m sh -c 'mount --bind {hosts} /etc/hosts && exec"
        f' {engine.binary} "$@"\' sh "$@"\n',
        encoding="ascii",
    )
    own.chmod(0o755)
    with Side(engine) as side:
        port = side.server.endpoint("http").port
        target = Target(
            url=f"http://localhost:{port}/message", expect=Expect(content=LearnedContent())
        )
        load = Load(connections=4, requests_per_connection=10)
        trial = recorded(Engine(own), target, [side.server.pid], load, stop=Stop(requests=2000))
    # The address that answers is found once, before the load: no connection waits for the other.
    assert trial.start.addresses == (f"127.0.0.1:{port}",)
    assert trial.summary.connections.failed == {}
    assert trial.summary.connections.opened >= 200
    assert "200-ms-mode" not in {warning.code for warning in trial.warnings}
