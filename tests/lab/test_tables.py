"""The contract `table`: its vectors, and that each part finds the fault that is its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from wiretrial.engine import Engine
from wiretrial.subjects import (
    build,
    checks_table,
    contracts,
    endpoint,
    registry,
    table_packets,
    verification,
)
from wiretrial.subjects.needs import Workload, needed_parts
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import SPEC_FILE, Part, Protocol, Subject
from wiretrial.subjects.table_packets import NoPacket, Packet
from wiretrial.subjects.verification import Verification

ROOT = Path(__file__).resolve().parents[2]
VECTORS = json.loads((ROOT / "subjects/_contract/table-vectors.json").read_text("utf-8"))
PROGRAM = Path(__file__).parent / "programs" / "tables.py"

SPEC = """
name = "tables"
kind = "server"
summary = "A table server of the tests"
language = "Python"
homepage = "https://example.org"
licence = "Apache-2.0"
speaks = ["PROTOCOL"]
contracts = ["table"]

[version]
command = ["PYTHON", "--version"]
pattern = 'Python (\\S+)'

[configurations.default]
description = "With faults."
command = ["PYTHON", "FILE", "{host}", "{styx_port}"WORDS]
"""


@pytest.fixture(autouse=True)
def cache_for_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Builds of a test's own subjects are not left in the user's cache."""
    monkeypatch.setenv(build.ENVIRONMENT, str(tmp_path / "cache"))


def tables(folder: Path, protocol: Protocol, *faults: str) -> Subject:
    """A table server with faults."""
    text = SPEC.replace("PYTHON", sys.executable).replace("FILE", str(PROGRAM))
    text = text.replace("WORDS", "".join(f', "{fault}"' for fault in faults))
    (folder / SPEC_FILE).write_text(text.replace("PROTOCOL", protocol), encoding="utf-8")
    return registry.find(f"{folder}/")


def examined(subject: Subject, engine: Engine) -> Verification:
    """What verification finds, as for any subject."""
    built = build.install(subject, engine.binary)
    return verification.examine(subject, built, "default", engine.binary)


def fields_of(told: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name != "classId"}


@pytest.mark.parametrize("vector", VECTORS["packets"], ids=lambda vector: vector["name"])
def test_packets_are_what_the_contract_writes_down(vector: dict[str, Any]) -> None:
    binary = bytes.fromhex(vector["binary"])
    from_bytes = table_packets.decode(binary, "binary")
    from_json = table_packets.decode(json.dumps(vector["json"]).encode(), "json")
    assert from_bytes == from_json
    if from_bytes.class_id == 143:
        return
    assert table_packets.encode(from_bytes, "binary") == binary
    written = json.loads(table_packets.encode(from_bytes, "json"))
    assert written == vector["json"]
    assert list(written) == list(vector["json"])


def test_packets_of_the_game_are_what_the_contract_writes_down() -> None:
    request, response = (bytes.fromhex(vector["binary"]) for vector in VECTORS["game"])
    action = {"pid": 1001, "tableid": 1, "seq": 2}
    asked = Packet(table_packets.LOAD_REQUEST, {**action, "delay": 5, "resend": False})
    assert table_packets.encode_game(asked) == request
    told = Packet(table_packets.LOAD_RESPONSE, {**action, "resend": True})
    assert table_packets.encode_game(told) == response


def test_the_transcripts_say_the_same_in_both_encodings() -> None:
    both = zip(checks_table.TRANSCRIPT, checks_table.TRANSCRIPT_JSON, strict=True)
    for binary, text in both:
        for one, other in zip(binary, text, strict=True):
            packet = table_packets.decode(bytes.fromhex(one), "binary")
            assert packet == table_packets.decode(other.encode(), "json")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\0\x05",
        b"\0\0\0\x06\x07\0",
        b"\0\0\0\x0a\x07\0\0\0\x01\0",
        b"\0\0\0\x09\x0a\0\x02\xc3\x28",
        b"\0\0\0\x11\x64\0\0\0\x01\0\0\0\x01\xff\xff\xff\xff",
    ],
)
def test_bytes_that_are_none_are_no_packet(data: bytes) -> None:
    with pytest.raises(NoPacket):
        table_packets.decode(data, "binary")


@pytest.mark.parametrize("data", [b"x", b"[]", b"{}", b'{"classId":7}', b'{"classId":"7"}'])
def test_text_that_is_none_is_no_packet(data: bytes) -> None:
    with pytest.raises(NoPacket):
        table_packets.decode(data, "json")


def test_a_packet_tells_itself_in_words() -> None:
    assert str(Packet(7, {"id": -2})) == "class 7 (id -2)"


@pytest.mark.parametrize("protocol", ["styx", "styx+json"])
def test_a_server_that_keeps_the_contract_passes(
    engine: Engine, tmp_path: Path, protocol: Protocol
) -> None:
    subject = tables(tmp_path, protocol)
    assert examined(subject, engine).problems(subject) == []


FAULTS: list[tuple[str, Part]] = [
    ("vectors", "vectors"),
    ("seats", "seats"),
    ("fan-out", "fan-out"),
    ("everywhere", "fan-out"),
    ("sequence", "sequence"),
    ("delay", "delay"),
    ("ping", "ping"),
    ("pieces", "pieces"),
    ("greedy", "oversize"),
    ("lenient", "bad-packet"),
    ("gaps", "lobby"),
    ("stale", "lobby"),
]


@pytest.mark.parametrize(("fault", "part"), FAULTS)
def test_each_part_finds_the_fault_that_is_its_own(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, part: Part
) -> None:
    monkeypatch.setattr(endpoint, "DEADLINE_S", 1.0)
    subject = tables(tmp_path, "styx", fault)
    with Server(
        subject, build.install(subject, engine.binary), "default", engine=engine.binary
    ) as it:
        it.wait_ready()
        there = it.endpoint("styx")
        its_own = [check for check in contracts.checks("table", "styx") if check.part == part]
        assert [found for check in its_own if (found := contracts.problem(check, there))]


def named(*parts: Part) -> Iterable[Part]:
    return {"exchange", "many", "seats", "sequence", *parts}


def test_what_bots_need_of_a_server() -> None:
    alone = Workload(protocol="styx")
    assert needed_parts(alone) == named()
    crowd: tuple[Part, ...] = ("half-open", "concurrency")
    together = Workload(protocol="styx+json+ws", connections=6, table_size=6, lobby=True)
    assert needed_parts(together) == named(*crowd, "fan-out", "lobby")
    waiting = Workload(protocol="styx+ws", connections=2, delay_ms=60)
    assert needed_parts(waiting) == named(*crowd, "delay")
