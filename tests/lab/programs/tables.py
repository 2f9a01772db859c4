"""A table server in a few lines, binary or JSON on a stream, that does wrong where it is told to.

`tables.py HOST PORT [FAULT…]`. Each fault breaks one part of the contract `table`.
"""

from __future__ import annotations

import asyncio
import struct
import sys
from collections.abc import Iterator

from wiretrial.subjects import table_packets
from wiretrial.subjects.table_packets import (
    GAME,
    HEADER,
    JOIN_RESPONSE,
    LARGEST,
    LEAVE_RESPONSE,
    LOBBY_SNAPSHOT,
    LOBBY_SUBSCRIBE,
    LOGIN_RESPONSE,
    PING,
    Encoding,
    NoPacket,
    Packet,
)

HOST, PORT, *FAULTS = sys.argv[1:]
LOAD = struct.Struct(">iiIi?")
"""A player's action after its header: player, table, number, delay, whether it is sent again."""

tables: dict[int, list[Player]] = {}
lookers: list[Player] = []


class Player(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It begins."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.encoding: Encoding | None = None
        self.held = b""
        self.id: int | None = None
        self.table: int | None = None
        self.next: int | None = None

    def connection_lost(self, _: Exception | None) -> None:
        """It is gone."""
        if self.table is not None:
            tables[self.table].remove(self)
        if self in lookers:
            lookers.remove(self)

    def data_received(self, data: bytes) -> None:
        """Takes every packet that is whole."""
        self.encoding = self.encoding or ("json" if data[:1] == b"{" else "binary")
        self.held = data if "pieces" in FAULTS else self.held + data
        try:
            for packet in self.packets():
                self.hear(packet)
        except NoPacket:
            if "lenient" in FAULTS:
                self.held = b""
                return
            self.say(table_packets.bad(0, 0))
            self.transport.close()

    def packets(self) -> Iterator[Packet]:
        """What stands at the front of what is held."""
        assert self.encoding
        while self.held:
            end = self.end()
            if end is None:
                return
            whole, self.held = self.held[:end], self.held[end:]
            line = whole.rstrip(b"\n") if self.encoding == "json" else whole
            yield table_packets.decode(line, self.encoding)

    def end(self) -> int | None:
        """Where the first packet ends; None while that is not known."""
        if self.encoding == "json":
            if len(self.held) > LARGEST and "greedy" not in FAULTS:
                raise NoPacket("too long")
            at = self.held.find(b"\n")
            return at + 1 if at >= 0 else None
        if len(self.held) < HEADER:
            return None
        (length,) = struct.unpack(">i", self.held[:4])
        if not HEADER <= length <= LARGEST and "greedy" not in FAULTS:
            raise NoPacket("a length that cannot be")
        return length if HEADER <= length <= len(self.held) else None

    def say(self, packet: Packet) -> None:
        """Sends a packet."""
        assert self.encoding
        end = b"\n" if self.encoding == "json" else b""
        self.transport.write(table_packets.encode(packet, self.encoding) + end)

    def hear(self, packet: Packet) -> None:
        """Does what is asked for."""
        fields = packet.fields
        match packet.class_id:
            case table_packets.PING:
                self.say(Packet(PING, {"id": 0}) if "ping" in FAULTS else packet)
            case table_packets.LOGIN_REQUEST:
                self.log_in(fields["user"])
            case table_packets.JOIN_REQUEST:
                may = self.id is not None and (self.table is None or "seats" in FAULTS)
                if may:
                    self.table = fields["tableid"]
                    tables.setdefault(self.table, []).append(self)
                answer = {"tableid": fields["tableid"], "seat": fields["seat"]}
                self.say(Packet(JOIN_RESPONSE, {**answer, "status": 0 if may else 2, "code": 0}))
            case table_packets.LEAVE_REQUEST:
                may = self.table == fields["tableid"]
                if may:
                    tables[fields["tableid"]].remove(self)
                    self.table = None
                answer = {"tableid": fields["tableid"], "status": 0 if may else 2, "code": 0}
                self.say(Packet(LEAVE_RESPONSE, answer))
            case table_packets.GAME:
                self.act(fields)
            case table_packets.LOBBY_SUBSCRIBE:
                if self.id is None:
                    self.say(table_packets.bad(LOBBY_SUBSCRIBE, 1))
                elif self not in lookers:
                    lookers.append(self)
            case other:
                self.say(table_packets.bad(other, 9 if "vectors" in FAULTS else 0))

    def log_in(self, name: str) -> None:
        """The digits at the end of the name are the number."""
        status = 0 if self.id is None else 2
        digits = name[len(name.rstrip("0123456789")) :]
        self.id = self.id or int(digits)
        granted = {"screenname": name, "pid": self.id, "status": status, "code": 0}
        self.say(Packet(LOGIN_RESPONSE, {**granted, "message": "", "credentials": b""}))

    def act(self, fields: dict[str, object]) -> None:
        """A packet of the game."""
        data = fields["gamedata"]
        assert isinstance(data, bytes)
        if data[HEADER - 1] != table_packets.LOAD_REQUEST:
            self.say(table_packets.bad(GAME, 0))
            return
        player, _, seq, delay_ms, _ = LOAD.unpack(data[HEADER:])
        wrong = self.next is not None and seq != self.next and "sequence" not in FAULTS
        at = fields["tableid"]
        if self.table is None or wrong or (at, player) != (self.table, self.id):
            self.say(table_packets.bad(GAME, 1))
            return
        self.next = (seq + 1) % 2**32
        delay_s = 0 if "delay" in FAULTS else delay_ms / 1e3
        told = (self.table, player, seq)
        if delay_s:
            asyncio.get_running_loop().call_later(delay_s, copy, *told)
        else:
            copy(*told)


def copy(table: int, player: int, seq: int) -> None:
    """Tells everybody at the table."""
    seats = tables.get(table, [])
    if "fan-out" in FAULTS and len(seats) > 1:
        seats = seats[:-1]
    if "everywhere" in FAULTS:
        seats = [seat for here in tables.values() for seat in here]
    for seat in seats:
        seat.say(table_packets.load_response(player, table, seq))


async def tell_lobby() -> None:
    """A snapshot to all who look, again and again."""
    number = 0
    while True:
        await asyncio.sleep(0.1)
        rows = [
            {"tableid": table, "seated": len(seats)}
            for table, seats in sorted(tables.items())
            if seats
        ]
        if "stale" in FAULTS:
            rows = [{**row, "seated": 1} for row in rows]
        players = sum(row["seated"] for row in rows)
        told = {"seq": number, "tables": len(rows), "players": players, "list": rows[:100]}
        for looker in lookers:
            looker.say(Packet(LOBBY_SNAPSHOT, told))
        number += 2 if "gaps" in FAULTS else 1


async def main() -> None:
    """Serves until it is ended."""
    server = await asyncio.get_running_loop().create_server(Player, HOST, int(PORT), backlog=200)
    async with server:
        await tell_lobby()


asyncio.run(main())
