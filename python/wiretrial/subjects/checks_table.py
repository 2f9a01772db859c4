"""Checks of the `table` contract: who sits where gets a copy of what is done there.

Knows what a table server must answer, over each carrier and in each encoding; must not know who
serves. How packets are framed is the connection's.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

from wiretrial.subjects import checks, table_packets, websocket_parts
from wiretrial.subjects.checks import SEVERAL_THREADS, Check
from wiretrial.subjects.endpoint import Broken, Endpoint, expect
from wiretrial.subjects.table_connection import (
    PATH,
    Guest,
    Messages,
    Player,
    Stream,
    carrier,
    encoding_of,
    is_websocket,
    new_table,
)
from wiretrial.subjects.table_packets import GAME, LARGEST, LOBBY_SNAPSHOT, LOBBY_SUBSCRIBE, Packet

MESSAGES = 100
TABLE_SIZE = 6
DENIED = 2
"""The status of what is not granted."""
UNKNOWN, NOT_NOW = 0, 1
"""Why a packet is bad."""
DELAYS_MS = (600, 300, 0)
LAST = 2**32 - 1
"""The number of an action after which 0 follows."""
MOST_LISTED = 100
SNAPSHOTS = 2
FRAGMENTS = 7

Snapshot = dict[str, Any]
"""The fields of one snapshot of the lobby."""

TRANSCRIPT: tuple[tuple[str, str], ...] = (
    (
        "0000001b0a0004626f743700067365637265740000000000000000",
        "0000001a0b0004626f7437000000070000000000000000000000",
    ),
    ("0000000e1e000000010300000000", "0000000f1f00000001030000000000"),
    ("0000000907fffffffe", "0000000907fffffffe"),
    (
        "0000002b640000000100000007000000160000001601000000070000000100000002000000000000000000",
        "000000276400000001000000070000001200000012020000000700000001000000020000000000",
    ),
    ("000000058f", "00000007038f00"),
    ("000000092400000001", "0000000e25000000010000000000"),
)
"""What player 7 says at table 1, and what it hears, byte by byte in hexadecimal."""

TRANSCRIPT_JSON: tuple[tuple[str, str], ...] = (
    (
        '{"classId":10,"user":"bot7","password":"secret","operatorid":0,"credentials":""}',
        (
            '{"classId":11,"screenname":"bot7","pid":7,"status":0,"code":0,"message":"",'
            '"credentials":""}'
        ),
    ),
    (
        '{"classId":30,"tableid":1,"seat":3,"params":[]}',
        '{"classId":31,"tableid":1,"seat":3,"status":0,"code":0}',
    ),
    ('{"classId":7,"id":-2}', '{"classId":7,"id":-2}'),
    (
        (
            '{"classId":100,"tableid":1,"pid":7,'
            '"gamedata":"AAAAFgEAAAAHAAAAAQAAAAIAAAAAAA==","attributes":[]}'
        ),
        '{"classId":100,"tableid":1,"pid":7,"gamedata":"AAAAEgIAAAAHAAAAAQAAAAIA","attributes":[]}',
    ),
    ('{"classId":143}', '{"classId":3,"cmd":143,"error":0}'),
    ('{"classId":36,"tableid":1}', '{"classId":37,"tableid":1,"status":0,"code":0}'),
)


def _vectors(endpoint: Endpoint) -> None:
    """Written down by hand: it owes nothing to any codec."""
    connection = carrier(endpoint)
    try:
        if encoding_of(endpoint) == "json":
            for said, heard in TRANSCRIPT_JSON:
                connection.send(said.encode())
                text = connection.receive().decode()
                with contextlib.suppress(ValueError):
                    if json.loads(text) == json.loads(heard):
                        continue
                raise Broken(f"{said} was answered with {text[:200]}, not {heard}")
            return
        for said, heard in TRANSCRIPT:
            connection.send(bytes.fromhex(said))
            found = connection.receive().hex()
            expect(found == heard, f"{said} was answered with {found}, not {heard}")
    finally:
        connection.socket.close()


def _seats(endpoint: Endpoint) -> None:
    """What a player may do depends on how far it has come."""
    bad = table_packets.bad
    here, there = new_table(), new_table()
    number = new_table()
    with Guest(endpoint) as guest:
        guest.say(table_packets.load_request(number, here, 0, 5))
        guest.expect(bad(GAME, NOT_NOW))
        guest.join(here, status=DENIED)
        guest.log_in(number)
        guest.say(table_packets.login("somebody9"))
        again = guest.receive().fields
        denied = (again.get("pid"), again.get("status")) == (number, DENIED)
        expect(denied, f"a second login on a connection was answered with {again}")
        guest.leave(here, status=DENIED)
        guest.join(here, seat=-1)
        guest.join(there, status=DENIED)
        guest.leave(there, status=DENIED)
        guest.say(table_packets.load_request(number, there, 0))
        guest.expect(bad(GAME, NOT_NOW))
        guest.say(table_packets.load_request(number + 1, here, 0))
        guest.expect(bad(GAME, NOT_NOW))
        nonsense = {"tableid": here, "pid": number, "gamedata": b"\0\0\0\x05\x63"}
        guest.say(Packet(GAME, {**nonsense, "attributes": []}))
        guest.expect(bad(GAME, UNKNOWN))
        guest.leave(here)
        guest.say(table_packets.load_request(number, here, 0))
        guest.expect(bad(GAME, NOT_NOW))
        guest.join(there)
        guest.is_alive()


def _fan_out(endpoint: Endpoint) -> None:
    """Everybody at the table gets every copy, in one order per origin, and nobody else does."""
    table = new_table()
    with ExitStack() as stack:
        here = [stack.enter_context(Player(endpoint, table)) for _ in range(TABLE_SIZE)]
        elsewhere = stack.enter_context(Player(endpoint))
        for number in range(3):
            for origin in here:
                origin.act(number)
                for player in here:
                    player.hear_copy(origin, number)
        for origin in here:
            origin.act(*range(3, 3 + MESSAGES // 10))
        for player in here:
            _hear_all(player, here, range(3, 3 + MESSAGES // 10))
        leaver, *rest = here
        leaver.leave(table)
        rest[0].act(3 + MESSAGES // 10)
        for player in rest:
            player.hear_copy(rest[0], 3 + MESSAGES // 10)
        leaver.is_alive()
        elsewhere.is_alive()


def _hear_all(player: Player, origins: Sequence[Player], numbers: range) -> None:
    """Reads what all of them did at once: each one's own copies in their order."""
    awaited = {origin.number: iter(numbers) for origin in origins}
    for _ in range(len(origins) * len(numbers)):
        found = player.receive()
        origin = found.fields.get("pid", 0)
        number = next(awaited.get(origin, iter(())), None)
        right = number is not None and found == table_packets.load_response(
            origin, player.table, number
        )
        expect(right, f"{found} came, and number {number} of that player was awaited")


def _sequence(endpoint: Endpoint) -> None:
    """Each player's actions are numbered one after the other; the first may have any number."""
    bad = table_packets.bad(GAME, NOT_NOW)
    table = new_table()
    with Player(endpoint, table) as player, Player(endpoint, table) as other:
        for origin, first in ((player, 40), (other, LAST)):
            origin.act(first)
            for receiver in (player, other):
                receiver.hear_copy(origin, first)
        for wrong in (40, 42, 39, 0):
            player.act(wrong)
            player.expect(bad)
        player.act(41)
        other.act(0)
        for receiver in (player, other):
            _hear_each(receiver, {player.number: 41, other.number: 0})


def _hear_each(player: Player, awaited: dict[int, int]) -> None:
    left = dict(awaited)
    for _ in awaited:
        found = player.receive()
        origin = found.fields.get("pid", 0)
        number = left.pop(origin, -1)
        right = number >= 0 and found == table_packets.load_response(origin, player.table, number)
        expect(right, f"{found} came, and of {awaited} there are still {left}")


def _delay(endpoint: Endpoint) -> None:
    """A table waits as long as an action asks for, and for each apart."""
    with Player(endpoint) as player:
        begun = time.monotonic()
        for number, delay_ms in enumerate(DELAYS_MS):
            player.act(number, delay_ms=delay_ms)
        for number in reversed(range(len(DELAYS_MS))):
            player.hear_copy(player, number)
            passed_ms = (time.monotonic() - begun) * 1e3
            least = DELAYS_MS[number]
            expect(passed_ms >= least, f"a delay of {least} ms was over after {passed_ms:.1f} ms")


def _ping(endpoint: Endpoint) -> None:
    with Guest(endpoint) as guest:
        for number in (0, -(2**31), 2**31 - 1):
            guest.say(table_packets.ping(number))
            guest.expect(table_packets.ping(number))


def _pieces(endpoint: Endpoint) -> None:
    """A packet byte by byte; then two and a half in one piece, and the rest."""
    with Player(endpoint) as player:
        stream = player.carrier
        assert isinstance(stream, Stream)
        packets = [_action(player, number) for number in range(4)]
        whole = b"".join(stream.framed(packet) for packet in packets)
        first = len(stream.framed(packets[0]))
        half = first + len(stream.framed(packets[1])) + len(packets[2]) // 2
        for at in range(first):
            stream.socket.sendall(whole[at : at + 1])
        player.hear_copy(player, 0)
        stream.socket.sendall(whole[first:half])
        player.hear_copy(player, 1)
        stream.socket.sendall(whole[half:])
        for number in (2, 3):
            player.hear_copy(player, number)


def _fragments(endpoint: Endpoint) -> None:
    with Player(endpoint) as player:
        messages = player.carrier
        assert isinstance(messages, Messages)
        message = messages.framed(_action(player, 0))
        step = -(-len(message) // FRAGMENTS)
        player.websocket.send_fragments(
            [message[at : at + step] for at in range(0, len(message), step)]
        )
        player.hear_copy(player, 0)


def _action(player: Player, number: int) -> bytes:
    request = table_packets.load_request(player.number, player.table, number)
    return table_packets.encode(request, player.encoding)


def _oversize(endpoint: Endpoint) -> None:
    """Whoever says that a packet is huge is sent away, and nothing is set aside for it."""
    with Player(endpoint) as bystander:
        for name, data in _huge(endpoint):
            _is_sent_away(endpoint, name, data)
            bystander.ask(0)
            bystander.hear(0)


def _bad_packets(endpoint: Endpoint) -> None:
    """Bytes that are no packet end their own connection, and nobody else's."""
    if encoding_of(endpoint) == "json":
        rows = [b"nonsense", b"[1, 2, 3]", b"{}", b'{"classId":100}', b'{"classId":7,"id":"x"}']
        rows.append(b'{"classId":100,"tableid":1,"pid":1,"gamedata":"?","attributes":[]}')
    else:
        rows = [
            b"\0\0\0\x06\x07\0",
            b"\0\0\0\x0a\x07\0\0\0\x01\0",
            b"\0\0\0\x09\x0a\0\x02\xc3\x28",
            b"\0\0\0\x11\x64\0\0\0\x01\0\0\0\x01\xff\xff\xff\xff",
        ]
    with Player(endpoint) as bystander:
        for data in rows:
            _is_sent_away(endpoint, repr(data), data, framed=True)
            bystander.ask(0)
            bystander.hear(0)


def _huge(endpoint: Endpoint) -> Iterator[tuple[str, bytes]]:
    """Beginnings of packets that no server should wait for; over WebSocket of its frames."""
    if is_websocket(endpoint):
        kind = 0x81 if encoding_of(endpoint) == "json" else 0x82
        for size in (2**62, 2**31, LARGEST + 1):
            head = struct.pack(">BBQ", kind, 0x80 | 127, size)
            yield f"a frame of {size:,} bytes", head + b"\0\0\0\0" + b"{" * (1 << 12)
    elif encoding_of(endpoint) == "json":
        yield "a line without an end", b'{"classId":7,"id":' + b"1" * (2 * LARGEST)
    else:
        for length in (2**31 - 1, LARGEST + 1, 4, 0, -1):
            yield f"a length of {length:,}", struct.pack(">iB", length, GAME) + b"\0" * 64


def _is_sent_away(endpoint: Endpoint, name: str, data: bytes, *, framed: bool = False) -> None:
    """Raises unless the server ends a connection on which this came."""
    with Guest(endpoint) as offender:
        connection = offender.carrier
        try:
            with contextlib.suppress(ConnectionError, ssl.SSLEOFError):
                if framed:
                    connection.send(data)
                else:
                    connection.socket.sendall(data)
                while connection.socket.recv(4096):
                    pass
        except TimeoutError:
            raise Broken(f"after {name} the connection was kept open") from None


def _close(endpoint: Endpoint) -> None:
    with Player(endpoint) as player:
        player.ask(0)
        player.hear(0)
        player.carrier.socket.shutdown(socket.SHUT_WR)
        expect(
            player.carrier.socket.recv(1) == b"",
            "our end of stream was not answered with the server's",
        )


def _gone(endpoint: Endpoint) -> None:
    """A player who vanishes leaves its table, and the others play on."""
    table = new_table()
    with Player(endpoint, table) as player:
        for number in range(checks.PEERS):
            other = Player(endpoint, table)
            checks.reset(other.carrier.socket)
            player.act(number)
            player.hear_copy(player, number)
        player.is_alive()


def _lobby(endpoint: Endpoint) -> None:
    """Who looks is told again and again how the tables are, each time with the next number."""
    with ExitStack() as stack:
        with Guest(endpoint) as guest:
            guest.say(table_packets.SUBSCRIBE)
            guest.expect(table_packets.bad(LOBBY_SUBSCRIBE, NOT_NOW))
        player = stack.enter_context(Player(endpoint))
        blind = stack.enter_context(Player(endpoint))
        player.say(table_packets.SUBSCRIBE, table_packets.SUBSCRIBE)
        seen = [_snapshot(player) for _ in range(SNAPSHOTS)]
        for before, after in pairwise(seen):
            right = after["seq"] == (before["seq"] + 1) % 2**32
            expect(right, f"snapshot {after['seq']} came behind {before['seq']}")
        for snapshot in seen:
            _is_consistent(snapshot)
            expect(_seated(snapshot, player) == 1, f"{player.table} has one player: {snapshot}")
        second = stack.enter_context(Player(endpoint, player.table))
        deadline = time.monotonic() + endpoint.deadline_s
        while _seated(_snapshot(player), player) != 2:
            expect(time.monotonic() < deadline, "a second player at a table is never told")
        second.leave(player.table)
        while _seated(_snapshot(player), player) != 1:
            expect(time.monotonic() < deadline, "a player who left stays in the lobby")
        blind.is_alive()


def _snapshot(player: Player) -> Snapshot:
    found = player.receive()
    expect(found.class_id == LOBBY_SNAPSHOT, f"{found} came, not a snapshot of the lobby")
    return found.fields


def _seated(snapshot: Snapshot, player: Player) -> int | None:
    """How many sit at the player's table; None where it is not listed."""
    seated: dict[int, int] = {row["tableid"]: row["seated"] for row in snapshot["list"]}
    return seated.get(player.table)


def _is_consistent(snapshot: Snapshot) -> None:
    rows = snapshot["list"]
    numbers = [row["tableid"] for row in rows]
    expect(numbers == sorted(set(numbers)), f"the tables are in no order: {numbers}")
    expect(all(row["seated"] > 0 for row in rows), f"a table with nobody is listed: {rows}")
    few = min(snapshot["tables"], MOST_LISTED)
    expect(len(rows) == few, f"{len(rows)} tables are listed of {snapshot['tables']}")
    if snapshot["tables"] == len(rows):
        players = sum(row["seated"] for row in rows)
        expect(players == snapshot["players"], f"{players} are listed of {snapshot['players']}")


def _asked(endpoint: Endpoint) -> socket.socket:
    """A peer at a table that never reads what it asked for."""
    player = Player(endpoint)
    player.ask(0)
    return player.carrier.socket


def _half_a_packet(endpoint: Endpoint) -> socket.socket:
    """A player who stops in the middle of a packet."""
    player = Player(endpoint)
    data = _action(player, 0)
    player.carrier.socket.sendall(data[: len(data) // 2])
    return player.carrier.socket


_COMMON = (
    Check("vectors", "a conversation, byte by byte", _vectors),
    Check("seats", "logins, seats and their refusals", _seats),
    Check("fan-out", f"{TABLE_SIZE} players at a table", _fan_out),
    Check(
        "fan-out", f"{TABLE_SIZE} players at a table, several threads", _fan_out, SEVERAL_THREADS
    ),
    Check("sequence", "numbers of actions", _sequence),
    Check("delay", "delays", _delay),
    Check("ping", "pings as packets", _ping),
    Check("oversize", "packets that say they are huge", _oversize),
    Check("bad-packet", "bytes that are no packet", _bad_packets),
    Check("half-open", "players who vanish from a table", _gone),
    Check("lobby", "snapshots of the lobby", _lobby),
)

STREAM: tuple[Check, ...] = (
    checks.exchange(Player),
    checks.many(Player),
    checks.at_once(Player, "in-flight", MESSAGES, "actions"),
    *_COMMON,
    Check("pieces", "single bytes", _pieces),
    Check("close", "close", _close),
    *checks.half_open(Player, _asked, _half_a_packet),
    *checks.concurrency(Player),
)

MESSAGE: tuple[Check, ...] = (
    *websocket_parts.parts(Player, PATH),
    *_COMMON,
    Check("fragments", f"{FRAGMENTS} fragments", _fragments),
)
