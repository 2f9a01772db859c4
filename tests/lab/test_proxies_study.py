"""The study `proxies`: whom it asks for what, at which rates, and in how much time."""

from __future__ import annotations

from tests.lab.whole_studies import by_label, check_claims, check_readme, check_time, of
from wiretrial.studies import registry
from wiretrial.studies.document import Document
from wiretrial.studies.served import Served
from wiretrial.studies.spec import Study
from wiretrial.subjects import registry as subjects
from wiretrial.subjects.spec import PROXY

NAME = "proxies"
CARRIED = (
    *("HTTP/1.1", "HTTP/1.1 inside TLS", "HTTP/2 inside TLS"),
    *("WebSocket", "WebSocket inside TLS"),
)
DIRECT = {"reference", "reference-http2"}


def test_every_proxy_stands_before_the_same_server_beside_no_proxy() -> None:
    named = registry.subjects_of(NAME)
    proxies = [name for name in named if name not in DIRECT]
    assert len(proxies) == 8
    for name in proxies:
        spec = subjects.find(name).spec
        assert spec.backend == "reference"
        assert PROXY in spec.contracts
    assert set(named) - set(proxies) == DIRECT


def test_everything_is_asked_of_no_proxy_too(document: Document, study: Study) -> None:
    for workload in document.workload:
        # What the server behind does wrong needs a proxy before it.
        if workload.label is None and not (isinstance(workload, Served) and workload.backend):
            asked = {case.scenario.subject for case in of(study, workload.name)}
            assert len(asked & DIRECT) == 1, workload.name


def test_all_that_can_speak_tls_do(study: Study) -> None:
    for kind in CARRIED:
        proxies = {case.scenario.subject for case in of(study, kind)} - DIRECT
        able = {name for name in registry.subjects_of(NAME) if name not in DIRECT}
        if "TLS" in kind:
            able = {name for name in able if "https" in subjects.find(name).spec.speaks}
        assert proxies == able, kind


def test_a_common_rate_is_what_the_slowest_carries_of_the_same(study: Study) -> None:
    for kind in CARRIED:
        at_rate = of(study, f"{kind}, at one rate")
        tops = {case.scenario.name for case in of(study, kind)}
        assert at_rate
        for case in at_rate:
            assert case.rate_from is not None
            assert set(case.rate_from.scenarios) == tops


def test_both_forms_of_each_stand_beside_each_other(study: Study) -> None:
    asked = of(study, "HTTP/1.1, at one rate")
    tuned = {case.scenario.label for case in asked if case.scenario.configuration == "tuned"}
    plain = {case.scenario.label for case in asked if case.scenario.configuration == "default"}
    assert {f"{label}:tuned" for label in plain if label != "reference"} == tuned


def test_added_time_is_told_against_no_proxy(study: Study) -> None:
    for case in of(study, "1,000 requests a second"):
        if case.scenario.subject != "reference":
            assert case.scenario.baseline is not None
            assert study.case(case.scenario.baseline).scenario.subject == "reference"


def test_a_backend_breaks_in_each_way_for_what_may_be_asked_again_and_what_may_not(
    study: Study,
) -> None:
    kinds = {"a backend that breaks": "static", "a backend that breaks, POST": "http-echo"}
    for name, contract in kinds.items():
        asked = of(study, name)
        flags = {case.backend for case in asked}
        faults = ("close@100", "reset@100", "truncate@100", "garbage@100")
        assert flags == {(), *(("--fault", fault) for fault in faults)}
        for case in asked:
            assert study.allowed_errors_of(case) == 0.1
            assert case.contract == contract
            assert subjects.find(case.scenario.subject).spec.backend


def test_it_fits_in_its_time(document: Document, study: Study) -> None:
    check_time(document, study, hours=0.5, quick_seconds=300)


def test_every_claim_finds_its_sides(study: Study) -> None:
    assert len(study.claims) == 2
    check_claims(study, by_label)


def test_the_readme_says_what_is_kept() -> None:
    check_readme(NAME)
