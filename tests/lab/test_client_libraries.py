"""The study `client-libraries`: its matrix, how long it takes, and what stands in its README."""

from __future__ import annotations

from tests.lab.whole_studies import by_label, check_claims, check_quick, check_readme, of
from wiretrial.studies import estimate
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Study
from wiretrial.subjects import registry as subjects

NAME = "client-libraries"
RAW = "raw-client"
HOUR_NS = 3_600_000_000_000


def test_each_protocol_is_asked_with_a_kept_connection_and_with_new_clients(study: Study) -> None:
    modes = {
        ("page", "kept"): {"http", "https"},
        ("page, reinit", "fresh"): {"http", "https"},
        ("echo", "kept"): {"ws", "wss"},
        ("echo, reinit", "fresh"): {"ws", "wss"},
        ("socket", "kept"): {"tcp", "tls"},
    }
    for (workload, mode), protocols in modes.items():
        cases = of(study, workload)
        assert {case.protocol for case in cases} == protocols
        assert {case.driving.mode for case in cases if case.driving} == {mode}
        assert all(case.driving for case in cases)


def test_the_bare_socket_stands_in_every_group(study: Study) -> None:
    groups = {case.scenario.group for case in study.cases}
    assert {c.scenario.group for c in study.cases if c.scenario.subject == RAW} == groups
    assert all(name.startswith(f"{RAW}: ") for name in study.baselines)


def test_every_library_keeps_what_it_is_asked_for(study: Study) -> None:
    for case in study.cases:
        assert case.protocol in subjects.find(case.scenario.subject).spec.speaks, case.scenario
        server = subjects.find(case.driving.server).spec if case.driving else None
        assert server is not None
        assert (case.contract, case.protocol) in server.claims(), case.scenario


def test_it_fits_in_its_time(document: Document, study: Study) -> None:
    assert estimate.estimate(study).total_ns < HOUR_NS
    check_quick(document, study, seconds=300)


def test_every_claim_finds_its_sides(study: Study) -> None:
    # With one trial a ratio has no interval.
    check_claims(study, by_label, fewest_trials=2)


def test_the_readme_says_what_is_kept() -> None:
    check_readme(NAME)
