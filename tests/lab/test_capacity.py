"""The study capacity: what it asks of whom, and in how much time."""

from __future__ import annotations

import pytest

from tests.lab.whole_studies import check_quick, check_readme, of
from wiretrial.studies import estimate, registry
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import registry as subjects
from wiretrial.subjects.spec import TRAFFIC

NAME = "capacity"
MINUTE_NS = 60_000_000_000
ASKED = {"1 KB over HTTP": 20, "64 KB over WebSocket": 20, "sessions": 10}
"""Servers of each workload."""
WITHIN = {5: {0.25, 0.5}, 20: {1, 2}}
"""Sizes of machine by the goal, milliseconds."""


@pytest.mark.parametrize("goal", WITHIN)
@pytest.mark.parametrize("asked", ASKED)
def test_servers_are_asked_in_four_sizes_below_and_at_their_tops(
    study: Study, asked: str, goal: int
) -> None:
    cases = of(study, f"{asked} within {goal} ms")
    assert {case.cpus for case in cases} == WITHIN[goal]
    assert len({case.scenario.subject for case in cases}) == ASKED[asked]
    tops = [case for case in cases if case.scenario.level_of is None]
    assert all(case.knee and case.knee.objective == goal * 1_000_000 for case in tops)
    shares = [case.rate_from.share for case in cases if case.rate_from]
    assert set(shares) == {0.03, 0.15, 0.3, 0.45, 0.6}
    assert len(shares) == 5 * len(tops)


def can_run(case: Case) -> bool:
    """Whether its server claims what it asks, and fits on two cores beside the generator."""
    spec = subjects.find(case.scenario.subject).spec
    claims = case.contract == TRAFFIC or (case.contract, case.spoken) in spec.claims()
    return claims and (case.cpus or 0) <= 1


def test_an_occasion_fits_into_ninety_minutes_on_two_cores(study: Study) -> None:
    here = study.model_copy(update={"cases": tuple(filter(can_run, study.cases))})
    minutes = estimate.estimate(here).total_ns / MINUTE_NS
    assert 45 <= minutes <= 90


def test_a_quick_run_takes_five_minutes(document: Document, study: Study) -> None:
    check_quick(document, study, seconds=300)


def test_windows_are_whole_periods_of_a_limit(document: Document) -> None:
    assert document.duration % 100_000_000 == 0
    assert document.warmup % 100_000_000 == 0


def test_every_subject_is_in_the_catalogue() -> None:
    for name in registry.subjects_of(NAME):
        assert subjects.find(name).spec.name == name


def test_the_readme_says_what_is_kept() -> None:
    check_readme(NAME)
