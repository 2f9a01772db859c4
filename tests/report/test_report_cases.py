"""Times per case: tables, floors, stalls, single trials; claims about them; what is kept of it."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.report import synthetic_rest
from tests.report.test_report_text import golden
from wiretrial.report import case_tables, findings, found, html, markdown, metrics, phrases, text
from wiretrial.report.case_tables import CaseTable, Cell, excess, time_words
from wiretrial.report.contest import Pair
from wiretrial.report.exports import table
from wiretrial.report.families import Group
from wiretrial.report.model import ReportModel, build
from wiretrial.report.tables import cases
from wiretrial.results import adoption
from wiretrial.results.model import Judgement
from wiretrial.results.store import ResultsFolder
from wiretrial.stats.compare import Verdict
from wiretrial.stats.summary import Estimate


@pytest.fixture(scope="module")
def rest() -> ReportModel:
    """A study of times per case."""
    return synthetic_rest.report()


@pytest.fixture(scope="module")
def tables(rest: ReportModel) -> tuple[CaseTable, ...]:
    (family,) = rest.families
    return case_tables.tables(family, rest.absent)


def cell(tables: tuple[CaseTable, ...], title: str, label: str, head: str) -> Cell:
    (table,) = [table for table in tables if table.title == title]
    (row,) = [row for row in table.rows if row.label == label]
    (at,) = [i for i, column in enumerate(table.columns) if ", ".join(column.head) == head]
    found = row.cells[at]
    assert found is not None
    return found


FRESH = "Local, a new connection per request"
VPN = "Over a VPN, a new connection per request"


def test_environments_and_connections_make_tables_of_their_own(
    tables: tuple[CaseTable, ...],
) -> None:
    assert [(table.title, len(table.columns)) for table in tables] == [
        (FRESH, 5),
        ("Local, kept connections", 2),
        (VPN, 2),
    ]
    heads = [", ".join(column.head) for column in tables[0].columns]
    assert heads == [
        "N = 1,000, t = 0, C = 28",
        "N = 1,000, t = 0, C = 4",
        "N = 200, t = 200 ms, C = 28",
        "N = 200, t = 200 ms, C = 4",
        "N = 1,000, t = 200 ms, C = 28",
    ]
    assert [row.label for row in tables[0].rows] == ["steady", "stuck", "uneven"]
    assert [row.subject for row in tables[0].absent] == ["missing"]


def test_the_floor_stands_with_the_case_and_the_time_above_it(
    tables: tuple[CaseTable, ...],
) -> None:
    floors = [column.floor_ns and column.floor_ns / 1e9 for column in tables[0].columns]
    assert floors == [None, None, 40, 100, 200]
    steady = cell(tables, FRESH, "steady", "N = 200, t = 200 ms, C = 4")
    assert steady.above == pytest.approx(0.004, abs=0.002)
    assert re.fullmatch(r"\+0\.[2-6] %", steady.above_words)
    assert steady.is_single
    assert cell(tables, FRESH, "steady", "N = 1,000, t = 0, C = 28").above is None


def test_a_mark_stands_only_where_the_data_show_the_difference(
    tables: tuple[CaseTable, ...],
) -> None:
    # One trial each shows none, however far apart the times are.
    head = "N = 200, t = 200 ms, C = 4"
    uneven = cell(tables, FRESH, "uneven", head)
    assert (uneven.is_best, uneven.is_worst, uneven.above_words) == (False, False, "+21 %")
    assert not cell(tables, FRESH, "steady", head).is_best
    compared = "N = 1,000, t = 0, C = 28"
    assert cell(tables, FRESH, "steady", compared).is_best
    assert cell(tables, FRESH, "stuck", compared).is_worst
    assert not cell(tables, FRESH, "uneven", compared).is_best


def test_what_sits_on_its_floor_is_told_as_such_and_neither_fast_nor_slow(
    rest: ReportModel,
) -> None:
    (family,) = rest.families
    group = next(g for g in family.groups if g.title == "work, over loopback, 4 server threads")
    steady = next(s for s in group.scenarios if s.label == "steady")
    # Even where more trials would show a difference, nothing but the pause is compared.
    found = replace(group.contest, pairs={"elapsed": (better(steady.name, group),)})
    marked = replace(group, contest=found)
    assert steady.name in marked.contest.extremes[0]
    (table,) = case_tables.tables(replace(family, groups=(marked,)))
    cells = {row.label: row.cells[0] for row in table.rows}
    assert cells["steady"]
    assert (cells["steady"].is_on_floor, cells["steady"].is_best) == (True, False)
    assert cells["uneven"]
    assert (cells["uneven"].is_on_floor, cells["uneven"].is_worst) == (False, True)
    written = found_page(rest)
    assert re.search(r"\| steady \|.* \(on its floor \+0\.\d %; n = 1\)", written)
    assert re.search(r"\| uneven \|.* \(floor \+21 %; n = 1\)", written)
    assert "Such a time measures the pause, not the framework" in written


def test_more_server_threads_than_cpus_are_told(rest: ReportModel) -> None:
    (family,) = rest.families
    assert case_tables.crowded(case_tables.tables(family)) is None
    pinned = replace(
        family,
        groups=tuple(
            replace(group, scenarios=tuple(replace(s, server_cpus=8) for s in group.scenarios))
            for group in family.groups
        ),
    )
    found = case_tables.tables(pinned)
    assert case_tables.crowded(found) == ((28,), 8)
    assert "C = 28: server threads that took turns on 8 CPUs." in cases.how_to_read(found).text


def found_page(model: ReportModel) -> str:
    return found.section(found.of_report(model))


def better(name: str, group: Group) -> Pair:
    """The pair of a group of two, with this one shown to be better."""
    a, b = (scenario.name for scenario in group.scenarios if scenario.estimates)
    verdict: Verdict = "A faster" if name == a else "B faster"
    return Pair(a, b, metrics.ELAPSED, None, verdict)


def test_a_stall_is_a_result_without_a_time(tables: tuple[CaseTable, ...]) -> None:
    stuck = cell(tables, FRESH, "stuck", "N = 1,000, t = 0, C = 4")
    assert stuck.estimate is None
    assert (stuck.stalls, stuck.is_worst) == (6, True)
    assert stuck.stall_words == "no reply for 6 s after 0 of 10,000"


def test_what_is_not_part_of_the_study_is_no_cell(tables: tuple[CaseTable, ...]) -> None:
    rows = {row.label: row.cells for row in tables[0].rows}
    assert rows["steady"][4] is not None
    assert rows["uneven"][4] is None


def test_the_verdict_says_who_stalls_and_what_measured_its_floor(rest: ReportModel) -> None:
    said = rest.verdict_sentences[0]
    assert said.startswith("Shortest time with steady in 4 of 9 cases; ")
    counted = next(one for one in rest.findings if one.kind == "counted")
    assert counted.counts == (("steady", 4),)
    assert {(part.kind, part.n) for part in counted.parts[1:]} == {("single", 4), ("alone", 1)}
    assert "one trial each, which shows no difference, in 4" in said
    assert "Stopped answering (stalled): stuck in 4 cases." in said
    assert "11 times have a theoretical minimum; 9 are within 1 % of it" in said
    assert "the furthest above is uneven's (+21 %)" in said
    assert "too few usable trials" not in said


def test_single_trials_that_were_wanted_and_stalls_are_no_lack_of_trials(
    rest: ReportModel,
) -> None:
    codes = {row.code for row in rest.warnings}
    assert "few-trials" not in codes
    assert "partial" not in codes
    assert "stalled" in codes


def test_claims_of_times_and_stalls_are_judged(rest: ReportModel) -> None:
    assert [(row.published, row.verdict) for row in rest.claims] == [
        ("2", "reproduced"),
        ("1.24", "reproduced"),
        ("3", "not reproduced"),
        ("5", "arithmetic"),
        ("stalled", "reproduced"),
        ("stalled", "not reproduced"),
        ("stalled", "not measured here"),
    ]
    assert rest.claims[1].why.endswith("one trial each, which mostly waits")
    assert rest.claims[4].why == "in 6 of 6 trials: no reply for 6 s after 0 of 10,000"
    assert rest.claims[5].why.startswith("every message was answered in 6 trials; here steady")


def test_the_tables_in_a_terminal(rest: ReportModel) -> None:
    golden("rest.txt", text.render(rest, width=110))


def test_a_narrow_terminal_shows_every_column_of_what_each_is_like_to_adopt(
    rest: ReportModel,
) -> None:
    wide, narrow = (text.render(rest, width=width) for width in (140, 50))
    for page in (wide, narrow):
        rows = [line for line in page.splitlines() if line.strip().startswith("steady")]
        for figure in ("BSD-3-Clause", "2022-07-11", "1,340", "16.8", "143"):
            assert any(figure in row for row in rows), figure
    assert all(len(line) <= 50 for line in narrow.splitlines() if "BSD-3-Clause" in line)


def test_a_spreadsheet_has_what_each_is_like_to_adopt_beside_its_trials() -> None:
    trials = synthetic_rest.trials()
    written = table.as_csv(trials, synthetic_rest.ADOPTED)
    found = list(csv.DictReader(io.StringIO(written)))
    assert len(found) == len(trials)
    licences = {(row["subject"], row["adoption.licence"]) for row in found}
    assert ("steady", "BSD-3-Clause") in licences
    assert ("stuck", "") in licences
    assert {row["adoption.build_wall_ns"] for row in found} == {"17200000000", ""}
    assert "adoption.licence" not in table.as_csv(trials)


def test_the_tables_on_the_page(rest: ReportModel) -> None:
    source = html.render(rest)
    assert source.count('<tr class="floor">') == 2
    assert source.count("✗</span> stalled<") == 4
    assert source.count('<td class="num">unavailable</td>') == 3
    assert "n = 1" in source
    assert "BSD-3-Clause" in source
    assert synthetic_rest.REASON.replace("'", "&#39;") in source


def test_the_tables_in_markdown(rest: ReportModel) -> None:
    source = markdown.render(rest)
    assert "✗ stalled (no reply for 6 s after 0 of 10,000)" in source
    assert re.search(
        r"\| Floor \| none \| none \| 40\.0 s \([^|]*\| 1:40\.0 \([^|]*\| 3:20\.0 \(", source
    )
    assert re.search(r"\| missing \| AGPL-3\.0-or-later \| unavailable \|", source)


def test_what_is_kept_makes_the_page_and_survives_being_written(rest: ReportModel) -> None:
    kept = found.of_report(rest)
    again = found.Found.model_validate_json(kept.to_json())
    assert again == kept
    section = found.section(again)
    assert "| stuck | ▼ 3." in section
    assert "✗ stalled" in section
    assert "| Floor | none | none | 40.0 s (" in section
    made = found.report("rest", again)
    assert made.startswith("# Results of rest\n\n")
    assert made.endswith(section)
    assert found.report("rest", None).endswith(f"{found.NOTHING_YET}\n")


def test_adoption_is_kept_with_the_results(tmp_path: Path) -> None:
    results = ResultsFolder.create(tmp_path, "rest", "{}")
    assert adoption.read(results) == ()
    one, other = synthetic_rest.ADOPTED
    adoption.keep(results, [one])
    adoption.keep(results, [other, one.model_copy(update={"version": "1"})])
    assert [(row.subject, row.version) for row in adoption.read(results)] == [
        ("steady", "1"),
        ("missing", None),
    ]


@pytest.mark.parametrize(
    ("above", "said"),
    [
        (0.0, "+0.0 %"),
        (0.0042, "+0.4 %"),
        (-0.01, "−1.0 %"),
        (0.25, "+25 %"),
        (0.996, "+100 %"),
        (1.5, "× 2.5"),
        (12.0, "× 13"),
    ],
)
def test_how_far_above_is_said_as_people_do(above: float, said: str) -> None:
    assert excess(above) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.00042, "420 µs"), (0.512, "512 ms"), (40.279, "40.3 s"), (59.96, "1:00.0"),
     (100.318, "1:40.3"), (604.96, "10:05.0")],
)  # fmt: skip
def test_a_time_is_said_as_the_article_did(seconds: float, said: str) -> None:
    assert time_words(seconds * 1e9) == said


def test_a_time_that_the_generator_set_is_at_most(rest: ReportModel) -> None:
    bound = Judgement(verdict="client-bound", bottleneck="generator", evidence="our loop was full")
    name = "uneven: no work, 1 per connection, 28 server threads"
    trials = [
        trial.model_copy(update={"judgement": bound}) if trial.scenario.name == name else trial
        for trial in rest.trials
    ]
    made = build(trials, question="Q?", title="T", command="again")
    (family,) = made.families
    found = cell(case_tables.tables(family), FRESH, "uneven", "N = 1,000, t = 0, C = 28")
    assert found.time_words.startswith("≤ ")
    assert not found.is_best
    (group,) = [group for group in made.groups if name in {s.name for s in group.scenarios}]
    verdicts = {frozenset((p.a, p.b)): p.verdict for p in group.contest.pairs["elapsed"]}
    # It may be as fast as the best, but is faster than the worst in any case.
    assert verdicts[frozenset((name, name.replace("uneven", "steady")))] == "invalid"
    assert verdicts[frozenset((name, name.replace("uneven", "stuck")))] in ("A faster", "B faster")
    assert "is an upper bound" in made.verdict_sentences[0]


def test_who_is_never_far_from_the_best_is_told() -> None:
    cases = [
        {"a": 1.0, "b": 1.1, "c": 5.0},
        {"a": 3.0, "b": 1.5, "c": 1.0},
    ]
    assert nearest(*cases) == (
        "b is the safest choice: never more than 1.50 times the best time, in both cases; "
        "a 3.00; c 5.00."
    )
    assert nearest(*cases[:1]) is None
    assert nearest() is None
    assert nearest({"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 2.5}) is None
    assert nearest({"a": 1.0}, {"a": 2.0, "b": 1.0}) is None


def test_who_lacks_a_time_in_a_case_is_named() -> None:
    assert nearest({"a": 1.0, "b": 1.1, "c": 5.0, "gone": 0.9}, {"a": 3.0, "b": 1.5, "c": 1.0}) == (
        "b is the safest choice: never more than 1.50 times the best time, in both cases; "
        "a 3.00; c 5.56; without a figure in each: gone (1 of 2)."
    )


def test_a_case_whose_best_time_is_a_bound_is_named_and_left_out() -> None:
    said = nearest(
        {"a": 1.0, "b": 1.1}, {"a": 3.0, "b": 1.5}, {"a": 1.0, "b": 9.0}, bounds=("a in case 3",)
    )
    assert said == (
        "b is the safest choice: never more than 1.10 times the best time, in 2 of 3 cases; "
        "a 2.00; not over “case 3”, where the best time is only a bound."
    )
    # A bound that is not the best only says too much of its own distance.
    said = nearest({"a": 1.0, "b": 1.1}, {"a": 3.0, "b": 1.5}, bounds=("a in case 2",))
    assert said is not None
    assert said.startswith("b is the safest choice: ")
    assert "in both cases" in said


def nearest(*cases: dict[str, float], bounds: tuple[str, ...] = ()) -> str | None:
    """The sentence of cases with those medians; `bounds` are only "at most"."""
    near = findings.safest(
        {
            f"case {number}": {
                label: Estimate(
                    time,
                    None,
                    None,
                    5,
                    "none",
                    "at most" if f"{label} in case {number}" in bounds else "exact",
                )
                for label, time in case.items()
            }
            for number, case in enumerate(cases, start=1)
        },
        metrics.ELAPSED,
    )
    return None if near is None else phrases.say(near, whole=True)
