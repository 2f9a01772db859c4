"""The study `websocket-servers`: its matrix, how long it takes, and what stands in its README."""

from __future__ import annotations

from tests.lab.whole_studies import by_label, check_claims, check_readme, check_time, of
from wiretrial.plan import Hold, OpenLoop
from wiretrial.studies import registry
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Study
from wiretrial.subjects import registry as subjects

NAME = "websocket-servers"
PUBLISHED = {
    *("uwebsockets-0.14", "websocketpp", "gorilla", "crow", "beast", "ws", "socket-io"),
    *("uwebsockets", "libwebsockets"),
}
HUGE = 104_857_600
APART = "at one rate, charged apart"


def test_connections_are_held_up_to_a_million(study: Study) -> None:
    held = [case for case in study.cases if isinstance(case.load.executor, Hold)]
    assert {case.load.connections for case in held} == {10_000, 100_000, 500_000, 1_000_000}
    for case in held:
        assert case.copies == "fit"
        # Every other port of 28,232 is soon found.
        assert case.load.connections <= 14_116 * max(1, len(case.sources))
    assert {case.scenario.subject for case in of(study, "connections")} >= PUBLISHED
    half = {case.scenario.subject for case in of(study, "half a million connections")}
    assert half == {"uwebsockets", "websocketpp", "ws"}


def test_short_messages_are_those_of_the_published_tool(study: Study) -> None:
    names = ("short messages", "packs of ten", "random bursts")
    cases = [case for name in names for case in of(study, name)]
    served: dict[tuple[int, str], set[str]] = {}
    for case in cases:
        kind = case.load.pack, case.load.executor.kind
        served.setdefault(kind, set()).add(case.scenario.subject)
    assert served.keys() == {(p, kind) for p in (10, 1) for kind in ("closed", "random-burst")}
    assert all(named >= PUBLISHED for named in served.values())
    for case in cases:
        assert (case.load.connections, case.scenario.levels["payload"]) == (10_000, 20)
        assert case.load.depth == case.load.pack
        assert (study.threads_of(case), study.generator_threads) == (1, 1)


def test_one_message_is_huge(study: Study) -> None:
    for case in of(study, "huge message"):
        assert (case.load.connections, case.scenario.levels["payload"]) == (1, HUGE)
        assert case.scenario.ranked_by == "bandwidth"


def test_beyond_the_published_study_there_are_sizes_tls_compression_and_one_rate(
    study: Study,
) -> None:
    sizes = {case.scenario.levels["payload"] for case in of(study, "sizes")}
    assert sizes == {256, 4096, 65536}
    assert {case.protocol for case in of(study, "inside TLS")} == {"wss"}
    compressed = {bool(case.websocket.deflate) for case in of(study, "compression")}
    assert compressed == {True, False}
    assert all(case.rate_from for case in of(study, "at one rate"))


def test_ten_servers_are_charged_apart_at_one_stated_rate(study: Study) -> None:
    cases = of(study, APART)
    assert {case.scenario.environment for case in cases} == {"loopback", "veth-steered"}
    executors = [case.load.executor for case in cases]
    assert {one.rate for one in executors if isinstance(one, OpenLoop)} == {10_000}
    assert len(cases) == len(executors) == 20
    assert all(case.scenario.ranked_by == "server" for case in cases)


def test_ranks_rest_on_twelve_trials_of_three_occasions(study: Study) -> None:
    for case in study.cases:
        few = str(case.scenario.levels["workload"]).endswith(
            ("many connections", "million connections")
        )
        assert study.trials_of(case) >= (1 if few else 4)
    twins = [case for case in study.cases if case.scenario.twin_of]
    assert "short messages" in {twin.scenario.levels["workload"] for twin in twins}


def test_it_fits_in_its_time(document: Document, study: Study) -> None:
    check_time(document, study, hours=1.5, quick_seconds=240)


def test_every_claim_finds_its_sides(study: Study) -> None:
    check_claims(study, by_label)


def test_every_subject_is_in_the_catalogue() -> None:
    for name in registry.subjects_of(NAME):
        assert "ws-echo" in subjects.find(name).spec.contracts


def test_the_readme_says_what_is_kept() -> None:
    check_readme(NAME)
