"""The study `game-bots`: its matrix, its time, its targets, and what stands in its README."""

from __future__ import annotations

import pytest

from tests.lab.whole_studies import by_subject, check_claims, check_readme, check_time, of
from wiretrial.errors import UsageProblem
from wiretrial.plan import AfterResponse, OpenLoop
from wiretrial.studies import admission, calibration, matrix, registry, targets
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Study
from wiretrial.subjects import registry as subjects
from wiretrial.subjects.needs import needed_parts

NAME = "game-bots"
FORMS = ("styx", "styx+json", "styx+ws", "styx+json+ws")
BINARY, JSON = "styx", "styx+json+ws"
BOTH = {"table-native", "table-netty"}


STEPS = {100, 400, 800, 1200, 1500, 1800, 2000}


def test_the_question_is_asked_from_100_bots_to_2000(study: Study) -> None:
    cases = of(study, "bots")
    assert {case.load.connections for case in cases} == STEPS
    assert {(case.scenario.subject, case.protocol) for case in cases} == {
        (subject, protocol) for subject in BOTH for protocol in (BINARY, JSON)
    }
    for case in cases:
        executor = case.load.executor
        assert isinstance(executor, OpenLoop)
        assert (executor.rate, executor.pacing) == (case.load.connections, "phased")


def test_protocols_are_compared_within_a_server(study: Study) -> None:
    groups = {case.scenario.group: set[str]() for case in of(study, "bots")}
    for case in of(study, "bots"):
        groups[case.scenario.group].add(str(case.scenario.label))
    assert len(groups) == 2 * len(STEPS)
    for subject in BOTH:
        assert groups[f"bots, {subject}, 100 connections"] == {
            "binary over TCP",
            "JSON over WebSocket",
        }


def test_codec_and_carrier_are_crossed_on_a_link_of_their_own(study: Study) -> None:
    cases = of(study, "codec and carrier")
    assert {case.protocol for case in cases} == set(FORMS)
    assert {case.scenario.environment for case in cases} == {"namespace"}


def test_tables_and_the_lobby_are_factors(study: Study) -> None:
    sizes = of(study, "table sizes")
    assert {case.styx.table_size for case in sizes} == {1, 2, 6, 10}
    assert all(case.load.connections % case.styx.table_size == 0 for case in sizes)
    assert not any(case.styx.lobby for case in sizes)
    lobby = of(study, "lobby")
    assert {case.styx.lobby for case in lobby} == {False, True}
    assert {case.scenario.label for case in lobby} == {f"lobby {level}" for level in ("off", "on")}
    (on,) = [c for c in lobby if c.styx.lobby and c.protocol == BINARY]
    assert {"lobby", "fan-out"} <= needed_parts(admission.workload_of(on))


def test_the_article_s_bots_wait_for_the_response(study: Study) -> None:
    for case in of(study, "the article's bots"):
        assert case.load.executor == AfterResponse(pause_ns=10**9)
    slow = {case.load.executor.kind: case for case in of(study, "a slow table")}
    assert set(slow) == {"open", "after-response"}
    assert all(case.styx.delay_ms == 60 and case.delay_ms == 0 for case in slow.values())


def test_the_twin_has_messages_enough_for_its_quantile(study: Study) -> None:
    twins = [case for case in study.cases if case.scenario.twin_of]
    connections = {twin.scenario.levels["workload"]: twin.load.connections for twin in twins}
    assert connections["bots"] == 2000
    assert len(connections) == len(twins) == 8


def test_the_generator_is_calibrated_with_the_same_tables(study: Study) -> None:
    (few, *_) = [case for case in of(study, "table sizes") if case.styx.table_size == 1]
    (many, *_) = [
        case
        for case in of(study, "table sizes")
        if case.styx.table_size == 10 and case.protocol == few.protocol
    ]
    assert calibration.load_of(study, few) != calibration.load_of(study, many)


def test_it_fits_in_its_time(document: Document, study: Study) -> None:
    check_time(document, study, hours=0.6, quick_seconds=300)


def test_every_claim_finds_its_sides(study: Study) -> None:
    check_claims(study, by_subject)


def test_every_subject_keeps_the_contract_in_every_form() -> None:
    for name in registry.subjects_of(NAME):
        spec = subjects.find(name).spec
        assert "table" in spec.contracts
        assert set(FORMS) <= set(spec.speaks)


def test_the_readme_says_what_is_kept() -> None:
    check_readme(NAME)


def put(document: Document, *given: str) -> Study:
    """The study against these targets."""
    aims = targets.parse(given, document)
    return targets.put(
        matrix.expand(NAME, targets.aimed(document, aims), command="-", seed=1), aims
    )


def test_a_target_takes_the_place_of_the_subjects(document: Document) -> None:
    study = put(document, "192.0.2.7:4123")
    assert {case.protocol for case in study.cases} == {BINARY}
    assert {case.url for case in study.cases} == {"styx://192.0.2.7:4123"}
    assert {case.scenario.subject for case in study.cases} == {targets.NAME}
    assert {case.scenario.environment for case in study.cases} == {"loopback"}
    both = put(document, "192.0.2.7:4123", f"{JSON}://[::1]:8080/")
    assert {case.url for case in both.cases} == {"styx://192.0.2.7:4123", f"{JSON}://[::1]:8080"}
    for claim in both.claims:
        assert {side.subject for side in claim.sides} == {targets.NAME}
    assert len(both.claims) == len(document.claim)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("ftp://h:1",), "does not speak 'ftp': it speaks styx, styx"),
        (("h",), "--target h names no host and port: write HOST:PORT"),
        (("styx://:4123",), "names no host and port"),
        (("h:0",), "names no host and port"),
        (("h:1/path",), "names no host and port"),
        (("h:70000",), "names no host and port"),
        (("h:1", "styx://h:2"), "two servers for styx"),
    ],
)
def test_a_target_that_makes_no_sense_is_refused(
    document: Document, given: tuple[str, ...], expected: str
) -> None:
    with pytest.raises(UsageProblem) as problem:
        targets.parse(given, document)
    assert expected in problem.value.line()


def test_all_of_it_can_be_asked_with_the_article_s_bots(document: Document) -> None:
    study = matrix.expand(NAME, document.paced("after-response"), command="-", seed=1)
    assert {case.load.executor.kind for case in study.cases} == {"after-response"}
    assert len(of(study, "bots")) == 2 * 2 * len(STEPS)
    assert study.claims == ()
    with pytest.raises(UsageProblem, match="'later': unknown"):
        document.paced("later")
    with pytest.raises(UsageProblem, match="for studies with a rate"):
        registry.find("rest-frameworks").document.paced("phased")
