"""The study `http-vs-websocket`: its matrix, how long it takes, and what stands in its README."""

from __future__ import annotations

from base64 import b64decode

import pytest

from tests.lab.whole_studies import by_label, check_claims, check_readme, check_time, of
from wiretrial.plan import FixedContent, FixedPayload
from wiretrial.studies import registry as studies
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import registry as subjects

NAME = "http-vs-websocket"
FAR = "broadband-far"
RTT_NS = 105_000_000


def test_a_hundred_connections_carry_1_to_1000_messages_with_their_set_up(study: Study) -> None:
    for where, most in ((FAR, 500), ("loopback", 1000)):
        load = of(study, "load", where)
        for way in ("feathers, HTTP", "feathers, Socket.IO"):
            own = [case for case in load if case.scenario.label == way]
            assert sorted(case.requests_each or 0 for case in own) == [1, 10, 50, most]
        assert {case.scenario.label for case in load} >= {
            "reference, HTTP",
            "reference, Socket.IO",
            "reference, WebSocket",
        }
        for case in load:
            assert case.load.connections == 100
            # Each connection is opened for its messages, within the time.
            assert case.load.requests_per_connection == case.requests_each
            assert case.load.depth == 1


def test_both_sides_are_measured_with_as_many_in_flight(study: Study) -> None:
    deep = of(study, "depth", FAR)
    assert {(case.requests_each, case.load.depth) for case in deep} == {(2000, 2000)}
    assert len({str(case.scenario.label) for case in deep}) == 5
    assert {case.load.depth for case in of(study, "burst", FAR)} == {50}


def test_tls_payload_and_link_are_factors(study: Study) -> None:
    protocols = {case.protocol for case in of(study, "load", FAR)}
    assert protocols == {"http", "https", "ws", "wss", "socketio+ws", "socketio+wss"}
    assert len(of(study, "load", "vpn")) == 5
    sizes = {case.scenario.levels["payload"] for case in of(study, "echo", FAR)}
    assert sizes == {16384}


def test_what_is_compared_stands_in_one_group(study: Study) -> None:
    groups: dict[str, list[Case]] = {}
    for case in study.cases:
        if case.scenario.twin_of is None:
            groups.setdefault(case.scenario.group, []).append(case)
    for cases in groups.values():
        labels = [case.scenario.label for case in cases]
        assert len(set(labels)) == len(labels)
        assert len({(case.requests_each, case.load.depth) for case in cases}) == 1
        assert len({case.scenario.environment for case in cases}) == 1
    fifty = groups[f"load, 50 messages each, over {FAR}"]
    assert len(fifty) == 10


def test_the_floor_counts_the_round_trips_of_the_set_up(study: Study) -> None:
    trips = {
        str(case.scenario.label): (case.scenario.floor_ns or 0) / RTT_NS
        for case in of(study, "load", FAR)
        if case.requests_each == 50
    }
    assert trips["feathers, HTTP"] == pytest.approx(51, abs=0.1)
    assert trips["reference, WebSocket"] == pytest.approx(52, abs=0.1)
    assert trips["feathers, Socket.IO"] == pytest.approx(53, abs=0.1)
    assert trips["feathers, HTTP over TLS"] == pytest.approx(52, abs=0.1)
    assert trips["reference, WebSocket over TLS"] == pytest.approx(53, abs=0.1)


def test_it_fits_in_its_time(document: Document, study: Study) -> None:
    check_time(document, study, hours=0.75, quick_seconds=300)


def test_every_claim_finds_its_sides(study: Study) -> None:
    # With one trial a ratio has no interval.
    check_claims(study, by_label, fewest_trials=2)


def test_every_subject_keeps_what_it_is_asked_for(study: Study) -> None:
    for case in study.cases:
        assert (case.contract, case.protocol) in subjects.find(case.scenario.subject).spec.claims()


def test_a_call_is_the_same_over_http_and_over_socket_io(study: Study) -> None:
    sent = {
        case.protocol: case
        for case in of(study, "load", FAR)
        if case.scenario.subject == "feathers" and case.requests_each == 1
    }
    http, emitted = sent["http"], sent["socketio+ws"]
    assert (http.http.method, http.path) == ("GET", "/messages/testing")
    assert isinstance(http.expect.content, FixedContent)
    assert isinstance(emitted.expect.content, FixedContent)
    assert isinstance(emitted.message.source, FixedPayload)
    assert b64decode(http.expect.content.base64) == b'{"id":"testing"}'
    assert b64decode(emitted.message.source.base64) == b'["get","messages","testing"]'
    assert b64decode(emitted.expect.content.base64) == b'[null,{"id":"testing"}]'


def test_the_readme_says_what_is_kept() -> None:
    check_readme(NAME)


def test_the_browser_s_causes_are_crossed_over_both_environments(study: Study) -> None:
    for where in (FAR, "loopback"):
        asked = [case for case in of(study, "browser", where) if case.browsing]
        at_once = {
            (b.http, b.urls, b.cache)
            for case in asked
            if (b := case.browsing) and b.pattern == "parallel" and b.transport == "fetch"
        }
        causes = (("same", "default"), ("unique", "default"), ("same", "no-store"))
        assert at_once == {(http, *cause) for http in ("1.1", "2") for cause in causes}
        together = {case.requests for case in asked if case.scenario.levels["pattern"] == "at once"}
        assert together == {50}
        alone = [case for case in asked if case.scenario.levels["pattern"] == "one by one"]
        assert {case.scenario.label for case in alone} == {
            "HTTP/1.1, a URL each",
            "HTTP/2, a URL each",
            "Socket.IO",
        }
    # The front, which installing the study's subjects installs too.
    assert "nginx" in studies.subjects_of(NAME)
