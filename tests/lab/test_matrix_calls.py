"""Calls of gRPC in `study.toml`: what is accepted, what is refused, and what comes of it."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.lab.test_matrix import expanded, written
from wiretrial.errors import UsageProblem
from wiretrial.plan import (
    EchoContent,
    FixedPayload,
    Hold,
    ListPayload,
    MessagesContent,
    NumberedPayload,
    OpenLoop,
    StatusContent,
)
from wiretrial.plan_grpc import CallKind, Grpc
from wiretrial.studies import admission, calls, document, matrix, targets
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import registry
from wiretrial.subjects.needs import needed_parts

CALLS = """
title = "t"
question = "q"
subjects = ["grpc-go", "grpcio:tuned"]
trials = 2

[[workload]]
name = "echo"
protocol = "grpc"
contract = "grpc-echo"
"""

DRIVEN = """
title = "t"
question = "q"
subjects = ["grpc-go-client"]

[[workload]]
name = "call"
server = "reference-grpc"
protocol = ["grpc", "grpcs"]
contract = "grpc-echo"
mode = ["kept", "fresh"]
"""


def first(study: Study) -> Case:
    return study.cases[0]


def contents(*texts: str) -> list[bytes]:
    """What stands in the field `content` of short messages, number 3 of two bytes each."""
    whole = [base64.b64decode(text) for text in texts]
    assert {(one[0], one[1]) for one in whole} == {(0x1A, len(whole[0]) - 2)}
    return [one[2:] for one in whole]


def test_calls_are_unary_and_carry_their_number(tmp_path: Path) -> None:
    case = first(expanded(tmp_path, CALLS))
    assert (case.protocol, case.spoken, case.contract) == ("grpc", "grpc", "grpc-echo")
    assert (case.path, case.grpc) == ("/wiretrial.Echo/Unary", Grpc())
    assert (case.load.connections, case.load.depth, case.load.pack) == (32, 1, 1)
    sent = case.message.source
    assert isinstance(sent, NumberedPayload)
    assert len(contents(sent.base64)[0]) == 64
    assert sent.places == (2,)
    assert case.expect.content == EchoContent()
    told = "echo: unary calls, 64 bytes, 32 connections, 1 stream on each, closed loop"
    assert case.scenario.workload == told
    assert case.scenario.levels["call"] == "unary"
    assert "depth" not in case.scenario.levels


def test_kinds_sizes_connections_and_streams_make_a_grid(tmp_path: Path) -> None:
    more = 'call = ["unary", "server"]\npayload = [8, 200]\nconnections = 4\nstreams = [1, 10]\n'
    study = expanded(tmp_path, CALLS + more)
    grid = {
        case.scenario.name: (case.grpc.kind, case.path.rpartition("/")[2], case.load.depth)
        for case in study.cases
        if case.scenario.subject == "grpc-go" and case.scenario.twin_of is None
    }
    assert len(grid) == 8
    assert grid["grpc-go: unary calls, 8 bytes, 1 stream on each"] == ("unary", "Unary", 1)
    name = "grpc-go: streams from the server, 200 bytes, 10 streams on each"
    assert grid[name] == ("server", "Server", 10)
    # There is no room for a number.
    assert isinstance(first(study).message.source, FixedPayload)


@pytest.mark.parametrize("kind", ["client", "bidi"])
def test_a_stream_from_the_client_has_messages_that_differ(tmp_path: Path, kind: CallKind) -> None:
    text = CALLS + f'call = "{kind}"\npayload = 5\nmessages_per_call = [1, 3]\n'
    study = expanded(tmp_path, text)
    case = study.case("grpc-go: 3 messages per call")
    assert isinstance(case.message.source, ListPayload)
    texts = case.message.source.base64
    assert contents(*texts) == [b"abcde", b"bcdef", b"cdefg"]
    right = EchoContent() if kind == "bidi" else MessagesContent(base64=texts[-1:])
    assert case.expect.content == right
    assert "3 messages per call" in case.scenario.workload
    one = study.case("grpc-go: 1 message per call").message.source
    assert isinstance(one, ListPayload)
    assert one.base64 == texts[:1]


def test_a_stream_from_the_server_is_ten_times_the_message(tmp_path: Path) -> None:
    case = first(expanded(tmp_path, CALLS + 'call = "server"\n'))
    assert isinstance(case.message.source, FixedPayload)
    assert case.expect.content == MessagesContent(base64=(case.message.source.base64,) * 10)


def test_a_message_is_one_of_protobuf_whatever_its_size(tmp_path: Path) -> None:
    from google.protobuf import wrappers_pb2

    case = first(expanded(tmp_path, CALLS + "payload = 70_000\n"))
    assert isinstance(case.message.source, NumberedPayload)
    whole = base64.b64decode(case.message.source.base64)
    (place,) = case.message.source.places
    assert whole[place : place + 18] == b"0" * 16 + b"ab"
    # The tag apart, it is what any message with one field of bytes is.
    same = wrappers_pb2.BytesValue.FromString(b"\x0a" + whole[1:])
    assert len(same.value) == 70_000


def test_whatever_a_workload_over_http_may_say_calls_may_too(tmp_path: Path) -> None:
    text = CALLS.replace('"grpc"', '["grpc", "grpcs"]') + 'headers = { tenant = "one" }\n'
    study = expanded(tmp_path, text + 'rate = 100\nexpect = "status"\ncompare = ["protocol"]\n')
    assert {case.protocol for case in study.cases} == {"grpc", "grpcs"}
    for case in study.cases:
        assert case.http.headers == (("tenant", "one"),)
        assert isinstance(case.load.executor, OpenLoop)
        assert isinstance(case.expect.content, StatusContent)
    held = first(expanded(tmp_path, CALLS + 'hold = "1s"\nconnections = 100\n'))
    assert isinstance(held.load.executor, Hold)
    knee = 'knee = { objective = "5ms" }\nstreams = 10\n'
    assert first(expanded(tmp_path, CALLS + knee)).knee is not None


@pytest.mark.parametrize(
    ("more", "parts"),
    [
        ("", set()),
        ("streams = 2", {"pipelining"}),
        ('call = "server"', {"streaming"}),
        ("payload = 70_000", {"large"}),
    ],
)
def test_what_is_asked_of_a_server_follows_from_the_call(
    tmp_path: Path, more: str, parts: set[str]
) -> None:
    case = first(expanded(tmp_path, f"{CALLS}connections = 1\n{more}\n"))
    needed = needed_parts(admission.workload_of(case))
    assert needed == {"exchange", "many"} | parts


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('call = "unari"', "call"),
        ('path = "/wiretrial.Echo/Bidi"', "`call` says which method is called: leave `path` out"),
        ('payload = "json"', "a call carries bytes"),
        ("messages_per_call = 3", 'write call = "client" or "bidi", or leave it out'),
        ('call = ["unary", "bidi"]\nmessages_per_call = 3', "streams from the client"),
        ('call = "bidi"\nmessages_per_call = 0', "messages_per_call"),
        ("payload = 4_000_001", "4,000,000 bytes at most, and 4,000,001 x 1 are more"),
        ('call = "server"\npayload = 500_000', "500,000 x 10 are more"),
        ('call = "client"\nmessages_per_call = 99_999', "64 x 99,999 are more"),
        ("depth = 4", "calls in flight on each connection are `streams`"),
        ("streams = 2\npack = 2", "leave these out"),
        ('http = "2"', "gRPC is HTTP/2 always: leave it out"),
        ('method = "POST"', "which method of gRPC is called, `call` says"),
        ('expect = "learned"', 'leave `expect` out, or write expect = "status"'),
        ("deflate = true", "only ws and wss compress messages"),
        ('protocol_of = { grpcio = "http" }', "grpc-echo is not kept over http"),
    ],
)
def test_what_makes_no_sense_of_a_call_is_refused(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        written(tmp_path, f"{CALLS}{more}\n")
    line = refused.value.line()
    assert words in line
    assert "\n" not in line


@pytest.mark.parametrize("more", ['call = "unary"', "messages_per_call = 2"])
def test_requests_have_no_kind_of_call(tmp_path: Path, more: str) -> None:
    text = CALLS.replace('"grpc"', '"http"').replace('"grpc-echo"', '"http-echo"')
    with pytest.raises(UsageProblem) as refused:
        written(tmp_path, f"{text}{more}\n")
    assert "are for the contract grpc-echo" in refused.value.line()


def test_client_drivers_make_unary_calls(tmp_path: Path) -> None:
    study = expanded(tmp_path, DRIVEN)
    assert {(case.protocol, case.path) for case in study.cases} == {
        ("grpc", "/wiretrial.Echo/Unary"),
        ("grpcs", "/wiretrial.Echo/Unary"),
    }
    case = first(study)
    assert case.driving is not None
    assert (case.driving.server, case.driving.payload) == ("reference-grpc", 64)
    assert isinstance(case.message.source, FixedPayload)
    # As the drivers' contract says: byte i is 33 + i % 90.
    assert contents(case.message.source.base64) == [bytes(range(33, 97))]
    for more, words in (
        ('call = "bidi"', "`call` is for workloads without `server`"),
        ('path = "/a.B/C"', "leave `path` out"),
    ):
        with pytest.raises(UsageProblem) as refused:
            written(tmp_path, f"{DRIVEN}{more}\n")
        assert words in refused.value.line()


def test_servers_that_somebody_runs_are_called_too(tmp_path: Path) -> None:
    asked = targets.parse(["192.0.2.7:50051"], written(tmp_path, CALLS))
    assert asked == {"grpc": "192.0.2.7:50051"}
    case = first(targets.put(expanded(tmp_path, CALLS), asked))
    assert case.url == "grpc://192.0.2.7:50051/wiretrial.Echo/Unary"


def test_a_quick_run_keeps_some_numbers_of_messages(tmp_path: Path) -> None:
    text = CALLS + 'call = "bidi"\nmessages_per_call = [1, 5, 10, 50]\n'
    quick = expanded(tmp_path, text, quick=True)
    assert {case.scenario.levels["messages_per_call"] for case in quick.cases} == {1, 50}


def test_each_kind_has_its_number_of_messages() -> None:
    assert [calls.count(kind) for kind in calls.METHODS] == [1, 10, 10, 10]
    assert calls.count("bidi", 3) == 3
    assert calls.count("server", 3) == 10


def test_the_example_asks_servers_for_what_they_claim() -> None:
    folder = Path(__file__).resolve().parents[2] / "examples" / "calls"
    study = matrix.expand("calls", document.read(folder), command="again", seed=7)
    assert {case.grpc.kind for case in study.cases} == {"unary", "server", "bidi"}
    for case in study.cases:
        spec = registry.find(case.scenario.subject).spec
        assert (case.contract, case.spoken) in spec.claims()
        assert case.scenario.configuration in spec.configurations
