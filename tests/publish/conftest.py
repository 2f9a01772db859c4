"""A small site in memory: two results with all of their trials, one of which figures are kept."""

from __future__ import annotations

import pytest

from tests.report import synthetic_rest, synthetic_study
from tests.report.synthetic import ORDER, demo_trials
from wiretrial.report import found
from wiretrial.report.model import ReportModel, build
from wiretrial.site import entries
from wiretrial.site.build import Site, made
from wiretrial.site.entries import Download, Entry
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


@pytest.fixture(scope="session")
def site() -> Site:
    """Three results and a few subjects of the catalogue."""
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
    )


@pytest.fixture(scope="session")
def files(site: Site) -> dict[str, bytes]:
    """Every file of it."""
    return made(site)
