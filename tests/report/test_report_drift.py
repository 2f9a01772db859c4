"""What a long run says of drift: made-up series with known answers, and when nothing is said."""

from __future__ import annotations

import random

import pytest

from tests.report.synthetic import DEMO, Shape, demo_trials, one_trial
from wiretrial.plan import Stage
from wiretrial.report import drift, load_json, load_lines, run
from wiretrial.results.model import ProcessSample, Trial

SHAPE = Shape("HTTP", "g", "http", "reference", "Rust", 20e3, 8.3, 0.62, 6.9, 178, 166)
JUDGEMENT = demo_trials(blocks=1, shapes=DEMO[:1])[0].judgement
SECOND = 10**9


def trial(*, mb_per_min: float = 0.0, costlier: float = 0.0) -> Trial:
    """80 intervals of 100 ms; the server has 100 MB and uses 10 us for each reply at first.

    `costlier`: by this share more at the end.
    """
    made = one_trial(SHAPE, 0, 0, 1, JUDGEMENT, 1.0, random.Random(1), warmup=0, measured=80)
    draw, spent, samples = random.Random(2), 0.0, []
    for index, one in enumerate(made.intervals):
        rss = 100e6 + mb_per_min * 1e6 * one.start_ns / 60e9 + draw.gauss(0, 1e4)
        samples.append(
            ProcessSample(
                offset_ns=one.start_ns,
                cpu_user_ns=round(spent),
                cpu_system_ns=0,
                rss_bytes=round(rss),
            )
        )
        spent += one.counters.ok * 10e3 * (1 + costlier * index / 80)
    scenario = made.scenario.model_copy(update={"is_soak": True})
    return made.model_copy(update={"subject_samples": tuple(samples), "scenario": scenario})


def drifted(of: Trial) -> dict[str, drift.Quantity]:
    found = drift.of(of)
    assert found is not None
    assert [one.name for one in found.quantities] == [
        "throughput",
        "p99",
        "server memory",
        "server CPU per request",
    ]
    return {one.name: one for one in found.drifted}


def test_what_does_not_drift_is_said_in_one_line() -> None:
    found = drift.of(trial())
    assert found is not None
    assert not found.drifted
    assert found.sentence.startswith("No drift over ")
    assert found.sentence.endswith("throughput, p99, server memory and server CPU per request.")


def test_a_leak_is_told_with_its_rate() -> None:
    (memory,) = drifted(trial(mb_per_min=30)).values()
    assert memory.slope is not None
    assert memory.slope.value * 60 == pytest.approx(30e6, rel=0.03)
    assert memory.slope.low <= memory.slope.value <= memory.slope.high
    assert memory.told.startswith("server memory grew by ")
    assert " MB/min (" in memory.told


def test_what_gets_costlier_is_told() -> None:
    (cpu,) = drifted(trial(costlier=0.5)).values()
    assert cpu.slope is not None
    # Half of 10 us more within 8 s.
    assert cpu.slope.value == pytest.approx(5e3 / 8, rel=0.1)
    assert cpu.told.startswith("server CPU per request grew by ")


def test_it_is_in_the_first_lines_the_page_and_the_json() -> None:
    leaking = trial(mb_per_min=30)
    lines = load_lines.render(leaking).splitlines()
    assert any(line.startswith("Drift: server memory grew by ") for line in lines[:5])
    told = drift.of(leaking)
    assert told is not None
    assert told.sentence in run.build(leaking).own
    rows = {one["quantity"]: one for one in load_json(leaking)["drift"]}
    assert rows["throughput"]["per_second"] is None
    assert rows["server memory"]["low"] > 0


def test_nothing_is_said_of_short_runs_and_loads_over_time() -> None:
    soak = trial(mb_per_min=30)
    short = soak.scenario.model_copy(update={"is_soak": False})
    assert drift.of(soak.model_copy(update={"scenario": short})) is None
    stage = Stage.model_validate({"for_ns": SECOND, "from": 0, "to": 1})
    load = soak.plan.load.model_copy(update={"stages": (stage,)})
    plan = soak.plan.model_copy(update={"load": load})
    assert drift.of(soak.model_copy(update={"plan": plan})) is None


def test_a_run_without_samples_of_the_server_says_what_it_followed() -> None:
    found = drift.of(trial().model_copy(update={"subject_samples": ()}))
    assert found is not None
    assert [one.name for one in found.quantities] == ["throughput", "p99"]
