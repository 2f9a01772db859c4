"""Real agents at addresses of one machine: one result, and nothing left, whatever is killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.fleet.conftest import Cluster, is_gone, load, serve, wait_until
from tests.prometheus import prometheus
from wiretrial.cli import app
from wiretrial.engine import Engine
from wiretrial.fleet import engine as fleet_engine
from wiretrial.fleet import wire
from wiretrial.fleet.conductor import LEASE_S
from wiretrial.plan import GeneratorSettings, Load, Message, Plan, SequencePayload, Stop, Target
from wiretrial.results import hdr
from wiretrial.snapshot import Interval, Snapshot, Start, Summary

HOSTS = ("127.0.0.2", "127.0.0.3", "127.0.0.10")
EXIT_FAILED, EXIT_INVALID = 1, 4


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Agents of several tests, which are free again after each load."""
    with ExitStack() as stack:
        hosts = [(host, None) for host in HOSTS]
        yield Cluster(stack, tmp_path_factory.mktemp("fleet"), "127.0.0.1", hosts)


@pytest.fixture
def cluster(stack: ExitStack, tmp_path: Path) -> Cluster:
    """Agents of which a test kills some."""
    return Cluster(stack, tmp_path, "127.0.0.1", [(host, None) for host in HOSTS])


def told(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The JSON that a load printed."""
    out, err = process.communicate(timeout=90)
    assert out, err
    found: dict[str, Any] = json.loads(out)
    return found


def plan_for(url: str, stop: Stop, connections: int = 30) -> Plan:
    return Plan(
        target=Target(url=url, message=Message(source=SequencePayload(bytes=20))),
        load=Load(connections=connections),
        stop=stop,
        generator=GeneratorSettings(cpus=(0,)),
    )


def test_three_agents_are_one_machine(shared: Cluster, engine: Engine, stack: ExitStack) -> None:
    url = serve(stack, engine)
    plan = plan_for(url, Stop(requests=3001))
    with fleet_engine.connected(shared.address, None, agents=3) as fleet:
        assert [host.name for host in fleet.hosts] == list(HOSTS)
        assert fleet.server_host is None
        # Twice: an agent that is done is free for the next run.
        for _ in range(2):
            with fleet.run(plan) as run:
                seen: list[Snapshot] = list(run)
            first, last = seen[0], seen[-1]
            assert isinstance(first, Start)
            assert isinstance(last, Summary)
            assert (last.counters.sent, last.counters.ok, last.end) == (3001, 3001, "complete")
            assert last.connections.opened == 30
            assert hdr.decode(last.histograms["service_time"]).count == 3001
            intervals = [one for one in seen if isinstance(one, Interval)]
            assert sum(one.counters.ok for one in intervals) == 3001
            assert run.plan.generator.threads == 3
            account = run.account()  # type: ignore[attr-defined]
            assert [agent.name for agent in account.agents] == list(HOSTS)
            assert [agent.part.connections for agent in account.agents] == [10, 10, 10]
            for agent in account.agents:
                # They share our clock: what is measured must allow for that.
                assert abs(agent.clock.offset_ns) <= agent.clock.error_ns
                assert agent.summary is not None
                assert agent.summary.counters.ok in (1000, 1001)
                # All began at the one instant.
                assert agent.summary.measure_start_ns == last.measure_start_ns
            assert not account.lost
    assert shared.engines() == []


def test_load_prints_one_result_with_each_agent_s(
    shared: Cluster, engine: Engine, stack: ExitStack, tmp_path: Path
) -> None:
    url = serve(stack, engine)
    run = load(
        stack,
        url,
        *("-c", "30", "-d", "1500ms", "--rate", "3k", "--format", "json"),
        *shared.flags("--fleet-agents", "3"),
        cwd=tmp_path,
    )
    result = told(run)
    assert run.returncode in (0, EXIT_INVALID)
    assert result["verdict"] != "partial"
    assert [agent["name"] for agent in result["agents"]] == list(HOSTS)
    assert [agent["rate"] for agent in result["agents"]] == [1000.0] * 3
    total = result["totals"]
    assert total["sent"] == total["ok"] == sum(a["totals"]["ok"] for a in result["agents"])
    assert "agents-share-a-machine" in {warning["code"] for warning in result["warnings"]}


def test_live_metrics_are_the_fleet_s_and_each_agent_s(
    shared: Cluster, engine: Engine, stack: ExitStack, tmp_path: Path
) -> None:
    folder = tmp_path / "prometheus"
    folder.mkdir()
    served = stack.enter_context(prometheus(folder))
    run = load(
        stack,
        serve(stack, engine),
        *("-c", "30", "-d", "2500ms", "--rate", "600", "--warmup", "0s", "--format", "json"),
        *shared.flags("--fleet-agents", "3"),
        *("--metrics", f"prometheus:{served.url}"),
        cwd=tmp_path,
    )
    result = told(run)
    assert run.returncode in (0, EXIT_INVALID)
    assert served.value("max_over_time(wiretrial_messages_ok_total[1h])") == result["totals"]["ok"]
    rates = served.query("max_over_time(wiretrial_agent_messages_per_second[1h])")
    assert {one["metric"]["agent"] for one in rates} == set(HOSTS)
    assert all(float(one["value"][1]) > 0 for one in rates)


def begin(
    cluster: Cluster, engine: Engine, stack: ExitStack, folder: Path, *flags: str
) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """A load of a minute, and its engines, which send."""
    url = serve(stack, engine)
    run = load(
        stack,
        url,
        *("-c", "30", "-d", "60s", "--rate", "300", "--format", "json"),
        *cluster.flags("--fleet-agents", "3", *flags),
        cwd=folder,
    )
    wait_until(lambda: len(cluster.engines()) == 3 or run.poll() is not None, "all engines run")
    assert run.poll() is None, run.communicate()
    time.sleep(3)
    return run, cluster.engines()


def test_a_killed_agent_is_lost_and_the_others_stop(
    cluster: Cluster, engine: Engine, stack: ExitStack, tmp_path: Path
) -> None:
    run, engines = begin(cluster, engine, stack, tmp_path)
    cluster.agents[1].kill()
    result = told(run)
    assert result["verdict"] == "partial"
    assert [bool(agent["lost"]) for agent in result["agents"]] == [False, True, False]
    assert "agent-lost" in {warning["code"] for warning in result["warnings"]}
    # What it did until then counts, and the sums hold.
    total = result["totals"]
    assert result["agents"][1]["totals"]["ok"] > 0
    assert total["sent"] == total["ok"] + total["in_flight"] + sum(total["errors"].values())
    assert all(is_gone(one) for one in engines)


def test_the_others_go_on_where_that_is_wanted(
    cluster: Cluster, engine: Engine, stack: ExitStack, tmp_path: Path
) -> None:
    run, engines = begin(cluster, engine, stack, tmp_path, "--on-agent-loss", "go-on")
    cluster.agents[0].kill()
    wait_until(lambda: sum(map(is_gone, engines)) == 1, "its engine is gone")
    time.sleep(LEASE_S + 2)
    assert len(cluster.engines()) == 2, "the others go on"
    run.send_signal(signal.SIGINT)
    result = told(run)
    assert run.returncode == 128 + signal.SIGINT
    assert result["verdict"] == "partial"
    assert [bool(agent["lost"]) for agent in result["agents"]] == [True, False, False]
    assert all(is_gone(one) for one in engines)


@pytest.mark.parametrize("what", ["client", "scheduler"])
def test_whoever_led_the_load_is_killed_and_nothing_goes_on(
    cluster: Cluster, engine: Engine, stack: ExitStack, tmp_path: Path, what: str
) -> None:
    run, engines = begin(cluster, engine, stack, tmp_path)
    (run if what == "client" else cluster.scheduler).kill()
    wait_until(lambda: all(map(is_gone, engines)), "all engines are gone", limit_s=LEASE_S + 20)
    if what == "scheduler":
        result = told(run)
        assert result["verdict"] == "partial"
        assert all(agent["lost"] for agent in result["agents"])


def test_a_first_signal_ends_the_load_gracefully(
    shared: Cluster, engine: Engine, stack: ExitStack, tmp_path: Path
) -> None:
    run, engines = begin(shared, engine, stack, tmp_path)
    run.send_signal(signal.SIGTERM)
    result = told(run)
    assert run.returncode == 128 + signal.SIGTERM
    assert result["verdict"] == "partial"
    assert not any(agent["lost"] for agent in result["agents"])
    assert result["totals"]["in_flight"] == 0
    assert all(is_gone(one) for one in engines)


def test_what_an_agent_s_engine_fails_in_is_one_line(
    shared: Cluster, stack: ExitStack, tmp_path: Path
) -> None:
    run = load(
        stack,
        "ws://127.0.0.1:1/",
        *("-c", "30", "-d", "1s", "--connect-timeout", "300ms"),
        *shared.flags("--fleet-agents", "3"),
        cwd=tmp_path,
    )
    _, err = run.communicate(timeout=60)
    assert run.returncode == EXIT_FAILED
    last = err.strip().splitlines()[-1]
    assert last.startswith("wiretrial: 127.0.0.")
    assert "127.0.0.1:1" in last


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (("-c", "2"), 2, "2 connections can't be shared by 3 agents"),
        (("-c", "100m"), 1, "descriptors"),
        (("--cpus", "4095"), 1, "there is no CPU 4095"),
    ],
)
def test_what_a_fleet_can_t_do_is_refused_in_one_line(
    shared: Cluster,
    stack: ExitStack,
    tmp_path: Path,
    flags: tuple[str, ...],
    code: int,
    words: str,
) -> None:
    more = shared.flags("--fleet-agents", "3")
    run = load(stack, "ws://127.0.0.1:1/", "-d", "1s", *flags, *more, cwd=tmp_path)
    _, err = run.communicate(timeout=60)
    assert (run.returncode, words in err) == (code, True), err
    assert "Traceback" not in err


@pytest.mark.parametrize("words", [("load", "ws://h:1/", "--fleet"), ("fleet", "status")])
def test_no_scheduler_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(wire, "CONNECT_S", 1.0)
    monkeypatch.setattr(sys, "argv", ["wiretrial", *words, "tcp://127.0.0.1:1"])
    assert app.run() == EXIT_FAILED
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.splitlines()
    assert line.startswith("wiretrial: no scheduler answers at tcp://127.0.0.1:1")
