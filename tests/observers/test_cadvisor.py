"""A container of a real Docker by a real cAdvisor and Prometheus, beside its own control group."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.observers.cadvisor import cadvisor
from tests.observers.containers import Running, in_docker
from tests.observers.dockerd import docker
from tests.prometheus import Served, prometheus
from tests.waiting import until
from wiretrial.cli import app
from wiretrial.errors import EXIT_GOOD, EXIT_INVALID
from wiretrial.observers import coarse
from wiretrial.observers import prometheus as watching

CPUS = 0.05
WINDOW_S = 3


@pytest.fixture
def container(tmp_path: Path) -> Iterator[tuple[Running, Served]]:
    """A server that may have a twentieth of a CPU, and the Prometheus that knows of it."""
    with (
        docker() as daemon,
        in_docker(tmp_path / "rootfs", CPUS) as web,
        cadvisor(tmp_path, daemon) as target,
        prometheus(tmp_path, {"cadvisor": target}, every="500ms") as served,
    ):
        yield web, served


@pytest.mark.alone
def test_a_container_costs_what_its_control_group_says(
    container: tuple[Running, Served], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web, served = container
    # Scrapes are half a second apart: six tell as much as a minute and a half elsewhere.
    monkeypatch.setattr(coarse, "LEAST_WINDOW_S", float(WINDOW_S))
    monkeypatch.setattr(watching, "MOST_WAIT_S", 10.0)
    monkeypatch.setenv("no_proxy", "*")
    asked = f'count_over_time(container_cpu_usage_seconds_total{{name="{web.name}"}}[1m]) > 3'
    until(lambda: served.query(asked))
    out = tmp_path / "out.json"
    words = [
        *("wiretrial", "load", web.url, "-c", "2", "-d", f"{WINDOW_S}s", "--expect", "status"),
        *("--format", "json", "-o", str(out), "--server", f"own={web.address}"),
        *("--server", f"told=prometheus:{served.url}?container={web.name}"),
    ]
    monkeypatch.setattr(sys, "argv", words)
    assert app.run() in (EXIT_GOOD, EXIT_INVALID)
    # The limit lets the server go once in 100 ms: a reading may be early or late by as much.
    servers = {one["name"]: one for one in json.loads(out.read_text("utf-8"))["servers"]}
    own, told = servers["own"], servers["told"]
    assert told["cpu_ns_per_message"] == pytest.approx(own["cpu_ns_per_message"], rel=0.2)
    assert told["cpus_busy"] == pytest.approx(own["cpus_busy"], rel=0.2)
    assert told["memory_bytes"] == pytest.approx(own["memory_bytes"], rel=0.2)
    assert told["throttled_share"] == pytest.approx(own["throttled_share"], abs=0.25)
    for one in (own, told):
        assert one["cpu_limit"] == CPUS
        assert one["throttled_share"] > 0
        assert one["memory"] == "control group"
        assert (one["restarts"], one["has_ended"]) == (0, False)
