"""Packets of a table game as checks write and read them: binary or JSON.

Knows classes, their fields and both encodings; must not know sockets, or who sits where. Written
down apart from the engine's own codec, so that neither vouches for itself.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from dataclasses import dataclass, field
from typing import Any, Literal

Encoding = Literal["binary", "json"]

BAD = 3
PING = 7
LOGIN_REQUEST = 10
LOGIN_RESPONSE = 11
JOIN_REQUEST = 30
JOIN_RESPONSE = 31
LEAVE_REQUEST = 36
LEAVE_RESPONSE = 37
GAME = 100
LOBBY_SUBSCRIBE = 200
LOBBY_SNAPSHOT = 201

LOAD_REQUEST = 1
LOAD_RESPONSE = 2

HEADER = 5
"""Length and class."""
LARGEST = 64 * 1024
"""No packet is longer, as it travels."""

_NUMBERS = {"u8": "B", "i8": "b", "i32": ">i", "u32": ">I", "bool": "?"}

_LAYOUT: dict[int, tuple[tuple[str, str], ...]] = {
    BAD: (("cmd", "u8"), ("error", "u8")),
    PING: (("id", "i32"),),
    LOGIN_REQUEST: (
        *(("user", "string"), ("password", "string")),
        *(("operatorid", "i32"), ("credentials", "bytes")),
    ),
    LOGIN_RESPONSE: (
        *(("screenname", "string"), ("pid", "i32"), ("status", "u8"), ("code", "i32")),
        *(("message", "string"), ("credentials", "bytes")),
    ),
    JOIN_REQUEST: (("tableid", "i32"), ("seat", "i8"), ("params", "nothing")),
    JOIN_RESPONSE: (("tableid", "i32"), ("seat", "i8"), ("status", "u8"), ("code", "i32")),
    LEAVE_REQUEST: (("tableid", "i32"),),
    LEAVE_RESPONSE: (("tableid", "i32"), ("status", "u8"), ("code", "i32")),
    GAME: (("tableid", "i32"), ("pid", "i32"), ("gamedata", "bytes"), ("attributes", "notes")),
    LOBBY_SUBSCRIBE: (),
    LOBBY_SNAPSHOT: (("seq", "u32"), ("tables", "u32"), ("players", "u32"), ("list", "tables")),
}

_ACTION = (("pid", "i32"), ("tableid", "i32"), ("seq", "u32"))
_GAME_LAYOUT: dict[int, tuple[tuple[str, str], ...]] = {
    LOAD_REQUEST: (*_ACTION, ("delay", "i32"), ("resend", "bool")),
    LOAD_RESPONSE: (*_ACTION, ("resend", "bool")),
}


class NoPacket(ValueError):
    """Bytes that are no packet; the text says why."""


@dataclass(frozen=True)
class Packet:
    """One packet: its class, and its fields by the names that JSON has for them."""

    class_id: int
    fields: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        told = ", ".join(f"{name} {value!r}" for name, value in self.fields.items())
        return f"class {self.class_id} ({told[:200]})" if told else f"class {self.class_id}"


def encode(packet: Packet, encoding: Encoding) -> bytes:
    """One packet as it travels, without the end of a line."""
    if encoding == "json":
        return _to_json(packet)
    return _to_bytes(packet, _LAYOUT)


def decode(data: bytes, encoding: Encoding) -> Packet:
    """The packet that these bytes are; raises `NoPacket` where they are none."""
    if encoding == "json":
        return _from_json(data)
    return _from_bytes(data)


def encode_game(packet: Packet) -> bytes:
    """A packet of the game itself, which is binary in either encoding."""
    return _to_bytes(packet, _GAME_LAYOUT)


def load_request(player: int, table: int, seq: int, delay_ms: int = 0) -> Packet:
    """A player's action, as it is sent to its table."""
    fields = {"pid": player, "tableid": table, "seq": seq, "delay": delay_ms, "resend": False}
    return _game(player, table, Packet(LOAD_REQUEST, fields))


def load_response(player: int, table: int, seq: int) -> Packet:
    """What everybody at the table is sent for it."""
    fields = {"pid": player, "tableid": table, "seq": seq, "resend": False}
    return _game(player, table, Packet(LOAD_RESPONSE, fields))


def login(name: str) -> Packet:
    """A player comes."""
    return Packet(
        LOGIN_REQUEST, {"user": name, "password": "secret", "operatorid": 0, "credentials": b""}
    )


def join(table: int, seat: int = -1) -> Packet:
    """A player wants a seat; -1: any."""
    return Packet(JOIN_REQUEST, {"tableid": table, "seat": seat, "params": []})


def leave(table: int) -> Packet:
    """A player wants to stand up."""
    return Packet(LEAVE_REQUEST, {"tableid": table})


def ping(number: int) -> Packet:
    """Is anybody there?"""
    return Packet(PING, {"id": number})


def bad(class_id: int, error: int) -> Packet:
    """A packet was not understood (0), or must not be sent now (1)."""
    return Packet(BAD, {"cmd": class_id, "error": error})


SUBSCRIBE = Packet(LOBBY_SUBSCRIBE)
"""A player looks at the lobby."""


def _game(player: int, table: int, inner: Packet) -> Packet:
    data = encode_game(inner)
    return Packet(GAME, {"tableid": table, "pid": player, "gamedata": data, "attributes": []})


def _to_bytes(packet: Packet, layout: dict[int, tuple[tuple[str, str], ...]]) -> bytes:
    body = b"".join(_field(kind, packet.fields[name]) for name, kind in layout[packet.class_id])
    return struct.pack(">iB", HEADER + len(body), packet.class_id) + body


def _field(kind: str, value: Any) -> bytes:
    if kind in _NUMBERS:
        return struct.pack(_NUMBERS[kind], value)
    match kind:
        case "string":
            return _string(value)
        case "bytes":
            return struct.pack(">i", len(value)) + bytes(value)
        case "notes":
            notes = b"".join(_string(note["name"]) + _string(note["value"]) for note in value)
            return struct.pack(">i", len(value)) + notes
        case "tables":
            rows = b"".join(struct.pack(">iI", row["tableid"], row["seated"]) for row in value)
            return struct.pack(">i", len(value)) + rows
        case _:
            return struct.pack(">i", 0)


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">H", len(data)) + data


class _Reader:
    """What is left of a packet's fields."""

    def __init__(self, data: bytes) -> None:
        self._left = data

    def field(self, kind: str) -> Any:
        if kind in _NUMBERS:
            return self._number(_NUMBERS[kind])
        match kind:
            case "string":
                return self._string()
            case "bytes":
                return self._take(self._count())
            case "notes":
                return [
                    {"name": self._string(), "value": self._string()} for _ in range(self._count())
                ]
            case "tables":
                return [
                    {"tableid": self._number(">i"), "seated": self._number(">I")}
                    for _ in range(self._count())
                ]
            case _:
                if self._count():
                    raise NoPacket("parameters where there are none")
                return []

    def end(self) -> None:
        if self._left:
            raise NoPacket(f"{len(self._left)} bytes more than its fields")

    def _number(self, form: str) -> Any:
        (value,) = struct.unpack(form, self._take(struct.calcsize(form)))
        return value

    def _count(self) -> int:
        count: int = self._number(">i")
        if count < 0:
            raise NoPacket(f"a count of {count}")
        return count

    def _string(self) -> str:
        try:
            return self._take(self._number(">H")).decode()
        except UnicodeDecodeError as error:
            raise NoPacket("text that is not UTF-8") from error

    def _take(self, length: int) -> bytes:
        if length > len(self._left):
            raise NoPacket(f"{length - len(self._left)} bytes less than its fields")
        taken, self._left = self._left[:length], self._left[length:]
        return taken


def _from_bytes(data: bytes) -> Packet:
    if len(data) < HEADER:
        raise NoPacket(f"{len(data)} bytes")
    told, class_id = struct.unpack(">iB", data[:HEADER])
    if told != len(data):
        raise NoPacket(f"{len(data)} bytes that say they are {told}")
    if class_id not in _LAYOUT:
        return Packet(class_id)
    reader = _Reader(data[HEADER:])
    fields = {name: reader.field(kind) for name, kind in _LAYOUT[class_id]}
    reader.end()
    return Packet(class_id, fields)


def _to_json(packet: Packet) -> bytes:
    told = {
        name: base64.b64encode(value).decode() if isinstance(value, bytes) else value
        for name, value in packet.fields.items()
    }
    return json.dumps({"classId": packet.class_id, **told}, separators=(",", ":")).encode()


def _from_json(data: bytes) -> Packet:
    try:
        told = json.loads(data)
    except ValueError as error:
        raise NoPacket(f"{data[:60]!r}, which is no JSON") from error
    if not isinstance(told, dict) or not isinstance(told.get("classId"), int):
        raise NoPacket(f"{data[:60]!r}, which is no object with a classId")
    class_id = told["classId"]
    fields: dict[str, Any] = {}
    for name, kind in _LAYOUT.get(class_id, ()):
        if name not in told:
            raise NoPacket(f"class {class_id} without {name}")
        value = _from_base64(told[name]) if kind == "bytes" else told[name]
        if kind in _NUMBERS and not isinstance(value, int):
            raise NoPacket(f"class {class_id} with {name} {value!r:.60}")
        fields[name] = value
    return Packet(class_id, fields)


def _from_base64(text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (TypeError, binascii.Error) as error:
        raise NoPacket(f"{text!r:.60}, which is no base64") from error
