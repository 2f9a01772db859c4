"""A study of many levels: families, knees, claims, A/A pairs, and what they say together."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from tests.report import synthetic_study
from tests.report.synthetic import Shape, demo_trials
from tests.report.synthetic_study import KNEES, SUBJECTS, USER_KB, echo
from wiretrial.errors import StoreError
from wiretrial.report import (
    brief,
    found,
    html_blocks,
    markdown,
    metrics,
    palette,
    phrases,
)
from wiretrial.report.alerts import WarningRow
from wiretrial.report.blocks import Table
from wiretrial.report.families import Family
from wiretrial.report.finding import Finding, Part
from wiretrial.report.knees import knees
from wiretrial.report.metrics import Metric
from wiretrial.report.model import ReportModel, build
from wiretrial.report.tables import limits
from wiretrial.results import absent, offered
from wiretrial.results.absent import Absent
from wiretrial.results.model import Judgement, Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.words import MESSAGE, REQUEST


def made(shapes: tuple[Shape, ...], **options: object) -> ReportModel:
    trials = demo_trials(blocks=6, shapes=shapes)
    order = [shape.name for shape in shapes]
    return build(trials, question="Q?", title="T", command="again", order=order, **options)  # type: ignore[arg-type]


def family(report: ReportModel, title: str) -> Family:
    return next(family for family in report.families if family.title == title)


def test_levels_of_a_workload_are_one_family(study: ReportModel) -> None:
    assert [f.title for f in study.families] == ["echo", "at one rate"]
    found = family(study, "echo")
    assert (len(found.groups), found.varied, found.factor) == (
        *(3, ("connections",), "connections"),
    )
    (strip,) = found.strips
    assert [strip.at(group) for group in strip.groups] == [10, 100, 1000]
    assert found.labels == SUBJECTS
    assert found.levels(found.groups[:2]) == "10 and 100 connections"


def test_levels_that_follow_each_other_are_told_as_a_stretch() -> None:
    shapes = tuple(
        replace(
            shape,
            name=f"{shape.subject}: echo, {connections:,} connections",
            group=f"echo, {connections:,} connections",
            levels={**shape.levels, "connections": connections},
        )
        for connections in (10, 20, 30, 500, 1000, 2000)
        for shape in echo(SUBJECTS[:2])[:2]
    )
    report = made(shapes, chart="connections")
    found = family(report, "echo")
    groups = found.groups
    assert found.levels(groups[:3]) == "10, 20 and 30 connections"
    assert found.levels(groups[1:5]) == "20 to 1,000 connections"
    assert found.levels([*groups[:4], groups[5]]) == "10 to 500 and 2,000 connections"


def test_a_second_factor_makes_a_strip_each() -> None:
    shapes = tuple(
        replace(
            shape,
            name=f"{shape.name}, {payload} bytes",
            group=f"{shape.group}, {payload} bytes",
            levels={**shape.levels, "payload": payload},
        )
        for shape in echo(SUBJECTS[:2])
        for payload in (20, 1020)
    )
    report = made(shapes, chart="connections")
    strips = family(report, "echo").strips
    assert [strip.title for strip in strips] == [
        "echo, 20 bytes per message",
        "echo, 1,020 bytes per message",
    ]
    assert all(len(strip.groups) == 3 for strip in strips)


def test_a_colour_belongs_to_a_subject_everywhere(study: ReportModel) -> None:
    colours = {(s.label, s.colour) for s in study.scenarios}
    colours |= {(knee.label, knee.colour) for knee in study.knees}
    assert colours == {("uwebsockets", 0), ("gorilla", 1), ("ws", 2)}


def test_more_subjects_than_colours_differ_in_shape_and_dash() -> None:
    looks = [(palette.scenario(i), palette.shape(i), tuple(palette.dash(i))) for i in range(20)]
    for one, other in combinations(looks, 2):
        assert one[0] != other[0] or (one[1] != other[1] and one[2] != other[2])


def told(report: ReportModel, metric: Metric) -> Finding:
    """What the report's first workload shows in a metric."""
    where = next(found.where for found in report.findings if found.metric)
    return next(f for f in report.findings if (f.where, f.metric) == (where, metric))


@pytest.mark.parametrize(
    ("metric", "quantity", "best"),
    [
        (metrics.SERVER, "server CPU per message", "least server CPU per message"),
        (metrics.CLIENT, "client CPU per round trip", "least client CPU per round trip"),
        (metrics.WALL, "time per round trip", "shortest round trip"),
        (metrics.THROUGHPUT, "throughput", "highest throughput"),
        (metrics.ELAPSED, "time", "shortest time"),
        (metrics.CONNECT_RATE, "rate of opening connections", "fastest connects"),
        (metrics.USER_MEMORY, "memory per connection", "least memory per connection"),
        (metrics.BANDWIDTH, "rate of echoed bytes", "most bytes per second"),
        (metrics.P99, "p99", "shortest p99"),
    ],
)
def test_each_figure_has_its_words(metric: Metric, quantity: str, best: str) -> None:
    assert (metric.quantity(MESSAGE), metric.superlative(MESSAGE)) == (quantity, best)
    assert metric.quantity(REQUEST) == quantity.replace("message", "request")
    assert metric.superlative(REQUEST) == best.replace("message", "request")


def test_a_family_gets_a_sentence_per_metric_and_no_level_a_paragraph(study: ReportModel) -> None:
    first = study.verdict_sentences[1]
    assert re.fullmatch(
        r"Echo: highest throughput with uwebsockets \(over all 3 levels\), "
        r"2\.\d\d \(2\.\d\d to 2\.\d\d\) times the throughput of gorilla; "
        # What they are made of differs from level to level for ws, and so does what is told of it.
        r"6\.\d\d to \d\.\d\d \(by level\) times that of ws\. "
        r"Least server CPU per message \(closed loop\) with uwebsockets \(over all 3 levels\); "
        r"gorilla 2\.\d\d \(2\.\d\d to 2\.\d\d\) times as much; ws \d\.\d\d \(.*\)\.",
        first,
    )
    assert len(study.verdict_sentences) == 4
    assert "10 connections" not in " ".join(study.verdict_sentences)


def test_another_winner_at_a_level_is_said_with_the_level() -> None:
    shapes = tuple(
        replace(shape, rate=400e3) if shape.name == "gorilla: echo, 1,000 connections" else shape
        for shape in echo()
    )
    report = made(shapes, chart="connections")
    assert told(report, metrics.THROUGHPUT).parts == (
        Part("best", 2, ("uwebsockets",), "10 and 100 connections"),
        Part("best", 1, ("gorilla",), "1,000 connections"),
    )
    assert report.verdict_sentences[0].startswith(
        "Highest throughput with uwebsockets at 2 of 3 levels (10 and 100 connections), "
        "with gorilla at 1 (1,000 connections). Least server CPU"
    )


def with_same(*levels: str) -> ReportModel:
    """All subjects are alike at these levels, and trials vary much."""
    same = tuple(
        replace(shape, rate=100e3, server_us=5.0)
        if shape.group.removeprefix("echo, ") in levels
        else shape
        for shape in echo()
    )
    return build(
        demo_trials(blocks=6, shapes=same, noise=0.06, seed=3),
        question="Q?",
        title="T",
        command="again",
        order=[shape.name for shape in same],
    )


def test_levels_that_cannot_tell_come_first_where_they_are_the_most() -> None:
    report = with_same("10 connections", "100 connections")
    assert [(part.kind, part.n) for part in told(report, metrics.THROUGHPUT).parts] == [
        *(("untold", 2), ("best", 1)),
    ]
    assert report.verdict_sentences[0].startswith(
        "No difference in throughput shown at 2 of 3 levels (10 and 100 connections; less than"
        " 40 % could not be seen); highest throughput with uwebsockets at 1 (1,000 connections)."
    )


def test_a_level_without_the_difference_of_the_others_is_not_averaged_with_them() -> None:
    report = with_same("10 connections")
    found = told(report, metrics.THROUGHPUT)
    assert (found.kind, found.leaders) == ("counted", ())
    assert found.parts == (
        Part("best", 2, ("uwebsockets",), "100 and 1,000 connections"),
        Part("untold", 1, (), "10 connections", resolution=found.parts[1].resolution),
    )
    assert report.verdict_sentences[0].startswith(
        "Highest throughput with uwebsockets at 2 of 3 levels (100 and 1,000 connections); no"
        " difference in throughput shown at 1 (10 connections; less than 40 % could not be seen). "
    )


def test_levels_that_tell_nothing_for_several_reasons_have_no_winner() -> None:
    same = tuple(replace(s, rate=100e3, server_us=5.0) for s in echo(SUBJECTS[:2]))
    lost = frozenset((s.name, block) for s in same if ", 10 " in s.name for block in range(6))
    other = tuple(replace(shape, name=f"other: {shape.label}", group="other", levels={})
                  for shape in echo(SUBJECTS[:2])[:2])  # fmt: skip
    trials = demo_trials(blocks=6, shapes=(*same, *other), noise=0.06, seed=3, invalid=lost)
    order = [shape.name for shape in (*same, *other)]
    report = build(trials, question="Q?", title="T", command="again", order=order)
    found = told(report, metrics.THROUGHPUT)
    assert [(part.kind, part.n) for part in found.parts] == [("untold", 2), ("lacking", 1)]
    assert phrases.say(found) == "Echo: no single winner in throughput at any of 3 levels."
    assert report.verdict_sentences[0].startswith(
        "Echo: no difference in throughput shown at 2 of 3 levels (100 and 1,000 connections; less"
        " than 16 % could not be seen); too few usable trials at 1 (10 connections)."
    )
    table = brief.overview(report)
    assert table is not None
    assert table.rows[0] == ("echo: throughput", "no single winner", "", "", "")


def test_levels_are_looked_at_together_where_that_was_declared() -> None:
    names = [shape.name for shape in echo() if shape.label == "ws"]
    same = tuple(replace(s, rate=100e3 * (1.1 if s.label == "gorilla" else 1.0)) for s in echo())
    trials = demo_trials(blocks=6, shapes=same, noise=0.06, seed=3)
    plain = build(trials, question="Q?", title="T", command="again", baselines=names)
    assert not plain.families[0].together
    report = build(
        trials, question="Q?", title="T", command="again", baselines=names, taken_together=["echo"]
    )
    found = told(report, metrics.THROUGHPUT)
    assert (found.kind, found.base, found.is_together) == ("multiples", "ws", True)
    assert phrases.say(found, whole=True) == (
        "Throughput as multiples of ws over all 3 levels: gorilla 1.04 to 1.17 (by level); "
        "for uwebsockets no difference is shown (less than 5.7 % could not be seen)."
    )


def test_a_baseline_is_what_all_levels_are_multiples_of() -> None:
    names = [shape.name for shape in echo() if shape.label == "ws"]
    said = made(echo(), baselines=names).verdict_sentences[0]
    assert re.match(
        r"Throughput as multiples of ws at all 3 levels: "
        r"uwebsockets 6\.\d\d to 6\.\d\d; gorilla 2\.\d\d to 2\.\d\d\. Server CPU",
        said,
    )


def test_a_generator_at_its_limit_is_said_with_the_levels() -> None:
    bound = frozenset((shape.name, 1) for shape in echo() if shape.rate > 200e3)
    twins = tuple(
        replace(s, rate=230e3) if s.label == "gorilla" and "1,000" not in s.group else s
        for s in echo()
    )
    bound |= frozenset((s.name, 1) for s in twins if s.rate == 230e3)
    trials = demo_trials(blocks=6, shapes=twins, client_bound=bound)
    report = build(trials, question="Q?", title="T", command="again")
    assert told(report, metrics.THROUGHPUT).parts == (
        Part("bound", 2, ("gorilla", "uwebsockets"), "10 and 100 connections"),
        Part("best", 1, ("uwebsockets",), "1,000 connections"),
    )
    # What a message costs the server is told all the same, and first.
    assert re.match(
        r"Least server CPU per message \(closed loop\) with uwebsockets \(over all 3 .*\. "
        r"Not ranked at 2 of 3 levels \(10 and 100 connections\), where the throughput of gorilla "
        r"or uwebsockets is a lower bound: the load generator saturated first; highest throughput "
        r"with uwebsockets at 1 \(1,000 connections\)\.",
        report.verdict_sentences[0],
    )


def test_a_bound_below_the_best_shares_no_first_place() -> None:
    shapes = echo()
    limited = frozenset((s.name, 1) for s in shapes if s.label == "gorilla")
    trials = demo_trials(blocks=6, shapes=shapes, client_bound=limited)
    report = build(trials, question="Q?", title="T", command="again")
    found = told(report, metrics.THROUGHPUT)
    assert (found.kind, found.leaders) == ("bound", ("gorilla",))
    text = report.verdict_sentences[0]
    assert "the throughput of gorilla is a lower bound, not ranked" in text.lower()
    assert "tie" not in text
    assert "throughput is highest" not in text.lower()
    assert "highest throughput" not in text.lower()


def test_a_common_rate_is_ranked_by_what_a_message_costs(study: ReportModel) -> None:
    (group,) = family(study, "at one rate").groups
    assert group.contest.metric is metrics.SERVER
    assert group.contest.ranking.order[0] == "uwebsockets: at one rate"
    assert set(group.contest.pairs) == {"server", "p99"}
    # It comes before what a message costs in a closed loop, and the words say which is which.
    costs = [one for one in study.findings if one.metric is metrics.SERVER]
    said = [(one.where, "(closed loop)" in phrases.say(one)) for one in costs]
    assert said == [("at one rate", False), ("echo", True)]


def test_who_lacks_a_level_of_all_is_named_with_it() -> None:
    shapes = tuple(shape for shape in echo() if shape.name != "ws: echo, 100 connections")
    # All together are told only over the levels at which each has a figure.
    together = made(shapes)
    assert (told(together, metrics.THROUGHPUT).told, told(together, metrics.SERVER).told) == (2, 2)
    assert together.verdict_sentences[0].startswith(
        "Highest throughput with uwebsockets (over 2 of 3 levels), 2."
    )
    based = made(shapes, baselines=[s.name for s in shapes if s.label == "uwebsockets"])
    assert told(based, metrics.THROUGHPUT).lacking == (("ws", 2),)
    assert re.match(
        r"Throughput as multiples of uwebsockets at all 3 levels: gorilla [\d. to]+; "
        r"ws [\d. to]+; without a figure in each: ws \(2 of 3\)\.",
        based.verdict_sentences[0],
    )


def test_the_knee_is_what_the_search_found(study: ReportModel) -> None:
    assert {knee.label: knee.sustained for knee in study.knees} == pytest.approx(KNEES, rel=0.05)
    for knee in study.knees:
        assert knee.is_confirmed
        assert knee.sustained is not None
        assert knee.refused is not None
        assert knee.sustained < knee.refused.offered <= knee.sustained * 1.06
        assert knee.why.startswith("the response time was")
        assert not knee.at_least
    assert not any("knee" in s.name for s in study.scenarios)
    assert study.verdict_sentences[2].startswith(
        "Knee: highest rate with p99 within 5 ms, messages/s: uwebsockets 160,000, gorilla 80,"
    )


def test_the_bottleneck_is_told_at_the_knee_and_above_it() -> None:
    steps = [t for t in synthetic_study.searches() if t.scenario.subject == "ws"]
    beyond = Judgement(verdict="valid", bottleneck="server", evidence="the server was on a CPU")
    objective = synthetic_study.OBJECTIVE
    (found,) = knees(steps, {"ws: knee": objective}, {"ws: knee": 0})
    steps = [
        step.model_copy(update={"judgement": beyond})
        if (offered.rate(step) or 0.0) > (found.sustained or 0.0)
        else step
        for step in steps
    ]
    report = build(
        steps, question="Q?", title="T", command="again", objectives={"ws: knee": objective}
    )
    (knee,) = report.knees
    assert [(name, {one.bottleneck for one in own}) for name, own in knee.ends] == [
        ("the knee", {"rate"}),
        ("above the knee", {"server"}),
    ]
    said = report.verdict_sentences[-1]
    assert said.startswith("Bottleneck at the knee: the offered rate in ")
    assert "; just above it: the server in " in said
    page = re.sub(r"<[^>]+>", " ", str(html_blocks.block(limits.table(report))))
    assert "ws: knee, the knee (" in page
    assert "ws: knee, above the knee (" in page
    assert "the rate was kept" in page
    assert "the server was on a CPU" in page


def test_a_search_that_was_cut_short_is_not_confirmed() -> None:
    steps = [t for t in synthetic_study.searches() if t.scenario.subject == "ws"][:-1]
    objectives = {"ws: knee": synthetic_study.OBJECTIVE}
    report = build(steps, question="Q?", title="T", command="again", objectives=objectives)
    (knee,) = report.knees
    assert not knee.is_confirmed
    assert "(not confirmed)" in report.verdict_sentences[0]


def test_a_twin_stands_aside_and_agrees(study: ReportModel) -> None:
    (sentence,) = study.twin_sentences
    assert "uwebsockets: echo, 10 connections, measured twice, " in sentence
    assert sentence.startswith("A/A check passed: ")
    assert not any(row.code == "twins-differ" for row in study.warnings)


def test_a_twin_agrees_with_itself_at_the_generator_s_limit_too() -> None:
    shapes = (*echo(), synthetic_study.twin())
    bound = frozenset((shape.name, 1) for shape in shapes if shape.label == "uwebsockets")
    trials = demo_trials(blocks=6, shapes=shapes, client_bound=bound)
    (sentence,) = build(trials, question="Q?", title="T", command="again").twin_sentences
    assert sentence.startswith("A/A check passed: ")


def test_a_twin_that_differs_is_a_warning_with_advice() -> None:
    other = replace(synthetic_study.twin(), rate=100e3)
    report = made((*echo(), other))
    (row,) = [row for row in report.warnings if row.code == "twins-differ"]
    assert "two identical runs" in row.message
    assert row.advice
    assert "A/A check failed" in report.twin_sentences[0]


def test_claims_are_judged(study: ReportModel) -> None:
    assert [row.verdict for row in study.claims] == [
        *("reproduced", "not reproduced", "arithmetic", "not measured here"),
    ]


def test_an_interval_that_holds_everything_reproduces_nothing() -> None:
    trials = demo_trials(blocks=3, shapes=echo(), noise=0.9, seed=2)
    claims = synthetic_study.claims()[:1]
    report = build(trials, question="Q?", title="T", command="again", claims=claims)
    (row,) = report.claims
    assert row.here is not None
    assert row.here.low is not None
    assert row.here.low < 1
    assert row.verdict in ("cannot be told", "not reproduced")


def test_memory_per_connection_is_told_from_a_hundred_on(study: ReportModel) -> None:
    by_name = {scenario.name: scenario for scenario in study.scenarios}
    for label, kilobytes in USER_KB.items():
        assert by_name[f"{label}: echo, 10 connections"].median(metrics.USER_MEMORY) is None
        many = by_name[f"{label}: echo, 1,000 connections"]
        assert many.median(metrics.USER_MEMORY) == pytest.approx(kilobytes * 1e3, rel=0.04)
        assert many.median(metrics.KERNEL_MEMORY) == 5000


def test_cases_are_ranked_by_their_time(cases: ReportModel) -> None:
    (found,) = cases.families
    assert found.is_cases
    assert len(found.groups) == 6
    assert all(group.contest.metric is metrics.ELAPSED for group in found.groups)
    assert told(cases, metrics.ELAPSED).counts == (("uwebsockets", 6),)
    assert cases.verdict_sentences[0].startswith(
        "Shortest time with uwebsockets in all 6 cases. Least server CPU per message with"
    )
    first = next(s for s in cases.scenarios if s.name == "ws: GET 1 kB, 10 messages")
    expected = synthetic_study.MESSAGES / synthetic_study.RATES["ws"][0] * 1e9
    assert first.median(metrics.ELAPSED) == pytest.approx(expected, rel=0.1)


def test_what_is_missing_for_one_reason_is_one_row() -> None:
    missing = [
        *(Absent(subject="nginx", reason=f"nginx: {n} is not measured: it lacks ws") for n in "12"),
        Absent(subject="crow", reason="crow can't be built"),
    ]
    report = made(echo()[:2], absent=missing)
    assert [(row.subject, row.reason) for row in report.absent] == [
        ("nginx", "2 scenarios are not measured: it lacks ws"),
        ("crow", "crow can't be built"),
    ]


def test_what_was_missing_is_kept_with_the_results(tmp_path: Path) -> None:
    results = ResultsFolder.create(tmp_path, "echo", "{}")
    assert absent.read(results) == ()
    missing = (Absent(subject="crow", reason="crow can't be built"),)
    absent.keep(results, missing)
    assert absent.read(results) == missing
    (results.folder / absent.FILE).write_text("[{]")
    with pytest.raises(StoreError, match="can't be read"):
        absent.read(results)


def test_a_subject_alone_has_a_range_and_no_rival() -> None:
    said = made(echo(("ws",)), chart="connections").verdict_sentences[0]
    assert re.match(r"ws: throughput 2\d\.\d to 3\d\.\d k/s over all 3 levels\. ", said)


def test_a_study_that_is_all_http_speaks_of_requests(study: ReportModel) -> None:
    """The same study over HTTP: what is read has no messages, but for what others published."""

    def over_http(trial: Trial) -> Trial:
        scenario = trial.scenario.model_copy(update={"protocol": "http"})
        target = trial.plan.target.model_copy(update={"url": "http://127.0.0.1:9001/"})
        plan = trial.plan.model_copy(update={"target": target})
        return trial.model_copy(update={"scenario": scenario, "plan": plan})

    trials = [over_http(trial) for trial in study.trials]
    objectives = {knee.name: knee.objective for knee in study.knees}
    http = build(trials, question="Q?", title="T", command="again", objectives=objectives)
    shown = (*http.all_sentences, *brief.answer(http, 80), markdown.render(http))
    assert "thousand requests/s" in shown[-1]
    for text in shown:
        assert "message" not in text
    # Beside a socket they are messages again.
    mixed = build([*trials, *study.trials], question="Q?", title="T", command="again")
    assert "request" not in " ".join(mixed.all_sentences)


def test_what_is_kept_has_knees_and_warnings(study: ReportModel) -> None:
    row = WarningRow("errors", "3 messages failed", "Look at the server's log", 2, ("a", "b"))
    kept = found.of_report(replace(study, warnings=(row,)))
    sections = {section.title: section.blocks for section in kept.sections}
    (table,) = sections["Highest rate with p99 within 5 ms: knee"]
    assert isinstance(table, Table)
    assert {row[0].text for row in table.rows} == {knee.label for knee in study.knees}
    page = found.section(kept)
    assert "### Highest rate with p99 within 5 ms: knee" in page
    assert study.knees[0].why in page
    assert "- 3 messages failed. (2 trials: a and b) Look at the server's log" in page
