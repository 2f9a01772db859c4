"""Agents on several hosts: namespaces on one bridge, TLS on both sides, cables cut and slowed."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.fleet.conftest import (
    Cluster,
    engines_below,
    is_gone,
    load,
    serve,
    wait_until,
    wiretrial,
)
from tests.lab.test_isolation import may_isolate
from wiretrial.engine import Engine
from wiretrial.errors import FleetFailed, UsageProblem
from wiretrial.fleet import authority
from wiretrial.fleet import engine as fleet_engine
from wiretrial.fleet.conductor import LEASE_S
from wiretrial.fleet.security import Address, Certificates
from wiretrial.machine.hosts import Network
from wiretrial.plan import Load, Message, OpenLoop, Plan, SequencePayload, Stop, Target
from wiretrial.results.store import ResultsFolder
from wiretrial.snapshot import Summary

pytestmark = pytest.mark.skipif(not may_isolate(), reason="network namespaces need root")

AGENTS = 3
OFF_S = 1000


@pytest.fixture
def network(stack: ExitStack) -> Network:
    return stack.enter_context(Network(AGENTS))


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return authority.make(tmp_path / "certificates")


def cluster_on(
    network: Network,
    stack: ExitStack,
    folder: Path,
    certificates: Certificates,
    before: Sequence[Sequence[str]] = (),
) -> Cluster:
    hosts = [(host.address, host.held.file) for host in network.hosts]
    return Cluster(stack, folder, network.address, hosts, certificates, before)


def begin(
    cluster: Cluster, stack: ExitStack, url: str, folder: Path, *flags: str
) -> subprocess.Popen[str]:
    """A load whose engines send."""
    run = load(
        stack,
        url,
        *("-c", "30", "--rate", "300", "--format", "json", *flags),
        *cluster.flags("--fleet-agents", str(AGENTS), "--on-agent-loss", "go-on"),
        cwd=folder,
    )
    wait_until(
        lambda: len(cluster.engines()) == AGENTS or run.poll() is not None, "all engines run"
    )
    assert run.poll() is None, run.communicate()
    time.sleep(3)
    return run


def told(run: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = run.communicate(timeout=120)
    assert out, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_cut_cable_loses_one_agent_whose_load_ends_by_itself(
    network: Network, certificates: Certificates, engine: Engine, stack: ExitStack, tmp_path: Path
) -> None:
    cluster = cluster_on(network, stack, tmp_path, certificates)
    run = begin(cluster, stack, serve(stack, engine, network.address), tmp_path, "-d", "14s")
    (cut_off,) = engines_below(cluster.agents[1].pid)
    network.cut(network.hosts[1])
    # Nobody can tell it anything any more: its lease ends it.
    wait_until(lambda: is_gone(cut_off), "the engine is gone", limit_s=LEASE_S + 10)
    result = told(run)
    assert result["verdict"] == "partial"
    assert [bool(agent["lost"]) for agent in result["agents"]] == [False, True, False]
    assert "no answer" in result["agents"][1]["lost"]["reason"]
    # The others came to their end: fourteen seconds of a hundred messages, and the warm-up.
    for agent in (result["agents"][0], result["agents"][2]):
        assert agent["totals"]["sent"] >= 14 * 100


def test_a_slow_cable_loses_nobody(
    network: Network, certificates: Certificates, engine: Engine, stack: ExitStack, tmp_path: Path
) -> None:
    cluster = cluster_on(network, stack, tmp_path, certificates)
    url = serve(stack, engine, network.address)
    # Its share is 100 small messages a second; ten times slower than that it is not.
    run = begin(cluster, stack, url, tmp_path, "-d", "6s", "--timeout", "60s")
    network.slow(network.hosts[2], 400_000)
    result = told(run)
    assert result["verdict"] != "partial", result["agents"]
    assert not any(agent["lost"] for agent in result["agents"])
    assert result["totals"]["sent"] == result["totals"]["ok"] + result["totals"]["in_flight"]


def test_a_clock_that_is_off_is_seen_and_allowed_for(
    network: Network, certificates: Certificates, engine: Engine, stack: ExitStack, tmp_path: Path
) -> None:
    apart = ("unshare", "--time", "--monotonic", str(OFF_S), "--fork", "--kill-child")
    possible = subprocess.run([*apart, "true"], capture_output=True, check=False)
    if possible.returncode != 0:
        pytest.skip(f"no time namespace: {possible.stderr.decode().strip()}")
    before: list[Sequence[str]] = [(), apart, ()]
    cluster = cluster_on(network, stack, tmp_path, certificates, before)
    url = serve(stack, engine, network.address)
    plan = Plan(
        target=Target(url=url, message=Message(source=SequencePayload(bytes=20))),
        load=Load(connections=9, executor=OpenLoop(rate=300)),
        stop=Stop(duration_ns=10**9),
    )
    with fleet_engine.connected(cluster.address, certificates, agents=AGENTS) as fleet:
        assert fleet.server_host == network.address
        with fleet.run(plan) as run:
            last = list(run)[-1]
        account = run.account()  # type: ignore[attr-defined]
    assert isinstance(last, Summary)
    assert last.counters.sent == last.counters.ok == 300
    ours, off, other = (agent.clock for agent in account.agents)
    for clock, true_ns in ((ours, 0), (off, OFF_S * 10**9), (other, 0)):
        assert abs(clock.offset_ns - true_ns) <= clock.error_ns
    # It began with the others nevertheless.
    begun = {agent.summary.measure_start_ns for agent in account.agents if agent.summary}
    assert begun == {last.measure_start_ns}


def test_a_fleet_on_the_network_goes_with_its_certificates_only(
    network: Network, certificates: Certificates, stack: ExitStack, tmp_path: Path
) -> None:
    cluster = cluster_on(network, stack, tmp_path, certificates)
    strangers = authority.make(tmp_path / "strangers")
    with (
        pytest.raises(FleetFailed, match="no scheduler answers"),
        fleet_engine.connected(cluster.address, strangers),
    ):
        pass
    plain = str(Address("tcp", network.address, cluster.address.port))
    with pytest.raises(UsageProblem, match="beyond this machine a fleet needs TLS"):
        Address.parse(plain, secure=False)
    with fleet_engine.connected(cluster.address, certificates, agents=AGENTS) as fleet:
        names = [host.name for host in fleet.hosts]
    assert names == [host.address for host in network.hosts]


STUDY = """
title = "Does a fleet reach a server of ours?"
question = "Do agents on other hosts reach the server that a study starts here?"
subjects = ["reference"]
trials = 1
duration = "500ms"
warmup = "200ms"

[[workload]]
name = "echo"
protocol = ["ws", "wss"]
contract = "ws-echo"
payload = 20
connections = 6
"""


def test_a_study_starts_its_servers_where_the_agents_are(
    network: Network, certificates: Certificates, stack: ExitStack, tmp_path: Path
) -> None:
    cluster = cluster_on(network, stack, tmp_path, certificates)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "study.toml").write_text(STUDY, encoding="utf-8")
    flags = cluster.flags("--fleet-agents", str(AGENTS))
    run = wiretrial(stack, "study", "run", "./mine", "--seed", "1", *flags, cwd=tmp_path)
    _, err = run.communicate(timeout=150)
    assert run.returncode in (0, 4), err
    (folder,) = (tmp_path / "results").iterdir()
    trials = ResultsFolder.open(folder).trials()
    assert {trial.scenario.protocol for trial in trials} == {"ws", "wss"}
    for trial in trials:
        assert trial.fleet is not None
        assert [agent.part.connections for agent in trial.fleet.agents] == [2, 2, 2]
        assert network.address in trial.plan.target.url
        assert trial.summary.counters.ok > 0
        assert not trial.summary.counters.errors
        # The server is ours, and watched as ever.
        assert trial.subject_samples
