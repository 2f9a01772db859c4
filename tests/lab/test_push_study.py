"""The study `push`: who is asked in which way, what is compared with what, and in how much time."""

from __future__ import annotations

import json
from datetime import datetime

from tests.lab.whole_studies import STUDIES, check_readme, check_time, of
from wiretrial.results import kept
from wiretrial.results.model import Scenario
from wiretrial.studies import estimate
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Study
from wiretrial.subjects import registry as subjects

NAME = "push"
WAYS = {
    *("server-sent events", "events over HTTP/2", "WebSocket"),
    *("long polling", "Socket.IO", "gRPC"),
}
OVER_HTTP3 = "events over HTTP/3"
FAMILIES = ("to many", "often", "large", "inside TLS")


def way(scenario: Scenario) -> str:
    """What a row's label tells behind its subject."""
    return (scenario.label or "").partition(", ")[2]


def test_each_way_is_asked_of_a_reference_server_and_of_one_that_people_run(study: Study) -> None:
    for family in FAMILIES:
        scenarios = [case.scenario for case in of(study, family)]
        asked = {(way(one), one.subject.startswith("reference")) for one in scenarios}
        wanted = {(one, is_reference) for one in WAYS for is_reference in (True, False)}
        if family == "inside TLS":
            # None of those that people run tells anything over HTTP/3.
            wanted.add((OVER_HTTP3, True))
        assert asked == wanted, family


def test_every_subject_keeps_what_it_is_asked_for(study: Study) -> None:
    for case in study.cases:
        claims = subjects.find(case.scenario.subject).spec.claims()
        assert (case.contract, case.spoken) in claims, case.scenario.name


def test_each_row_is_compared_with_one_of_its_group(study: Study) -> None:
    scenarios = [case.scenario for case in study.cases if case.scenario.twin_of is None]
    groups = {one.name: one.group for one in scenarios}
    for one in scenarios:
        if one.baseline is None:
            assert any(other.baseline == one.name for other in scenarios), one.name
        else:
            assert groups[one.baseline] == one.group, one.name


def test_as_many_copies_are_due_whatever_receivers_share(study: Study) -> None:
    for family in ("often", "inside TLS", "shared connections"):
        for case in of(study, family):
            assert case.publishing is not None
            receivers = case.load.connections * case.load.depth
            assert receivers * case.publishing.rate == 10_000, case.scenario.name


def test_it_fits_in_its_time(document: Document, study: Study) -> None:
    check_time(document, study, hours=0.8, quick_seconds=600)


def test_its_first_occasion_took_as_long_as_is_estimated() -> None:
    told = kept.read(STUDIES / NAME / kept.FILE)
    measured = Study.model_validate_json(json.dumps(told.head.study))
    begun = [datetime.fromisoformat(one.started_at) for one in told.trials if one.occasion == 1]
    took_ns = (max(begun) - min(begun)).total_seconds() * 1e9
    assert took_ns < estimate.estimate(measured).total_ns < 1.15 * took_ns


def test_the_readme_says_what_is_kept() -> None:
    check_readme(NAME)
