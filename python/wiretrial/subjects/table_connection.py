"""A player at a table, as the checks play one: over a stream or over WebSocket, in either encoding.

Knows how packets are framed and the way to a seat; must not know what is checked.
"""

from __future__ import annotations

import itertools
import struct
from collections import deque
from typing import Self

from wiretrial.subjects import table_packets
from wiretrial.subjects.endpoint import Broken, Endpoint, expect
from wiretrial.subjects.table_packets import Encoding, NoPacket, Packet
from wiretrial.subjects.websocket_connection import WebSocket

PATH = "/socket"
"""Where a table server takes the upgrade to WebSocket."""

FIRST_NUMBER = 1001
_numbers = itertools.count(FIRST_NUMBER)
"""Of players, and of tables of their own: no check meets another's."""

_PIECE = 65_536


class Stream:
    """Packets on a byte stream: binary ones by their length, JSON a line each."""

    def __init__(self, endpoint: Endpoint, encoding: Encoding) -> None:
        self.socket = endpoint.connect()
        self._encoding = encoding
        self._held = bytearray()

    def framed(self, packet: bytes) -> bytes:
        """The packet as it stands in the stream."""
        return packet + b"\n" if self._encoding == "json" else packet

    def send(self, *packets: bytes) -> None:
        """Sends packets, all in one piece."""
        self.socket.sendall(b"".join(map(self.framed, packets)))

    def receive(self) -> bytes:
        """The next packet, without the end of its line."""
        if self._encoding == "json":
            while b"\n" not in self._held:
                self._fill()
            line, _, rest = bytes(self._held).partition(b"\n")
            self._held = bytearray(rest)
            return line
        while len(self._held) < table_packets.HEADER:
            self._fill()
        (length,) = struct.unpack(">i", self._held[:4])
        right = table_packets.HEADER <= length <= table_packets.LARGEST
        expect(right, f"a packet came that says it is {length} bytes long")
        while len(self._held) < length:
            self._fill()
        packet = bytes(self._held[:length])
        del self._held[:length]
        return packet

    def _fill(self) -> None:
        data = self.socket.recv(_PIECE)
        expect(bool(data), f"the server closed the connection, {len(self._held)} bytes into it")
        self._held += data


class Messages:
    """A packet in each WebSocket message: binary, or text for JSON."""

    def __init__(self, endpoint: Endpoint, encoding: Encoding) -> None:
        self.websocket = WebSocket(endpoint, PATH)
        self.socket = self.websocket.socket
        self._encoding = encoding

    def framed(self, packet: bytes) -> str | bytes:
        """The packet as a message."""
        return packet.decode() if self._encoding == "json" else packet

    def send(self, *packets: bytes) -> None:
        """Sends packets, all in one piece."""
        self.websocket.send(*map(self.framed, packets))

    def receive(self) -> bytes:
        """The next packet, whole."""
        message = self.websocket.receive()
        wanted = "text" if self._encoding == "json" else "binary"
        kind = "text" if isinstance(message, str) else "binary"
        expect(kind == wanted, f"a {kind} message came where packets are {wanted}")
        return message.encode() if isinstance(message, str) else message


def encoding_of(endpoint: Endpoint) -> Encoding:
    """How packets are written there."""
    return "json" if "json" in endpoint.protocol else "binary"


def is_websocket(endpoint: Endpoint) -> bool:
    """Whether they travel in WebSocket messages."""
    return endpoint.protocol.endswith(("+ws", "+wss"))


def carrier(endpoint: Endpoint) -> Stream | Messages:
    """A connection of which nothing is said yet."""
    encoding = encoding_of(endpoint)
    return Messages(endpoint, encoding) if is_websocket(endpoint) else Stream(endpoint, encoding)


class Guest:
    """A connection on which nobody has logged in yet. A context manager; leaving it drops it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.encoding: Encoding = encoding_of(endpoint)
        self.carrier = carrier(endpoint)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.carrier.socket.close()

    def say(self, *packets: Packet) -> None:
        """Sends packets, all in one piece."""
        self.carrier.send(*(table_packets.encode(packet, self.encoding) for packet in packets))

    def receive(self) -> Packet:
        """The next packet."""
        data = self.carrier.receive()
        try:
            return table_packets.decode(data, self.encoding)
        except NoPacket as problem:
            raise Broken(f"no packet came: {problem}") from problem

    def expect(self, wanted: Packet) -> None:
        """Reads one packet; raises unless it is this one."""
        found = self.receive()
        expect(found == wanted, f"{found} came, not {wanted}")

    def log_in(self, number: int) -> None:
        """Logs in as the player with this number."""
        name = f"player{number}"
        self.say(table_packets.login(name))
        self.expect(
            Packet(
                table_packets.LOGIN_RESPONSE,
                {
                    "screenname": name,
                    "pid": number,
                    "status": 0,
                    "code": 0,
                    "message": "",
                    "credentials": b"",
                },
            )
        )

    def join(self, table: int, *, seat: int = 0, status: int = 0) -> None:
        """Asks for a seat; raises unless the answer has this status."""
        self.say(table_packets.join(table, seat))
        answer = {"tableid": table, "seat": seat, "status": status, "code": 0}
        self.expect(Packet(table_packets.JOIN_RESPONSE, answer))

    def leave(self, table: int, *, status: int = 0) -> None:
        """Stands up; raises unless the answer has this status."""
        self.say(table_packets.leave(table))
        answer = {"tableid": table, "status": status, "code": 0}
        self.expect(Packet(table_packets.LEAVE_RESPONSE, answer))

    def is_alive(self) -> None:
        """Raises unless the server still answers, and had said nothing before."""
        self.say(table_packets.ping(77))
        self.expect(table_packets.ping(77))


class Player(Guest):
    """A player who sits, at a table of its own unless another is given.

    As a conversation: a message is an action, its answer the table's own copy.
    """

    websocket: WebSocket
    """Only where packets travel over one."""

    def __init__(self, endpoint: Endpoint, table: int | None = None) -> None:
        super().__init__(endpoint)
        self.number = next(_numbers)
        self.table = self.number if table is None else table
        self._next = 0
        self._asked: deque[int] = deque()
        if isinstance(self.carrier, Messages):
            self.websocket = self.carrier.websocket
        try:
            self.log_in(self.number)
            self.join(self.table)
        except BaseException:
            self.__exit__()
            raise

    def act(self, *numbers: int, delay_ms: int = 0) -> None:
        """Sends actions with these numbers, all in one piece."""
        self.say(
            *(
                table_packets.load_request(self.number, self.table, number, delay_ms)
                for number in numbers
            )
        )

    def hear_copy(self, origin: Player, number: int) -> None:
        """Reads one packet; raises unless it is the copy of this action."""
        self.expect(table_packets.load_response(origin.number, origin.table, number))

    def ask(self, *numbers: int) -> None:
        """Acts once for each number, all in one piece. A player counts its own actions."""
        own = range(self._next, self._next + len(numbers))
        self._next = own.stop
        self._asked.extend(own)
        self.act(*own)

    def hear(self, number: int) -> None:
        """Reads one packet; raises unless it is the copy of the oldest action."""
        try:
            self.hear_copy(self, self._asked.popleft())
        except Broken as broken:
            raise Broken(f"message {number}: {broken}") from broken


def new_table() -> int:
    """The number of a table at which nobody sits."""
    return next(_numbers)
