"""`wiretrial load` with a server on another host: its cost, and a host that goes away meanwhile."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.fleet.conftest import engines_below, wiretrial
from tests.observers.ssh_host import NAME, Served, SshHost, needs_ssh, ssh_host
from tests.waiting import until
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_GOOD, EXIT_INVALID
from wiretrial.observers import ssh

pytestmark = needs_ssh

LIMIT_S = 90
"""For a load of a few seconds and a host that does not answer at its end."""


@pytest.fixture(scope="module")
def engine() -> Engine:
    """The engine that belongs to this laboratory."""
    return Engine.find()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """What is entered here is left after the test."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def host(stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> SshHost:
    """A host that a test may cut off."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wt")))
    host = stack.enter_context(ssh_host(folder))
    monkeypatch.setenv(ssh.ENVIRONMENT, host.ssh)
    return host


def load(stack: ExitStack, folder: Path, url: str, *flags: str) -> subprocess.Popen[str]:
    """A load that tells its result as JSON."""
    words = ("load", url, "-c", "4", "--rate", "2k", "--format", "json", *flags)
    return wiretrial(stack, *words, cwd=folder)


def told(run: subprocess.Popen[str]) -> dict[str, Any]:
    """Its result. The load itself must come to its end."""
    output, errors = run.communicate(timeout=LIMIT_S)
    assert run.returncode in (EXIT_GOOD, EXIT_INVALID), errors
    found = json.loads(output)
    assert isinstance(found, dict)
    assert found["totals"]["ok"] > 0
    return found


@pytest.mark.alone
def test_a_server_on_another_host_costs_what_it_costs_here(
    stack: ExitStack, host: SshHost, engine: Engine, tmp_path: Path
) -> None:
    server = Served(stack, host, engine)
    found = told(
        load(
            stack,
            tmp_path,
            server.url,
            *("-d", "4s"),
            *("--server", f"far=ssh://{NAME}/pid/{server.pid}"),
            *("--server", f"near=pid:{server.pid}"),
        )
    )
    costs = {one["name"]: one["cpu_ns_per_message"] for one in found["servers"]}
    # The same counters, read by two observers at other instants.
    assert costs["far"] == pytest.approx(costs["near"], rel=0.25)
    places = {one["name"]: one for one in found["server_hosts"]}
    assert places[NAME]["clock_error_ns"] > 0
    assert places["this machine"]["clock_error_ns"] == 0
    assert host.files() == []


def test_a_host_that_is_cut_off_leaves_the_load_its_result(
    stack: ExitStack, host: SshHost, engine: Engine, tmp_path: Path
) -> None:
    server = Served(stack, None, engine)
    address = f"far=ssh://{NAME}/pid/{server.pid}"
    run = load(stack, tmp_path, server.url, "-d", "6s", "--server", address)
    until(lambda: bool(host.observers() and engines_below(run.pid)), "it is loaded", LIMIT_S)
    time.sleep(2)
    host.cut()
    found = told(run)
    (part,) = found["servers"]
    assert part["span_ns"] is None or part["span_ns"] < 5e9
    (warning,) = [one for one in found["warnings"] if one["code"] == "watch-ended"]
    assert NAME in warning["message"]


def test_a_login_that_is_ended_leaves_the_load_its_result(
    stack: ExitStack, host: SshHost, engine: Engine, tmp_path: Path
) -> None:
    server = Served(stack, host, engine)
    address = f"far=ssh://{NAME}/pid/{server.pid}"
    run = load(stack, tmp_path, server.url, "-d", "6s", "--server", address)
    until(lambda: bool(host.observers() and engines_below(run.pid)), "it is loaded", LIMIT_S)
    time.sleep(1)
    for one in host.sessions():
        one.kill()
    found = told(run)
    (warning,) = [one for one in found["warnings"] if one["code"] == "watch-ended"]
    assert "the ssh connection was lost" in warning["message"]


@pytest.mark.usefixtures("host")
def test_a_host_that_can_t_be_reached_is_refused_before_any_load(
    stack: ExitStack, engine: Engine, tmp_path: Path
) -> None:
    server = Served(stack, None, engine)
    run = load(stack, tmp_path, server.url, "--server", f"ssh://{NAME}:1/pid/7")
    output, errors = run.communicate(timeout=LIMIT_S)
    assert run.returncode == 1
    assert output == ""
    assert "nothing takes ssh connections there" in errors
    assert len(errors.strip().splitlines()) == 1
