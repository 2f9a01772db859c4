"""What a workload needs of its subject, and who is refused for want of it."""

from __future__ import annotations

import pytest

from wiretrial.plan import (
    FixedPayload,
    ListPayload,
    Load,
    NoPayload,
    Payload,
    SequencePayload,
    TemplatePayload,
)
from wiretrial.studies import admission
from wiretrial.studies.contracts import JSON_MESSAGE, case
from wiretrial.subjects.needs import LARGE_BYTES, Workload, needed_parts
from wiretrial.subjects.spec import Part

MANY = {"half-open", "concurrency"}


@pytest.mark.parametrize(
    ("workload", "parts"),
    [
        (Workload("http"), {"exchange", "many"}),
        (Workload("http", requests_per_connection=1), {"exchange"}),
        (Workload("http", requests_per_connection=2), {"exchange", "many"}),
        (Workload("https", depth=2), {"exchange", "many", "pipelining"}),
        (Workload("h2", depth=2), {"exchange", "many", "pipelining"}),
        (Workload("h2c", held=True), {"exchange", "many"}),
        (Workload("h3", depth=2), {"exchange", "many", "pipelining"}),
        (Workload("grpc", depth=2), {"exchange", "many", "pipelining"}),
        (Workload("grpcs", streams=True), {"exchange", "many", "streaming"}),
        (Workload("ws", depth=2), {"exchange", "many", "in-flight"}),
        (Workload("wss", pack=10), {"exchange", "many", "in-flight"}),
        (Workload("tcp", depth=16), {"exchange", "many", "in-flight"}),
        (Workload("socketio+ws", depth=2), {"exchange", "many", "in-flight"}),
        (Workload("ws", message_bytes=LARGE_BYTES), {"exchange", "many"}),
        (Workload("ws", message_bytes=LARGE_BYTES + 1), {"exchange", "many", "large"}),
        (Workload("http", connections=2), {"exchange", "many"} | MANY),
        (Workload("ws", connections=9, held=True), {"exchange", "many", "ping"} | MANY),
        (Workload("tcp", held=True), {"exchange", "many"}),
        (Workload("tcp", copies=True), {"exchange", "many", "address"}),
        (Workload("http", delay_ms=5), {"exchange", "many", "delay", "pool"}),
    ],
)
def test_a_workload_needs_what_the_table_says(workload: Workload, parts: set[Part]) -> None:
    assert needed_parts(workload) == parts


@pytest.mark.parametrize(
    ("payload", "size"),
    [
        (NoPayload(), 0),
        (SequencePayload(bytes=70_000), 70_000),
        (FixedPayload(base64="AAECAw=="), 4),
        (ListPayload(base64=("AA==", "AAECAw==")), 4),
        (JSON_MESSAGE, 64),
        (TemplatePayload(text="ä{seq}{seq}"), 34),
    ],
)
def test_a_case_asks_for_what_its_load_says(payload: Payload, size: int) -> None:
    one = case(
        name="one",
        subject="reference",
        configuration="default",
        protocol="ws",
        contract="ws-echo",
        payload=payload,
        load=Load(connections=7, depth=3, pack=2, requests_per_connection=5),
        workload="-",
    ).model_copy(update={"delay_ms": 11})
    assert admission.workload_of(one) == Workload(
        protocol="ws",
        connections=7,
        depth=3,
        pack=2,
        message_bytes=size,
        requests_per_connection=5,
        delay_ms=11,
    )
