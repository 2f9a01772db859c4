"""Containers: what their tools say, and real ones made here from the engine's own binary."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.observers.conftest import Run
from tests.observers.containers import Running, in_docker, in_podman
from tests.observers.dockerd import docker
from tests.observers.test_load import MEASURED, flags, result
from wiretrial.errors import EXIT_FAILED, ObserverFailed
from wiretrial.observers import address, local

ID = "3f2a" * 16
LIMIT_S = 60


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
        ("echo 'Cannot connect to the daemon' >&2; exit 1", "can't say what runs there (Cannot"),
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


@pytest.fixture(scope="module", params=["podman", "docker"])
def container(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """A container of each tool for all tests; skipped where none can run."""
    with contextlib.ExitStack() as stack:
        if request.param == "podman":
            yield stack.enter_context(in_podman(tmp_path_factory.mktemp("rootfs")))
        else:
            stack.enter_context(docker())
            yield stack.enter_context(in_docker(tmp_path_factory.mktemp("rootfs"), 0.5))


def test_the_cost_of_a_container(wiretrial: Run, container: Running, tmp_path: Path) -> None:
    done = wiretrial(
        *("load", container.url, "-c", "2", "--rate", "500", "-d", "3s"),
        *flags("--server", f"web={container.address}"),
    )
    assert done.returncode in MEASURED, done.stderr
    found = result(tmp_path)
    (web,) = found["servers"]
    assert (web["name"], web["address"]) == ("web", container.address)
    assert web["cpu_ns_per_message"] > 0
    assert web["memory_bytes"] > 0
    assert (web["restarts"], web["has_ended"]) == (0, False)
    notes = " ".join(note for host in found["server_hosts"] for note in host["notes"])
    assert (local.NO_GROUP in notes) == (web["memory"] != "control group")


def test_an_unknown_container_is_told(wiretrial: Run, container: Running) -> None:
    done = wiretrial(
        *("load", container.url, "--expect", "status"),
        *("--server", f"{container.tool}:no-such-container"),
    )
    assert done.returncode == EXIT_FAILED
    assert f"{container.tool} knows no such container" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_container_that_was_stopped_does_not_run(container: Running) -> None:
    name = container.ended()
    with pytest.raises(ObserverFailed) as refused:
        local.sought_of(address.parse(container.address))
    assert refused.value.line().startswith(f"the container {name} does not run")


def test_a_docker_whose_daemon_does_not_run_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("docker") is None:
        pytest.skip("there is no docker: install docker.io")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'nobody.sock'}")
    with pytest.raises(ObserverFailed) as refused:
        local.sought_of(address.parse("docker:db"))
    line = refused.value.line()
    assert "docker can't say what runs there" in line
    assert "get `docker ps` to work first" in line
