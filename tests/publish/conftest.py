"""A small site in memory: two results with all of their trials, one of which figures are kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report import synthetic_rest, synthetic_study
from tests.report.synthetic import ORDER, demo_trials
from wiretrial.report import found, metrics
from wiretrial.report.model import ReportModel, build
from wiretrial.report.trend import found as trends
from wiretrial.report.trend.points import Line, Point
from wiretrial.site import entries, histories
from wiretrial.site.build import Site, made
from wiretrial.site.entries import Download, Entry
from wiretrial.site.histories import History
from wiretrial.subjects import registry

PICTURE = (
    b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'>"
    b"<title>Times of all: a 1 s.</title></svg>"
)
IN_SHORT = ("Take restinio: it is never far from the best.", "The rest takes longer.", "More.")


def demo(blocks: int = 5, seed: int = 1) -> ReportModel:
    """The demo's seven scenarios."""
    return build(
        demo_trials(blocks=blocks, seed=seed),
        question="What does one 64-byte message cost over HTTP, WebSocket and TCP, here?",
        title="HTTP or WebSocket for a 64-byte request?",
        command="wiretrial demo --trials 5 --seed 1",
        order=ORDER,
    )


def kept() -> Entry:
    """A study of which no trial is kept."""
    rest = synthetic_rest.report()
    told = found.of_report(rest)
    subjects = {trial.scenario.subject for trial in rest.trials}
    data = [
        Download("found.json", "every figure of the report, as JSON", told.to_json().encode()),
        Download("drawn.svg", "a picture", PICTURE),
    ]
    return entries.of_kept("rest", told, rest.title, rest.question, subjects, data, IN_SHORT)


def followed() -> tuple[History, ...]:
    """Thirty results: another kernel from the 7th on, and from the 19th on 8 % less throughput."""
    rates, times = [], []
    for day in range(30):
        rate = 50_000 * (1 + (day * 7 % 5 - 2) / 300) * (0.92 if day >= 18 else 1)
        point = Point(
            result=f"compare-{day:02}",
            at=f"2026-{1 + day // 28:02}-{1 + day % 28:02}T08:00:00+00:00",
            value=rate,
            low=rate * 0.99,
            high=rate * 1.01,
            trials=5,
            revision=f"c{day:06}",
            terms={"CPU": "Example CPU", "kernel": "6.6.2" if day >= 6 else "6.1.0"},
        )
        rates.append(point)
        times.append(replace(point, value=1e6 + day * 7 % 5 * 1e3, low=None, high=None))
    lines = [
        Line("compare", "WebSocket", one.key, one.title, one.units, one.higher_is_better, points)
        for one, points in (
            (metrics.THROUGHPUT, tuple(rates)),
            (metrics.P99, tuple(times[1:])),
        )
    ]
    return histories.of(map(trends.judge, lines))


@pytest.fixture(scope="session")
def site() -> Site:
    """Three results, a few subjects of the catalogue, and a scenario over time."""
    names = ("gorilla", "nginx", "reference", "restinio", "uwebsockets", "ws", "websockets-client")
    trials = Download("trials.jsonl.xz", "all trials", b"not really")
    return Site(
        title="What we measured",
        entries=(
            entries.of_model("demo", demo(), [trials]),
            entries.of_model("echo", synthetic_study.report(), [trials], part="occasion-1"),
            kept(),
        ),
        specs=tuple(registry.find(name).spec for name in names),
        base="https://results.example/bench/",
        histories=followed(),
    )


@pytest.fixture(scope="session")
def files(site: Site) -> dict[str, bytes]:
    """Every file of it."""
    return made(site)
