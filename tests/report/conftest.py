"""The demo's shape and a whole study, once for all tests that only read them."""

from __future__ import annotations

import pytest

from tests.report import synthetic_study
from tests.report.synthetic import ORDER, demo_trials
from wiretrial.report.model import ReportModel, build

CLIENT_BOUND = frozenset({("Raw TCP", 2), ("WebSocket", 2)})
INVALID = frozenset({("HTTP keep-alive on Node", 3)})


@pytest.fixture(scope="session")
def report() -> ReportModel:
    """Seven scenarios, five blocks, two trials client-bound, one invalid."""
    return build(
        demo_trials(client_bound=CLIENT_BOUND, invalid=INVALID),
        question="What does one 64-byte message cost over HTTP, WebSocket and TCP, here?",
        title="HTTP or WebSocket for a 64-byte request?",
        command="wiretrial demo --trials 5 --seed 1",
        order=ORDER,
    )


@pytest.fixture(scope="session")
def study() -> ReportModel:
    """Three subjects at three numbers of connections and at one rate, a twin, knees, claims."""
    return synthetic_study.report()


@pytest.fixture(scope="session")
def cases() -> ReportModel:
    """Three subjects in six cases whose result is a time."""
    return build(
        synthetic_study.cases_trials(),
        question="How long does each case take?",
        title="Which server answers soonest?",
        command="wiretrial study run rest --seed 1",
        order=[shape.name for shape in synthetic_study.cases()],
    )
