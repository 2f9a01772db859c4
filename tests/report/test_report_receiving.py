"""Who pays for receiving: which ratios are found again where each side takes in its own."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.report import synthetic_clients
from tests.report.synthetic import Shape, demo_trials
from tools import results as remade
from wiretrial.cli import reports
from wiretrial.report import clients, found, html, markdown, page, receiving, text
from wiretrial.report import kept as kept_trials
from wiretrial.report.blocks import Cell, Table, Text
from wiretrial.report.model import ReportModel, build
from wiretrial.report.tables import receiving as tables
from wiretrial.results import kept as kept_file
from wiretrial.results.model import Trial
from wiretrial.results.observation import CpuUse, Observation
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import demo, environments

BASE = Shape(
    name="",
    group="",
    protocol="ws",
    subject="base",
    language="C++",
    rate=20e3,
    server_us=10.0,
    system_share=0.6,
    generator_us=5.0,
    sent_bytes=26,
    received_bytes=22,
    offered=10e3,
    ranked_by="server",
    user_kb=1.0,
)
COSTS = {
    "base": (10.0, 12.0),
    "dear": (15.0, 18.0),
    "cheap": (5.0, 6.0),
    "alike": (10.0, 12.0),
    "turned": (8.0, 16.0),
    "seldom": (20.0, 20.0),
}
"""Server CPU per message over loopback and steered, in µs."""
SURVIVES = {
    "base": None,
    "dear": "survives",
    "cheap": "survives",
    "alike": "survives",
    "turned": "turns",
    "seldom": "cannot be told",
}


def shape(subject: str, environment: str, cost: float, **changes: object) -> Shape:
    title = f"at one rate, over {environment}"
    levels: dict[str, int | float | str] = {
        "workload": "at one rate",
        "environment": environment,
        "rate": 10e3,
    }
    return replace(
        BASE,
        name=f"{subject}: {title}",
        group=title,
        subject=subject,
        label=subject,
        server_us=cost,
        levels=levels,
        **changes,  # type: ignore[arg-type]
    )


def shapes(**changes: object) -> tuple[Shape, ...]:
    return tuple(
        shape(subject, environment, cost, **changes)
        for subject, costs in COSTS.items()
        for environment, cost in zip((receiving.LOOPBACK, receiving.STEERED), costs, strict=True)
    )


def trials(
    made: Sequence[Shape] = shapes(), base: str = "base", noise: float = 0.002
) -> list[Trial]:
    """Five blocks that scatter little; of one scenario a single steered trial."""
    found = []
    for trial in demo_trials(shapes=tuple(made), noise=noise):
        scenario = trial.scenario
        if scenario.name.startswith("seldom: at one rate, over veth") and trial.block:
            continue
        if base and scenario.label != base:
            declared = f"{base}: {scenario.group}"
            scenario = scenario.model_copy(update={"baseline": declared})
        found.append(trial.model_copy(update={"scenario": scenario, "observation": seen(trial)}))
    return found


def seen(trial: Trial, idle: float = 0.8, cpu: int = 0) -> Observation:
    """The subject's CPU had nothing to do for this share of the window, soft interrupts for 0.1."""
    assert trial.observation is not None
    start, end = trial.window.start_ns, trial.window.end_ns
    use = CpuUse(cpu=cpu, idle_ns=round(idle * (end - start)), softirq_ns=(end - start) // 10)
    told = {"cpus": (use,), "start_ns": start, "end_ns": end}
    return trial.observation.model_copy(update=told)


def report(made: Sequence[Trial]) -> ReportModel:
    return build(made, question="Who pays?", title="Who pays?", command="c")


@pytest.fixture(scope="module")
def model() -> ReportModel:
    return report(trials())


def test_the_environments_are_those_of_studies() -> None:
    assert {receiving.LOOPBACK, receiving.STEERED} <= set(environments.PLAIN)


def test_each_ratio_has_its_known_outcome(model: ReportModel) -> None:
    first, busy = receiving.charged(model.families)
    assert (first.metric.key, busy.metric.key) == ("server", "server_cpus")
    assert (first.title, first.base) == ("at one rate", "base")
    assert {row.label: row.outcome for row in first.rows} == SURVIVES
    by_label = {row.label: row for row in first.rows}
    turned = by_label["turned"]
    assert turned.loopback.ratio is not None
    assert turned.steered.ratio is not None
    assert turned.loopback.ratio.ratio == pytest.approx(0.8, rel=0.01)
    assert turned.steered.ratio.ratio == pytest.approx(4 / 3, rel=0.01)
    assert by_label["seldom"].steered.ratio is None


def test_the_busy_time_is_all_that_ran_on_the_server_s_cpus(model: ReportModel) -> None:
    # A fifth of the time, 10,000 messages a second.
    busy = receiving.charged(model.families)[1]
    medians = [row.loopback.scenario.median(busy.metric) for row in busy.rows]
    assert medians == pytest.approx([20_000.0] * len(medians), rel=0.01)


def test_where_other_work_ran_the_busy_time_tells_nothing() -> None:
    made = [
        one.model_copy(update={"observation": seen(one, idle=0.5)}) for one in trials(shapes()[:4])
    ]
    (only,) = receiving.charged(report(made).families)
    assert only.metric.key == "server"
    assert {cell.text for row in tables.table(only).rows for cell in row[-2:]} == {"–"}


def test_a_sentence_counts_the_outcomes(model: ReportModel) -> None:
    first, _ = receiving.charged(model.families)
    assert tables.sentence(first) == (
        "Server CPU per message at 10,000 messages/s:"
        " 3 of 5 ratios to base survive, 1 turns, 1 cannot be told."
    )
    one = replace(first, rows=first.rows[:2])
    assert tables.sentence(one) == (
        "Server CPU per message at 10,000 messages/s: 1 of 2 ratios to base survives, 1 turns."
    )


def test_the_table_has_both_ratios_with_their_intervals_and_the_soft_interrupts(
    model: ReportModel,
) -> None:
    table = tables.table(receiving.charged(model.families)[0])
    rows = {row[0].text: row for row in table.rows}
    assert [row[0].text for row in table.rows][:2] == ["cheap", "turned"]
    _, here, there, ratio, steered, verdict, soft, _ = rows["turned"]
    assert here.value == pytest.approx(8_000, rel=0.01)
    assert there.value == pytest.approx(16_000, rel=0.01)
    for cell, wanted in ((ratio, 0.8), (steered, 4 / 3)):
        assert cell.value == pytest.approx(wanted, rel=0.01)
        assert (cell.low or 0) < wanted < (cell.high or 0)
        assert " to " in cell.aside[0]
    assert (verdict.text, verdict.mark) == ("turns", "no")
    assert soft.text == "50.0 %"
    assert rows["base"][5].text == "baseline"


def test_without_a_declared_baseline_the_cheapest_over_loopback_is_it() -> None:
    first, _ = receiving.charged(report(trials(base="")).families)
    assert first.base == "cheap"


def test_what_cannot_be_told_says_what_could_not_be_seen() -> None:
    made = trials(shapes()[:4], noise=0.2)
    (row,) = [one for one in receiving.charged(report(made).families)[0].rows if one.base]
    assert row.outcome == "cannot be told"
    assert row.loopback.ratio is not None
    assert row.steered.ratio is not None
    both = [row.loopback.ratio.resolution(), row.steered.ratio.resolution()]
    assert row.resolution == max(filter(None, both))
    (cell,) = [cell for cell in _cells(made, "dear") if cell.mark == "untold"]
    assert re.fullmatch(r"less than .* could not be seen", cell.aside[0])


def _cells(made: Sequence[Trial], label: str) -> Sequence[Cell]:
    table = tables.table(receiving.charged(report(made).families)[0])
    return next(row for row in table.rows if row[0].text == label)


@pytest.mark.parametrize("who", ["dear", "base"])
def test_a_cost_below_the_rate_is_of_another_load(who: str) -> None:
    made = []
    for trial in trials(shapes()[:4]):
        if trial.scenario.name.startswith(f"{who}: at one rate, over veth") and not trial.block:
            fallen = trial.judgement.model_copy(update={"verdict": "overloaded"})
            trial = trial.model_copy(update={"judgement": fallen})
        made.append(trial)
    first, *_ = receiving.charged(report(made).families)
    rows = {row[0].text: row for row in tables.table(first).rows}
    assert rows["dear"][5].text == "cannot be told"
    assert rows[who][5].aside == ("rate not reached: veth-steered",)


def test_each_may_have_a_baseline_of_its_own() -> None:
    own = {"dear": "base", "turned": "alike"}
    made = []
    for trial in trials(base=""):
        scenario = trial.scenario
        if scenario.label in own:
            declared = f"{own[scenario.label]}: {scenario.group}"
            scenario = scenario.model_copy(update={"baseline": declared})
        made.append(trial.model_copy(update={"scenario": scenario}))
    first, _ = receiving.charged(report(made).families)
    assert {row.label: row.base for row in first.rows if row.base} == own
    assert tables.sentence(first) == (
        "Server CPU per message at 10,000 messages/s:"
        " 1 of 2 ratios to its baseline survives, 1 turns."
    )


def test_a_closed_loop_is_compared_by_its_throughput_too() -> None:
    made = shapes(offered=None, ranked_by=None)
    found = receiving.charged(report(trials(made)).families)
    assert [one.metric.key for one in found] == ["server", "server_cpus", "throughput"]


def driven(workload: str) -> list[Trial]:
    """Client libraries in both environments."""
    made = []
    for trial in synthetic_clients.trials():
        scenario = trial.scenario
        if scenario.group != "page, http" or scenario.twin_of:
            continue
        for environment in (receiving.LOOPBACK, receiving.STEERED):
            group = f"{workload}, over {environment}"
            told = {
                "name": f"{scenario.label}: {group}",
                "group": group,
                "levels": {**scenario.levels, "workload": workload, "environment": environment},
                "baseline": f"raw-client: {group}" if scenario.label != "raw-client" else None,
            }
            update = {
                "scenario": scenario.model_copy(update=told),
                "observation": seen(trial, idle=0.55, cpu=1),
            }
            made.append(trial.model_copy(update=update))
    return made


def test_what_is_measured_again_takes_no_place_beside_the_libraries() -> None:
    def rows(made: Sequence[Trial]) -> list[tuple[str, set[str]]]:
        whole, *_ = clients.tables(report(made))
        return [(row.name, set(row.cells)) for row in whole.rows]

    plain, again = synthetic_clients.trials(), driven("page, charged apart")
    assert rows([*plain, *again]) == rows(plain)
    # Where there is nothing else, it has the places.
    assert len(rows(again)) == 2 * 4


def test_client_libraries_are_compared_by_their_own_cpu_and_round_trip() -> None:
    found_here = receiving.charged(report(driven("page")).families)
    assert [one.metric.key for one in found_here] == ["client", "client_cpus", "wall"]
    for one in found_here:
        assert set(one.outcomes) == {"survives"}
    client, busy, _ = found_here
    assert [len(tables.table(one).columns) for one in (client, busy)] == [8, 6]
    # Of 50 µs its CPU was busy for 45 %, and nobody else was there.
    rows = {row.label: row.loopback.scenario for row in busy.rows}
    assert rows["raw-client"].median(busy.metric) == pytest.approx(22_500, rel=0.1)
    said = [block.text for block in tables.blocks(found_here) if isinstance(block, Text)]
    assert tables.charges("client") in said
    assert tables.charges("server") not in said


@pytest.mark.parametrize("gone", [receiving.LOOPBACK, receiving.STEERED])
def test_one_environment_alone_makes_no_section(gone: str) -> None:
    left = [one for one in shapes() if one.levels["environment"] != gone]
    made = report(trials(left))
    assert receiving.charged(made.families) == ()
    assert tables.TITLE not in [section.title for section in page.sections(made)]


def test_other_levels_stay_apart() -> None:
    few = [replace(one, levels={**one.levels, "connections": 10}) for one in shapes()]
    many = [
        replace(
            one,
            name=f"{one.name}, many",
            group=f"{one.group}, many",
            levels={**one.levels, "connections": 1000},
        )
        for one in shapes()
        if one.levels["environment"] == receiving.LOOPBACK
    ]
    found = receiving.charged(report(trials([*few, *many])).families)
    assert [one.groups[0].scenarios[0].levels["connections"] for one in found] == [10, 10]


def test_every_form_of_the_report_has_the_section(model: ReportModel) -> None:
    sentence = tables.sentence(receiving.charged(model.families)[0])
    kept = found.of_report(model)
    (section,) = [one for one in kept.sections if one.title == tables.TITLE]
    assert [type(block) for block in section.blocks].count(Table) == 2
    assert Text(sentence) in section.blocks
    told = json.dumps(json.loads(kept.to_json()), ensure_ascii=False)
    for form in (html.render(model), markdown.render(model), found.report("mine", kept), told):
        assert tables.TITLE in form
        assert sentence in form
    assert tables.TITLE in text.render(model)
    assert found.Found.model_validate_json(kept.to_json()) == kept


def test_kept_trials_give_the_same_table(tmp_path: Path) -> None:
    study = demo.study(trials=5, seed=1)
    results = ResultsFolder.create(tmp_path / "measured", study.name, study.document())
    for trial in trials():
        results.add(trial.model_copy(update={"study_digest": study.digest()}))
    file = tmp_path / "trials.jsonl.xz"
    file.write_bytes(kept_trials.pack(results))
    again = kept_file.unpack(file, tmp_path / "again")
    before, after = (
        [
            one
            for one in found.of_report(reports.whole(folder)).sections
            if one.title == tables.TITLE
        ]
        for folder in (results, again)
    )
    assert len(before) == 1
    assert after == before


def test_the_page_on_isolation_has_the_table_as_it_is_kept(model: ReportModel) -> None:
    page_there = remade.CHARGED.read_text("utf-8")
    kept = found.of_report(model)
    made = remade.charged(page_there, kept)
    assert "| turned | " in made
    assert tables.sentence(receiving.charged(model.families)[0]) in made
    assert remade.NO_TRIALS not in made
    assert "Who was the bottleneck" not in made
    # The rest of the page stays, and a second time changes nothing.
    assert made.startswith(page_there.partition(remade.BEGIN)[0])
    assert made.endswith(page_there.partition(remade.END)[2])
    assert remade.charged(made, kept) == made
    for nothing in (None, kept.model_copy(update={"sections": kept.sections[:1]})):
        assert remade.NO_TRIALS in remade.charged(made, nothing)


def test_the_page_on_isolation_is_no_older_than_what_is_kept() -> None:
    text_there = remade.CHARGED.read_text("utf-8")
    kept = found.read(remade.STUDIES / remade.CHARGED_STUDY)
    assert remade.charged(text_there, kept) == text_there, "write it: make results"


def test_a_page_without_a_place_for_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="no place"):
        remade.charged("# A page\n", None)
