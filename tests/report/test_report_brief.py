"""The answer first: a few lines, one table that fits, the gravest warnings.

WIRETRIAL_UPDATE_GOLDEN=1 writes the screens anew.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import wrap

import pytest

from tests.report import synthetic_clients, synthetic_rest, synthetic_study
from tests.report.synthetic import DEMO, ORDER, demo_trials
from wiretrial.report import brief, metrics, phrases, text_brief
from wiretrial.report.alerts import WarningRow
from wiretrial.report.finding import Finding, Kind, Multiple, Part
from wiretrial.report.model import ReportModel, build
from wiretrial.results.absent import Absent
from wiretrial.stats.summary import Estimate

GOLDEN = Path(__file__).parent / "golden"
SCREENS = ("demo", "levels", "cases", "rest", "clients")
FIGURE = Estimate(5600.0, 5500.0, 5700.0, 5, "order statistics")


@pytest.fixture(scope="module")
def models(report: ReportModel, study: ReportModel, cases: ReportModel) -> dict[str, ReportModel]:
    return {
        "demo": report,
        "levels": study,
        "cases": cases,
        "rest": synthetic_rest.report(),
        "clients": synthetic_clients.report(),
    }


@pytest.mark.parametrize("name", SCREENS)
def test_the_last_screen(name: str, models: dict[str, ReportModel]) -> None:
    found = text_brief.render(models[name], width=80)
    path = GOLDEN / f"brief-{name}.txt"
    if "WIRETRIAL_UPDATE_GOLDEN" in os.environ:
        path.write_text(f"{found}\n", encoding="utf-8")
    assert found.splitlines() == path.read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", SCREENS)
@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_answer_fits(name: str, width: int, models: dict[str, ReportModel]) -> None:
    shown = text_brief.render(models[name], width=width).splitlines()
    assert max(map(len, shown)) <= min(width, brief.WIDTH)
    answer = brief.answer(models[name], 80)
    assert 2 <= sum(len(wrap(sentence, 80)) for sentence in answer) <= brief.MOST_LINES
    assert answer[-1].startswith(("Bottleneck: ", "Most of a round trip went to"))


def test_a_report_of_many_workloads_says_first_who_leads_how_often() -> None:
    shapes = tuple(
        replace(shape, name=f"{shape.name}, {n}", group=f"{shape.group}, {n}")
        for n in range(4)
        for shape in DEMO[:4]
    )
    model = build(demo_trials(shapes=shapes), question="Q?", title="T", command="again", order=[])
    found = model.by_workload
    assert len(found) == 4
    first, *_ = brief.answer(model, 80)
    assert first == phrases.leads(found)


def test_an_own_answer_stands_for_all_findings() -> None:
    own = ["HTTP costs 2 times as much."]
    model = build(demo_trials(), question="Q?", title="T", command="again", order=ORDER, answer=own)
    assert brief.answer(model, 80)[:-1] == tuple(own)


def test_no_more_warnings_than_can_be_read(report: ReportModel) -> None:
    row = WarningRow("steal", "the host took CPU away", "Run it again.", 2, ("A", "B"))
    model = replace(report, warnings=tuple(replace(row, message=f"warning {n}") for n in range(9)))
    shown, more = brief.warnings(model)
    assert (len(shown), more) == (brief.MOST_WARNINGS, 4)
    assert shown[0] == "warning 0 (2 trials: A and B)"
    lines = text_brief.render(model, width=80).splitlines()
    assert lines[-1].strip() == "4 warnings more in the report"
    assert not any("Run it again." in line for line in lines)


def test_that_all_is_of_one_occasion_is_always_among_the_warnings(report: ReportModel) -> None:
    *_, last = report.warnings
    assert last.code == "one-occasion"
    others = tuple(WarningRow("steal", f"warning {n}", "", 2, ("A",)) for n in range(9))
    shown, more = brief.warnings(replace(report, warnings=(*others, last)))
    assert shown[-1].startswith("all trials are of one machine and day: another may differ")
    assert (len(shown), more) == (brief.MOST_WARNINGS, 5)


def test_what_could_not_be_measured_is_a_warning(report: ReportModel) -> None:
    absent = tuple(Absent(subject=name, reason="no compiler", scenarios=("x",)) for name in "ab")
    shown, _ = brief.warnings(replace(report, absent=absent))
    assert shown[0] == "2 subjects were not measured: a and b"
    shown, _ = brief.warnings(replace(report, absent=absent[:1]))
    assert shown[0] == "a was not measured: no compiler"


def test_a_subject_that_lacks_in_some_scenarios_is_named_once(report: ReportModel) -> None:
    asked = (("ws", "2 CPUs"), ("a", "no compiler"), ("nginx", "2 CPUs"), ("ws", "no root"))
    absent = tuple(Absent(subject=name, reason=why, scenarios=("x",)) for name, why in asked)
    shown, _ = brief.warnings(replace(report, absent=absent))
    assert shown[:2] == (
        "a was not measured: no compiler",
        "not measured in some scenarios: ws and nginx",
    )


def test_findings_are_data(report: ReportModel) -> None:
    reference, node = (one for one in report.findings if one.metric and not one.is_beside)
    assert (reference.kind, reference.leaders) == ("shared", ("Raw TCP", "WebSocket"))
    # The generator saturated first in throughput, so the server's CPU tells them apart.
    assert reference.metric is metrics.SERVER
    assert [other.label for other in reference.others] == [
        "HTTP keep-alive",
        "HTTP, new connection",
    ]
    assert (node.kind, node.metric, node.leaders) == (
        *("best", metrics.THROUGHPUT),
        ("WebSocket on Node",),
    )
    # How many times worse: above 1, although more is better.
    (other,) = node.others
    assert other.low is not None
    assert 1 < other.low < other.ratio


def test_a_baseline_s_multiples_are_those_that_are_shown(report: ReportModel) -> None:
    trials, order = report.trials, [shape.name for shape in DEMO]
    model = build(
        trials, question="Q?", title="T", command="c", order=order, baselines=["WebSocket"]
    )
    first = next(found for found in model.findings if found.kind == "multiples")
    assert first.base == "WebSocket"
    # Raw TCP is not shown to differ from WebSocket.
    assert "Raw TCP" not in [other.label for other in first.others]


def _say(kind: Kind, **fields: object) -> str:
    return phrases.say(Finding(kind, metric=metrics.SERVER, **fields))  # type: ignore[arg-type]


SAID: list[tuple[Callable[[], str], str]] = [
    (
        lambda: _say("alone", leaders=("ws",), figure=FIGURE),
        "ws: server CPU per message 5.60 µs (95 % interval 5.50 to 5.70).",
    ),
    (
        lambda: _say("alone", leaders=("ws",), figure=FIGURE, levels=3, bound="at least"),
        "ws: server CPU per message ≥ 5.50 to 5.70 µs over all 3 levels.",
    ),
    (
        lambda: _say("alone", leaders=("ws",), figure=FIGURE, levels=3),
        "ws: server CPU per message 5.50 to 5.70 µs over all 3 levels.",
    ),
    (
        lambda: _say("best", leaders=("ws",), figure=FIGURE, others=(Multiple("crow", 2.0),)),
        "Least server CPU per message with ws (5.60 µs); crow 2.00 times as much.",
    ),
    (
        lambda: _say(
            "best",
            where="echo",
            leaders=("ws",),
            others=(Multiple("a", 2.0, 1.9, 2.1), Multiple("b", 3.0), Multiple("c", 9.0)),
            levels=3,
        ),
        (
            "Echo: least server CPU per message with ws (over all 3 levels); "
            "a 2.00 (1.90 to 2.10) times as much, last c 9.00."
        ),
    ),
    (
        lambda: phrases.say(
            Finding(
                "best", metric=metrics.THROUGHPUT, leaders=("a",), others=(Multiple("{b}", 2.0),)
            )
        ),
        "Highest throughput with a, 2.00 times the throughput of {b}.",
    ),
    (
        lambda: _say("untold", leaders=("a", "b", "c", "d")),
        "No difference in server CPU per message is shown between a, b and 2 more.",
    ),
    (
        lambda: phrases.say(Finding("bound", metric=metrics.THROUGHPUT, leaders=("a", "b"))),
        (
            "The throughput of a and b is a lower bound, not ranked: the load generator saturated "
            "first."
        ),
    ),
    (
        lambda: _say("lacking", leaders=("a", "b")),
        "Too few usable trials to compare a and b.",
    ),
    (
        lambda: _say("multiples", base="raw", others=(Multiple("json", 1.3, 1.2, 1.4),)),
        "json has 1.30 (1.20 to 1.40) times the server CPU per message of raw.",
    ),
    (
        lambda: _say(
            "multiples",
            base="raw",
            others=(Multiple("a", 1.3, 1.2, 1.4), Multiple("b", 3, 2, 4, "at least")),
            levels=2,
        ),
        "Server CPU per message as multiples of raw: a 1.20 to 1.40, b at least 2.00 to 4.00.",
    ),
    (
        lambda: _say("counted", parts=(Part("best", 3, ("a",)), Part("best", 1, ("b",))), levels=5),
        (
            "Least server CPU per message with a at 3 of 5 levels, with b at 1; 1 has no single "
            "winner."
        ),
    ),
    (
        lambda: _say(
            "safest", others=(Multiple("a", 1.6), Multiple("b", 9.0)), levels=4, is_cases=True
        ),
        "a is the safest choice: never more than 1.60 times the best time, in all 4 cases; b 9.00.",
    ),
    (
        lambda: _say(
            "nearest",
            base="raw",
            leaders=("a",),
            others=(Multiple("a", 1.1), Multiple("b", 14.0)),
        ),
        "a is nearest to raw, 1.10 times its server CPU; b 14.0.",
    ),
    # Who leads by the median may not have the least ratio, of which the shorter form keeps one.
    (
        lambda: _shorter(
            "nearest",
            base="raw",
            leaders=("b", "c"),
            others=(Multiple("a", 1.1), Multiple("b", 1.2), Multiple("c", 1.3)),
        ),
        "b or c is nearest to raw, 1.20 times its server CPU.",
    ),
]


@pytest.mark.parametrize(("said", "expected"), SAID)
def test_phrases(said: Callable[[], str], expected: str) -> None:
    assert said() == expected


def _shorter(kind: Kind, **fields: object) -> str:
    fields.setdefault("metric", metrics.SERVER)
    return phrases.shorter(Finding(kind, **fields))  # type: ignore[arg-type]


def _whole(kind: Kind, **fields: object) -> str:
    fields.setdefault("metric", metrics.SERVER)
    return phrases.say(Finding(kind, **fields), whole=True)  # type: ignore[arg-type]


def _multiples(count: int) -> tuple[Multiple, ...]:
    return tuple(Multiple(letter, 2.0 + n) for n, letter in enumerate("bcdefghijk"[:count]))


WHOLE: list[tuple[Callable[[], str], str]] = [
    (
        lambda: _whole(
            "multiples", base="a", others=_multiples(1), unshown=("x",), resolution=0.09
        ),
        (
            "Server CPU per message as multiples of a: b 2.00; for x no difference is shown (less"
            " than 9 % could not be seen)."
        ),
    ),
    (
        lambda: _whole("untold", leaders=("a", "b"), resolution=math.inf),
        (
            "No difference in server CPU per message is shown between a and b (none could be seen,"
            " however large)."
        ),
    ),
    (
        lambda: _whole(
            "counted",
            levels=5,
            parts=(
                Part("untold", 3, at="10, 20 and 30 connections", resolution=0.09),
                Part("best", 2, ("a",), "40 and 50 connections"),
            ),
        ),
        (
            "No difference in server CPU per message shown at 3 of 5 levels (10, 20 and 30"
            " connections; less than 9 % could not be seen); least server CPU per message with a"
            " at 2 (40 and 50 connections)."
        ),
    ),
    (
        lambda: _whole("best", leaders=("a",), others=_multiples(3), unshown=("x", "y")),
        (
            "Least server CPU per message with a; b 2.00 times as much; c 3.00; d 4.00; for x and "
            "y no difference is shown."
        ),
    ),
    (
        lambda: _whole("best", leaders=("a",), others=_multiples(9)),
        (
            "Least server CPU per message with a; b 2.00 times as much; c 3.00; d 4.00; e 5.00; "
            "f 6.00; 3 more, and last j 10.0."
        ),
    ),
    (
        lambda: _whole("untold", leaders=tuple("abcdefghij"), levels=3),
        (
            "No difference in server CPU per message is shown between a, b, c, d, e, f, g and 3 "
            "more at any of 3 levels."
        ),
    ),
    (
        lambda: _whole(
            "bound",
            metric=metrics.THROUGHPUT,
            leaders=("a", "b"),
            figure=Estimate(9000.0, None, None, 5, "none"),
            bound="at least",
            base="a",
            others=(Multiple("c", 2.0, 1.9, 2.1, "at least"),),
        ),
        (
            "The throughput of a and b is a lower bound, not ranked: the load generator saturated "
            "first; a (≥ 9.00 k/s) has at least 2.00 times the throughput of c."
        ),
    ),
    (
        lambda: _whole("overloaded", metric=metrics.P99, leaders=("a",)),
        "The p99 of a is not ranked: the offered rate was not reached.",
    ),
    (
        lambda: _whole("short", metric=metrics.P99, leaders=("a", "b")),
        "Too few messages to tell a p99 of a and b.",
    ),
    (
        lambda: _whole("single", leaders=("a", "b")),
        "One trial each of a and b, which shows no difference.",
    ),
    (
        lambda: _whole(
            "counted",
            parts=(
                Part("best", 3, ("a",), "1 to 3 connections"),
                Part("best", 1, ("b",), "4 connections"),
                Part("untold", 1, (), "5 connections"),
                Part("shared", 1, ("a", "b"), "6 connections"),
                Part("lacking", 1, (), "7 connections"),
                Part("overloaded", 1, ("c",), "8 connections"),
                Part("short", 1, (), "9 connections"),
            ),
            levels=9,
        ),
        (
            "Least server CPU per message with a at 3 of 9 levels (1 to 3 connections), with b at "
            "1 (4 connections); no difference in server CPU per message shown at 1 "
            "(5 connections); a tie of a and b at 1 (6 connections); too few usable trials at 1 "
            "(7 connections); not ranked at 1 (8 connections): the offered rate was not reached "
            "by c; too few messages to tell a server CPU per message at 1 (9 connections)."
        ),
    ),
    (
        lambda: _whole(
            "nearest",
            metric=metrics.CLIENT,
            base="raw",
            leaders=tuple("bcde"),
            others=_multiples(4),
        ),
        (
            "No library is shown to have the least client CPU per round trip; as multiples of raw: "
            "b 2.00; c 3.00; d 4.00; e 5.00."
        ),
    ),
]


@pytest.mark.parametrize(("said", "expected"), WHOLE)
def test_phrases_in_full(said: Callable[[], str], expected: str) -> None:
    assert said() == expected


def test_whoever_is_never_far_from_the_best_comes_first_in_the_table_of_cases() -> None:
    shapes = tuple(
        replace(shape, rate=4 * shape.rate)
        if shape.name.startswith("gorilla: GET 1 kB, 10 messages")
        else shape
        for shape in synthetic_study.cases()
    )
    trials = synthetic_study.cases_trials(shapes=shapes)
    model = build(trials, question="Q?", title="T", command="again")
    found, counted = model.findings[:2]
    assert (found.kind, found.leaders, found.levels) == ("safest", ("uwebsockets",), 6)
    assert (counted.counts, counted.is_beside) == ((("uwebsockets", 5), ("gorilla", 1)), True)
    first, *_ = brief.answer(model, 80)
    assert first.startswith("uwebsockets is the safest choice: never more than 1.")
    table = brief.safest(model)
    assert table is not None
    assert [row[0] for row in table.rows] == [other.label for other in found.others]
    assert {row[0]: row[2:] for row in table.rows} == {
        "uwebsockets": ("5", "-"),
        "gorilla": ("1", "-"),
        "ws": ("-", "-"),
    }


def test_what_http_sends_is_a_request_in_every_sentence() -> None:
    shapes = tuple(shape for shape in DEMO if shape.protocol == "http")[:2]
    model = build(demo_trials(shapes=shapes), question="Q?", title="T", command="again")
    whole = " ".join(model.all_sentences)
    assert "server CPU per request" in whole
    assert "message" not in whole
    noted = replace(model, own=("So it is.",)).group_notes
    assert all("server CPU per request" in note for note in noted.values())
    both = build(demo_trials(shapes=DEMO[:4]), question="Q?", title="T", command="again")
    assert "server CPU per message" in " ".join(both.all_sentences)


def test_knees_are_said_from_the_highest_on() -> None:
    found = next(one for one in synthetic_study.report().findings if one.kind == "knees")
    said = phrases.say(found)
    rates = [knee.label for knee in sorted(found.knees, key=lambda k: -(k.sustained or 0))]
    places = [said.index(label) for label in rates]
    assert places == sorted(places)
