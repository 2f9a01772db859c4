"""The ways as a study: what is asked, in which environments, and of whom."""

from __future__ import annotations

import pytest

from wiretrial.errors import UsageProblem
from wiretrial.studies import estimate, ways
from wiretrial.studies.spec import Study
from wiretrial.studies.ways import Target

FAR = "broadband-far"


@pytest.fixture(scope="module")
def study() -> Study:
    return ways.study(
        Target.of_subject("feathers"),
        "chromium",
        requests=50,
        over=["loopback", FAR],
        trials=5,
        seed=1,
        command="-",
    )


def test_url_cache_version_and_link_are_crossed(study: Study) -> None:
    crossed = {
        (b.http, b.urls, b.cache, case.scenario.environment)
        for case in study.cases
        if (b := case.browsing) and b.transport == "fetch" and b.pattern == "parallel"
    }
    for where in ("loopback", FAR):
        for http in ("1.1", "2"):
            for urls, cache in (("same", "default"), ("unique", "default"), ("same", "no-store")):
                assert (http, urls, cache, where) in crossed
        assert ("1.1 over TLS", "unique", "default", where) in crossed


def test_feathers_is_asked_over_socket_io_and_reference_over_both() -> None:
    assert Target.of_subject("feathers").transports == ("fetch", "socket.io")
    assert Target.of_subject("reference:tuned").transports == ("fetch", "websocket", "socket.io")
    assert Target.of_subject("reference:tuned").configuration == "tuned"
    assert Target.of_subject("nginx").path == "/message"


def test_who_answers_no_get_is_refused() -> None:
    with pytest.raises(UsageProblem, match="does not answer a GET"):
        Target.of_subject("raw-client")


def test_the_floor_is_the_link_alone(study: Study) -> None:
    for case in study.cases:
        assert case.browsing is not None
        turns = 1 if case.browsing.pattern == "parallel" else case.requests
        assert turns is not None
        far = case.scenario.environment == FAR
        assert case.scenario.floor_ns == (turns * 105_000_000 if far else None)


def test_it_ends_in_its_time_and_can_be_read_again(study: Study) -> None:
    assert estimate.estimate(study).total_ns < 30 * 60 * 1e9
    assert Study.model_validate_json(study.model_dump_json(by_alias=True)) == study


def test_every_published_figure_finds_its_sides(study: Study) -> None:
    assert len(study.claims) == 3
    for claim in study.claims:
        for side in claim.sides:
            matching = [
                case.scenario
                for case in study.cases
                if case.scenario.label == side.subject
                and case.scenario.levels["workload"] == side.workload
                and all(case.scenario.levels.get(k) == v for k, v in side.levels.items())
            ]
            assert len(matching) == 1, f"{claim.text}: {side}"
