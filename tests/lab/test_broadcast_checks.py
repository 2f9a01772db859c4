"""What the checks of a broadcast ask of a server, and what they must not."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

from wiretrial.subjects.checks_broadcast import BROADCAST
from wiretrial.subjects.endpoint import Broken, Endpoint
from wiretrial.subjects.spec import Part

CHECKS = {check.part: check.function for check in BROADCAST}


class Hall:
    """A broadcast that takes a connection in only a while after its upgrade."""

    def __init__(self, deaf: int) -> None:
        self.deaf = deaf
        self.listeners: list[ServerConnection] = []
        self.lock = threading.Lock()

    def handler(self, connection: ServerConnection) -> None:
        time.sleep(0.05)
        with self.lock:
            self.listeners.append(connection)
        for message in connection:
            with self.lock:
                for place, listener in enumerate(self.listeners):
                    if place != self.deaf or listener is connection:
                        # One that has left may not have told so yet.
                        with suppress(ConnectionClosed):
                            listener.send(message)
        with self.lock:
            self.listeners.remove(connection)


@pytest.fixture(params=[None], ids=["all hear"])
def hall(request: pytest.FixtureRequest) -> Iterator[Server]:
    one = Hall(-1 if request.param is None else request.param)
    with serve(one.handler, "127.0.0.1", 0, max_size=None, close_timeout=0.1) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def endpoint(server: Server) -> Endpoint:
    port = server.socket.getsockname()[1]
    return Endpoint(protocol="ws", host="127.0.0.1", port=port, deadline_s=2.0)


@pytest.mark.parametrize("name", ["fan-out", "large"])
def test_a_server_may_take_a_connection_in_after_its_upgrade(hall: Server, name: Part) -> None:
    CHECKS[name](endpoint(hall))


@pytest.mark.parametrize("hall", [1], ids=["one hears itself only"], indirect=True)
def test_who_does_not_hear_the_others_is_found_out(hall: Server) -> None:
    with pytest.raises((Broken, TimeoutError)):
        CHECKS["fan-out"](endpoint(hall))
