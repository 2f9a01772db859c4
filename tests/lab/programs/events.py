"""A Socket.IO server of the contracts `ws-echo` and `rpc`, but for the faults that it is told.

Usage: events.py HOST PORT [FAULT...]
"""

from __future__ import annotations

import json
import sys
from http import HTTPStatus
from typing import Any

from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

SESSION = {"sid": "1", "upgrades": [], "pingInterval": 25_000, "pingTimeout": 20_000}
MOST = 4 << 20


class Service:
    """One event that comes back, one that is acknowledged."""

    def __init__(self, faults: set[str]) -> None:
        self.faults = faults

    def admit(self, connection: ServerConnection, request: Request) -> Response | None:
        """Refuses what is not Socket.IO's path; None: goes on with the handshake."""
        if request.path.startswith("/socket.io/?EIO=4&transport=websocket"):
            return None
        return connection.respond(HTTPStatus.NOT_FOUND, "no such path\n")

    def converse(self, connection: ServerConnection) -> None:
        """Answers a connection until its end."""
        session = {} if "anonymous" in self.faults else SESSION
        connection.send(f"0{json.dumps(session)}")
        for packet in connection:
            assert isinstance(packet, str)
            if packet == "40":
                # A heartbeat as early as can be: nobody comes in who does not answer it.
                connection.send("2")
                if connection.recv() == "3":
                    connection.send('40{"sid":"2"}')
            elif packet.startswith("42"):
                self._answer(connection, packet[2:])

    def _answer(self, connection: ServerConnection, packet: str) -> None:
        number, bracket, rest = packet.partition("[")
        name, *arguments = json.loads(bracket + rest)
        if name == "message" and number:
            connection.send(f"43{number}{json.dumps([self._echo(arguments[0])])}")
        elif name == "message":
            connection.send(f"42{json.dumps(['message', self._echo(arguments[0])])}")
        elif name == "get":
            ident: object = arguments[1]
            if "numeric" in self.faults:
                ident = int(arguments[1])
            if "misnumbering" in self.faults:
                number = str(int(number) + 1)
            connection.send(f"43{number}{json.dumps([None, {'id': ident}])}")

    def _echo(self, argument: Any) -> Any:
        flattens = "flattening" in self.faults and not isinstance(argument, str)
        return json.dumps(argument) if flattens else argument


def main() -> None:
    """Serves until it is ended."""
    host, port, *faults = sys.argv[1:]
    service = Service(set(faults))
    with serve(
        service.converse, host, int(port), process_request=service.admit, max_size=MOST
    ) as server:
        server.serve_forever()


main()
