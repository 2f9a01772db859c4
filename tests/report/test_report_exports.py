"""Results in other tools' forms: read back by what those tools' own libraries make of them."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from tests.report.later import Later
from tests.report.synthetic import DEMO, demo_trials
from wiretrial.errors import StoreError
from wiretrial.report import metrics, versus
from wiretrial.report.exports import google_benchmark, hlog, table
from wiretrial.report.measures import Measured
from wiretrial.results import hdr, imported
from wiretrial.results.store import ResultsFolder
from wiretrial.stats.compare import welch

TRIALS = Later(partial(demo_trials, blocks=5, seed=1))


def test_a_table_has_a_row_per_trial_and_a_column_per_figure() -> None:
    found = list(csv.DictReader(io.StringIO(table.as_csv(TRIALS))))
    assert len(found) == len(TRIALS) == 5 * len(DEMO)
    first, trial = found[0], TRIALS[0]
    assert first["scenario"] == trial.scenario.name
    assert first["verdict"] == trial.judgement.verdict
    assert float(first["throughput"]) == pytest.approx(Measured(trial).throughput)
    assert {metric.key for metric in metrics.METRICS} <= set(first)
    assert first["twin_of"] == ""


def test_levels_are_columns() -> None:
    scenario = TRIALS[0].scenario.model_copy(update={"levels": {"connections": 100}})
    rows = table.rows([TRIALS[0].model_copy(update={"scenario": scenario}), TRIALS[1]])
    assert [row["level.connections"] for row in rows] == [100, None]


def test_a_histogram_log_is_read_by_hdr_histogram_s_own_reader(tmp_path: Path) -> None:
    path = tmp_path / "trial.hlog"
    one = TRIALS[:1]
    path.write_text(hlog.as_hlog(one, "service_time"), encoding="utf-8")
    reader = HistogramLogReader(str(path), HdrHistogram(1, hdr.HIGHEST_NS, 3))
    total = HdrHistogram(1, hdr.HIGHEST_NS, 3)
    intervals = 0
    while (histogram := reader.get_next_interval_histogram()) is not None:
        total.add(histogram)
        intervals += 1
    texts = [
        i.histograms["service_time"] for i in one[0].intervals if "service_time" in i.histograms
    ]
    expected = hdr.merge(texts)
    assert intervals == len(texts)
    assert total.get_total_count() == expected.count
    assert total.get_value_at_percentile(99) == pytest.approx(expected.quantile(0.99), rel=0.002)


def test_tags_hold_no_comma_and_no_space() -> None:
    for line in hlog.as_hlog(TRIALS, "service_time").splitlines():
        if line.startswith("Tag="):
            assert line.count(",") == 4
            assert " " not in line


def test_google_benchmark_s_document_has_repetitions_and_aggregates() -> None:
    document = google_benchmark.as_json(TRIALS)
    entries = [entry for entry in document["benchmarks"] if entry["run_name"] == "WebSocket"]
    assert [entry["run_type"] for entry in entries] == ["iteration"] * 5 + ["aggregate"] * 3
    mean = next(entry for entry in entries if entry["name"] == "WebSocket_mean")
    runs = [entry["real_time"] for entry in entries[:5]]
    assert mean["real_time"] == pytest.approx(sum(runs) / 5)
    assert {entry["time_unit"] for entry in entries} == {"ns"}


def test_google_benchmark_s_console_table_is_as_wide_as_its_names() -> None:
    lines = google_benchmark.as_text(TRIALS).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1].split() == ["Benchmark", "Time", "CPU", "Iterations"]
    assert any(line.startswith("WebSocket_stddev") for line in lines)


def test_what_google_benchmark_wrote_can_be_kept_and_compared(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(google_benchmark.as_json(TRIALS)), encoding="utf-8")
    found = imported.read_google_benchmark(path)
    assert [series.name for series in found.series] == list(
        dict.fromkeys(trial.scenario.name for trial in TRIALS)
    )
    folder = imported.keep(tmp_path / "results", "imported", found)
    assert imported.load(folder.folder) == found
    assert ResultsFolder.open(folder.folder).trials() == []
    figures = versus.of_imported(found)
    rows = versus.compare(figures, figures)
    assert {row.figure for row in rows} == {"real_time", "cpu_time"}
    assert all(row.comparison.ratio == pytest.approx(1) for row in rows)


def test_units_of_google_benchmark_are_heeded(tmp_path: Path) -> None:
    entry = {"name": "a", "iterations": 5, "real_time": 2, "cpu_time": 1, "time_unit": "ms"}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"context": {}, "benchmarks": [entry]}), encoding="utf-8")
    (series,) = imported.read_google_benchmark(path).series
    assert (series.real_ns, series.cpu_ns) == ((2e6,), (1e6,))


@pytest.mark.parametrize("text", ["{}", "[]", "no json", '{"context": {}, "benchmarks": []}'])
def test_what_is_not_google_benchmark_s_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StoreError):
        imported.read_google_benchmark(path)


def test_two_results_are_held_against_each_other() -> None:
    others = demo_trials(blocks=5, seed=9)
    rows = versus.compare(versus.of_trials(TRIALS), versus.of_trials(others))
    assert len({row.scenario for row in rows}) == len(DEMO)
    assert not [row for row in rows if row.words in ("better", "worse") and row.figure == "p50"]
    slower = [trial for trial in others if trial.scenario.name != "Raw TCP"]
    notes = versus.unmatched(versus.of_trials(TRIALS), versus.of_trials(slower))
    assert notes == ["only in the first: Raw TCP"]


def test_an_occasion_is_one_value_of_a_result_and_one_day_each_is_told() -> None:
    others = demo_trials(blocks=6, seed=9)
    days = [
        [trial.model_copy(update={"occasion": 1 + trial.block // 2}) for trial in trials]
        for trials in (demo_trials(blocks=6, seed=1), others)
    ]
    new, old = (versus.of_trials(trials) for trials in days)
    row = next(row for row in versus.compare(new, old) if row.figure == "throughput")
    sides = [side[row.scenario]["throughput"] for side in (new, old)]
    assert sides[0].occasions == [1, 1, 2, 2, 3, 3]
    expected = welch(
        sides[0].values, sides[1].values, occasions=(sides[0].occasions, sides[1].occasions)
    )
    assert (row.comparison.low, row.comparison.degrees) == (expected.low, expected.degrees)
    assert row.comparison.degrees <= 4
    one = versus.of_trials(others)
    assert versus.on_days(new, old) == []
    assert versus.on_days(one, one)[0].startswith("each is of one occasion: what another boot")
    (second,) = versus.on_days(new, one)
    assert second == "the second is of one occasion: it is taken to scatter over days as the other"
    alone = versus.compare(new, one)[0].comparison
    assert alone.degrees == 2


LIMITED = Later(partial(demo_trials, blocks=5, seed=1, client_bound=frozenset({("Raw TCP", 2)})))


def test_a_table_names_the_figures_that_are_only_bounds() -> None:
    rows = table.rows(LIMITED)
    told = {str(row["bounds"]) for row in rows if row["verdict"] == "client-bound"}
    assert told == {"throughput at least"}
    assert all(row["bounds"] is None for row in rows if row["verdict"] != "client-bound")


def test_a_result_that_is_a_bound_is_not_told_to_be_worse_nor_the_same() -> None:
    def words(new: versus.Series, old: versus.Series) -> str:
        (row,) = versus.compare({"a": {"throughput": new}}, {"a": {"throughput": old}})
        return row.words

    more = versus.Series([2e5, 2.1e5, 2.05e5, 2.1e5])
    less, limited = versus.Series([1e5, 1.02e5, 0.99e5]), versus.Series([1e5, 1.02e5], "at least")
    assert words(more, less) == "better"
    assert words(less, more) == "worse"
    assert words(limited, more) == "cannot be told"
    assert words(more, limited) == "cannot be told"
    assert words(versus.Series(more.values, "at least"), less) == "better"
    figures = versus.of_trials(LIMITED)["Raw TCP"]
    assert (figures["throughput"].bound, figures["p50"].bound) == ("at least", "exact")
