"""Servers in network namespaces, copies of servers, and what a crash leaves behind: nothing."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pyroute2
import pytest

from wiretrial import launch
from wiretrial.engine import Engine
from wiretrial.errors import UsageProblem
from wiretrial.machine import facts, shapers, steering
from wiretrial.machine.namespaces import INHERITED, INTERFACE, Namespace
from wiretrial.machine.steering import Steering
from wiretrial.subjects import build, registry, runfolder
from wiretrial.subjects.copies import Copies
from wiretrial.subjects.process import Server

DEADLINE_S = 20.0
ADMINISTER_NETWORKS, ADMINISTER_SYSTEM = 12, 21

LABORATORY = """
import json, sys, time
from pathlib import Path
from wiretrial.engine import Engine
from wiretrial.machine.namespaces import Namespace
from wiretrial.subjects import build, registry
from wiretrial.subjects.process import Server

engine = Engine.find()
subject = registry.find(sys.argv[1])
built = build.install(subject, engine.binary)
isolation = Namespace() if sys.argv[2] == "namespace" else None
server = Server(subject, built, "default", engine=engine.binary, isolation=isolation)
server.wait_ready()
print(json.dumps({
    "pid": server.pid,
    "folder": str(server.folder),
    "interface": isolation.interface if isolation else None,
    "namespace": Path(f"/proc/{server.pid}/ns/net").stat().st_ino,
}), flush=True)
time.sleep(60)
"""

RESTLESS = """
name = "restless"
kind = "server"
summary = "A server that ignores SIGTERM and leaves a descendant of its own session behind"
language = "Rust"
homepage = "https://example.org"
licence = "Apache-2.0"
speaks = ["tcp"]
contracts = ["raw-echo"]

[version]
command = ["{engine}", "--version"]
pattern = '(\\S+)$'

[configurations.default]
description = "Two processes, neither of which ends when it is asked to."
command = [
  "sh", "-c",
  "trap '' TERM; (setsid sleep 600 &); {engine} respond --tcp {host}:{raw_port} & wait; sleep 600",
]
"""


def may_isolate() -> bool:
    """Whether we are root, with what root usually may."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == "CapEff":
            held = int(value, 16)
            return all(held >> one & 1 for one in (ADMINISTER_NETWORKS, ADMINISTER_SYSTEM))
    return False


needs_root = pytest.mark.skipif(not may_isolate(), reason="network namespaces need root")


def network_of(pid: int) -> int:
    """The number of a process's network namespace."""
    return Path(f"/proc/{pid}/ns/net").stat().st_ino


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits until the condition holds."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_until_gone(interface: str) -> None:
    """The kernel takes a namespace away some time after its last process."""
    wait_until(lambda: interface not in psutil.net_if_addrs())


@pytest.fixture
def restless(tmp_path: Path) -> str:
    """The name of a subject that does not go by itself."""
    (tmp_path / "subject.toml").write_text(RESTLESS, encoding="utf-8")
    return f"{tmp_path}/"


@needs_root
def test_a_namespace_has_a_link_and_our_settings_and_leaves_nothing() -> None:
    with Namespace(copies=2, settings={"net.ipv4.ip_local_port_range": "15000 60000"}) as isolation:
        inside = f"--net={isolation.file}"
        told = subprocess.run(
            [*("nsenter", inside, "cat"), *(f"/proc/sys/{n.replace('.', '/')}" for n in INHERITED)],
            capture_output=True,
            text=True,
            check=True,
        )
        settings = dict(
            zip(
                INHERITED,
                (" ".join(line.split()) for line in told.stdout.splitlines()),
                strict=True,
            )
        )
        ours = {name: facts.sysctl(name) for name in INHERITED}
        assert settings == {**ours, "net.ipv4.ip_local_port_range": "15000 60000"}
        assert settings == isolation.settings
        assert facts.sysctl("net.ipv4.ip_local_port_range") != "15000 60000"
        here = psutil.net_if_addrs()[isolation.interface]
        assert set(isolation.sources) <= {address.address for address in here}
        assert len(isolation.addresses) == 2
    wait_until_gone(isolation.interface)


@needs_root
def test_reading_a_link_s_rate_runs_no_handler_of_ours_in_a_copy_of_us(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard, tell = os.pipe()
    before = signal.signal(signal.SIGTERM, lambda *_: os.write(tell, b"x"))
    usable = os.sched_getaffinity(0)
    # On one CPU with us, the copy is not done when we are.
    os.sched_setaffinity(0, {min(usable)})
    try:
        with Namespace() as isolation:
            # A command that only loads has made no namespace, and set nothing.
            monkeypatch.setattr(pyroute2.config, "disable_mp_signal", False)
            for _ in range(30):
                shapers.rates(isolation.pid, (INTERFACE,))
        assert not select.select([heard], [], [], 0)[0]
    finally:
        os.sched_setaffinity(0, usable)
        signal.signal(signal.SIGTERM, before)
        os.close(heard)
        os.close(tell)


def test_more_copies_than_addresses_are_refused() -> None:
    with pytest.raises(UsageProblem, match="201 copies need 201 addresses"):
        Namespace(copies=201)


@pytest.mark.skipif(may_isolate(), reason="root may")
def test_without_root_there_is_no_namespace_and_the_reason_is_said() -> None:
    with pytest.raises(UsageProblem, match="no network namespace can be made here: "):
        Namespace()


@needs_root
@pytest.mark.parametrize("name", ["reference", "ws", "nginx", "nginx-proxy"])
def test_a_subject_keeps_its_contracts_in_a_namespace_of_its_own(engine: Engine, name: str) -> None:
    subject = registry.find(name)
    built = build.install(subject, engine.binary)
    with (
        Namespace() as isolation,
        Server(subject, built, "default", engine=engine.binary, isolation=isolation) as server,
    ):
        server.wait_ready()
        assert server.host == isolation.addresses[0]
        assert network_of(server.pid) != network_of(os.getpid())
        assert server.ended() is None


@pytest.mark.parametrize("isolated", [False, pytest.param(True, marks=needs_root)])
def test_copies_are_one_subject_on_many_addresses(engine: Engine, isolated: bool) -> None:
    subject = registry.find("reference")
    built = build.install(subject, engine.binary)
    isolation = Namespace(copies=3) if isolated else None
    try:
        with Copies(
            subject, built, "default", 3, engine=engine.binary, isolation=isolation
        ) as copies:
            copies.wait_ready()
            found = [server.endpoint("http") for server in copies.servers]
            assert len({one.host for one in found}) == 3
            assert len({one.port for one in found}) == 1
            assert len(set(copies.pids)) == 3
            assert copies.ended() is None
            os.kill(copies.pids[1], signal.SIGKILL)
            select.select([copies.servers[1].pidfd], [], [], DEADLINE_S)
            assert (copies.ended() or "").startswith(f"{found[1].host}: signal SIGKILL")
        assert not any(psutil.pid_exists(pid) for pid in copies.pids)
    finally:
        if isolation:
            isolation.close()


class Crashed:
    """A laboratory with a server, killed; and what was to be gone with it."""

    def __init__(self, subject: str, where: str) -> None:
        self.laboratory = subprocess.Popen(
            [sys.executable, "-c", LABORATORY, subject, where],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(launch.__file__).parent.parent)},
        )
        assert self.laboratory.stdout is not None
        told = json.loads(self.laboratory.stdout.readline())
        self.folder = Path(told["folder"])
        self.interface: str | None = told["interface"]
        self.namespace: int = told["namespace"]
        self.below = psutil.Process(self.laboratory.pid).children(recursive=True)
        self.pidfds = [os.pidfd_open(process.pid) for process in self.below]

    def kill(self, *others: psutil.Process) -> None:
        """SIGKILL, for the laboratory and whoever else is named."""
        self.laboratory.kill()
        for process in others:
            process.kill()
        self.laboratory.wait()

    def assert_gone(self) -> None:
        """Every process, the interface and the namespace."""
        deadline = time.monotonic() + DEADLINE_S
        waiting = list(self.pidfds)
        while waiting:
            left = deadline - time.monotonic()
            assert left > 0, [process for process in self.below if process.is_running()]
            ended, _, _ = select.select(waiting, [], [], left)
            waiting = [one for one in waiting if one not in ended]
        if self.interface:
            wait_until_gone(self.interface)
            numbers = []
            for process in psutil.process_iter():
                try:
                    numbers.append(network_of(process.pid))
                except OSError:
                    continue
            assert self.namespace not in numbers

    def close(self) -> None:
        """Leaves nothing, whatever went wrong."""
        for process in self.below:
            if process.is_running():
                process.kill()
        self.laboratory.kill()
        self.laboratory.wait()
        for pidfd in self.pidfds:
            os.close(pidfd)


@pytest.fixture(params=["loopback", pytest.param("namespace", marks=needs_root)])
def crashed(request: pytest.FixtureRequest, restless: str) -> Iterator[Crashed]:
    """A laboratory that is about to be killed."""
    found = Crashed(restless, request.param)
    yield found
    found.close()


def test_a_killed_laboratory_leaves_nothing(crashed: Crashed) -> None:
    # A keeper, a shell, a server, and two that sleep; in a namespace, also who holds it.
    assert len(crashed.below) >= 4
    assert crashed.folder.is_dir()
    crashed.kill()
    crashed.assert_gone()
    # Where another laboratory runs here, it may be the one that is removing it.
    wait_until(lambda: not crashed.folder.exists())


def test_what_is_left_when_its_keeper_is_killed_too_the_next_one_sweeps_up(
    crashed: Crashed,
) -> None:
    (keeper,) = [process for process in crashed.below if "--keep" in process.cmdline()]
    # A child that has not yet become another program still bears its parent's command line.
    leader = min(
        (process for process in keeper.children() if "respond" in str(process.cmdline())),
        key=lambda process: process.create_time(),
    )
    crashed.kill(keeper)
    ended = crashed.pidfds[crashed.below.index(leader)]
    assert select.select([ended], [], [], DEADLINE_S)[0]
    assert crashed.folder.is_dir()
    assert crashed.folder in runfolder.sweep()
    assert not crashed.folder.exists()
    crashed.assert_gone()


def test_the_folder_of_a_living_laboratory_stays() -> None:
    folder = runfolder.make("kept")
    try:
        assert folder not in runfolder.sweep()
        assert folder.is_dir()
        # A process id of another container says nothing here.
        (folder / runfolder.OWNER).write_text("1 2 pid:[3]", encoding="ascii")
        assert folder not in runfolder.sweep()
        # One that is just being made has no owner yet.
        (folder / runfolder.OWNER).unlink()
        assert folder not in runfolder.sweep()
        assert folder.parent == Path(tempfile.gettempdir())
        # One that has had none for long will never have one.
        os.utime(folder, (0, 0))
        assert folder in runfolder.sweep()
        assert not folder.exists()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize(
    ("cpus", "mask"),
    [
        ((0,), "1"),
        ((1, 0), "3"),
        ((5,), "20"),
        ((32,), "1,00000000"),
        ((64, 1), "1,00000000,00000002"),
    ],
)
def test_a_set_of_cpus_is_written_as_the_kernel_reads_it(cpus: tuple[int, ...], mask: str) -> None:
    assert steering.mask(cpus) == mask


def received() -> dict[int, int]:
    """Packets that each CPU has taken in (the kernel's net/core/net-procfs.c: the last but one)."""
    rows = [line.split() for line in Path("/proc/net/softnet_stat").read_text().splitlines()]
    return {int(row[12], 16): int(row[0], 16) for row in rows}


@needs_root
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one CPU")
@pytest.mark.parametrize("is_steered", [False, True])
def test_receiving_is_charged_to_whom_the_steering_says(is_steered: bool) -> None:
    sender, receiver, *_ = sorted(os.sched_getaffinity(0))
    sides = Steering(ours=(sender,), server=(receiver,)) if is_steered else None
    mine = os.sched_getaffinity(0)
    with Namespace(steering=sides) as there, socket.socket(type=socket.SOCK_DGRAM) as out:
        # Nobody listens there: the kernel takes each packet in, and answers a few.
        out.connect((there.addresses[0], 9))
        os.sched_setaffinity(0, {sender})
        try:
            before = received()
            for _ in range(20_000):
                with contextlib.suppress(ConnectionRefusedError):
                    out.send(b"x" * 64)
            after = received()
        finally:
            os.sched_setaffinity(0, mine)
    grown = {cpu: after[cpu] - before[cpu] for cpu in (sender, receiver)}
    most = receiver if is_steered else sender
    assert grown[most] >= 15_000, grown
