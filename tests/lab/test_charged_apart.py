"""Every study that comes with wiretrial repeats a subset where each side pays for its receiving."""

from __future__ import annotations

import pytest

from tests.lab.whole_studies import STUDIES
from wiretrial.machine import namespaces
from wiretrial.plan import OpenLoop
from wiretrial.studies import document, environments, estimate, matrix
from wiretrial.studies.spec import Case, Study

MINUTE_NS = 60_000_000_000
MOST_MINUTES = {"websocket-servers": 7.0}
OTHERS_MINUTES = 3.0
TEN = 10
FEWEST, MOST = 2, 5
"""Subjects of the subset of other studies, or their ways to talk."""


def study(name: str) -> Study:
    return matrix.expand(name, document.read(STUDIES / name), command="-", seed=1)


def apart(made: Study) -> list[Case]:
    """The cases of the subset, in both environments."""
    steered = [
        case.scenario.levels["workload"]
        for case in made.cases
        if case.scenario.environment == namespaces.STEERED
    ]
    return [case for case in made.cases if case.scenario.levels["workload"] in steered]


@pytest.mark.parametrize("name", sorted(path.parent.name for path in STUDIES.glob("*/study.toml")))
def test_a_subset_of_each_study_is_charged_apart(name: str) -> None:
    made = study(name)
    cases = apart(made)
    loopback, steered = (
        {
            (case.scenario.label, case.scenario.subject)
            for case in cases
            if case.scenario.environment == where and case.scenario.twin_of is None
        }
        for where in (environments.LOOPBACK, namespaces.STEERED)
    )
    assert loopback == steered
    if name == "websocket-servers":
        assert len(loopback) == TEN
    else:
        assert FEWEST <= len(loopback) <= MOST
    alone = made.model_copy(update={"cases": tuple(cases), "starts": None})
    minutes = estimate.estimate(alone).total_ns / MINUTE_NS
    assert minutes <= MOST_MINUTES.get(name, OTHERS_MINUTES)
    # A CPU figure names its load: a rate that is stated, of events too, or found for all of them
    # together, or a driver's one message at a time.
    for case in cases:
        is_stated = isinstance(case.load.executor, OpenLoop) or case.publishing is not None
        assert case.driving or is_stated
        assert case.rate_from == cases[0].rate_from
