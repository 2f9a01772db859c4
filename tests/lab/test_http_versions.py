"""The study `http-versions`: which rows stand beside each other, and in how much time."""

from __future__ import annotations

import pytest

from tests.lab.whole_studies import by_label, check_claims, check_readme, check_time, of
from wiretrial.plan import OpenLoop
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import registry as subjects

NAME = "http-versions"
VERSIONS = {"1.1", "2", "3"}
LOST = ["", ",loss=0.1%", ",loss=1%", ",loss=2%", ",loss=1%/8"]


def in_flight(cases: list[Case]) -> set[int]:
    return {case.load.connections * case.load.depth for case in cases}


def layouts(cases: list[Case], version: str) -> set[tuple[int, int]]:
    return {
        (case.load.connections, case.load.depth) for case in cases if case.http.version == version
    }


def test_a_message_goes_over_each_protocol_with_and_without_tls(study: Study) -> None:
    asked = of(study, "message")
    assert {case.spoken for case in asked} == {
        *("http", "https", "h2c", "h2", "h3", "ws", "wss", "grpc", "grpcs")
    }
    assert in_flight(asked) == {32}
    rates = {case.load.executor.rate for case in asked if isinstance(case.load.executor, OpenLoop)}
    assert rates == {1000, 8000}
    # All rows of a rate stand in one group, against one baseline.
    assert {case.scenario.group for case in asked} == {"message, 1,000/s", "message, 8,000/s"}
    bases = {case.scenario.baseline for case in asked} - {None}
    assert {study.case(str(base)).scenario.label for base in bases} == {"HTTP/1.1, 32 x 1"}


@pytest.mark.parametrize(
    ("family", "many", "grid"),
    [
        ("32 in flight", 32, {(32, 1), (4, 8), (1, 32)}),
        ("Caddy, 32 in flight", 32, {(32, 1), (4, 8), (1, 32)}),
        ("256 in flight", 256, {(256, 1), (32, 8), (4, 64)}),
        ("sizes", 8, {(8, 1), (1, 8)}),
    ],
)
def test_as_many_are_in_flight_in_each_layout(
    study: Study, family: str, many: int, grid: set[tuple[int, int]]
) -> None:
    asked = of(study, family)
    assert in_flight(asked) == {many}
    assert layouts(asked, "1.1") == {(many, 1)}
    assert layouts(asked, "2") == layouts(asked, "3") == grid


def test_an_arena_s_layouts_stand_beside_equal_ones(study: Study) -> None:
    for subject in ("reference-http3", "caddy-http3"):
        own = [case for case in of(study, "an arena's layouts") if case.scenario.subject == subject]
        assert layouts(own, "2") == {(256, 100), (64, 64)}
        assert layouts(own, "3") == {(64, 64)}
        assert len({case.scenario.group for case in own}) == 1


def test_each_loss_is_asked_of_each_version_at_one_rate_and_as_fast_as_it_goes(
    study: Study,
) -> None:
    links = {f"link:delay=10ms,rate=50mbit{lost}" for lost in LOST}
    near = {"loopback", "lan", "vpn"}
    for family, environments in (("six in flight", links), ("at a distance", links | near)):
        for where in environments:
            asked = of(study, family, where)
            assert {case.http.version for case in asked} == VERSIONS, (family, where)
            assert len(in_flight(asked)) == 1
            assert len({case.scenario.group for case in asked}) == 1
        assert {case.scenario.environment for case in of(study, family)} == environments


def test_set_ups_are_whole_resumed_and_early(study: Study) -> None:
    asked = of(study, "set-up", "vpn")
    assert {(case.http.version, case.tls.resumption, case.http.early_data) for case in asked} == {
        *((version, whole, False) for version in VERSIONS for whole in (False, True)),
        ("3", True, True),
    }
    assert {case.load.requests_per_connection for case in asked} == {1}
    # Who takes early data is the server that all of HTTP/3 is asked of.
    over_3 = {case.scenario.configuration for case in asked if case.http.version == "3"}
    assert over_3 == {"early"}
    assert "--early-data" in subjects.find("reference-http3").configuration("early").command


def test_uploads_compare_algorithms_of_congestion_control(study: Study) -> None:
    asked = of(study, "uploads")
    every = ("cubic", "new-reno", "bbr")
    found = {(case.http.version, case.http.congestion) for case in asked}
    assert found == {(version, one) for version in ("2", "3") for one in every}
    # What is compared differs in the algorithm, or in the version: never in both.
    for case in asked:
        base = study.case(case.scenario.baseline) if case.scenario.baseline else case
        assert base.http.congestion == "cubic"
        same = base.http.version == case.http.version
        assert same or case.http.congestion == "cubic", case.scenario.name
        assert base.scenario.group == case.scenario.group


def test_elsewhere_it_is_the_same_over_tcp_and_quic(study: Study) -> None:
    others = [case for case in study.cases if case.scenario.levels["workload"] != "uploads"]
    assert {case.http.congestion for case in others} == {"cubic"}
    # Each server can be told, but for Caddy over loopback, which has the machine's.
    for case in study.cases:
        scenario = case.scenario
        told = subjects.find(scenario.subject).configuration(scenario.configuration).congestion
        assert told or (scenario.subject.startswith("caddy") and scenario.environment == "loopback")


def test_every_subject_keeps_what_it_is_asked_for(study: Study) -> None:
    for case in study.cases:
        claims = subjects.find(case.scenario.subject).spec.claims()
        assert (case.contract, case.spoken) in claims, case.scenario.name


def test_it_fits_in_its_time(document: Document, study: Study) -> None:
    check_time(document, study, hours=0.75, quick_seconds=230)


def test_every_claim_finds_its_sides(study: Study) -> None:
    assert len(study.claims) == 9
    check_claims(study, by_label, fewest_trials=3)


def test_the_readme_says_what_is_kept() -> None:
    check_readme(NAME)
