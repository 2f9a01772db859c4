"""What the checks of `push` and `long-poll` ask, and that each breach of them is found out."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Final, Literal
from urllib.parse import parse_qs, urlsplit

import pytest

from wiretrial.engine import Engine
from wiretrial.subjects import checks_push, contracts
from wiretrial.subjects.endpoint import Broken, Endpoint
from wiretrial.subjects.first_reply import Told
from wiretrial.subjects.spec import ContractName, Part, Protocol

CONTRACTS: Final[tuple[ContractName, ...]] = ("push", "long-poll")
PARTS = [
    (contract, part)
    for contract in CONTRACTS
    for part in dict.fromkeys(check.part for check in contracts.checks(contract, "http"))
]
LONGEST_POLL_S = 5.0
MISSED = 3
"""Events that nobody hears of a server that takes subscribers in late."""

Fault = Literal[
    "none",
    "deaf",
    "twice",
    "swapped",
    "replayed",
    "lost",
    "silent",
    "wrong type",
    "hasty",
    "forgetful",
    "no JSON",
    "late",
]


class Hub(ThreadingHTTPServer):
    """What is published goes to a queue of each who subscribes, and is kept for those who poll."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, fault: Fault) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.fault = fault
        self.changed = threading.Condition()
        self.subscribers: list[queue.SimpleQueue[str]] = []
        self.told: list[str] = []
        self.kept: list[str] = []

    def subscribe(self) -> queue.SimpleQueue[str]:
        """Somebody hears from now on."""
        events: queue.SimpleQueue[str] = queue.SimpleQueue()
        with self.changed:
            if self.fault == "replayed":
                for event in self.told:
                    events.put(event)
            self.subscribers.append(events)
        return events

    def publish(self, event: str) -> None:
        """Everybody is told, unless there is a fault."""
        with self.changed:
            self.told.append(event)
            told = [event] * (2 if self.fault == "twice" else 1)
            count = len(self.told)
            if self.fault == "lost" and count % 5 == 0:
                told = []
            if self.fault == "swapped":
                told = [] if count % 2 else self.told[:-3:-1]
            if self.fault == "late" and count <= MISSED:
                told = []
            for place, events in enumerate(self.subscribers):
                if self.fault == "deaf" and place == 1:
                    continue
                for one in told:
                    events.put(one)
            self.kept += told
            self.changed.notify_all()

    def behind(self, after: int | None) -> tuple[int, list[str]]:
        """The number of the last event, and those behind that one, once there are any."""
        with self.changed:
            last = len(self.kept)
            if after is None:
                return (0 if self.fault == "replayed" else last), []
            since = last if self.fault == "forgetful" else after
            if self.fault != "hasty":
                self.changed.wait_for(lambda: len(self.kept) > since, LONGEST_POLL_S)
            return len(self.kept), self.kept[since:]


class Handler(BaseHTTPRequestHandler):
    """`POST /publish`, `GET /subscribe` and `GET /next`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Hub

    def do_POST(self) -> None:
        """Publishes the body."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.publish(body)
        self.answer("text/plain", b"" if self.server.fault == "silent" else b"OK")

    def do_GET(self) -> None:
        """Answers a poll, or tells events until the client has gone."""
        asked = urlsplit(self.path)
        if asked.path == "/next":
            after = parse_qs(asked.query).get("after")
            last, told = self.server.behind(int(after[0]) if after else None)
            said = json.dumps({"last": last, "events": told}).encode()
            kind = "text/plain" if self.server.fault == "wrong type" else "application/json"
            self.answer(kind, b"none" if self.server.fault == "no JSON" else said)
            return
        if asked.path != "/subscribe":
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

    def answer(self, kind: str, said: bytes) -> None:
        """Says that much, and goes on."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(said)))
        with suppress(OSError):
            self.end_headers()
            self.wfile.write(said)

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


def ask(found: Endpoint, contract: ContractName, part: Part) -> None:
    """Makes the checks of this part."""
    for check in contracts.checks(contract, found.protocol):
        if check.part == part:
            check.function(found)


@pytest.mark.parametrize(("contract", "part"), PARTS)
def test_a_right_server_passes(hub: Hub, contract: ContractName, part: Part) -> None:
    ask(endpoint(hub), contract, part)


@pytest.mark.parametrize(
    ("hub", "contract", "part"),
    [
        ("deaf", "push", "fan-out"),
        ("twice", "push", "many"),
        ("swapped", "push", "many"),
        ("replayed", "push", "fan-out"),
        ("lost", "push", "many"),
        ("silent", "push", "exchange"),
        ("wrong type", "push", "exchange"),
        ("twice", "long-poll", "many"),
        ("swapped", "long-poll", "many"),
        ("replayed", "long-poll", "fan-out"),
        ("lost", "long-poll", "many"),
        ("wrong type", "long-poll", "exchange"),
        ("hasty", "long-poll", "exchange"),
        ("forgetful", "long-poll", "many"),
        ("no JSON", "long-poll", "exchange"),
    ],
    indirect=["hub"],
)
def test_each_fault_is_found_out(hub: Hub, contract: ContractName, part: Part) -> None:
    with pytest.raises((Broken, TimeoutError)):
        ask(endpoint(hub), contract, part)


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may pause for a fixed time."""

    def never(_seconds: float) -> None:
        raise AssertionError("it paused")

    monkeypatch.setattr(checks_push, "time", SimpleNamespace(monotonic=time.monotonic, sleep=never))


@pytest.mark.usefixtures("no_pause")
@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_first_reply_of_a_start_is_waited_for_without_a_pause(
    hub: Hub, contract: ContractName
) -> None:
    told = contracts.first_reply(contract, endpoint(hub))
    assert told == Told(since_ns=told.since_ns)
    assert told.since_ns > 0


@pytest.mark.usefixtures("no_pause")
@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("hub", ["late"], indirect=True)
def test_a_server_that_takes_subscribers_in_late_tells_the_resolution(
    hub: Hub, contract: ContractName
) -> None:
    told = contracts.first_reply(contract, endpoint(hub))
    assert told.problem is None
    assert told.asked_again_ns >= checks_push.AGAIN_S * 1e9
    assert len(hub.told) > MISSED


@pytest.mark.parametrize(
    ("hub", "contract"),
    [("silent", "push"), ("wrong type", "push"), ("no JSON", "long-poll")],
    indirect=["hub"],
)
def test_a_wrong_first_reply_is_told(hub: Hub, contract: ContractName) -> None:
    assert contracts.first_reply(contract, endpoint(hub)).problem is not None


WAYS: Final[tuple[tuple[ContractName, Protocol], ...]] = (
    ("push", "http"),
    ("push", "h2c"),
    ("push", "ws"),
    ("push", "socketio+ws"),
    ("push", "grpc"),
    ("long-poll", "http"),
)


@contextmanager
def responding(engine: Engine, *flags: str) -> Iterator[int]:
    """The port of a reference server."""
    command = [str(engine.binary), "respond", "--http", "127.0.0.1:0", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline().rpartition(":")[2].split()[0])
        finally:
            process.terminate()


@pytest.mark.parametrize(("contract", "protocol"), WAYS)
def test_the_reference_server_keeps_it(
    engine: Engine, contract: ContractName, protocol: Protocol
) -> None:
    with responding(engine) as port:
        for check in contracts.checks(contract, protocol):
            check.function(Endpoint(protocol=protocol, host="127.0.0.1", port=port))


@pytest.mark.usefixtures("no_pause")
@pytest.mark.parametrize(("contract", "protocol"), WAYS)
def test_the_first_reply_comes_in_each_way(
    engine: Engine, contract: ContractName, protocol: Protocol
) -> None:
    with responding(engine) as port:
        told = contracts.first_reply(
            contract, Endpoint(protocol=protocol, host="127.0.0.1", port=port)
        )
    assert told.problem is None


@pytest.mark.parametrize(("contract", "protocol"), WAYS)
def test_an_event_that_is_altered_is_found_out_in_each_way(
    engine: Engine, contract: ContractName, protocol: Protocol
) -> None:
    with responding(engine, "--fault", "wrong@7") as port, pytest.raises(Broken):
        ask(Endpoint(protocol=protocol, host="127.0.0.1", port=port), contract, "many")
