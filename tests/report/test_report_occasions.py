"""Occasions in the report: what each contrast scatters within one and between them, everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

import pytest

from tests.report.later import Later
from tests.report.synthetic import ORDER, demo_trials
from tests.report.synthetic_study import echo
from wiretrial.report import found, html, markdown, metrics, page, text
from wiretrial.report.blocks import Fold, Section, Table, Text
from wiretrial.report.measures import Measured
from wiretrial.report.model import ReportModel, build
from wiretrial.report.tables import occasions
from wiretrial.results.model import Machine, Trial

SHAPES = echo(("gorilla", "ws"))
NAMES = [shape.name for shape in SHAPES]
BASELINES = [shape.name for shape in SHAPES if shape.subject == "ws"]
TRIALS = Later(partial(demo_trials, blocks=6, shapes=SHAPES))


def over(days: int, trials: Sequence[Trial] = TRIALS) -> list[Trial]:
    """The same as if the blocks were of so many occasions, as many of each."""
    return [one.model_copy(update={"occasion": 1 + one.block * days // 6}) for one in trials]


def report(trials: Sequence[Trial], **options: object) -> ReportModel:
    return build(
        trials,
        question="Q?",
        title="T",
        command="again",
        order=NAMES,
        baselines=BASELINES,
        **options,  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def three() -> ReportModel:
    return report(over(3))


def section(model: ReportModel) -> Section:
    (one,) = [one for one in page.sections(model) if one.title == occasions.TITLE]
    return one


def test_one_occasion_has_no_components_and_keeps_its_warning() -> None:
    model = report(TRIALS)
    assert occasions.TITLE not in {one.title for one in page.sections(model)}
    assert "one-occasion" in {row.code for row in model.warnings}


def test_a_contrast_is_told_by_its_occasions_and_the_scatter_within_and_between(
    three: ReportModel,
) -> None:
    """Worked out here from the trials' own throughput: two blocks on each of three days."""
    table = next(block for block in section(three).blocks if isinstance(block, Table))
    assert [column.title for column in table.columns] == [
        *("Contrast", "Ratio", "Each occasion"),
        *("Furthest apart, %", "Between trials, %", "Between occasions, %"),
    ]
    row = table.rows[0]
    assert (row[0].text, row[0].aside) == ("gorilla / ws", ("echo, 10 connections",))
    sides = [
        [
            math.log(metrics.THROUGHPUT.of(Measured(one)) or 0)
            for one in sorted(TRIALS, key=lambda one: one.block)
            if one.scenario.name == f"{subject}: echo, 10 connections"
        ]
        for subject in ("gorilla", "ws")
    ]
    logs = [a - b for a, b in zip(*sides, strict=True)]
    days = [logs[0:2], logs[2:4], logs[4:6]]
    grand = fmean(logs)
    within = sum((x - fmean(day)) ** 2 for day in days for x in day) / 3
    between = 2 * sum((fmean(day) - grand) ** 2 for day in days) / 2
    ratios = [math.exp(fmean(day)) for day in days]
    assert row[1].value == pytest.approx(math.exp(grand))
    assert row[2].text == ", ".join(f"{ratio:.2f}" for ratio in ratios)
    assert row[3].value == pytest.approx(max(ratios) / min(ratios) - 1)
    assert row[4].value == pytest.approx(math.sqrt(within))
    assert row[5].value == pytest.approx(math.sqrt(max(0.0, (between - within) / 2)))


def test_each_machine_of_several_occasions_is_told() -> None:
    def on_its_machine(trial: Trial) -> Trial:
        model = "Other CPU" if trial.occasion == 2 else "Example CPU"
        facts = {"cpu": {"model": model, "logical": 2}, "kernel": "6.1"}
        return trial.model_copy(update={"machine": Machine(facts=facts)})

    told = report([on_its_machine(trial) for trial in over(3)]).facts
    (machine,) = [one for one in told if one.title == "Machine"]
    assert machine.rows == (
        ("cpu model", "Example CPU; Other CPU"),
        ("cpu logical", "2"),
        ("kernel", "6.1"),
    )


def test_the_contrasts_are_those_that_were_declared_in_both_metrics(three: ReportModel) -> None:
    tables = [block for block in section(three).blocks if isinstance(block, Table)]
    assert [len(table.rows) for table in tables] == [3, 3]
    titles = [b.text for b in section(three).blocks if isinstance(b, Text) and b.style == "heading"]
    assert titles == ["Throughput ratio", "Server CPU ratio"]


def test_the_baseline_stands_below_wherever_it_comes_first() -> None:
    first = [name for name in NAMES if name not in BASELINES]
    model = build(over(3), question="Q?", title="T", command="c", order=NAMES, baselines=first)
    table = next(block for block in section(model).blocks if isinstance(block, Table))
    assert {row[0].text for row in table.rows} == {"ws / gorilla"}


def test_every_renderer_shows_the_same_blocks(three: ReportModel) -> None:
    kept = found.of_report(three)
    assert occasions.TITLE in {one.title for one in kept.sections}
    table = next(block for block in section(three).blocks if isinstance(block, Table))
    sentence = section(three).blocks[0]
    assert isinstance(sentence, Text)
    assert sentence.text.startswith("Over 3 occasions, ")
    shown = (
        html.render(three),
        "\n\n".join(markdown.sections([section(three)])),
        kept.to_json(),
        found.section(kept),
        text.render(three, width=200),
    )
    for told in shown:
        assert occasions.TITLE in told
        assert sentence.text[:60] in told
        assert table.rows[0][2].text in told


def test_many_contrasts_are_told_by_workload_and_each_in_the_page_alone(
    monkeypatch: pytest.MonkeyPatch, three: ReportModel
) -> None:
    monkeypatch.setattr(occasions, "MOST_ROWS", 5)
    blocks = section(three).blocks
    (table,) = [block for block in blocks if isinstance(block, Table)]
    assert [(row[0].text, row[1].text) for row in table.rows] == [("echo", "3")]
    (folded,) = [block for block in blocks if isinstance(block, Fold)]
    assert sum(len(block.rows) for block in folded.blocks if isinstance(block, Table)) == 6


def test_a_ratio_that_is_only_a_bound_is_left_out_and_named() -> None:
    limited = frozenset({("gorilla: echo, 10 connections", 2)})
    trials = demo_trials(blocks=6, shapes=SHAPES, client_bound=limited)
    blocks = section(report(over(3, trials))).blocks
    tables = [block for block in blocks if isinstance(block, Table)]
    # The server's CPU is no bound where the generator was the limit.
    assert [len(table.rows) for table in tables] == [2, 3]
    assert isinstance(blocks[-1], Text)
    assert blocks[-1].text.endswith(
        "Left out, because the ratio is only a bound: gorilla / ws (echo, 10 connections)."
    )


def test_levels_that_are_looked_at_together_are_one_contrast_unless_they_differ() -> None:
    same = tuple(replace(shape, rate=1e5 if shape.subject == "ws" else 2e5) for shape in SHAPES)
    alike = report(over(3, demo_trials(blocks=6, shapes=same)), taken_together=["echo"])
    apart = report(over(3), taken_together=["echo"])
    rows = []
    for model in (alike, apart):
        together = model.families[0].together["throughput"]
        table = next(block for block in section(model).blocks if isinstance(block, Table))
        rows.append((bool(together.ranges), [row[0].aside for row in table.rows]))
    assert rows[0] == (False, [("echo",)])
    assert rows[1] == (True, [(f"echo, {n} connections",) for n in ("10", "100", "1,000")])


def test_the_key_of_a_picture_names_its_interval(three: ReportModel) -> None:
    """Of six trials of one occasion order statistics give that of the median itself."""
    assert "Line: range over occasions. " in html.render(three)
    assert "Line: 95 % interval. " in html.render(report(TRIALS))


@pytest.mark.parametrize(
    ("blocks", "days", "told"), [(6, 3, "all"), (12, 3, None), (6, 1, None)], ids=str
)
def test_places_of_fewer_than_ten_trials_are_provisional(
    blocks: int, days: int, told: str | None
) -> None:
    # One occasion is told by a warning of its own.
    trials = [
        one.model_copy(update={"occasion": 1 + one.block * days // blocks})
        for one in demo_trials(blocks=blocks)
    ]
    model = build(trials, question="Q?", title="T", command="again", order=ORDER)
    said = {
        block.text
        for one in page.sections(model)
        for block in one.blocks
        if isinstance(block, Text) and block.text.startswith("Provisional")
    }
    expected = {f"Provisional places, of fewer than 10 trials: {told}."} if told else set()
    assert said == expected
