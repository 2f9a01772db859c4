"""A server as a real Prometheus knows it: synthetic samples of some minutes, and a real host."""

from __future__ import annotations

import json
import math
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.observers.conftest import Start
from tests.prometheus import Labels, Points, Served, node_exporter, prometheus
from tests.waiting import until
from wiretrial.cli import app
from wiretrial.errors import EXIT_GOOD, EXIT_INVALID, ObserverFailed, UsageProblem
from wiretrial.observers import address, coarse, cost
from wiretrial.observers import prometheus as watching
from wiretrial.observers.address import Scraped
from wiretrial.observers.cost import Curve, Load
from wiretrial.observers.prometheus import PrometheusWatch
from wiretrial.observers.watch import BEFORE, END, Watched
from wiretrial.results.watched import WatchedPlace

STEP_S = 15
AGO_S = 285
RATE = 1000.0
"""Replies per second of the load that is made up."""
MINUTE_NS = 60_000_000_000
BURN_US = 2000


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One Prometheus that scrapes nothing; each test writes what it asks for."""
    with prometheus(tmp_path_factory.mktemp("prometheus")) as found:
        yield found


@pytest.fixture(autouse=True)
def _no_scrape_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is scraped here, and no proxy asked."""
    monkeypatch.setattr(watching, "MOST_WAIT_S", 0.0)
    monkeypatch.setenv("no_proxy", "*")


def watch(served: Served, query: str = "", length_ns: int | None = MINUTE_NS) -> PrometheusWatch:
    found = address.parse(f"prometheus:{served.url}{query}")
    assert isinstance(found, Scraped)
    return PrometheusWatch(found, length_ns)


def counter(rate: float, now_s: float, step_s: int = STEP_S) -> Points:
    """What grew by `rate` a second in the last minutes, scraped until now."""
    count = AGO_S // step_s
    return [
        (now_s - step_s * (count - number), 50 + rate * step_s * number)
        for number in range(count + 1)
    ]


def host(instance: str, now_s: float, step_s: int = STEP_S) -> list[tuple[Labels, Points]]:
    """A host of two CPUs: 0.6 of them in user, 0.2 in system, at rest otherwise."""
    rates = {"user": 0.3, "system": 0.1, "softirq": 0.0, "idle": 0.6}
    return [
        (
            {
                "__name__": "node_cpu_seconds_total",
                "instance": instance,
                "job": "node",
                "cpu": cpu,
                "mode": mode,
            },
            counter(rate, now_s, step_s),
        )
        for cpu in ("0", "1")
        for mode, rate in rates.items()
    ]


def container(key: str, now_s: float, rate: float, **labels: str) -> list[tuple[Labels, Points]]:
    own = {"id": f"/docker/{key}", "instance": "docker1", "job": "cadvisor", **labels}
    usage = "container_cpu_usage_seconds_total"
    memory = [(at_s, 3e8) for at_s, _ in counter(0, now_s)]
    return [
        ({"__name__": usage, "cpu": "total", **own}, counter(rate, now_s)),
        ({"__name__": "container_memory_usage_bytes", **own}, memory),
    ]


def watched(watch: PrometheusWatch) -> Watched:
    """As it is after a load that is over."""
    with watch:
        watch.start()
        watch.mark(BEFORE)
        return watch.stop()


def placed(found: Watched, window_s: tuple[float, float], begun_ns: int) -> WatchedPlace:
    """What a record holds, of a load of `RATE` replies a second."""
    start_ns, end_ns = (round(at_s * 1e9) for at_s in window_s)
    length_ns = end_ns + 5_000_000_000
    replies = Curve((begun_ns, begun_ns + length_ns), (0.0, RATE * length_ns / 1e9))
    nothing = Curve((begun_ns, begun_ns + length_ns), (0.0, 0.0))
    return cost.place(found, Load(begun_ns, start_ns, end_ns, replies, nothing))


def near(value: float | None, expected: float) -> bool:
    return value is not None and math.isclose(value, expected, rel_tol=2e-3, abs_tol=1e-6)


def test_a_host_is_told_as_a_host_alone(served: Served) -> None:
    now_s = time.time()
    served.write(host("alone", now_s))
    begun_ns = time.monotonic_ns() - 100_000_000_000
    found = watched(watch(served, "?instance=alone"))
    assert found.failed is None
    assert (found.place, found.kind, found.parts, found.cpus) == ("alone", "prometheus", (), 2)
    told = placed(found, (8, 78), begun_ns)
    assert told.span is not None
    # Between scrapes, and inside the window.
    assert told.span.length_ns == 60_000_000_000
    assert not told.span.is_around
    assert near(told.busy_cpus, 0.8)
    assert near(told.baseline_cpus, 0.8)
    assert near(told.span.replies, 60 * RATE)
    assert found.clock_error_ns < 500_000_000


def test_a_container_is_a_part_with_its_cost_and_memory(served: Served) -> None:
    now_s = time.time()
    served.write(container("costs", now_s, 0.4, name="costs"))
    begun_ns = time.monotonic_ns() - 100_000_000_000
    found = watched(watch(served, "?container=costs"))
    (part,) = placed(found, (8, 78), begun_ns).parts
    assert part.name == "costs"
    assert near(part.per_reply_ns, 0.4e9 / RATE)
    assert near(part.cpus, 0.4)
    assert part.memory_end_bytes == 300_000_000
    assert part.lacks


def test_a_pod_is_its_containers_without_the_pods_own_sum(served: Served) -> None:
    now_s = time.time()
    pod = {"namespace": "shop", "pod": "shop-1"}
    served.write(
        [
            *container("pod-a", now_s, 0.2, container="a", **pod),
            *container("pod-b", now_s, 0.1, container="b", **pod),
            *container("pod-pause", now_s, 0.05, container="POD", **pod),
            *container("pod", now_s, 0.35, **pod),
        ]
    )
    begun_ns = time.monotonic_ns() - 100_000_000_000
    found = watched(watch(served, "?namespace=shop&pod=~shop-.*"))
    (part,) = placed(found, (8, 78), begun_ns).parts
    assert near(part.cpus, 0.3)


def test_few_scrapes_in_the_window_are_told_with_the_remedy(served: Served) -> None:
    now_s = time.time()
    served.write(host("few", now_s))
    begun_ns = time.monotonic_ns() - 100_000_000_000
    found = watched(watch(served, "?instance=few"))
    told = placed(found, (8, 43), begun_ns)
    assert told.coarse is not None
    assert "3 scrapes" in told.coarse
    assert "-d 60s" in told.coarse
    assert placed(found, (8, 78), begun_ns).coarse is None


@pytest.mark.parametrize(
    ("length_ns", "words"),
    [
        (None, "may be over between two scrapes: give a time: -d 60s or more"),
        (10_000_000_000, "measure for 60 s or more: -d 60s"),
        (59_999_999_999, "measure for 60 s or more: -d 60s"),
    ],
)
def test_a_load_that_is_too_short_is_refused_before_it(
    served: Served, length_ns: int | None, words: str
) -> None:
    with pytest.raises(UsageProblem) as refused:
        watch(served, length_ns=length_ns)
    assert words in refused.value.line()


def test_so_is_one_with_too_few_scrapes(served: Served) -> None:
    served.write(host("rarely", time.time(), step_s=60))
    with pytest.raises(ObserverFailed) as refused:
        watched(watch(served, "?instance=rarely"))
    line = refused.value.line()
    assert "scraped every 60 s, and 60 s hold fewer than 4 scrapes" in line
    assert "-d 240s, or shorten scrape_interval" in line
    assert watched(watch(served, "?instance=rarely", 4 * MINUTE_NS)).failed is None


def refusal(served: Served, query: str) -> str:
    with pytest.raises(ObserverFailed) as refused:
        watched(watch(served, query))
    line = refused.value.line()
    assert "\n" not in line
    return line


def test_several_hosts_are_no_server(served: Served) -> None:
    now_s = time.time()
    served.write([*host("one:9100", now_s), *host("two:9100", now_s)])
    line = refusal(served, "?instance=~(one|two):9100")
    assert "2 hosts match" in line
    assert "?instance=one:9100" in line


def test_a_container_that_is_scraped_twice_counts_once_or_not(served: Served) -> None:
    now_s = time.time()
    served.write(container("twice", now_s, 0.1, name="twice"))
    served.write(container("twice", now_s, 0.1, name="twice", job="kubelet"))
    assert "is scraped 2 times" in refusal(served, "?name=twice")
    assert watched(watch(served, "?name=twice&job=kubelet")).parts[0].readings


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("?instance=nowhere", "no node_cpu_seconds_total of node_exporter in the last 300 s"),
        ("?container=nothing", 'where container="nothing"'),
        ("?pod=~(", "refused a query"),
    ],
)
def test_what_is_not_there_is_told(served: Served, query: str, words: str) -> None:
    assert words in refusal(served, query)


def test_counters_are_awaited_where_limits_came_before(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """cAdvisor reads counters now and then, and tells what a container may use at each scrape."""
    monkeypatch.setattr(watching, "MOST_WAIT_S", 10.0)
    series = container("late", time.time(), 0.4, name="late")
    usage = series[0][0]
    period = {**usage, "__name__": "container_spec_cpu_period"}
    served.write(series)
    one = watch(served, "?container=late")
    one.start()
    one.mark(BEFORE)
    one.mark(END)
    # However exactly the clocks are laid on each other, it is later.
    time.sleep(0.05)
    served.write([(period, [(time.time(), 1e5)])])
    later = threading.Timer(0.7, lambda: served.write([(usage, [(time.time(), 500.0)])]))
    later.start()
    found = one.stop()
    later.join()
    assert found.parts[0].readings[-1].at_ns >= found.marks[-1].at_ns


def test_a_prometheus_that_went_away_leaves_no_figures_and_a_reason(tmp_path: Path) -> None:
    with prometheus(tmp_path) as served:
        served.write(host("gone", time.time()))
        one = watch(served, "?instance=gone")
        one.start()
        one.mark(BEFORE)
    found = one.stop()
    assert found.failed is not None
    assert "can't be reached" in found.failed
    assert found.host == ()


@pytest.fixture
def scraping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A Prometheus that scrapes this host each second: four tell as much as a minute elsewhere."""
    monkeypatch.setattr(coarse, "LEAST_WINDOW_S", 4.0)
    monkeypatch.setattr(watching, "MOST_WAIT_S", 10.0)
    with node_exporter() as target, prometheus(tmp_path, {"node": target}) as served:
        until(lambda: len(served.query('count_over_time(up{job="node"}[1m]) > 3')) == 1)
        yield served


def test_a_real_host_is_watched_until_the_scrape_after_the_load(scraping: Served) -> None:
    with watch(scraping, length_ns=4_000_000_000) as one:
        one.start()
        one.mark(BEFORE)
        busy_until = time.monotonic() + 2.0
        while time.monotonic() < busy_until:
            pass
        one.mark(END)
        ended_ns = time.monotonic_ns()
        found = one.stop()
    assert found.failed is None
    assert found.place == scraping.targets()[0]["labels"]["instance"]
    # Its counters are those of the machine that the load comes from.
    assert found.has_generator
    assert found.cpus is not None
    instants = [reading.at_ns for reading in found.host]
    assert instants == sorted(instants)
    # The scrape after the end has come.
    assert instants[-1] >= ended_ns
    assert all(reading.used_bytes for reading in found.host)
    spent = [
        (reading.at_ns, (reading.cpu.user_ns or 0) + (reading.cpu.system_ns or 0))
        for reading in found.host
    ]
    before = [busy for at_ns, busy in spent if at_ns <= ended_ns - 2_000_000_000]
    after = [busy for at_ns, busy in spent if at_ns >= ended_ns]
    assert after[0] > before[-1]


@pytest.mark.alone
def test_a_load_tells_what_its_host_did(
    scraping: Served, burner: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.json"
    server = burner(BURN_US)
    words = [
        *("wiretrial", "load", server.url, "-c", "1", "--rate", "100", "-d", "6s"),
        *("--expect", "status", "--format", "json", "-o", str(out)),
        *("--server", f"prometheus:{scraping.url}?job=node"),
    ]
    monkeypatch.setattr(sys, "argv", words)
    assert app.run() in (EXIT_GOOD, EXIT_INVALID)
    found = json.loads(out.read_text(encoding="utf-8"))
    (host,) = found["server_hosts"]
    assert found["servers"] == []
    assert host["cpus_busy"] >= 0.9 * BURN_US * 100 / 1e6
    assert host["cpus_busy_before"] is not None
    assert host["cpus_of_generator"] is not None
    assert host["memory_bytes"] > 0
    assert host["clock_error_ns"] > 0
    notes = " ".join(host["notes"])
    assert "the host is known, and no server on it" in notes
    assert "coarse" not in notes
