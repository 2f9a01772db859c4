"""What the checks of `push` ask of a server, and that each way of breaking it is found out."""

from __future__ import annotations

import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

import pytest

from wiretrial.engine import Engine
from wiretrial.subjects.checks_push import PUSH
from wiretrial.subjects.endpoint import Broken, Endpoint
from wiretrial.subjects.spec import Part

CHECKS = {check.part: check.function for check in PUSH}

Fault = Literal["none", "deaf", "twice", "swapped", "replayed", "lost", "silent", "wrong type"]


class Hub(ThreadingHTTPServer):
    """What is published goes to a queue of each who subscribes."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, fault: Fault) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.fault = fault
        self.lock = threading.Lock()
        self.subscribers: list[queue.SimpleQueue[str]] = []
        self.told: list[str] = []

    def subscribe(self) -> queue.SimpleQueue[str]:
        """Somebody hears from now on."""
        events: queue.SimpleQueue[str] = queue.SimpleQueue()
        with self.lock:
            if self.fault == "replayed":
                for event in self.told:
                    events.put(event)
            self.subscribers.append(events)
        return events

    def publish(self, event: str) -> None:
        """Everybody is told, unless there is a fault."""
        with self.lock:
            self.told.append(event)
            told = [event] * (2 if self.fault == "twice" else 1)
            count = len(self.told)
            if self.fault == "lost" and count % 5 == 0:
                told = []
            if self.fault == "swapped":
                told = [] if count % 2 else self.told[:-3:-1]
            for place, events in enumerate(self.subscribers):
                if self.fault == "deaf" and place == 1:
                    continue
                for one in told:
                    events.put(one)


class Handler(BaseHTTPRequestHandler):
    """`POST /publish` and `GET /subscribe`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Hub

    def do_POST(self) -> None:
        """Publishes the body."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.publish(body)
        said = b"" if self.server.fault == "silent" else b"OK"
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def do_GET(self) -> None:
        """Tells events until the client has gone."""
        if self.path != "/subscribe":
            self.send_error(405)
            return
        events = self.server.subscribe()
        kind = "text/plain" if self.server.fault == "wrong type" else "text/event-stream"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b": a comment\n\nretry: 500\n\n")
        with suppress(OSError):
            while True:
                self.wfile.write(f"id: x\ndata: {events.get()}\n\n".encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def hub(request: pytest.FixtureRequest) -> Iterator[Hub]:
    with Hub(getattr(request, "param", "none")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def endpoint(hub: Hub) -> Endpoint:
    return Endpoint(protocol="http", host="127.0.0.1", port=hub.server_port, deadline_s=1.0)


@pytest.mark.parametrize("part", CHECKS)
def test_a_right_server_passes(hub: Hub, part: Part) -> None:
    CHECKS[part](endpoint(hub))


@pytest.mark.parametrize(
    ("hub", "part"),
    [
        ("deaf", "fan-out"),
        ("twice", "many"),
        ("swapped", "many"),
        ("replayed", "fan-out"),
        ("lost", "many"),
        ("silent", "exchange"),
        ("wrong type", "exchange"),
    ],
    indirect=["hub"],
)
def test_each_fault_is_found_out(hub: Hub, part: Part) -> None:
    with pytest.raises((Broken, TimeoutError)):
        CHECKS[part](endpoint(hub))


@pytest.mark.parametrize("protocol", ["http", "ws"])
def test_the_reference_server_keeps_it(engine: Engine, protocol: Literal["http", "ws"]) -> None:
    command = [str(engine.binary), "respond", "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2].split()[0])
        found = Endpoint(protocol=protocol, host="127.0.0.1", port=port)
        for check in PUSH:
            check.function(found)
        process.terminate()
