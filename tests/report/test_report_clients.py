"""Client libraries in the report: two rankings, multiples of the bare socket, tables, exports.

WIRETRIAL_UPDATE_GOLDEN=1 writes the exports anew.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.report import synthetic_clients
from tests.report.later import Later
from tests.report.synthetic_clients import BASE, ITERATIONS, LIBRARIES, REPETITIONS
from wiretrial.report import charts, clients, found, html, markdown, metrics, text, versus
from wiretrial.report.blocks import Table
from wiretrial.report.exports import google_benchmark, table
from wiretrial.report.found import Found
from wiretrial.report.measures import Measured
from wiretrial.report.model import ReportModel
from wiretrial.results import imported

GOLDEN = Path(__file__).parent / "golden"
STUDY = Path(__file__).parents[2] / "studies" / "client-libraries"
TRIALS = Later(synthetic_clients.trials)


@pytest.fixture(scope="module")
def report() -> ReportModel:
    return synthetic_clients.report(claims=synthetic_clients.claims())


def test_a_driver_s_figures_are_the_client_s_own() -> None:
    measured = Measured(TRIALS[0])
    assert measured.round_trip_ns == pytest.approx(50_000, rel=0.1)
    assert measured.client_ns == pytest.approx(15_000, rel=0.1)
    assert measured.client_user_ns is not None
    assert measured.client_system_ns is not None
    both = measured.client_user_ns + measured.client_system_ns
    assert both == pytest.approx(measured.client_ns)
    # From the first repetition's end on: two of three repetitions.
    assert measured.server_ns == pytest.approx(15_000, rel=0.1)
    assert (measured.generator_ns, measured.elapsed_ns) == (None, None)
    assert measured.ok == ITERATIONS * REPETITIONS


def test_libraries_are_ranked_by_the_round_trip_and_by_their_cpu(report: ReportModel) -> None:
    group = next(g for g in report.groups if g.title == "page, http")
    assert group.contest.metric is metrics.WALL
    names = [name.partition(":")[0] for name in group.contest.ranking.order]
    assert names == [BASE, "libcurl-client", "cpprestsdk-client", "httpx-client"]
    assert list(group.contest.ranking.ranks.values()) == [1, 2, 3, 4]
    assert group.contest.ranking.ranks == group.contest.by_cost.ranks
    assert metrics.CLIENT.key in group.contest.pairs
    assert metrics.SERVER.key not in group.contest.pairs
    (twins,) = report.twins
    assert (twins.metric, twins.winner) == (metrics.WALL, None)


def test_each_group_is_told_as_multiples_of_the_bare_socket(report: ReportModel) -> None:
    cpu, wall = (one for one in report.findings if one.where == "page, http")
    assert (cpu.metric, wall.metric) == (metrics.CLIENT, metrics.WALL)
    assert (cpu.is_beside, wall.is_beside) == (False, True)
    for one in (cpu, wall):
        assert (one.kind, one.base, one.leaders) == ("nearest", BASE, ("libcurl-client",))
        assert [other.label for other in one.others] == [
            *("libcurl-client", "cpprestsdk-client", "httpx-client"),
        ]
    page = next(text for text in report.verdict_sentences if text.startswith("Page, http: "))
    assert re.fullmatch(
        r"Page, http: libcurl-client is nearest to raw-client \(\S+ µs\), 2\.\d\d \(.*\) times its "
        r"client CPU; cpprestsdk-client .*; httpx-client 4\d\.\d \(.*\)\. "
        r"libcurl-client is nearest to raw-client \(\S+ µs\), 1\.\d\d \(.*\) times its "
        r"round trip; cpprestsdk-client .*; httpx-client 1\d\.\d \(.*\)\.",
        page,
    )
    assert page in report.all_sentences
    assert re.match(
        r"Most of a round trip went to (waiting|the client's CPU) in \d+ and ",
        report.verdict_sentences[-1],
    )


def test_a_library_of_one_trial_is_not_told_to_be_nearest() -> None:
    """A run that was stopped has some of it: it is compared with nobody, whatever its figure."""
    report = synthetic_clients.report(
        lost=lambda trial: bool(trial.block) and trial.scenario.name.startswith("libcurl-client")
    )
    cpu = next(one for one in report.findings if one.where == "page, http")
    assert cpu.leaders == ("cpprestsdk-client",)
    assert any("cpprestsdk-client is nearest" in said for said in report.verdict_sentences)


def test_c_and_c_plus_plus_have_a_table_of_their_own(report: ReportModel) -> None:
    every, native = clients.tables(report)
    assert (native.title, every.title) == ("C and C++", "All languages")
    assert native.protocols == ("http", "https", "ws", "wss")
    assert [row.name for row in native.rows] == [
        "raw",
        "raw, reinit",
        "libcurl",
        "libcurl, reinit",
        "cpprestsdk",
        "cpprestsdk, reinit",
        "websocketpp",
        "websocketpp, reinit",
    ]
    # What nobody else speaks is no column.
    assert re.fullmatch(r"raw over tcp \S+ µs \(CPU \S+ µs\)", native.floor)
    assert len(every.rows) == 2 * len(LIBRARIES)
    rows = {row.name: row for row in native.rows}
    assert set(rows["websocketpp"].cells) == {"ws", "wss"}
    assert rows["raw"].cells["http"].wall_ratio is None
    assert rows["libcurl"].cells["http"].wall_ratio == pytest.approx(1.4, rel=0.05)
    assert rows["libcurl"].cells["http"].client_ratio == pytest.approx(2.2, rel=0.05)


def test_every_form_of_the_report_has_the_table(report: ReportModel) -> None:
    page = html.render(report)
    assert "Libraries side by side" in page
    assert "The full distribution of round trips" in page
    assert "Client CPU, µs per message" in page
    assert "Generator CPU" not in page
    written = text.render(report, width=160)
    assert re.search(r"libcurl +C +\S+ / \S+ \(x 1\.4\d / 2\.\d\d\)", written)
    assert re.search(r"\| libcurl \| C \| 7\d\.\d / 3\d\.\d \(", markdown.render(report))
    assert "ranking-1" in charts.names(report)


def test_what_is_kept_has_every_library(report: ReportModel) -> None:
    kept = Found.model_validate_json(found.of_report(report).to_json())
    (table,) = (block for block in kept.sections[0].blocks if isinstance(block, Table))
    heads = [column.title.split("\n")[0] for column in table.columns]
    assert heads == ["Library", "Language", "http", "https", "ws", "wss"]
    assert len(table.rows) == 2 * len(LIBRARIES)
    page = found.section(kept)
    assert re.search(r"\| libcurl \| C \| 7\d\.\d / 3\d\.\d \(× 1\.\d\d / 2\.\d\d\) \|", page)
    assert "Below them: raw over tcp" in page


def test_the_study_s_page_says_what_is_kept_and_nothing_else() -> None:
    page = (STUDY / found.PAGE).read_text(encoding="utf-8")
    assert found.of_study(STUDY) == page


def test_published_ratios_are_judged(report: ReportModel) -> None:
    twice, reinit = report.claims
    assert (twice.verdict, twice.metric) == ("reproduced", metrics.WALL)
    assert reinit.verdict == "arithmetic"
    assert "200 ms / 2.37 ms" in reinit.why


def test_google_benchmark_s_table_is_as_committed() -> None:
    some = [trial for trial in TRIALS if trial.scenario.subject in (BASE, "libcurl-client")]
    written = google_benchmark.as_text(some)
    document = json.dumps(google_benchmark.as_json(some), indent=2) + "\n"
    for name, content in (
        ("clients-google-benchmark.txt", written),
        ("clients-google-benchmark.json", document),
    ):
        golden = GOLDEN / name
        if "WIRETRIAL_UPDATE_GOLDEN" in os.environ:
            golden.write_text(content, encoding="utf-8")
        assert content == golden.read_text(encoding="utf-8")


def test_google_benchmark_s_json_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "clients.json"
    path.write_text(json.dumps(google_benchmark.as_json(TRIALS)), encoding="utf-8")
    series = {one.name: one for one in imported.read_google_benchmark(path).series}
    one = series["libcurl-client: page, http"]
    assert len(one.real_ns) == 5
    first = next(trial for trial in TRIALS if trial.scenario.name == one.name)
    assert one.real_ns[0] == pytest.approx(Measured(first).round_trip_ns)
    assert one.cpu_ns[0] == pytest.approx(Measured(first).client_ns)


def test_a_table_of_trials_has_the_client_s_columns() -> None:
    row = table.rows(TRIALS)[0]
    assert row["level.mode"] == "kept"
    assert row["wall"] == pytest.approx(Measured(TRIALS[0]).round_trip_ns)
    assert row["client"] == pytest.approx(Measured(TRIALS[0]).client_ns)
    assert row["generator"] is None


def test_two_results_are_compared_by_what_clients_have() -> None:
    figures = versus.of_trials(TRIALS)["libcurl-client: page, http"]
    assert {"wall", "client", "p50", "server"} <= set(figures)
    assert "generator" not in figures
