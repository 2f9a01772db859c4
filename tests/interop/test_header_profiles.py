"""Header fields that are the same, partly new or all new in each request, as others read them.

Over HTTP/2 `hpack` and `h2` read them, over HTTP/1.1 `h11`.
"""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import h11
import hpack
import pytest
from hpack.struct import NeverIndexedHeaderTuple
from hyperframe.frame import Frame, HeadersFrame

from wiretrial.errors import EXIT_GOOD, EXIT_INVALID

REQUESTS = 40
PREFACE_BYTES = 24
HEAD_BYTES = 9
SAME = """Authorization: Bearer {{token}}
User-Agent: shop/1.0
X-Tenant: blue
"""
PROFILES = {
    "constant": SAME,
    "varying": SAME + "X-Trace: {{newUuid}}\n",
    "unique": """Authorization: Bearer {{newUuid}}
User-Agent: shop/{{seq}}
X-Trace: {{newUuid}}
""",
}
"""By name, what each request of a traffic file says."""
VARY = {
    "constant": set[str](),
    "varying": {"x-trace"},
    "unique": {"authorization", "user-agent", "x-trace"},
}
SECRETS = {"authorization"}


@dataclass
class Recorded:
    """What the server was sent."""

    requests: list[dict[str, hpack.HeaderTuple]] = field(default_factory=list)
    blocks: list[bytes] = field(default_factory=list)
    indexed: int = 0
    """Entries that the tables of all connections held, over all that came."""
    table: int = 0
    """Those of the fullest one."""


def test_what_each_request_says(profile: str, tmp_path: Path) -> None:
    with recording() as (base, recorded):
        (tmp_path / "ask.hurl").write_text(f"GET {{{{base}}}}/\n{PROFILES[profile]}HTTP 200\n")
        (tmp_path / "ask.toml").write_text(
            f'base = "{base}"\nhttp = "2"\n[[flow]]\nfile = "ask.hurl"\n'
            "[load]\nusers = 4\nconnections = {pool = 2, streams = 2}\n"
            '[variables]\ntoken = "of-no-use"\n'
        )
        line = [".venv/bin/wiretrial", "load", str(tmp_path / "ask.toml")]
        line += ["-n", str(REQUESTS), "--warmup", "0s", "--no-learn", "--format", "json"]
        ended = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    # A busy machine makes a short load invalid; what was sent is the same.
    assert ended.returncode in (EXIT_GOOD, EXIT_INVALID), ended.stderr
    assert json.loads(ended.stdout)["totals"]["ok"] == REQUESTS
    assert len(recorded.requests) >= REQUESTS
    assert recorded.indexed == 0, "nothing is left in the server's tables"
    for name in {name for said in recorded.requests for name in said}:
        values = [said[name][1] for said in recorded.requests]
        expected = len(values) if name in VARY[profile] else 1
        assert len(set(values)) == expected, name
        secret = [isinstance(said[name], NeverIndexedHeaderTuple) for said in recorded.requests]
        assert set(secret) == {name in SECRETS}, name
    if profile == "constant":
        assert len(set(recorded.blocks)) == 1, "each is the same bytes, on every connection"


PROFILE_FIELDS = 10
OF_TARGET = ("host", ":method", ":scheme", ":authority", ":path")
NEW = {"constant": set[str](), "partly": {"cookie", "x-request-id"}}
"""By header profile, what is new in each request; unique: all."""
LATER = {"constant": 30, "partly": 102, "unique": 532}
"""Bytes of each request but a connection's first, as docs/http2.md has them."""
FRAME_HEAD = 9


@pytest.mark.parametrize("name", ["constant", "partly", "unique"])
@pytest.mark.parametrize("version", ["1.1", "2"])
def test_what_a_header_profile_says(version: str, name: str) -> None:
    with recording(serve if version == "2" else serve_http_1_1) as (base, recorded):
        line = [".venv/bin/wiretrial", "load", f"{base}/message", "--http", version]
        line += ["--header-profile", name, "-c", "2", "--depth", "2", "-n", str(REQUESTS)]
        line += ["--warmup", "0s", "--no-learn", "--format", "json"]
        ended = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    # A busy machine makes a short load invalid; what was sent is the same.
    assert ended.returncode in (EXIT_GOOD, EXIT_INVALID), ended.stderr
    found = json.loads(ended.stdout)
    assert found["totals"]["ok"] == REQUESTS
    assert found["header_profile"]["profile"] == name
    # One more, of the preflight.
    assert len(recorded.requests) == REQUESTS + 1
    fields = {field for said in recorded.requests for field in said} - set(OF_TARGET)
    assert len(fields) == PROFILE_FIELDS
    for field_name in fields:
        values = {said[field_name][1] for said in recorded.requests}
        expected = REQUESTS + 1 if field_name in NEW.get(name, fields) else 1
        assert len(values) == expected, field_name
    if version == "1.1":
        assert len({len(block) for block in recorded.blocks}) == 1
        return
    listed = sum(len(key) + len(value) for key, value in recorded.requests[0].values())
    assert found["header_profile"]["field_bytes"] == listed
    sent = [FRAME_HEAD + len(block) for block in recorded.blocks]
    lengths = sorted(set(sent))
    # The server's name alone, where all else is new.
    assert len(lengths) == 2, "the first of a connection puts into the table what others refer to"
    later, first = lengths
    assert later == LATER[name]
    # The preflight has a connection of its own.
    assert found["header_profile"]["sent_bytes"] == (sum(sent) - first) / REQUESTS
    kept = PROFILE_FIELDS + 1 - len(NEW.get(name, fields))
    assert recorded.table == kept


@pytest.fixture(params=PROFILES)
def profile(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextmanager
def recording(
    serving: Callable[[socket.socket, Recorded], None] | None = None,
) -> Iterator[tuple[str, Recorded]]:
    """A server that answers each request and keeps what it was sent; its address."""
    recorded = Recorded()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(
                    target=serving or serve, args=(client, recorded), daemon=True
                ).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", recorded
        listener.shutdown(socket.SHUT_RDWR)


def serve(client: socket.socket, recorded: Recorded) -> None:
    """One connection: its blocks are read twice, by the server's codec and by a decoder of ours."""
    config = h2.config.H2Configuration(client_side=False)
    connection = h2.connection.H2Connection(config=config)
    connection.initiate_connection()
    decoder, came, read = hpack.Decoder(), b"", PREFACE_BYTES
    with client:
        client.sendall(connection.data_to_send())
        while piece := client.recv(65_536):
            came += piece
            for event in connection.receive_data(piece):
                if isinstance(event, h2.events.RequestReceived) and event.stream_id:
                    connection.send_headers(event.stream_id, [(":status", "200")])
                    connection.send_data(event.stream_id, b"here", end_stream=True)
            while len(came) >= read + HEAD_BYTES:
                frame, length = Frame.parse_frame_header(memoryview(came[read:][:HEAD_BYTES]))
                begin, read = read + HEAD_BYTES, read + HEAD_BYTES + length
                if isinstance(frame, HeadersFrame):
                    block = came[begin:read]
                    said = {str(one[0]): one for one in decoder.decode(block)}
                    recorded.requests.append(said)
                    recorded.blocks.append(block)
            held = len(decoder.header_table.dynamic_entries)
            recorded.indexed += held
            recorded.table = max(recorded.table, held)
            client.sendall(connection.data_to_send())


def serve_http_1_1(client: socket.socket, recorded: Recorded) -> None:
    """One connection of HTTP/1.1."""
    connection = h11.Connection(h11.SERVER)
    with client:
        while piece := client.recv(65_536):
            connection.receive_data(piece)
            while True:
                event = connection.next_event()
                if isinstance(event, h11.Request):
                    said = {
                        name.decode(): hpack.HeaderTuple(name, value)
                        for name, value in event.headers
                    }
                    recorded.requests.append(said)
                    recorded.blocks.append(b"".join(b"%s: %s" % pair for pair in event.headers))
                elif isinstance(event, h11.EndOfMessage):
                    head = h11.Response(status_code=200, headers=[("Content-Length", "4")])
                    for part in (head, h11.Data(b"here"), h11.EndOfMessage()):
                        client.sendall(connection.send(part) or b"")
                elif event is h11.PAUSED:
                    connection.start_next_cycle()
                else:
                    break
