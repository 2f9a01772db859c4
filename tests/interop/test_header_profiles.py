"""Header fields alike, partly alike and another's in each request, as `hpack` reads them."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import hpack
import pytest
from hpack.struct import NeverIndexedHeaderTuple
from hyperframe.frame import Frame, HeadersFrame

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
    """Entries that the tables of all connections held."""


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
    assert ended.returncode == 0, ended.stderr
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


@pytest.fixture(params=PROFILES)
def profile(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextmanager
def recording() -> Iterator[tuple[str, Recorded]]:
    """A server that answers each request and keeps what it was sent; its address."""
    recorded = Recorded()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(client, recorded), daemon=True).start()

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
            recorded.indexed += len(decoder.header_table.dynamic_entries)
            client.sendall(connection.data_to_send())
