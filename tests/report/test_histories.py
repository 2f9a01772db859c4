"""Results of other tools: what is read of their files, and what is refused."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogWriter

from wiretrial.errors import StoreError
from wiretrial.report.trend import points
from wiretrial.report.trend.points import Asked
from wiretrial.results import histories, imported
from wiretrial.results.histories import About
from wiretrial.results.history import Result
from wiretrial.results.imported import Imported

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
TREND = {"avg": 12.5, "min": 1, "med": 10, "max": 80, "p(90)": 20, "p(95)": 30, "p(99)": 50}
RATE = {"count": 3000, "rate": 100.5}


def written(path: Path, document: Any) -> Path:
    path.write_text(
        document if isinstance(document, str) else json.dumps(document), encoding="utf-8"
    )
    os.utime(path, (AT.timestamp(), AT.timestamp()))
    return path


def figures(found: Imported) -> dict[tuple[str, str], float]:
    return {(one.name, one.figure): one.points[-1].value for one in found.histories}


@pytest.mark.parametrize("wrap", [False, True], ids=["--summary-export", "handleSummary"])
def test_k6_s_summary(tmp_path: Path, *, wrap: bool) -> None:
    def metric(values: dict[str, float]) -> dict[str, Any]:
        return {"type": "trend", "contains": "time", "values": values} if wrap else values

    document = {
        "metrics": {
            "http_req_duration": metric(TREND),
            "http_req_duration{expected_response:true}": metric(TREND),
            "http_req_duration{name:login}": metric({**TREND, "med": 5, "p(99)": 0}),
            "iteration_duration": metric({"med": 1000}),
            "http_reqs": metric(RATE),
            "checks": metric({"rate": 1}),
            "vus": {"value": 10},
        }
    }
    path = written(tmp_path / "summary.json", document)
    found = histories.read(path, About(name="shop", labels={"commit": "abc"}))
    assert found.source == "k6"
    assert found.measured_at == "2026-01-31T12:00:00+00:00"
    told = figures(found)
    assert told["shop", "p50"] == 10e6
    assert told["shop", "p99"] == 50e6
    assert told["shop", "mean"] == 12.5e6
    assert told["shop", "throughput"] == 100.5
    assert told["shop name:login", "p50"] == 5e6
    assert ("shop name:login", "p99") not in told
    assert not any("expected_response" in name for name, _ in told)
    assert {one.points[0].revision for one in found.histories} == {"abc"}
    rates = [one for one in found.histories if one.figure == "throughput"]
    assert all(one.higher_is_better for one in rates)


def test_a_file_s_name_and_date_stand_in_for_what_k6_does_not_say(tmp_path: Path) -> None:
    path = written(tmp_path / "checkout.json", {"metrics": {"http_req_duration": TREND}})
    assert {one.name for one in histories.read(path, About()).histories} == {"checkout"}
    later = histories.read(path, About(at=datetime(2026, 3, 1, tzinfo=UTC)))
    assert later.measured_at == "2026-03-01T00:00:00+00:00"


def action(tool: str = "cargo", value: Any = 1500) -> dict[str, Any]:
    return {
        "lastUpdate": 1769860800000,
        "repoUrl": "https://example.com/shop",
        "entries": {
            "Shop": [
                {
                    "commit": {"id": f"{number:040x}", "message": "m", "timestamp": "t"},
                    "date": 1769860800000 + number * 86_400_000,
                    "tool": tool,
                    "benches": [
                        {"name": "cart", "value": value, "range": "± 20", "unit": "ns/iter"},
                        {"name": "list", "value": "7.5", "unit": "ops"},
                    ],
                }
                for number in (1, 0)
            ]
        },
    }


@pytest.mark.parametrize("prefix", ["", "window.BENCHMARK_DATA = "])
def test_github_action_benchmark_s_data(tmp_path: Path, prefix: str) -> None:
    end = ";\n" if prefix else ""
    found = histories.read(
        written(tmp_path / "data.js", f"{prefix}{json.dumps(action())}{end}"), About()
    )
    assert found.source == "github-action-benchmark"
    cart, listed = found.histories
    assert (cart.name, cart.unit, cart.higher_is_better) == ("Shop: cart", "ns/iter", False)
    assert [past.value for past in cart.points] == [1500, 1500]
    assert [past.at[:10] for past in cart.points] == ["2026-01-31", "2026-02-01"]
    assert cart.points[-1].revision == f"{1:040x}"
    assert listed.points[0].value == 7.5


def test_rates_of_github_action_benchmark_are_better_when_higher(tmp_path: Path) -> None:
    path = written(tmp_path / "data.json", action("customBiggerIsBetter"))
    assert all(one.higher_is_better for one in histories.read(path, About()).histories)


def log(path: Path, tags: tuple[str | None, ...] = (None,)) -> Path:
    with path.open("w", encoding="utf-8") as file:
        writer = HistogramLogWriter(file)
        writer.output_log_format_version()
        # The library's own `output_start_time` fails.
        file.write(f"#[StartTime: {AT.timestamp():f} (seconds since epoch), {AT}]\n")
        writer.output_legend()
        for tag in tags:
            histogram = HdrHistogram(1, 10_000_000, 3)
            for value in range(1, 1001):
                histogram.record_value(value * 1000)
            # Nor does it write tags.
            file.write(f"Tag={tag}," if tag else "")
            writer.output_interval_histogram(histogram, 0, 1)
    return path


def test_a_log_of_hdrhistogram(tmp_path: Path) -> None:
    found = histories.read(log(tmp_path / "run.hlog"), About())
    assert found.source == "hdrhistogram"
    assert found.measured_at == "2026-01-31T12:00:00+00:00"
    told = figures(found)
    assert told["run", "p50"] == pytest.approx(500_000, rel=0.002)
    assert told["run", "p99"] == pytest.approx(990_000, rel=0.002)
    in_us = figures(histories.read(tmp_path / "run.hlog", About(unit="us")))
    assert in_us["run", "p50"] == told["run", "p50"] * 1000


def test_each_tag_of_a_log_stands_by_itself(tmp_path: Path) -> None:
    path = log(tmp_path / "run.hlog", ("get", "put", "get"))
    told = figures(histories.read(path, About(name="shop")))
    assert {name for name, _ in told} == {"shop get", "shop put"}


def test_google_benchmark_s_json_is_known_by_its_members(tmp_path: Path) -> None:
    entry = {"name": "echo", "real_time": 10, "cpu_time": 5, "time_unit": "us"}
    document = {"context": {"date": "2026-01-31T13:00:00+01:00"}, "benchmarks": [entry, entry]}
    found = histories.read(written(tmp_path / "mine.json", document), About())
    assert [*found.series[0].real_ns] == [10_000, 10_000]
    assert found.measured_at == "2026-01-31T13:00:00+01:00"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.json", "{", "no JSON and no log"),
        ("a.json", "[]", "of no tool"),
        ("a.json", '{"a": 1}', "of no tool"),
        ("a.json", '{"metrics": {"checks": {"rate": 1}}}', "no request times of k6"),
        ("a.json", '{"metrics": {"http_req_duration": 5}}', "no request times of k6"),
        ("a.json", '{"entries": {"a": [{"date": 1}]}}', "not what github-action-benchmark keeps"),
        ("a.json", '{"entries": {}}', "not what github-action-benchmark keeps"),
        ("a.json", '{"entries": {"a": 5}}', "not what github-action-benchmark keeps"),
        ("a.json", '{"benchmarks": []}', "not what Google Benchmark writes"),
        ("a.hlog", "#[Histogram log format version 1.2]\n", "holds no recorded value"),
        ("a.hlog", "#[Histogram log]\n0.1,1.0,2.0,HISTFAAAnonsense\n", "no whole log"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, name: str, text: str, told: str) -> None:
    with pytest.raises(StoreError, match=told) as error:
        histories.read(written(tmp_path / name, text), About())
    assert error.value.remedy


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StoreError, match="is no text"):
        histories.read(tmp_path / "a", About())
    with pytest.raises(StoreError, match="can't be read"):
        histories.read(tmp_path / "none", About())


def test_imported_points_stand_in_a_line_and_say_whose_they_are(tmp_path: Path) -> None:
    found = histories.read(written(tmp_path / "data.json", action()), About())
    folder = imported.keep(tmp_path, "imported", found).folder
    again = imported.load(folder)
    assert again == found
    made = points.lines([Result(folder.name, imported=again)], Asked())
    cart = next(line for line in made if line.scenario == "Shop: cart")
    assert [point.imported for point in cart.points] == ["github-action-benchmark"] * 2
    assert cart.points[0].low is None
    assert cart.unit.name == "ns/iter"


def test_repetitions_of_google_benchmark_have_an_interval(tmp_path: Path) -> None:
    entries = [
        {"name": "echo", "real_time": 10 + i, "cpu_time": 5, "time_unit": "us"} for i in range(6)
    ]
    document = {"context": {"date": "2026-01-31T13:00:00+01:00"}, "benchmarks": entries}
    found = histories.read(written(tmp_path / "mine.json", document), About())
    (line,) = points.lines([Result("mine", imported=found)], Asked())
    assert line.figure == "real_time"
    assert line.points[0].low is not None
    (cpu,) = points.lines([Result("mine", imported=found)], Asked(metric="cpu"))
    assert cpu.figure == "cpu_time"


def test_a_history_that_is_imported_again_adds_only_what_is_new(tmp_path: Path) -> None:
    document = action()
    first = histories.read(written(tmp_path / "data.json", document), About())
    newer = {**document["entries"]["Shop"][0], "date": 1769860800000 + 5 * 86_400_000}
    document["entries"]["Shop"].append(newer)
    second = histories.read(written(tmp_path / "data.json", document), About())
    results = [Result("one", imported=first), Result("two", imported=second)]
    made = points.lines(results, Asked())
    cart = next(line for line in made if line.scenario == "Shop: cart")
    assert len(cart.points) == 3
