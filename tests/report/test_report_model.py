"""From trials to a report's figures, verdicts and sentences."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.report.synthetic import DEMO, NODE, ORDER, REFERENCE, demo_trials
from tests.report.synthetic_study import echo
from wiretrial import warnings
from wiretrial.report import brief, figure_words, found, html, leading, markdown, metrics, text
from wiretrial.report.blocks import Table
from wiretrial.report.families import Group
from wiretrial.report.model import ReportModel, build
from wiretrial.report.tables import limits, rankings
from wiretrial.results.model import Trial


def made(trials: list[Trial], **options: object) -> ReportModel:
    return build(trials, question="Q?", title="T", command="again", order=ORDER, **options)  # type: ignore[arg-type]


def group(report: ReportModel, title: str) -> Group:
    return next(group for group in report.groups if group.title == title)


def test_estimates_recover_what_the_trials_were_made_of(report: ReportModel) -> None:
    by_name = {scenario.name: scenario for scenario in report.scenarios}
    for shape in DEMO:
        found = by_name[shape.name]
        assert found.median(metrics.THROUGHPUT) == pytest.approx(shape.rate, rel=0.08)
        assert found.median(metrics.SERVER) == pytest.approx(shape.server_us * 1e3, rel=0.08)
        assert found.median(metrics.GENERATOR) == pytest.approx(shape.generator_us * 1e3, rel=0.01)
        octets = shape.sent_bytes + shape.received_bytes
        assert found.median(metrics.TRANSPORT_BYTES) == pytest.approx(octets)
        system = found.median(metrics.SERVER_SYSTEM)
        assert system == pytest.approx(shape.server_us * 1e3 * shape.system_share, rel=0.08)


def test_groups_stand_apart_and_extra_is_last(report: ReportModel) -> None:
    assert [g.title for g in report.groups] == [REFERENCE, NODE, "extra"]
    assert [g.is_outside for g in report.groups] == [False, False, True]
    assert not group(report, "extra").contest.pairs


def test_clear_differences_are_found(report: ReportModel) -> None:
    node = group(report, NODE)
    (pair,) = node.contest.pairs["throughput"]
    assert pair.winner == "WebSocket on Node"
    assert list(node.contest.ranking.ranks.values()) == [1, 2]
    assert "Node: highest throughput with WebSocket on Node (" in report.verdict_sentences[1]


def test_a_bound_figure_is_at_least_and_does_not_lose(report: ReportModel) -> None:
    reference = group(report, REFERENCE)
    at_least = {s.name for s in reference.scenarios if s.at_least}
    assert at_least == {"Raw TCP", "WebSocket"}
    pairs = {frozenset((p.a, p.b)): p for p in reference.contest.pairs["throughput"]}
    assert pairs[frozenset(("Raw TCP", "WebSocket"))].verdict == "invalid"
    assert pairs[frozenset(("Raw TCP", "HTTP keep-alive"))].winner == "Raw TCP"
    assert list(reference.contest.ranking.ranks.values())[:2] == [1, 1]
    (found,) = [f for f in report.findings if f.kind == "bound"]
    assert (found.metric, found.where) == (metrics.THROUGHPUT, REFERENCE)
    assert set(found.leaders) == at_least
    # How many times more at least: Raw TCP's figure is a lower bound.
    assert [(m.label, m.bound) for m in found.others][:1] == [("HTTP keep-alive", "at least")]
    assert "is a lower bound, not ranked: " in report.verdict_sentences[0]


def test_a_bound_below_others_has_no_place() -> None:
    """It may do better: a place beside the best would claim that it does, one below that not."""
    slow = "HTTP, new connection"
    trials = demo_trials(client_bound=frozenset((slow, block) for block in range(5)))
    found = made(trials)
    contest = group(found, REFERENCE).contest
    assert contest.ranking.order[-1] == slow
    assert slow not in contest.ranking.ranks
    assert not any(
        len(contest.ranking.order) - 1 in bracket for bracket in contest.ranking.brackets
    )
    best, worst = contest.extremes
    assert slow not in best | worst
    assert re.search(rf"^ +-\s+{slow}\s+>= ", text.render(found, width=110), re.MULTILINE)
    assert f"| – | {slow} | ≥ " in markdown.render(found)
    page = html.render(found)
    assert re.search(rf'<td class="num">–</td><td>[^/]*</span>{slow}</td>', page)
    assert "its place cannot be told" in page


def test_a_bound_goes_with_its_figure_and_its_ratios_into_what_is_kept(
    report: ReportModel,
) -> None:
    kept = found.of_report(report)
    tables = (block for one in kept.sections for block in one.blocks if isinstance(block, Table))
    figures = {row[1].text: row[2].text for table in tables for row in table.rows}
    assert figures["Raw TCP"].startswith("≥ ")
    assert figures["HTTP keep-alive"][0].isdigit()
    pairs = group(report, REFERENCE).contest.against("HTTP keep-alive", metrics.THROUGHPUT)
    (told,) = [figure_words.ratio_text(pair) for pair in pairs if pair.a == "Raw TCP"]
    assert told.startswith("≥ 1.")
    (both,) = [
        figure_words.ratio_text(pair)
        for pair in group(report, REFERENCE).contest.against("Raw TCP", metrics.THROUGHPUT)
        if pair.a == "WebSocket"
    ]
    assert both == "unknown"
    estimates = {s.name: s.estimates["throughput"].bound for s in report.scenarios}
    assert (estimates["Raw TCP"], estimates["HTTP keep-alive"]) == ("at least", "exact")


def test_invalid_trials_are_shown_and_do_not_count(report: ReportModel) -> None:
    scenario = next(s for s in report.scenarios if s.name == "HTTP keep-alive on Node")
    assert (len(scenario.trials), scenario.usable) == (5, 4)
    assert len(report.marked) == 3
    assert report.verdict_sentences[-1] == (
        "Bottleneck: the server in 32 of 35 trials, the generator in 2 and unknown in 1; "
        "3 are marked."
    )


def test_ratios_are_said_with_their_intervals() -> None:
    report = made(demo_trials())
    text = " ".join(report.verdict_sentences)
    assert re.search(r"1\.\d+ \(1\.\d+ to 1\.\d+\) times that of HTTP keep-alive", text)
    assert re.search(r"HTTP keep-alive on Node 2\.\d+ \(\S+ to \S+\) times as much", text)
    assert re.search(r"HTTP, new connection 10\.\d \(\S+ to \S+\)", text)
    assert "none is marked" in text


def test_a_baseline_can_be_named() -> None:
    report = made(demo_trials(), baselines=["HTTP keep-alive"])
    said = report.verdict_sentences[0]
    cost = "Server CPU per message (closed loop) as multiples of HTTP keep-alive (8."
    assert cost in said
    assert re.search(r"WebSocket 0\.6\d+ \(", said)


def test_what_cannot_be_told_is_said_first() -> None:
    same = replace(DEMO[2], name="A", group="main"), replace(DEMO[2], name="B", group="main")
    report = made(demo_trials(shapes=same, noise=0.08, seed=4))
    assert report.verdict_sentences[0].startswith(
        "No difference in throughput is shown between A and B (less than 20 % could not be seen)."
    )


def test_one_block_tells_nothing() -> None:
    report = made(demo_trials(blocks=1))
    assert {f.kind for f in report.findings} == {"lacking", "bottleneck"}
    assert all("too few usable trials to compare" in s for s in report.verdict_sentences[:-1])
    assert {row.code for row in report.warnings} == {"few-trials", "one-occasion"}


def test_too_few_messages_for_a_quantile_are_no_lack_of_trials(report: ReportModel) -> None:
    first = report.groups[0]
    rare = tuple(
        replace(s, estimates={key: e for key, e in s.estimates.items() if key != "p99"})
        for s in first.scenarios
    )
    assert leading.lacks(replace(first, scenarios=rare), metrics.P99)
    assert not leading.lacks(first, metrics.P99)
    lost = tuple(replace(s, trials=s.trials[:1]) for s in rare)
    assert not leading.lacks(replace(first, scenarios=lost), metrics.P99), "too few trials"


def test_all_trials_invalid_still_makes_a_report() -> None:
    lost = frozenset((shape.name, block) for shape in DEMO for block in range(2))
    report = made(demo_trials(blocks=2, invalid=lost))
    assert all(not scenario.estimates for scenario in report.scenarios)
    assert "too few usable trials to compare" in report.verdict_sentences[0]


def test_open_and_closed_loops_are_never_ranked_together() -> None:
    shapes = (
        replace(DEMO[0], group="main"),
        replace(DEMO[2], name="WebSocket at a rate", group="main", offered=20e3),
        replace(DEMO[0], name="HTTP at a rate", group="main", offered=20e3),
    )
    report = made(demo_trials(shapes=shapes))
    assert {g.title for g in report.groups} == {"main, open loop", "main, closed loop"}
    open_loop = group(report, "main, open loop")
    assert open_loop.contest.metric is metrics.P99
    assert open_loop.contest.ranking.order[0] == "WebSocket at a rate"


def test_given_sentences_send_the_automatic_ones_to_their_groups() -> None:
    automatic = made(demo_trials(blocks=2))
    report = made(demo_trials(blocks=2), own=["So it is."])
    assert report.verdict_sentences == ("So it is.", automatic.verdict_sentences[-1])
    assert len(report.group_notes) == 2
    for title, note in report.group_notes.items():
        starts = (
            s.casefold().startswith(f"{title}: ".casefold()) for s in automatic.verdict_sentences
        )
        assert any(starts), title
        assert note[:1].isupper()
        assert note.endswith(".")
    assert automatic.group_notes == {}


def test_what_is_said_of_a_group_leaves_out_what_its_title_says() -> None:
    shapes = tuple(replace(s, name=f"reference: {s.name}") for s in DEMO if s.group == REFERENCE)
    base = [shapes[0].name]
    report = made(demo_trials(shapes=shapes), own=["So it is."], baselines=base)
    (note,) = report.group_notes.values()
    assert f"as multiples of {DEMO[0].name} (" in note
    assert "reference: " not in note


def test_what_is_said_of_a_group_stands_above_its_table_in_markdown() -> None:
    report = made(demo_trials(blocks=2), own=["So it is."])
    sections = markdown.render(report).split("\n### ")
    assert report.group_notes
    for title, note in report.group_notes.items():
        (own,) = [one for one in sections if one.startswith(f"Throughput: {title}\n")]
        before, _, after = own.partition(f"\n\n{note}\n\n")
        assert before == f"Throughput: {title}"
        assert after.startswith("| Place |")


def test_warnings_are_said_once() -> None:
    trials = [
        trial.model_copy(
            update={"warnings": (warnings.warn(warnings.Code.UNPINNED, "not pinned"),)}
        )
        for trial in demo_trials()
    ]
    row, occasion = made(trials).warnings
    assert (occasion.code, occasion.where) == ("one-occasion", "")
    assert (row.code, row.trials, len(row.scenarios)) == ("unpinned", 35, 7)


def test_curves_end_where_too_few_messages_lie_beyond(report: ReportModel) -> None:
    for scenario in report.scenarios:
        assert scenario.curve[0].q == 0.5
        fewest = min(1e9, *(row.figures["throughput"] for row in scenario.trials)) * 2
        assert (1 - scenario.curve[-1].q) * fewest >= 9


def test_no_trial_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one trial"):
        made([])


def test_trials_that_never_settled_are_counted_first_and_marked_in_tables() -> None:
    def drifting(trial: Trial) -> Trial:
        window = trial.window.model_copy(update={"steady": False})
        lasting = window.model_copy(update={"end_ns": window.start_ns + 2_000_000_000})
        is_one = trial.scenario.name == "Raw TCP" and trial.block < 3
        return trial.model_copy(update={"window": lasting if is_one else trial.window})

    found = made([drifting(trial) for trial in demo_trials()])
    assert brief.answer(found, 80)[-1].endswith("; 3 of 35 trials kept drifting.")
    assert found.bottleneck_sentence.endswith("; 3 of 35 trials kept drifting.")
    (row,) = (row for row in limits.table(found).rows if row[0].text == "Raw TCP")
    assert row[2].text == "3 of 5"
    places = rankings.ranking(group(found, REFERENCE))
    at = [column.title for column in places.columns].index("Trials")
    (trials,) = (row[at] for row in places.rows if row[1].text == "Raw TCP")
    assert trials.aside == ("3 drifting",)
    settled = made(demo_trials())
    assert "drifting" not in settled.bottleneck_sentence
    assert [column.title for column in limits.table(settled).columns][:3] == [
        *("Scenario", "Bottleneck", "Evidence (a typical trial)"),
    ]


def test_a_level_with_trials_that_never_settled_is_marked_in_the_table_of_levels() -> None:
    """Of a long study, the table of who was the limit is in the page alone."""
    shapes = echo(("gorilla", "ws"))

    def drifting(trial: Trial) -> Trial:
        start = trial.window.start_ns
        update = {"steady": False, "end_ns": start + 2_000_000_000}
        window = trial.window.model_copy(update=update)
        is_one = trial.scenario.name == shapes[0].name and trial.block < 3
        return trial.model_copy(update={"window": window}) if is_one else trial

    found = made([drifting(trial) for trial in demo_trials(shapes=shapes)])
    table = rankings.grid(found.families[0])
    marked = [cell.aside[1:] for row in table.rows for cell in row[1:]]
    assert sorted(marked) == [*[()] * 5, ("3 drifting",)]
