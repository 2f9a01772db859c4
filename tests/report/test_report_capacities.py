"""Predicted capacities in a report: servers whose answers are known, and what is said of them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.report.synthetic import Shape, one_trial
from wiretrial.plan import OpenLoop
from wiretrial.report import capacities, charts, found, gate_figures, kept, model, page
from wiretrial.report.blocks import Table
from wiretrial.report.capacities import Capacity
from wiretrial.report.knees import Knee, Objective, Step
from wiretrial.report.tables import capacities as tables
from wiretrial.report.trend import terms
from wiretrial.results import known
from wiretrial.results.absent import Absent
from wiretrial.results.model import Judgement, Machine, Trial
from wiretrial.results.observation import CpuLimit
from wiretrial.results.store import ResultsFolder
from wiretrial.stats.knee import Refusal
from wiretrial.studies import demo
from wiretrial.words import MESSAGE

SHARES = (0.2, 0.4, 0.6)
VALID = Judgement(verdict="valid", bottleneck="server", evidence="its core 99 % busy")
BOUND = Judgement(verdict="client-bound", bottleneck="generator", evidence="our loop 1 % idle")

Cost = Callable[[float], float]
"""CPU microseconds per message at a rate."""


def trials(
    name: str,
    top: float,
    cost: Cost,
    cpus: float = 1.0,
    judgement: Judgement = VALID,
    throttled: int = 19,
    occasion: int = 1,
    workload: str = "echo",
) -> list[Trial]:
    """Three blocks of a top and its levels, without scatter of the cost."""
    made = []
    scenario = f"{name}: {workload}, {cpus:g} CPUs"
    for block in range(3):
        for position, share in enumerate((None, *SHARES)):
            rate = top * (share or 1.0)
            shape = Shape(
                scenario if share is None else f"{scenario}, at {share:.0%}",
                f"{workload}, {cpus:g} CPUs",
                *("ws", name, "Rust", rate, cost(rate), 0.5, 1.0, 64, 64),
                offered=None if share is None else rate,
                label=name,
                levels={"workload": workload, "cpus": cpus},
            )
            draw = random.Random(f"{scenario}/{block}/{share}/{occasion}")
            trial = one_trial(shape, block, position, 1, judgement, 1.0, draw)
            assert trial.subject is not None
            limit = CpuLimit(
                cpus=cpus,
                version=2,
                period_ns=100_000_000,
                periods=20,
                throttled_periods=throttled if share is None else 0,
                throttled_ns=1,
            )
            update = {
                "scenario": trial.scenario.model_copy(
                    update={"level_of": None if share is None else scenario}
                ),
                "occasion": occasion,
                "subject": trial.subject.model_copy(update={"limit": limit if cpus < 1 else None}),
            }
            made.append(trial.model_copy(update=update))
    return made


def of(*args: object, **more: object) -> Capacity:
    (one,) = capacities.of_trials(trials(*args, **more))  # type: ignore[arg-type]
    return one


def test_a_linear_server_is_predicted_as_it_is() -> None:
    one = of("linear", 10_000, lambda rate: 95 + 500 / (rate / 100))
    # 0.05 CPUs at rest and 95 us each: all of one CPU at 10,000/s.
    assert one.predicted is not None
    assert one.error == pytest.approx(0, abs=0.02)
    assert one.is_held
    assert one.cause is None
    assert one.busy == pytest.approx(1, abs=0.02)
    assert one.throttled is None


def test_a_server_with_contention_is_predicted_too_high_and_told_why() -> None:
    # (1 + k x) with k such that a message costs 1.5 times as much at the top as at rest.
    one = of("contended", 10_000, lambda rate: (200 / 3) * (1 + rate / 20_000))
    assert one.error == pytest.approx(1.5 / 1.2 - 1, abs=0.03)
    assert one.change == pytest.approx(1.5 / 1.3 - 1, abs=0.02)
    assert one.cause == "dearer"
    assert not one.is_held


def test_a_server_that_batches_at_the_top_is_predicted_too_low_and_told_why() -> None:
    one = of("batching", 10_000, lambda rate: 100 if rate > 9_000 else 140)
    assert one.error == pytest.approx(-0.286, abs=0.02)
    assert one.cause == "cheaper"


def test_a_server_that_something_else_binds_is_told_so() -> None:
    one = of("locked", 10_000, lambda _: 50)
    assert one.busy == pytest.approx(0.5, abs=0.02)
    assert one.error == pytest.approx(1.0, abs=0.05)
    assert one.cause == "idle"


def test_a_server_that_is_throttled_in_periods_is_predicted_by_its_limit() -> None:
    one = of("quarter", 2_500, lambda _: 100, cpus=0.25)
    assert one.cpus == 0.25
    assert one.error == pytest.approx(0, abs=0.02)
    assert one.throttled == pytest.approx(0.95)


def test_where_the_generator_was_the_limit_nothing_is_held_against_a_bound() -> None:
    one = of("quick", 10_000, lambda _: 50, judgement=BOUND)
    assert one.is_bound
    assert one.error is None
    assert one.why_untold == capacities.BOUND
    assert capacities.errors("all", [one]) is None
    (told,) = capacities.sentences([one])
    assert told.startswith("No prediction is held against a measured capacity: the load generator")
    assert capacities.sentences([]) == ()
    assert "≥" in str(tables.blocks([one]))


def test_levels_that_are_missing_leave_the_measured_alone() -> None:
    whole = trials("alone", 10_000, lambda _: 100)
    fewer = [t for t in whole if not t.scenario.level_of or "at 60%" in t.scenario.name]
    (one,) = capacities.of_trials(fewer)
    assert one.predicted is None
    assert one.why_untold == capacities.NO_LEVELS


def test_each_occasion_predicts_by_its_own_levels() -> None:
    both = [
        *trials("a", 10_000, lambda _: 100),
        *trials("a", 9_000, lambda _: 1e6 / 9_000, occasion=2),
    ]
    first, second = capacities.of_trials(both)
    assert (first.occasion, second.occasion) == (1, 2)
    assert first.error == pytest.approx(0, abs=0.02)
    assert second.error == pytest.approx(0, abs=0.02)


OBJECTIVE = Objective(0.99, 20e6, first=1000, ceiling=1e6, tolerance=0.1)


def searched(sustained: float, refused: float | None, occasion: int = 1) -> Knee:
    """What a search found of `linear`. `refused`: by the server; None: nothing was."""
    above = None
    if refused is not None:
        why = Refusal("objective", "the response time was 31 ms, not 20 ms")
        above = Step(refused, refused, 31e6, why, "valid", "server", "its core 99 % busy")
    return Knee(
        name="linear: echo, 0.5 CPUs",
        label="linear",
        group="echo",
        colour=0,
        objective=OBJECTIVE,
        steps=(),
        sustained=sustained,
        refused=above,
        has_ended=True,
        what=MESSAGE,
        occasion=occasion,
    )


def by_search(rates: Sequence[float], occasion: int = 1) -> list[Trial]:
    """Steps of a search at these rates in place of the tops; 0.05 CPUs at rest and 90 us each."""
    made = trials("linear", 5000, lambda rate: 90 + 5e4 / rate, cpus=0.5, occasion=occasion)
    (top, *_), below = made, [one for one in made if one.scenario.level_of]
    steps = []
    for rate in rates:
        name = top.scenario.name
        scenario = top.scenario.model_copy(update={"name": f"{name} at {rate:g}/s", "search": name})
        load = top.plan.load.model_copy(update={"executor": OpenLoop(rate=rate)})
        plan = top.plan.model_copy(update={"load": load})
        steps.append(top.model_copy(update={"scenario": scenario, "plan": plan}))
    return [*steps, *below]


def test_what_a_search_found_is_the_top_of_its_levels() -> None:
    made = by_search((4000, 5000, 8000, 5000))
    (one,) = capacities.of_trials(made, [searched(5000, 5300)])
    assert one.measured is not None
    assert (one.measured.median, one.measured.interval) == (5000, None)
    assert (one.scenario, one.goal) == ("linear: echo, 0.5 CPUs", "p99 within 20 ms")
    # 5,000 is predicted, and measured is what lies between both.
    assert one.error == pytest.approx(5000 / (5000 * 5300) ** 0.5 - 1, abs=0.02)
    assert one.is_held
    shown = str(tables.blocks([one]))
    assert "below 5,300" in shown
    assert "the highest rate with p99 within 20 ms, found by a search" in shown
    assert "closed loop" not in shown


def test_a_prediction_holds_where_it_reaches_between_what_was_kept_and_what_was_refused() -> None:
    (near,) = capacities.of_trials(by_search((4600,)), [searched(4600, 5100)])
    assert near.predicted is not None
    assert near.predicted.high > 4600
    assert near.is_held
    (far,) = capacities.of_trials(by_search((4000,)), [searched(4000, 4200)])
    assert far.predicted is not None
    assert far.predicted.low > 4200
    assert not far.is_held


def test_a_search_that_the_generator_ended_is_a_bound() -> None:
    (one,) = capacities.of_trials(by_search((5000,)), [searched(5000, None)])
    assert one.is_bound
    assert one.why_untold == capacities.BOUND
    assert "≥ 5,000" in str(tables.blocks([one]))


def test_each_occasion_has_its_own_search() -> None:
    made = [*by_search((5000,)), *by_search((4000,), occasion=2)]
    both = replace(searched(5000, 5500), occasions=(searched(5000, 5500), searched(4000, 4400, 2)))
    first, second = capacities.of_trials(made, [both])
    assert first.measured is not None
    assert second.measured is not None
    assert (first.measured.median, second.measured.median) == (5000, 4000)


def mixed() -> list[Trial]:
    return [
        *trials("linear", 10_000, lambda _: 100),
        *trials("linear", 2_500, lambda _: 100, cpus=0.25),
        *trials("contended", 10_000, lambda rate: (200 / 3) * (1 + rate / 20_000)),
        *trials("locked", 5_000, lambda _: 100, cpus=1.0, workload="session"),
        *trials("quick", 10_000, lambda _: 50, judgement=BOUND),
    ]


def test_the_distribution_counts_what_is_told_by_workload_and_by_size() -> None:
    told = {one.title: one for one in capacities.distributions(capacities.of_trials(mixed()))}
    assert list(told) == ["all", "echo", "session", "0.25 CPUs", "1 CPU"]
    assert told["all"].count == 4
    assert told["all"].near == 0.5
    assert told["session"].middle == pytest.approx(1, abs=0.05)
    assert told["0.25 CPUs"].ninetieth < 0.03
    assert told["1 CPU"].count == 3


def over_two() -> list[Trial]:
    """The second on a machine whose levels scatter."""
    quiet = trials("linear", 10_000, lambda _: 100)
    noisy = trials("linear", 10_000, lambda rate: 130 if 2_000 < rate < 5_000 else 100)
    machine = Machine(facts={"cpu": {"logical": 2, "model": "Noisy CPU"}})
    return [
        *quiet,
        *(one.model_copy(update={"occasion": 2, "machine": machine}) for one in noisy),
    ]


def test_each_of_several_occasions_has_its_errors_and_how_its_levels_scatter() -> None:
    found = capacities.of_trials(over_two())
    told = {one.title: one for one in capacities.distributions(found)}
    # One workload in one size: rows of these would say the same as that of all.
    assert list(told) == ["all", "occasion 1", "occasion 2"]
    first, second = told["occasion 1"], told["occasion 2"]
    assert second.machine == "2 CPUs, Noisy CPU"
    assert (first.count, second.count) == (1, 1)
    assert first.middle < 0.02 < second.middle
    # A level in the middle that costs 30 % more lies off whatever curve goes through all five.
    assert first.scatter < 0.02
    assert 0.05 < second.scatter < 0.3
    sentence, *_ = capacities.sentences(found)
    assert re.search(r" By occasion the median error is \S+ % and \S+ %, where a single", sentence)
    assert "2 CPUs, Noisy CPU" in str(tables.blocks(found))


def test_one_occasion_alone_is_not_told_apart() -> None:
    sentence, *_ = capacities.sentences(capacities.of_trials(mixed()))
    assert "By occasion" not in sentence


def test_the_sentences_say_the_error_and_where_it_is_worse() -> None:
    first, worse = capacities.sentences(capacities.of_trials(mixed()))
    assert first.startswith("4 capacities, predicted from loads up to 60 % of each: the median")
    assert "1 more is a lower bound" in first
    assert worse.startswith("2 are off by more than 10 %: 1 because less than 90 % of its CPU")
    assert "The worst is locked: session, 1 CPUs (+1" in worse


def report(made: Sequence[Trial]) -> model.ReportModel:
    missing = Absent(subject="gone", reason="gone: echo, 1 CPU is not measured: no contract")
    return model.build(made, title="t", question="q", command="c", absent=[missing])


def test_the_report_has_a_row_per_server_and_size_and_levels_are_no_rows_elsewhere() -> None:
    made = report(mixed())
    assert not any("at 60%" in scenario.name for scenario in made.scenarios)
    # The study is about them: whatever else it has comes behind.
    section = page.sections(made)[0]
    assert section.title == tables.TITLE
    drawn = [block for block in section.blocks if isinstance(block, Table)]
    # The distribution, and a table for each workload.
    assert [len(table.rows) for table in drawn] == [5, 4, 1]
    names = [(row[0].text, row[1].text) for row in drawn[1].rows]
    assert names == [("linear", "0.25"), ("linear", "1"), ("contended", "1"), ("quick", "1")]
    shown = found.section(found.of_report(made))
    assert "gone: echo, 1 CPU is not measured: no contract" in shown
    rows = next(one.rows for one in made.facts if one.title == "Subjects")
    # A row per size, and none per trial.
    assert {row[5] for row in rows if row[0] == "linear"} == {"0", "0, 0.25 CPUs in all"}
    assert len(rows) == 5
    assert "Where it is worse, and why" in shown
    assert tables.TITLE in shown


def test_the_picture_has_a_dot_for_each_that_is_told_and_says_what_it_shows() -> None:
    made = report(mixed())
    assert "predicted" in charts.names(made)
    root = ElementTree.fromstring(charts.render_svg(made, "predicted"))
    title = root.findtext("{http://www.w3.org/2000/svg}title") or ""
    assert title.startswith("Predicted against measured capacities: 0.25 CPUs 1 with a median")
    drawn = charts.render_svg(made, "predicted")
    for name in ("linear: echo, 0.25 CPUs", "contended: echo, 1 CPUs", "locked: session"):
        assert f"{name}" in drawn
    assert "quick: echo" not in drawn
    assert "1 CPU<" in drawn


def test_a_gate_is_about_tops_and_a_trend_about_results_on_as_much_of_a_cpu() -> None:
    assert set(gate_figures.by_scenario(mixed())) == {
        one.scenario for one in capacities.of_trials(mixed())
    }
    quarter = trials("a", 2_500, lambda _: 100, cpus=0.25)[0]
    whole = trials("a", 2_500, lambda _: 100)[0]
    told = terms.differences(terms.of(quarter), terms.of(whole))
    assert "server CPU limit 0.25 → not known" in told


def test_a_part_of_a_cpu_is_no_whole_one_where_kept_trials_choose_a_server(tmp_path: Path) -> None:
    study = demo.study(trials=3, seed=1)
    results = ResultsFolder.create(tmp_path, study.name, study.document())
    for trial in (*trials("a", 2_500, lambda _: 100, cpus=0.25), *trials("a", 9e3, lambda _: 111)):
        results.add(trial)
    file = tmp_path / "trials.jsonl.xz"
    file.write_bytes(kept.pack(results))
    assert {row.cpus for row in known.rows(file)} == {0.25, 1}


def test_a_report_without_levels_has_no_such_section() -> None:
    plain = [t for t in trials("a", 10_000, lambda _: 100) if not t.scenario.level_of]
    made = report(plain)
    assert tables.TITLE not in [one.title for one in page.sections(made)]
    assert "predicted" not in charts.names(made)
