"""WebSocket frames as our server reads them and as `websockets` does."""

from __future__ import annotations

import random
from typing import Any

import pytest
from websockets.exceptions import PayloadTooBig, ProtocolError
from websockets.frames import Close, Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from tests.differential import draw
from tests.differential.conftest import Drive
from tests.differential.draw import Known

Outcome = list[tuple[str, str]]
KNOWN = [
    Known(
        "RFC 6455 5.5",
        "a close may come inside a fragmented message; websockets fails",
        b"\x01\x80\0\0\0\0\x88\x80\0\0\0\0",
        # Ours took it for a close: whatever stood before it was whole.
        lambda data: b"\x88" in data,
    ),
    Known(
        "RFC 6455 5.2",
        "a length must be in its shortest form; websockets takes any, and judges it at once",
        b"\x82\xfe\0\x01\0\0\0\0x",
        lambda data: b"\xfe\0" in data or b"\xff" in data,
    ),
]


def theirs(data: bytes) -> Outcome:
    """Messages, then how it ended: a close with its code, or a failure."""
    protocol = ServerProtocol(state=State.OPEN, max_size=1 << 20)
    protocol.receive_data(data)
    seen: Outcome = []
    kind, payload = "", b""
    for event in protocol.events_received():
        if not isinstance(event, Frame):
            continue
        if event.opcode is Opcode.CLOSE:
            try:
                return [*seen, ("close", str(Close.parse(event.data).code))]
            except (ProtocolError, UnicodeDecodeError):
                return [*seen, ("failed", "")]
        if event.opcode in (Opcode.TEXT, Opcode.BINARY):
            kind, payload = event.opcode.name.lower(), b""
        if event.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            payload += bytes(event.data)
            if event.fin:
                if kind == "text" and not is_text(payload):
                    return [*seen, ("failed", "")]
                seen.append((kind, payload.hex()))
    if isinstance(protocol.parser_exc, (ProtocolError, PayloadTooBig, UnicodeDecodeError)):
        seen.append(("failed", ""))
    return seen


def is_text(payload: bytes) -> bool:
    try:
        payload.decode()
    except UnicodeDecodeError:
        return False
    return True


def ours(events: list[dict[str, Any]]) -> Outcome:
    seen: Outcome = []
    kind = ""
    for event in events:
        match event:
            case {"message": begun}:
                kind = begun
            case {"end": payload}:
                seen.append((kind, payload))
            case {"close": code}:
                seen.append(("close", str(code)))
            case {"failed": _}:
                seen.append(("failed", ""))
    return seen


def differs(mine: Outcome, other: Outcome) -> bool:
    """Ours judges each byte as it comes, so it may fail before a frame is whole."""
    return mine not in (other, [*other, ("failed", "")])


def test_frames_read_as_websockets_reads_them(drive: Drive) -> None:
    rng = random.Random(draw.SEED)
    cases = [data for _ in range(draw.CASES) if (data := draw.frames(rng))]
    reports = drive([f"websocket-server {data.hex()}" for data in cases])
    found = []
    for data, events in zip(cases, reports, strict=True):
        mine, other = ours(events), theirs(data)
        if differs(mine, other) and not any(row.applies(data) for row in KNOWN):
            found.append((data, mine, other))
    assert found == []


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row.reason)
def test_known_differences_are_still_there(drive: Drive, row: Known) -> None:
    [events] = drive([f"websocket-server {row.example.hex()}"])
    assert row.applies(row.example)
    assert differs(ours(events), theirs(row.example))
