"""Real programs that keep metrics, started for a test: Prometheus, and an exporter of the host.

Knows how they are started and ended; must not know what a test asks of them. Where one of them is
missing, the test is skipped with the reason.
"""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.interop.conftest import program
from wiretrial.subjects import ports

LIMIT_S = 20.0
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Whatever proxy this machine has."""
Labels = Mapping[str, str]
Points = Sequence[tuple[float, float]]
"""Unix time in seconds, and a value."""


@dataclass(frozen=True)
class Served:
    """A Prometheus that runs."""

    url: str

    def query(self, query: str, at_s: float | None = None) -> list[dict[str, Any]]:
        """The result of an instant query."""
        words = {"query": query} if at_s is None else {"query": query, "time": f"{at_s:.3f}"}
        found = _get(f"{self.url}/api/v1/query?{urlencode(words)}")
        assert found["status"] == "success", found
        result: list[dict[str, Any]] = found["data"]["result"]
        return result

    def value(self, query: str, at_s: float | None = None) -> float:
        """The only value of an instant query."""
        (found,) = self.query(query, at_s)
        return float(found["value"][1])

    def targets(self) -> list[dict[str, Any]]:
        """What it scrapes."""
        found: list[dict[str, Any]] = _get(f"{self.url}/api/v1/targets")["data"]["activeTargets"]
        return found

    def write(self, series: Sequence[tuple[Labels, Points]]) -> None:
        """Writes samples with times of their own, as a scrape some time ago would have."""
        import cramjam

        from wiretrial.metrics import remote_write

        request = remote_write.message("WriteRequest")
        for labels, points in series:
            told = request.timeseries.add()
            for name in sorted(labels):
                told.labels.add(name=name, value=labels[name])
            for at_s, value in points:
                told.samples.add(value=value, timestamp=round(at_s * 1000))
        body = bytes(cramjam.snappy.compress_raw(request.SerializeToString()))
        asked = urllib.request.Request(f"{self.url}/api/v1/write", body, dict(remote_write.HEADERS))
        with _DIRECT.open(asked, timeout=LIMIT_S) as reply:
            assert reply.status in (200, 204)


@contextmanager
def prometheus(
    folder: Path, scrapes: Mapping[str, str] | None = None, every: str = "1s"
) -> Iterator[Served]:
    """A Prometheus that takes remote writes. `scrapes`: targets by job."""
    found = program("prometheus", "prometheus")
    (port,) = ports.free_ports(["127.0.0.1"], ["prometheus"]).values()
    settings = folder / "prometheus.yml"
    settings.write_text(
        json.dumps(
            {
                "global": {"scrape_interval": every},
                "scrape_configs": [
                    {"job_name": job, "static_configs": [{"targets": [target]}]}
                    for job, target in (scrapes or {}).items()
                ],
            }
        ),
        encoding="utf-8",
    )
    command = [
        found,
        f"--config.file={settings}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--web.enable-remote-write-receiver",
        "--log.level=error",
    ]
    url = f"http://127.0.0.1:{port}"
    with _running(command, f"{url}/-/ready"):
        yield Served(url)
    ports.release([port])


@contextmanager
def node_exporter() -> Iterator[str]:
    """An exporter of this host's counters; where it listens."""
    found = program("prometheus-node-exporter", "prometheus-node-exporter")
    (port,) = ports.free_ports(["127.0.0.1"], ["exporter"]).values()
    collectors = ("cpu", "meminfo", "stat", "netstat")
    command = [
        found,
        f"--web.listen-address=127.0.0.1:{port}",
        "--collector.disable-defaults",
        *(f"--collector.{name}" for name in collectors),
        "--log.level=error",
    ]
    with _running(command, f"http://127.0.0.1:{port}/metrics"):
        yield f"127.0.0.1:{port}"
    ports.release([port])


@contextmanager
def _running(command: Sequence[str], ready: str) -> Iterator[None]:
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    try:
        ends = time.monotonic() + LIMIT_S
        while not _answers(ready):
            assert process.poll() is None, process.communicate()[1].decode()
            assert time.monotonic() < ends, f"{command[0]} does not get ready"
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        try:
            process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _answers(url: str) -> bool:
    try:
        with _DIRECT.open(url, timeout=2) as reply:
            return bool(reply.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _get(url: str) -> Any:
    try:
        with _DIRECT.open(url, timeout=LIMIT_S) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        return json.load(error)
