"""The bench of HTTP/2 and gRPC: each is asked for the same, and what they say is read right."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

import pytest

from bench import http2, places, stream_generators, stream_table, streams
from bench.generators import Ask
from bench.measure import RunFailed
from bench.stream_generators import K6, EngineStreams, FloorStreams, Ghz, H2load, Oha
from bench.streams import StreamLoad
from bench.table import Sample
from wiretrial.errors import WiretrialError
from wiretrial.plan import FixedPayload, Plan

ASK = Ask("http://127.0.0.1:9/message", "/ca.pem", 3, 1)
GET = StreamLoad("h2o", "get", 10, "/message")
POST = StreamLoad("nghttpd", "post", 10, "/echo")
CALL = StreamLoad("grpc-go", "call", 10, streams.GRPC_PATH)
HERE = [
    StreamLoad("reference-http2", "get", 2, "/message"),
    StreamLoad("reference-http2", "call", 2, streams.GRPC_PATH),
]
SECURE = StreamLoad("nginx-http2", "get", 1, "/message", is_secure=True)


def planned(load: StreamLoad, ask: Ask = ASK) -> Plan:
    told = EngineStreams(Path("engine")).asked(load, ask, Path()).told
    return Plan.model_validate_json(told)


def test_the_engine_verifies_all_of_each_reply_on_as_many_streams() -> None:
    for load, rule in ((GET, "learned"), (POST, "echo"), (CALL, "echo")):
        plan = planned(load)
        assert (plan.load.connections, plan.load.depth) == (10, 10)
        assert plan.target.expect.content.rule == rule
        assert plan.stop.duration_ns == 3_000_000_000
        assert plan.phases.warmup_ns == 0
    assert planned(GET).target.http.version == "2"
    assert planned(SECURE).target.tls.ca_file == "/ca.pem"


def test_a_call_carries_the_text_that_ghz_is_told() -> None:
    plan = planned(CALL)
    assert plan.target.url == "grpc://127.0.0.1:9/message"
    source = plan.target.message.source
    assert isinstance(source, FixedPayload)
    assert base64.b64decode(source.base64) == b"\n\x14" + stream_generators.TEXT.encode()
    command = Ghz().asked(CALL, ASK, Path()).command
    assert json.loads(command[command.index("-d") + 1]) == {"text": stream_generators.TEXT}
    assert command[command.index("-c") + 1] == "100"
    assert "wiretrial.Echo/Unary" in command
    assert stream_generators.PROTO.is_file()


def test_peers_are_asked_for_the_same(tmp_path: Path) -> None:
    command = H2load().asked(POST, ASK, tmp_path).command
    assert command[:9] == ["h2load", "-t", "1", "-c", "10", "-m", "10", "-D", "3"]
    content = Path(command[command.index("-d") + 1])
    assert content.read_text(encoding="ascii") == stream_generators.TEXT
    assert "-d" not in H2load().asked(GET, ASK, tmp_path).command
    oha = Oha().asked(POST, ASK, tmp_path).command
    assert oha[oha.index("-p") + 1] == "10"
    assert oha[oha.index("-d") + 1] == stream_generators.TEXT
    floor = FloorStreams().asked(CALL, ASK, tmp_path).command[1:]
    assert floor == ["grpc", "127.0.0.1:9", streams.GRPC_PATH, "10", "10", "22", "3", "1"]
    floor = FloorStreams().asked(POST, ASK, tmp_path).command[1:]
    assert floor == ["h2", "127.0.0.1:9", "/echo", "10", "10", "20", "3", "1"]


def test_who_does_what() -> None:
    every = stream_generators.all_of(Path("engine"))
    assert [one.name for one in every if one.does(GET)] == ["wiretrial", "floor", "h2load", "oha"]
    assert [one.name for one in every if one.does(CALL)] == ["wiretrial", "floor", "ghz"]
    assert [one.name for one in every if one.does(SECURE)] == ["wiretrial", "h2load", "oha", "k6"]


def test_what_they_say_is_read_right() -> None:
    said = "requests: 9 total, 9 started, 9 done, 7 succeeded, 2 failed, 2 errored, 0 timeout"
    assert H2load().messages(said) == 7
    assert Oha().messages('{"statusCodeDistribution": {"200": 5, "500": 1}}') == 5
    assert Ghz().messages('{"count": 9, "statusCodeDistribution": {"OK": 8, "Canceled": 1}}') == 8
    assert K6().messages("    http_reqs......: 28 9.1/s") == 28
    assert FloorStreams().messages('{"messages": 4}') == 4
    with pytest.raises(RunFailed, match="how many replies"):
        H2load().messages("killed")
    with pytest.raises(RunFailed, match="the engine ended with: killed"):
        EngineStreams(Path("engine")).messages("killed\n")


def sample(messages: int) -> Sample:
    return Sample(messages, 1.0, 0.005, 0.005, 1_000_000, 0.5)


def found() -> stream_table.Found:
    ours, half = [sample(1_000)] * 2, [sample(500)] * 2
    figures = stream_table.figures({"wiretrial": ours, "floor": list(ours), "h2load": half}, 1)
    machine = {"cpus": "2", "cpu": "a CPU", "kernel": "6.1"}
    loads = {GET.name.replace("10 x 10", f"10 x {count}"): figures for count in streams.STREAMS}
    return stream_table.Found(machine, 1, loads, stream_table.Memory(812.3, 190.0), ["oha", "ghz"])


def test_the_table_says_what_is_not_here(tmp_path: Path) -> None:
    text = stream_table.markdown(found())
    row = "| h2o | 10 x 10 | 100,000 | 100,000 | 1.00 [1.00, 1.00] | 50,000 | 2.00 [2.00, 2.00] |"
    assert f"{row} not here |  |" in text
    assert "| grpc-go | 10 x 1 |  |  |  | not here |  |" in text
    assert "812 bytes for an idle connection, 190 for an idle stream" in text
    path = tmp_path / "found.json"
    stream_table.write(path, found())
    assert stream_table.markdown(stream_table.read(path)) == text


def test_tables_go_into_their_place_of_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{stream_table.BEGIN}\nold\n{stream_table.END}\nbehind\n")
    for _ in range(2):
        stream_table.into_page(page, stream_table.PLACE, stream_table.markdown(found()))
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{stream_table.BEGIN}\nRuns of 1 s")
    assert text.endswith(f"\n{stream_table.END}\nbehind\n")
    assert "old" not in text
    page.write_text("no place")
    with pytest.raises(WiretrialError, match="no place for the tables"):
        stream_table.into_page(page, stream_table.PLACE, "tables")


def test_the_page_has_a_place_for_them() -> None:
    page = Path(__file__).parents[2] / "docs" / "performance.md"
    text = page.read_text(encoding="utf-8")
    assert text.index(stream_table.BEGIN) < text.index(stream_table.END)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs a CPU for each side")
def test_it_runs_with_what_is_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "found.json"
    words = ["--seconds", "1", "--rounds", "1", "--no-memory"]
    words += ["--generator", "wiretrial", "--generator", "floor", "-o", str(path)]
    monkeypatch.setattr("sys.argv", ["bench.http2", *words])
    monkeypatch.setattr(http2, "chosen", lambda _: HERE)
    assert http2.main() == 0
    names = ["wiretrial", "floor"] if places.FLOOR.is_file() else ["wiretrial"]
    kept = stream_table.read(path)
    for figures in kept.loads.values():
        assert [one.generator for one in figures] == names
        assert all(one.throughput > 0 for one in figures)
