"""Metrics of a real load, in a real Prometheus and in a receiver that decodes OTLP."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

from tests.cli.conftest import Run, serving, wiretrial
from tests.cli.test_runs import MEASURED
from tests.prometheus import Served, prometheus
from wiretrial.engine import Engine
from wiretrial.metrics import dashboard, families

__all__ = ["wiretrial"]

INTERVAL_S = 0.2
"""Twice that of the engine."""
LENGTH = ("-d", "4s", "--warmup", "0s", "--rate", "200", "-c", "4", "--no-learn")


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The reference server."""
    monkeypatch.setenv("no_proxy", "*")
    command = [str(Engine.find().binary), "respond", "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"127\.0\.0\.1:\d+", process.stdout.readline())
        assert found
        yield f"http://{found[0]}"
        process.terminate()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A Prometheus."""
    folder = tmp_path / "prometheus"
    folder.mkdir()
    with prometheus(folder) as found:
        yield found


def ok(done_stdout: str) -> int:
    found: int = json.loads(done_stdout)["totals"]["ok"]
    return found


def test_a_real_prometheus_has_what_the_result_says(
    wiretrial: Run, target: str, served: Served
) -> None:
    done = wiretrial(
        *("load", f"{target}/?token=abc", *LENGTH, "--format", "json"),
        *("--metrics", f"prometheus:{served.url}"),
    )
    assert done.returncode in MEASURED, done.stderr
    assert re.search(r"metrics: [\d,]+ points sent to prometheus:\S+ in \d+ requests", done.stderr)
    assert "lost" not in done.stderr
    # The last point is of an interval's end, before which a quick machine may be done.
    time.sleep(INTERVAL_S)
    whole = {"study": "load", "trial": "1"}
    for name, found in (
        ("wiretrial_messages_ok_total", ok(done.stdout)),
        ("wiretrial_service_time_seconds_count", ok(done.stdout)),
    ):
        told = served.query(f"max_over_time({name}[1h])")
        assert [float(one["value"][1]) for one in told] == [found]
        assert whole.items() <= told[0]["metric"].items()
        assert "abc" not in str(told)
    # Its series have ended: nothing is shown beyond the load.
    assert served.query("wiretrial_messages_ok_total") == []


@pytest.mark.alone
def test_every_query_of_the_dashboard_is_answered(
    wiretrial: Run, target: str, served: Served
) -> None:
    done = wiretrial(
        *("load", target, *LENGTH, "--format", "json", "--metrics", f"prometheus:{served.url}")
    )
    assert done.returncode == 0, done.stderr
    (told,) = served.query("wiretrial_messages_ok_total[1h]")
    # As long as its series stand.
    at_s = float(told["values"][-1][0])
    empty: list[str] = []
    for query in dashboard.queries():
        asked = query.replace("$__rate_interval", "4s")
        for name in dashboard.VARIABLES:
            asked = asked.replace(f"${name}", ".*")
        assert "$" not in asked
        if not served.query(asked, at_s):
            empty.append(query)
    # Nothing failed, nothing ended, and there is no fleet.
    none = [families.FAILED, families.CLOSED, families.REFUSED, families.AGENT_BUSY]
    none.append(families.AGENT_RATE)
    assert len(empty) == len(none), empty
    assert all(any(family.prometheus in query for family in none) for query in empty)
    throughput = next(iter(dashboard.queries())).replace("$__rate_interval", "4s")
    for name in dashboard.VARIABLES:
        throughput = throughput.replace(f"${name}", ".*")
    assert 150 < served.value(throughput, at_s) < 250


class Collecting(BaseHTTPRequestHandler):
    """Decodes what comes as a collector of OpenTelemetry does."""

    def do_POST(self) -> None:
        assert self.path == "/v1/metrics"
        assert self.headers["Content-Type"] == "application/x-protobuf"
        request = ExportMetricsServiceRequest()
        request.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
        COLLECTED.append(request)
        body = ExportMetricsServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


COLLECTED: list[ExportMetricsServiceRequest] = []


def test_a_receiver_of_otlp_has_what_the_result_says(wiretrial: Run, target: str) -> None:
    COLLECTED.clear()
    with serving(Collecting) as receiver:
        done = wiretrial(
            *("load", target, *LENGTH, "--format", "json", "--metrics", f"otlp:{receiver}")
        )
    assert done.returncode in MEASURED, done.stderr
    told = [
        point.as_double
        for request in COLLECTED
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == "wiretrial.messages.ok"
        for point in metric.sum.data_points
    ]
    assert max(told) == ok(done.stdout)
    assert len(COLLECTED) > 1, "they come while it runs"


def test_a_study_names_its_trials(wiretrial: Run, served: Served, tmp_path: Path) -> None:
    study = tmp_path / "mine"
    study.mkdir()
    (study / "study.toml").write_text(STUDY, encoding="utf-8")
    done = wiretrial("study", "run", str(study), "--metrics", f"prometheus:{served.url}")
    assert done.returncode in MEASURED, done.stderr
    told = served.query("max_over_time(wiretrial_messages_ok_total[1h])")
    labels = [one["metric"] for one in told]
    assert {one["study"] for one in labels} == {"mine"}
    assert {one["subject"] for one in labels} == {"reference"}
    assert {one["trial"] for one in labels} >= {"1", "2"}
    assert all(float(one["value"][1]) > 0 for one in told)
    cpu = served.query("max_over_time(wiretrial_server_cpu_seconds_total[1h])")
    assert len(cpu) == len(told)


STUDY = """
title = "Mine"
question = "How fast?"
subjects = ["reference"]
trials = 2
duration = "1500ms"
warmup = "200ms"

[[workload]]
name = "echo"
protocol = "http"
contract = "http-echo"
payload = 20
connections = 4
"""


@pytest.mark.alone
def test_an_endpoint_that_is_down_changes_no_result(wiretrial: Run, target: str) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        began = time.monotonic()
        done = wiretrial(
            *("load", target, *LENGTH, "--format", "json"),
            *("--metrics", f"otlp:http://127.0.0.1:{held.getsockname()[1]}"),
        )
    assert done.returncode == 0
    assert ok(done.stdout) > 700
    assert re.search(r"wiretrial: [\d,]+ points of metrics were lost: .*refused", done.stderr)
    assert time.monotonic() - began < 30


def test_the_last_messages_are_told_too(wiretrial: Run, target: str, served: Served) -> None:
    done = wiretrial(
        *("load", target, "-n", "300", "--rate", "200", "--no-learn", "--warmup", "0s"),
        *("--metrics", f"prometheus:{served.url}"),
    )
    assert done.returncode in MEASURED, done.stderr
    assert served.value("max_over_time(wiretrial_messages_ok_total[1h])") == 300
