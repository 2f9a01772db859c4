"""The study `rest-frameworks`: its matrix, how long it takes, and what stands in its README."""

from __future__ import annotations

from tests.lab.whole_studies import by_label, check_claims, check_readme, check_time
from wiretrial.studies import registry
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import registry as subjects

NAME = "rest-frameworks"
SIX = {"cpprestsdk", "crow", "cpp-httplib", "pistache", "restbed", "restinio"}


def published(study: Study) -> list[Case]:
    """Scenarios of the published kind: closed loop, a new connection per request."""
    return [
        case
        for case in study.cases
        if case.requests_each
        and case.load.requests_per_connection == 1
        and case.scenario.twin_of is None
    ]


def cell(case: Case) -> tuple[object, ...]:
    return case.requests_each, case.delay_ms, case.server_threads, case.scenario.environment


def test_all_twelve_cases_are_there(study: Study) -> None:
    cells = {cell(case) for case in published(study)}
    assert cells == {
        (each, delay, threads, where)
        for each, delay in ((1000, 0), (200, 200), (1000, 200))
        for threads in (28, 4)
        for where in ("loopback", "vpn")
    }
    for case in published(study):
        assert case.load.connections == 10
        assert case.load.depth == 1
        assert case.contract == "rest"


def test_the_six_are_in_every_case_with_new_connections_and_with_kept_ones(study: Study) -> None:
    rows: dict[tuple[object, ...], set[str]] = {}
    for case in study.cases:
        if case.requests_each and case.scenario.twin_of is None:
            kept = case.load.requests_per_connection is None
            rows.setdefault((kept, *cell(case)), set()).add(case.scenario.subject)
    assert sum(not kept for kept, *_ in rows) == 12
    # Kept connections tell more where no link and no larger N decide alone.
    assert {(each, delay, where) for kept, each, delay, _, where in rows if kept} == {
        (1000, 0, "loopback"),
        (200, 200, "loopback"),
    }
    assert all(named >= SIX for named in rows.values())


def test_what_waits_runs_beside_others_and_what_works_runs_alone(study: Study) -> None:
    for case in study.cases:
        assert case.scenario.together == (16 if case.scenario.floor_ns else 1)


def test_what_sits_on_its_floor_runs_once(study: Study) -> None:
    for case in study.cases:
        if case.scenario.floor_ns:
            assert (study.trials_of(case), study.trials_of(case, 2)) == (1, 0)
        elif case.trials != 1:
            assert study.trials_of(case, 2) == study.trials_of(case) >= 4


def test_there_are_kept_connections_an_open_loop_and_a_twin(study: Study) -> None:
    assert any(case.scenario.levels["requests_per_connection"] == "kept" for case in study.cases)
    assert any(case.load.executor.kind == "open" for case in study.cases)
    twins = [case for case in study.cases if case.scenario.twin_of]
    trials = {twin.scenario.levels["workload"]: study.trials_of(twin) for twin in twins}
    assert trials.keys() >= {"no work", "no work, kept", "open loop"}
    assert min(trials.values()) >= 4


def test_the_handler_that_waits_is_a_row_beside_the_one_that_does_not(study: Study) -> None:
    both = [case for case in study.cases if case.scenario.subject.startswith("cpprestsdk")]
    four = {case.scenario.subject for case in both if case.server_threads == 4 and case.is_counted}
    assert four == {"cpprestsdk", "cpprestsdk-article"}


def test_it_fits_in_its_time(document: Document, study: Study) -> None:
    check_time(document, study, hours=0.75, quick_seconds=300)


def test_every_claim_finds_its_sides(study: Study) -> None:
    check_claims(study, by_label)


def test_every_subject_is_in_the_catalogue() -> None:
    for name in registry.subjects_of(NAME):
        assert "rest" in subjects.find(name).spec.contracts


def test_the_readme_says_what_is_kept() -> None:
    check_readme(NAME)
