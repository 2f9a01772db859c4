"""Servers on another host, reached by a real ssh: what is read, what is refused, what stays."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from tests.fleet.conftest import ended
from tests.observers.containers import in_podman
from tests.observers.ssh_host import (
    JUMPED,
    NAME,
    OTHER_USER,
    SHARED,
    STRANGER,
    UNKNOWN,
    Served,
    SshHost,
    ask,
    needs_ssh,
    ssh_host,
)
from tests.waiting import until
from wiretrial.engine import Engine
from wiretrial.errors import ObserverFailed
from wiretrial.observers import address, far, opening, ssh
from wiretrial.observers.address import Remote
from wiretrial.observers.far import Far
from wiretrial.observers.watch import BEFORE, END, Watch, Watched

pytestmark = needs_ssh

EVERY_NS = 100_000_000
NO_PROCESS = 2_147_483_647
DELETED = " (deleted)"

SYSTEMCTL = """#!/bin/sh
# Stands for systemd's: `systemctl --system show -p … -- UNIT`.
[ "$1" = --system ] || exit 1
for unit; do :; done
case $unit in
app.service) printf 'LoadState=loaded\\nControlGroup={group}\\nMainPID={pid}\\n' ;;
ended.service) printf 'LoadState=loaded\\nControlGroup=\\nMainPID=0\\n' ;;
*) printf 'LoadState=not-found\\nControlGroup=\\nMainPID=0\\n' ;;
esac
"""
PODMAN = """#!/bin/sh
# Stands for podman: `podman container inspect --format … NAME`.
for name; do :; done
case $name in
app) echo "0123456789abcdef {pid}" ;;
ended) echo "0123456789abcdef 0" ;;
*) echo "Error: no such container $name" >&2; exit 125 ;;
esac
"""


@pytest.fixture(scope="module")
def engine() -> Engine:
    """The engine that belongs to this laboratory."""
    return Engine.find()


@pytest.fixture(scope="module")
def host() -> Iterator[SshHost]:
    """A host for all tests that leave it as it was."""
    with lab() as host:
        yield host


@contextmanager
def lab(*mounts: str) -> Iterator[SshHost]:
    """A host in a folder whose name is short: sockets are made in it."""
    with (
        tempfile.TemporaryDirectory(prefix="wt") as folder,
        pytest.MonkeyPatch.context() as patch,
        ssh_host(Path(folder), *([mounts] if mounts else [])) as host,
    ):
        patch.setenv(ssh.ENVIRONMENT, host.ssh)
        yield host


@pytest.fixture
def server(host: SshHost, engine: Engine) -> Iterator[Served]:
    """A server for one test."""
    with ExitStack() as stack:
        yield Served(stack, host, engine)


def opened(engine: Engine, *texts: str) -> Watch:
    """The watch of addresses that share a host."""
    (watch,) = opening.watches(address.parse_all(texts), engine.binary, EVERY_NS)
    return watch


def refused(engine: Engine, text: str) -> str:
    """The line with which an address is refused."""
    with pytest.raises(ObserverFailed) as refusal, opened(engine, text) as watch:
        watch.start()
    line = refusal.value.line()
    assert "\n" not in line
    assert refusal.value.remedy
    return line


def watched(engine: Engine, server: Served, *texts: str) -> Watched:
    """What is read while the server has something to do."""
    with opened(engine, *texts) as watch:
        watch.start()
        watch.mark(BEFORE)
        server.ask()
        watch.mark(END)
        return watch.stop()


def program_of(process: psutil.Process) -> str:
    """The file that a process runs; psutil hides that it has no name any more."""
    return str(Path(f"/proc/{process.pid}/exe").readlink())


def cpu_ns(found: Watched, part: int = 0) -> int:
    """CPU time of a part from the first reading to the last one."""
    totals = [one.total_ns for one in found.parts[part].readings if one.total_ns is not None]
    return totals[-1] - totals[0]


def test_a_process_is_watched_and_nothing_stays_on_its_host(
    host: SshHost, engine: Engine, server: Served
) -> None:
    with opened(engine, f"app=ssh://{NAME}/pid/{server.pid}") as watch:
        watch.start()
        (observer,) = host.observers()
        assert program_of(observer).startswith("/dev/shm/wiretrial.")
        assert program_of(observer).endswith(DELETED)
        assert host.files() == []
        asked = {}
        for name in (BEFORE, END):
            asked[name] = time.monotonic_ns()
            watch.mark(name)
            server.ask()
        found = watch.stop()
    assert found.failed is None
    assert found.place == NAME
    assert found.parts[0].name == "app"
    assert cpu_ns(found) > 0
    # Host and generator have one kernel here, so that the error of the clocks can be seen whole.
    marks = {one.name: one for one in found.marks if one.name in asked}
    assert set(marks) == {BEFORE, END}
    for name, mark in marks.items():
        assert mark.round_trip_ns > 0
        assert mark.at_ns >= asked[name] - found.clock_error_ns
    assert 0 < found.clock_error_ns <= max(one.round_trip_ns for one in found.marks)
    until(lambda: host.sessions() == [], "nothing of ours runs there")
    assert host.files() == []


def test_the_host_alone_is_watched(engine: Engine, server: Served) -> None:
    found = watched(engine, server, f"ssh://{NAME}")
    assert found.failed is None
    assert found.parts == ()
    assert len(found.host) >= 2
    assert found.cpus


def test_parts_on_one_host_share_a_connection(
    host: SshHost, engine: Engine, server: Served
) -> None:
    with ExitStack() as stack:
        other = Served(stack, host, engine)
        found = watched(
            engine,
            server,
            f"busy=ssh://{NAME}/pid/{server.pid}",
            f"idle=ssh://{NAME}/pid/{other.pid}",
        )
    assert [one.name for one in found.parts] == ["busy", "idle"]
    assert cpu_ns(found, 0) > cpu_ns(found, 1)


def test_a_jump_host_is_used_as_ssh_is_configured(engine: Engine, server: Served) -> None:
    found = watched(engine, server, f"ssh://{JUMPED}/pid/{server.pid}")
    assert found.failed is None
    assert cpu_ns(found) > 0


def test_a_connection_that_is_there_is_shared_and_left_alone(
    host: SshHost, engine: Engine, server: Served
) -> None:
    words = [*host.ssh.split(), "-M", "-N", SHARED]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL) as master:
        try:
            until((host.folder / "shared").exists, "the connection stands")
            logins = len(host.sessions())
            with opened(engine, f"ssh://{SHARED}/pid/{server.pid}") as watch:
                watch.start()
                # One process more is the observer; a connection of its own has two others.
                assert len(host.sessions()) == logins + 1
                assert watch.stop().failed is None
            assert master.poll() is None
        finally:
            ended(master)


def test_without_rights_it_is_told_what_can_t_be_read(engine: Engine, server: Served) -> None:
    found = watched(engine, server, f"ssh://{OTHER_USER}@{NAME}/pid/{server.pid}")
    assert found.failed is None
    assert cpu_ns(found) > 0
    (memory,) = [one for one in found.parts[0].lacks if "(PSS)" in one]
    assert "denied" in memory
    assert all(one.pss_bytes is None for one in found.parts[0].readings)
    assert found.parts[0].readings[0].rss_bytes


@contextmanager
def installed(host: SshHost, name: str, text: str) -> Iterator[None]:
    """A program on the host's PATH."""
    host.install(name, text)
    try:
        yield
    finally:
        host.remove(name)


def test_an_engine_of_our_version_on_its_path_is_used(
    host: SshHost, engine: Engine, server: Served
) -> None:
    host.link("wiretrial-engine", engine.binary)
    try:
        with opened(engine, f"ssh://{NAME}/pid/{server.pid}") as watch:
            watch.start()
            (observer,) = host.observers()
            assert program_of(observer) == str(engine.binary.resolve())
            assert watch.stop().failed is None
    finally:
        host.remove("wiretrial-engine")


def test_an_engine_of_another_version_on_its_path_is_not(
    host: SshHost, engine: Engine, server: Served
) -> None:
    other = "#!/bin/sh\necho wiretrial-engine 0.0.0\n"
    with (
        installed(host, "wiretrial-engine", other),
        opened(engine, f"ssh://{NAME}/pid/{server.pid}") as watch,
    ):
        watch.start()
        assert program_of(host.observers()[0]).endswith(DELETED)
        assert watch.stop().failed is None


def test_a_unit_is_watched_by_its_control_group(
    host: SshHost, engine: Engine, server: Served
) -> None:
    with control_group(server.pid) as group:
        text = SYSTEMCTL.format(group=group, pid=server.pid)
        with installed(host, "systemctl", text):
            found = watched(engine, server, f"ssh://{NAME}/unit/app.service")
    assert found.failed is None
    assert found.parts[0].name == f"app.service on {NAME}"
    assert cpu_ns(found) > 0
    assert found.parts[0].readings[-1].group_bytes


def test_a_unit_without_a_group_that_can_be_seen_is_watched_by_its_main_process(
    host: SshHost, engine: Engine, server: Served
) -> None:
    text = SYSTEMCTL.format(group="/nowhere/app.service", pid=server.pid)
    with installed(host, "systemctl", text):
        found = watched(engine, server, f"ssh://{NAME}/unit/app.service")
    assert found.failed is None
    assert found.parts[0].readings[-1].processes == 1


def test_a_container_without_a_group_of_its_own_is_watched_by_its_tree(
    host: SshHost, engine: Engine, server: Served
) -> None:
    with installed(host, "podman", PODMAN.format(pid=server.pid)):
        found = watched(engine, server, f"ssh://{NAME}/container/app")
    assert found.failed is None
    assert cpu_ns(found) > 0
    assert any("control group" in one for one in found.parts[0].lacks)


def test_a_real_container_is_watched(host: SshHost, engine: Engine, tmp_path: Path) -> None:
    # podman has its state in folders that the host does not see, and is run where they are.
    outside = f'#!/bin/sh\nexec nsenter --mount=/proc/{os.getpid()}/ns/mnt podman "$@"\n'
    with in_podman(tmp_path / "rootfs") as container, installed(host, "podman", outside):
        with opened(engine, f"ssh://{NAME}/container/{container.name}") as watch:
            watch.start()
            ask(f"http://127.0.0.1:{container.port}/")
            found = watch.stop()
        assert "is not running" in refused(engine, f"ssh://{NAME}/container/{container.ended()}")
    assert found.failed is None
    assert found.parts[0].readings[-1].processes == 1
    assert cpu_ns(found) > 0


@contextmanager
def control_group(pid: int) -> Iterator[str]:
    """A control group in each hierarchy, with this process in it; skips where none can be made."""
    name = f"wiretrial-{pid}"
    top = Path("/sys/fs/cgroup")
    unified = (top / "cgroup.controllers").exists()
    folders = [top / name] if unified else [top / one / name for one in ("cpuacct", "memory")]
    try:
        for folder in folders:
            folder.mkdir()
            (folder / "cgroup.procs").write_text(str(pid), encoding="ascii")
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        yield f"/{name}"
    finally:
        for folder in folders:
            # Its processes have to leave first.
            (folder.parent / "cgroup.procs").write_text(str(pid), encoding="ascii")
            folder.rmdir()


FAKES = {
    "systemctl": SYSTEMCTL.format(group="", pid=0),
    "podman": PODMAN.format(pid=0),
    "docker": PODMAN.format(pid=0),
    "uname": '#!/bin/sh\n[ "$1" = -m ] && echo riscv128 || echo Linux\n',
}


@pytest.mark.parametrize(
    ("text", "words", "fakes"),
    [
        (f"ssh://{UNKNOWN}", ("its host key is not known here", "compare the fingerprint"), ()),
        (f"ssh://{STRANGER}", ("none of our keys", "no password is asked for"), ()),
        (f"ssh://{NAME}:1", ("nothing takes ssh connections there", "name its port"), ()),
        (f"ssh://nobody@{NAME}", ("its shell ended before the observer ran",), ()),
        (f"ssh://{NAME}/pid/{NO_PROCESS}", (f"there is no process {NO_PROCESS}", "ps -e"), ()),
        (f"ssh://{NAME}/unit/app.service", ("is not running", "list-units"), ("systemctl",)),
        (f"ssh://{NAME}/unit/none.service", ("there is no unit none.service",), ("systemctl",)),
        (f"ssh://{NAME}/container/ended", ("container ended is not running",), ("podman",)),
        (
            f"ssh://{NAME}/container/none",
            ("there is no container none", "docker: Error", "podman: Error"),
            ("podman", "docker"),
        ),
        (
            f"ssh://{NAME}",
            ("its machine is riscv128", "for riscv128 on its PATH"),
            ("uname",),
        ),
    ],
)
def test_what_can_t_be_watched_is_refused_in_a_line(
    host: SshHost, engine: Engine, text: str, words: tuple[str, ...], fakes: tuple[str, ...]
) -> None:
    with ExitStack() as stack:
        for name in fakes:
            stack.enter_context(installed(host, name, FAKES[name]))
        line = refused(engine, text)
    for one in words:
        assert one in line
    until(lambda: host.sessions() == [], "nothing of ours runs there")
    assert host.files() == []


def test_a_folder_where_programs_run_is_found(engine: Engine) -> None:
    with lab("exec", "noexec") as host, opened(engine, f"ssh://{NAME}") as watch:
        watch.start()
        assert program_of(host.observers()[0]).startswith("/tmp/wiretrial.")
        assert host.files() == []


def test_a_host_without_such_a_folder_is_refused(engine: Engine) -> None:
    with lab("noexec", "exec,size=1m") as host:
        line = refused(engine, f"ssh://{NAME}")
        assert "/dev/shm is full; /tmp lets no program run" in line
        assert "on its PATH" in line
        assert host.files() == []


def test_a_connection_that_ends_while_the_engine_is_sent_leaves_nothing(
    host: SshHost, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = far.carried(engine.binary, is_packed=True)
    half = far.Carried(whole.order, whole.sent[: len(whole.sent) // 2])
    monkeypatch.setattr(far, "carried", lambda *_, **__: half)
    monkeypatch.setattr(far, "ANSWER_LIMIT_S", 2.0)
    (part,) = address.parse_all([f"ssh://{NAME}"])
    assert isinstance(part, Remote)
    with Far(part, engine.binary) as reached:
        reached.find([part])
        with pytest.raises(ObserverFailed, match="no answer in 2 s"):
            reached.begin(["observe", "--host"])
        assert host.files() == []
    until(lambda: host.sessions() == [], "nothing of ours runs there")
    assert host.files() == []


@pytest.mark.usefixtures("host")
def test_what_arrives_damaged_is_not_run(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = far.carried(engine.binary, is_packed=False)
    spoilt = whole.sent[:-1] + bytes([whole.sent[-1] ^ 1])
    monkeypatch.setattr(far, "carried", lambda *_, **__: far.Carried(whole.order, spoilt))
    assert "not the engine that was sent" in refused(engine, f"ssh://{NAME}")


def test_a_login_that_is_ended_there_is_told_and_what_came_is_kept(
    host: SshHost, engine: Engine, server: Served
) -> None:
    with opened(engine, f"ssh://{NAME}/pid/{server.pid}") as watch:
        watch.start()
        watch.mark(BEFORE)
        for one in host.sessions():
            one.kill()
        watch.mark(END)
        found = watch.stop()
    assert found.failed
    assert "the ssh connection was lost" in found.failed
    assert found.parts[0].readings
    assert END not in {one.name for one in found.marks}


def test_a_host_that_is_cut_off_is_told_in_time(engine: Engine) -> None:
    with lab() as host, ExitStack() as stack:
        server = Served(stack, host, engine)
        watch = stack.enter_context(opened(engine, f"ssh://{NAME}/pid/{server.pid}"))
        watch.start()
        watch.mark(BEFORE)
        host.cut()
        watch.mark(END)
        begun = time.monotonic()
        found = watch.stop()
        assert time.monotonic() - begun < 30
    assert found.failed
    assert found.parts[0].readings


def test_without_ssh_it_is_told_what_to_install(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ssh.ENVIRONMENT, "no-such-ssh -v")
    line = refused(engine, "ssh://127.0.0.1")
    assert "there is no no-such-ssh on this machine" in line
    assert "openssh-client" in line
