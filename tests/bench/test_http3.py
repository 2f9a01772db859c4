"""The bench of HTTP/3: each is asked for the same, the floor for datagrams of the same lengths."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench import http3, places, quic_generators, quic_loads, quic_table, stream_table
from bench.generators import Ask
from bench.quic_generators import PEERS, EngineQuic, FloorDatagrams, Oha, Quinn, S2nQuic
from bench.quic_loads import QuicLoad, Shape
from bench.table import Sample
from wiretrial.plan import Plan
from wiretrial.snapshot import Summary

ASK = Ask("https://127.0.0.1:9/bytes/1024", "/ca.pem", 3, 1)
LOAD = QuicLoad("reference", 32)
SHAPE = Shape(1_500, 1_400, 35_000, 1_452)


def test_the_engine_verifies_all_of_each_reply_on_as_many_streams() -> None:
    told = EngineQuic(Path("engine")).asked(LOAD, ASK, Path()).told
    plan = Plan.model_validate_json(told)
    assert (plan.target.http.version, plan.target.expect.content.rule) == ("3", "learned")
    assert (plan.load.connections, plan.load.depth) == (10, 32)
    assert plan.stop.duration_ns == 3_000_000_000
    assert plan.target.tls.ca_file == "/ca.pem"


def test_peers_are_asked_for_the_same() -> None:
    oha = Oha().asked(LOAD, ASK, Path()).command
    assert oha[oha.index("-c") + 1] == "10"
    assert oha[oha.index("-p") + 1] == "32"
    assert oha[-1] == ASK.url
    for one in (Quinn(), S2nQuic()):
        words = one.asked(LOAD, ASK, Path()).command[1:]
        assert words == [one.name, ASK.url, "/ca.pem", "10", "32", "3"]
        assert one.messages('{"messages": 7}\n') == 7
    floor = FloorDatagrams(SHAPE, "127.0.0.1:7").asked(LOAD, ASK, Path()).command[1:]
    numbers = ["10", "32", "1500", "1400", "35000", "3", "1"]
    assert floor == ["datagrams", "127.0.0.1:7", *numbers]


def summary(ok: int, sent: int, received: int, datagrams: dict[str, int] | None) -> Summary:
    return Summary.model_validate(
        {
            "end": "complete",
            "signal": None,
            "first_send_ns": 0,
            "measure_start_ns": 0,
            "measure_end_ns": 1,
            "end_ns": 1,
            "counters": {"sent": ok, "ok": ok},
            "connections": {},
            "bytes": {"sent": sent, "received": received},
            "generator": {},
            "blocked": {},
            "disturbed_intervals": 0,
            "http3": datagrams,
        }
    )


def test_the_floor_has_what_went_and_came_for_the_requests_in_flight() -> None:
    counted = {"datagrams_sent": 200, "datagrams_received": 2_500}
    seen = quic_loads.shape(LOAD, summary(3_200, 160_000, 3_600_000, counted))
    assert seen == Shape(sent=1_600, sent_segment=800, received=36_000, received_segment=1_440)
    with pytest.raises(ValueError, match="no datagram"):
        quic_loads.shape(LOAD, summary(3_200, 1, 1, None))


def test_the_table_says_what_is_not_here(tmp_path: Path) -> None:
    ours = [Sample(1_000, 1.0, 0.005, 0.005, 1_000_000, 0.5)] * 2
    third = [Sample(250, 1.0, 0.005, 0.005, 1_000_000, 0.5)] * 2
    figures = stream_table.figures({"wiretrial": ours, "oha": third}, 1)
    machine = {"cpus": "2", "cpu": "a CPU", "kernel": "6.1"}
    found = stream_table.Found(machine, 1, {LOAD.name: figures}, None, ["quinn"])
    text = quic_table.markdown(found)
    row = "| reference | 10 x 32 | 100,000 |  |  | 25,000 | 4.00 [4.00, 4.00] |  |  | not here |"
    assert row in text
    path = tmp_path / "found.json"
    stream_table.write(path, found, quic_table.SCHEMA)
    assert quic_table.SCHEMA in path.read_text(encoding="utf-8")
    assert quic_table.markdown(stream_table.read(path)) == text


def test_the_page_has_a_place_for_it() -> None:
    page = Path(__file__).parents[2] / "docs" / "performance.md"
    text = page.read_text(encoding="utf-8")
    assert text.index(quic_table.BEGIN) < text.index(quic_table.END)


def test_every_peer_says_how_to_have_it() -> None:
    assert {one.name for one in PEERS} == set(quic_table.OTHERS) - {"floor"}
    assert all(one.remedy for one in (*quic_generators.PEERS, EngineQuic(Path("engine"))))


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs a CPU for each side")
@pytest.mark.skipif(not places.FLOOR.is_file(), reason=f"needs the floor: {places.FLOOR_REMEDY}")
def test_it_runs_with_what_is_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "found.json"
    words = ["--seconds", "1", "--rounds", "1", "--generator", "none", "-o", str(path)]
    monkeypatch.setattr("sys.argv", ["bench.http3", *words])
    monkeypatch.setattr(http3, "chosen", lambda _: [QuicLoad("reference", 2)])
    assert http3.main() == 0
    (figures,) = stream_table.read(path).loads.values()
    assert [one.generator for one in figures] == ["wiretrial", "floor"]
    assert all(one.throughput > 0 for one in figures)
