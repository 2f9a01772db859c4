"""Published events: their load, the wait of the last receiver, and the memory of each."""

from __future__ import annotations

import pytest

from tests.report.synthetic import Shape, demo_trials
from wiretrial.plan_publish import Publish
from wiretrial.report import metrics, page, phrases
from wiretrial.report.blocks import Panels, Section, Table
from wiretrial.report.finding import Finding, Multiple
from wiretrial.report.model import ReportModel, build
from wiretrial.report.tables import receivers
from wiretrial.results.model import Trial
from wiretrial.results.observation import Observation, Plateau

NUMBERS = (100, 1000)
EACH = {"events": 20_000, "socket": 10_000}
"""Bytes that a receiver takes."""
ALONE = 5_000_000
"""Bytes that a server has without any."""


def shape(way: str, number: int) -> Shape:
    title = f"to many, {number:,} connections"
    return Shape(
        name=f"{way}: {title}",
        group=title,
        protocol="ws",
        subject=way,
        language="Rust",
        rate=10e3,
        server_us=20.0 if way == "events" else 5.0,
        system_share=0.6,
        generator_us=5.0,
        sent_bytes=0,
        received_bytes=66,
        connections=number,
        label=way,
        levels={"workload": "to many", "connections": number, "publish": 10.0},
        ranked_by="server",
    )


def heard(trial: Trial) -> Trial:
    """The trial as one of receivers, each of which hears what is published."""
    times = [
        one.model_copy(
            update={
                "histograms": {
                    **one.histograms,
                    "delivery_time": one.histograms["service_time"],
                    "reach_time": one.histograms["service_time"],
                }
            }
        )
        for one in trial.intervals
    ]
    number = trial.plan.load.connections
    memory = ALONE + number * EACH[trial.scenario.subject]
    end = Plateau(name="end", offset_ns=0, took_ns=0, connections=number, pss_bytes=memory)
    seen = Observation(
        cpu_resolution_ns=1, tick_ns=1, cost_ns=0, watched_ns=1, alone=False, plateaus=(end,)
    )
    published = Publish(url="http://127.0.0.1:9001/publish", rate=10.0)
    plan = trial.plan.model_copy(update={"publish": published})
    told = {"intervals": tuple(times), "plan": plan, "observation": seen}
    return trial.model_copy(update=told)


SHAPES = tuple(shape(way, number) for number in NUMBERS for way in EACH)


@pytest.fixture(scope="module")
def trials() -> list[Trial]:
    return [heard(trial) for trial in demo_trials(blocks=4, shapes=SHAPES)]


@pytest.fixture(scope="module")
def pushed(trials: list[Trial]) -> ReportModel:
    order = [one.name for one in SHAPES]
    return build(trials, question="Q?", title="T", command="again", order=order)


def ranked(model: ReportModel) -> list[Section]:
    return [one for one in page.sections(model) if ": to many, " in one.title]


def test_a_cpu_figure_names_the_rate_of_events(pushed: ReportModel) -> None:
    assert [section.title for section in ranked(pushed)] == [
        "Server CPU at 10 events/s: to many, 100 connections",
        "Server CPU at 10 events/s: to many, 1,000 connections",
    ]
    costs = [one for one in pushed.findings if one.metric is metrics.SERVER]
    assert costs
    # Receivers are a closed loop to the generator, but the rate is the same for all.
    assert not any("closed loop" in phrases.say(one, whole=True) for one in costs)


def test_the_last_receiver_stands_beside_the_cost(pushed: ReportModel) -> None:
    for section in ranked(pushed):
        tables = [one.table for one in section.blocks if isinstance(one, Panels)]
        heads = [column.title for table in tables if table for column in table.columns]
        assert any(head.startswith("Last receiver, p50, ") for head in heads), heads


def test_memory_is_what_many_receivers_take_more_than_few(trials: list[Trial]) -> None:
    table, _ = receivers.blocks(trials)
    assert isinstance(table, Table)
    assert [column.title for column in table.columns] == [
        "Scenario",
        "Receivers",
        "Per receiver, kB",
        "Server with the most, MB",
    ]
    told = [(row[0].text, row[1].text, row[2].value, row[3].value) for row in table.rows]
    assert told == [
        ("socket", "100 and 1,000", 10_000.0, 15_000_000),
        ("events", "100 and 1,000", 20_000.0, 25_000_000),
    ]


def test_one_number_of_receivers_tells_no_memory_of_each(trials: list[Trial]) -> None:
    few = [trial for trial in trials if trial.plan.load.connections == NUMBERS[0]]
    assert receivers.blocks(few) == ()
    silent = [trial.plan.model_copy(update={"publish": None}) for trial in trials]
    others = zip(trials, silent, strict=True)
    assert receivers.blocks([one.model_copy(update={"plan": plan}) for one, plan in others]) == ()


LAYOUTS = ("HTTP/1.1, 32 x 1", "HTTP/2, 4 x 8", "HTTP/3, 4 x 8")


def test_labels_with_commas_are_told_apart() -> None:
    found = Finding("untold", metric=metrics.P99, leaders=LAYOUTS)
    assert phrases.say(found, whole=True) == (
        "No difference in p99 is shown between HTTP/1.1, 32 x 1; HTTP/2, 4 x 8 and HTTP/3, 4 x 8."
    )


def test_a_label_that_ends_with_a_digit_is_told_from_its_figure() -> None:
    base, *others = LAYOUTS
    found = Finding(
        "multiples",
        metric=metrics.SERVER,
        base=base,
        others=(Multiple(others[0], 0.25), Multiple(others[1], 0.5)),
    )
    assert phrases.say(found, whole=True) == (
        "Server CPU per message as multiples of HTTP/1.1, 32 x 1: HTTP/2, 4 x 8: 0.250; "
        "HTTP/3, 4 x 8: 0.500."
    )
    best = Finding(
        "best", metric=metrics.SERVER, leaders=(base,), others=(Multiple(others[0], 2.0),)
    )
    assert phrases.say(best) == (
        "Least server CPU per message with HTTP/1.1, 32 x 1; HTTP/2, 4 x 8: 2.00 times as much."
    )
