"""Containers: what their tools say, and a real one made here from the engine's own binary."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.observers.conftest import Run
from tests.observers.test_load import MEASURED, flags, result
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_FAILED, ObserverFailed
from wiretrial.observers import address, local

ID = "3f2a" * 16
LIMIT_S = 60
APART = 'umount /sys/fs/cgroup/unified; exec "$@"'
WRAPPERS: tuple[list[str], ...] = ([], ["unshare", "--mount", "sh", "-c", APART, "sh"])
"""crun refuses machines with both versions of control groups; without the second it sees one."""
LIMITS = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000"]
"""Where the limits that podman has by itself may not be set."""
OPTIONS = (["--cpus=0.5"], ["--cpus=0.5", *LIMITS], LIMITS, [*LIMITS, "--cgroups=disabled"])


@pytest.mark.parametrize(
    ("memberships", "expected"),
    [
        (f"0::/system.slice/docker-{ID}.scope\n", f"/system.slice/docker-{ID}.scope"),
        (f"0::/machine.slice/libpod-{ID}.scope/container\n", f"/machine.slice/libpod-{ID}.scope"),
        (f"0::/libpod_parent/libpod-{ID}\n", f"/libpod_parent/libpod-{ID}"),
        (f"12:memory:/docker/{ID}\n11:cpu,cpuacct:/docker/{ID}\n0::/\n", f"/docker/{ID}"),
        (f"0::/../libpod-{ID}\n", f"/../libpod-{ID}"),
        ("0::/\n", None),
        ("0::/user.slice/session-1.scope\n", None),
        ("", None),
    ],
)
def test_the_group_of_a_container_is_the_one_with_its_id(
    memberships: str, expected: str | None
) -> None:
    assert local.own_group(memberships, ID) == expected


def test_both_tools_answers_are_understood() -> None:
    answer: list[dict[str, Any]] = [{"Id": ID, "State": {"Pid": 7, "Running": True}, "Name": "db"}]
    found = local.inspected(json.dumps(answer).encode())
    assert found is not None
    assert (found.id, found.state.pid) == (ID, 7)
    for odd in (b"", b"[]", b"{}", b"[{}]", b'[{"Id": 1}]', b"\xff"):
        assert local.inspected(odd) is None


def made_tool(folder: Path, script: str) -> None:
    """A `podman` that says what a test wants."""
    tool = folder / "podman"
    tool.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    tool.chmod(0o755)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'Error: no such container db' >&2; exit 125", "no such container db"),
        ("echo '[]'", "can't be understood"),
        ("echo nonsense", "can't be understood"),
        (f"""echo '[{{"Id": "{ID}", "State": {{"Pid": 0}}}}]'""", "does not run"),
    ],
)
def test_a_container_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    made_tool(tmp_path, script)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(ObserverFailed) as refused:
        local.sought_of(address.parse("podman:db"))
    assert words in refused.value.message
    assert refused.value.remedy
    assert "\n" not in refused.value.line()


def test_a_tool_that_is_not_installed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ObserverFailed, match="docker is not installed"):
        local.sought_of(address.parse("docker:db"))


def test_a_container_without_a_group_of_its_own_is_watched_by_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_tool(tmp_path, f"""echo '[{{"Id": "{ID}", "State": {{"Pid": 1}}}}]'""")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = local.sought_of(address.parse("db=podman:x"))
    assert (found.name, found.pid, found.cgroup) == ("db", 1, None)
    assert found.lacks == (local.NO_GROUP,)


@dataclass(frozen=True)
class Running:
    """A container that serves HTTP on this machine's loopback."""

    name: str
    port: int


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The reference server in a container without an image; skipped where none can run."""
    if shutil.which("podman") is None:
        pytest.skip("podman is not installed")
    rootfs = _rootfs(tmp_path_factory.mktemp("rootfs"))
    name = f"wiretrial-test-{uuid.uuid4().hex[:8]}"
    problems = []
    for wrapper, options in itertools.product(WRAPPERS, OPTIONS):
        command = [
            *(*wrapper, "podman", "run", "--detach", "--name", name, "--network=host"),
            *("--log-driver=k8s-file", *options, "--rootfs", str(rootfs)),
            *("/wiretrial-engine", "respond", "--http", "127.0.0.1:0"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        port = _port(name) if done.returncode == 0 else None
        if port is not None:
            break
        problems.append(done.stderr.strip()[-120:])
        _removed(name)
    else:
        pytest.skip(f"podman can't run a container here: {'; '.join(dict.fromkeys(problems))}")
    yield Running(name, port)
    _removed(name)


def _removed(name: str) -> None:
    command = ["podman", "rm", "--force", "--time", "1", name]
    subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=False)


def _port(name: str) -> int | None:
    """The port that it says on its standard output."""
    for _ in range(50):
        done = subprocess.run(
            ["podman", "logs", name], capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        for word in done.stdout.split():
            if word.startswith("http="):
                return int(word.rpartition(":")[2])
        if "exited" in _state(name):
            return None
    return None


def _state(name: str) -> str:
    command = ["podman", "inspect", "--format", "{{.State.Status}}", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return done.stdout


def _rootfs(folder: Path) -> Path:
    """The engine with the libraries that it needs, and the folders that a container has."""
    binary = Engine.find().binary.resolve()
    for name in ("proc", "sys", "dev", "tmp", "etc", "run"):
        (folder / name).mkdir()
    shutil.copy2(binary, folder / "wiretrial-engine")
    listed = subprocess.run(["ldd", str(binary)], capture_output=True, text=True, check=False)
    for word in listed.stdout.split():
        if word.startswith("/") and Path(word).is_file():
            place = folder / word.removeprefix("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(Path(word).resolve(), place)
    return folder


def test_the_cost_of_a_container(wiretrial: Run, container: Running, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{container.port}/message"
    done = wiretrial(
        *("load", url, "-c", "2", "--rate", "500", "-d", "3s"),
        *flags("--server", f"web=podman:{container.name}"),
    )
    assert done.returncode in MEASURED, done.stderr
    found = result(tmp_path)
    (web,) = found["servers"]
    assert (web["name"], web["address"]) == ("web", f"podman:{container.name}")
    assert web["cpu_ns_per_message"] > 0
    assert web["memory_bytes"] > 0
    assert (web["restarts"], web["has_ended"]) == (0, False)
    notes = " ".join(note for host in found["server_hosts"] for note in host["notes"])
    assert (local.NO_GROUP in notes) == (web["memory"] != "control group")


def test_an_unknown_container_is_told(wiretrial: Run, container: Running) -> None:
    done = wiretrial(
        *("load", f"http://127.0.0.1:{container.port}/message", "--expect", "status"),
        *("--server", "podman:no-such-container"),
    )
    assert done.returncode == EXIT_FAILED
    assert "podman knows no such container" in done.stderr
    assert "Traceback" not in done.stderr
