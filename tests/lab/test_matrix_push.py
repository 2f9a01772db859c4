"""`publish` of a study: its scenarios, and what they become."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.test_matrix import expanded
from wiretrial.errors import UsageProblem
from wiretrial.machine.pinning import Pinning
from wiretrial.plan import AutoContent, ClosedLoop, Http, NoPayload
from wiretrial.plan_grpc import Grpc
from wiretrial.studies import admission, estimate, plans
from wiretrial.studies.pushed import Publishing
from wiretrial.studies.spec import Case
from wiretrial.subjects.needs import needed_parts

SECOND_NS = 1_000_000_000

PUSHED = """
title = "t"
question = "q"
subjects = ["reference"]
trials = 2

[[workload]]
name = "events"
protocol = ["http", "ws"]
contract = "push"
connections = [10, 100]
"""


def test_receivers_and_rates_make_a_grid(tmp_path: Path) -> None:
    study = expanded(tmp_path, PUSHED + "publish = [10, 200]\npayload = 100\n")
    cases = [case for case in study.cases if case.scenario.twin_of is None]
    assert len(cases) == 8
    assert {(case.protocol, case.http.sse) for case in cases} == {("http", True), ("ws", False)}
    assert {case.path for case in cases} == {"/subscribe"}
    published = {case.publishing for case in cases}
    assert published == {Publishing(rate=10, bytes=100), Publishing(rate=200, bytes=100)}
    for case in cases:
        assert isinstance(case.load.executor, ClosedLoop)
        assert isinstance(case.message.source, NoPayload)
    told = {case.scenario.workload for case in cases}
    assert "events: 100 bytes, 10 connections, held, 200 events/s" in told


def test_the_estimate_has_the_wait_for_the_last_copies(tmp_path: Path) -> None:
    lengths = 'trials = 2\nduration = "3s"\nwarmup = "2s"'
    study = expanded(tmp_path, PUSHED.replace("trials = 2", lengths) + "publish = 10\n")
    found = estimate.estimate(study).block_ns
    # Receivers are held to the end: the drain of 2 s is waited out in each trial.
    each = (2 + 3 + 2) * SECOND_NS + estimate.START_AND_STOP_NS
    assert found == len(study.cases) * each
    # A server that is primed has two such loads.
    cases = tuple(case.model_copy(update={"priming_ns": SECOND_NS}) for case in study.cases)
    primed = study.model_copy(update={"cases": cases})
    more = estimate.estimate(primed).block_ns - found
    assert more == len(cases) * (1 + 2) * SECOND_NS


def one(folder: Path, protocol: str, contract: str = "push", more: str = "") -> Case:
    """The first scenario of receivers over this protocol."""
    text = PUSHED.replace('["http", "ws"]', f'"{protocol}"').replace('"push"', f'"{contract}"')
    return expanded(folder, f"{text}publish = 10\n{more}").cases[0]


@pytest.mark.parametrize(
    ("protocol", "path", "http", "grpc"),
    [
        ("https", "/subscribe", Http(sse=True), Grpc()),
        ("wss", "/subscribe", Http(), Grpc()),
        ("socketio+ws", "", Http(), Grpc()),
        ("socketio+wss", "", Http(), Grpc()),
        ("grpc", "/wiretrial.Push/Subscribe", Http(), Grpc(kind="server")),
        ("grpcs", "/wiretrial.Push/Subscribe", Http(), Grpc(kind="server")),
    ],
)
def test_each_protocol_has_a_way_to_ask_for_events(
    tmp_path: Path, protocol: str, path: str, http: Http, grpc: Grpc
) -> None:
    case = one(tmp_path, protocol)
    assert (case.path, case.http, case.grpc) == (path, http, grpc)
    # The engine takes neither a payload nor a rule of those who are told.
    assert isinstance(case.message.source, NoPayload)
    assert isinstance(case.expect.content, AutoContent)
    needed = needed_parts(admission.workload_of(case))
    assert needed == {"exchange", "many", "half-open", "concurrency", "fan-out"}


def test_long_polls_are_a_contract_of_their_own(tmp_path: Path) -> None:
    case = one(tmp_path, "http", "long-poll")
    assert (case.contract, case.path, case.http) == ("long-poll", "/next", Http())
    assert case.publishing == Publishing(rate=10, long_poll=True)
    assert case.scenario.workload == "events: 10 connections, long polls, 10 events/s"


def test_streams_of_a_connection_are_receivers_too(tmp_path: Path) -> None:
    ways = (("http", 'http = "2"\n'), ("https", 'http = "3"\n'), ("grpc", ""))
    for protocol, more in ways:
        case = one(tmp_path, protocol, more=f"{more}streams = [5, 50]\n")
        assert (case.load.connections, case.load.depth) == (10, 5)
        assert "pipelining" in needed_parts(admission.workload_of(case))
        assert "10 connections, 5 streams on each" in case.scenario.workload
    assert one(tmp_path, "http", more='http = "2"\n').spoken == "h2c"
    assert one(tmp_path, "https", more='http = "3"\n').spoken == "h3"


def test_what_is_larger_than_a_message_may_be_has_to_be_verified(tmp_path: Path) -> None:
    case = one(tmp_path, "ws", more="payload = 100000\n")
    assert "large" in needed_parts(admission.workload_of(case))


def test_the_plan_says_who_polls(tmp_path: Path) -> None:
    text = PUSHED.replace('["http", "ws"]', '"http"').replace('"push"', '"long-poll"')
    study = expanded(tmp_path, f"{text}publish = 10\n")
    cpus = Pinning((0,), (1,))
    plan = plans.plan_of(study, study.cases[0], "http://127.0.0.1:8/next", cpus)
    assert plan.publish is not None
    assert (plan.publish.url, plan.publish.long_poll) == ("http://127.0.0.1:8/publish", True)
    assert not plan.target.http.sse


@pytest.mark.parametrize(
    ("url", "warmup_ns", "posted", "settle_ns"),
    [
        ("http://127.0.0.1:8/subscribe", 10**10, "http://127.0.0.1:8/publish", 10**9),
        ("wss://127.0.0.1:9/subscribe", 10**9, "https://127.0.0.1:9/publish", 5 * 10**8),
        ("ws://127.0.0.1:8/subscribe", 0, "http://127.0.0.1:8/publish", 5 * 10**7),
        ("socketio+wss://127.0.0.1:9", 0, "https://127.0.0.1:9/publish", 5 * 10**7),
        ("grpc://127.0.0.1:8/a.B/C", 0, "http://127.0.0.1:8/publish", 5 * 10**7),
        ("grpcs://127.0.0.1:9/a.B/C", 0, "https://127.0.0.1:9/publish", 5 * 10**7),
    ],
)
def test_events_are_posted_beside_their_receivers(
    url: str, warmup_ns: int, posted: str, settle_ns: int
) -> None:
    found = Publishing(rate=5).plan(url, warmup_ns)
    assert (found.url, found.settle_ns, found.bytes) == (posted, settle_ns, 64)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "`publish` and the contracts `push` and `long-poll` go together"),
        ("publish = 0\n", "greater than 0"),
        ("publish = 5\ndepth = 2\n", "`depth`"),
        ("publish = 5\npayload = [64, 32]\n", "`payload` is 33 bytes or more"),
        ('publish = 5\npayload = "json"\n', "`payload` is 33 bytes or more"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(UsageProblem, match=said):
        expanded(tmp_path, PUSHED + more)


@pytest.mark.parametrize(
    ("protocol", "contract", "more", "said"),
    [
        ("http", "push", "streams = 2\n", "`streams` are of HTTP/2, HTTP/3 and gRPC"),
        ("ws", "push", "streams = 2\n", "`streams` are of HTTP/2, HTTP/3 and gRPC"),
        ("http", "long-poll", 'http = "2"\n', "long polls are of HTTP/1.1"),
        ("ws", "long-poll", "", "long-poll is not kept over ws"),
        ("tcp", "push", "", "push is not kept over tcp"),
    ],
)
def test_a_way_that_is_none_is_refused(
    tmp_path: Path, protocol: str, contract: str, more: str, said: str
) -> None:
    with pytest.raises(UsageProblem, match=said):
        one(tmp_path, protocol, contract, more)
