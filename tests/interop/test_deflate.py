"""Compression with every parameter, between the engine and the package websockets."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.extensions.permessage_deflate import (
    ClientPerMessageDeflateFactory,
    ServerPerMessageDeflateFactory,
)
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve

from conformance.process import Process
from tests.interop.parts import Both, Load
from wiretrial.engine import Engine
from wiretrial.subjects.certificates import Certificate

ROUNDS = 40

# What our side asks for, and what theirs does: takeover of the server and of the client, window
# bits of the server and of the client.
PARAMETERS = [
    ("", (False, False, None, None)),
    ("server_no_context_takeover", (False, True, None, None)),
    ("client_no_context_takeover", (True, False, None, None)),
    ("server_max_window_bits=9", (False, False, 10, None)),
    ("client_max_window_bits=9,level=1", (False, False, None, 12)),
    ("server_max_window_bits=12,client_max_window_bits=10,level=9", (True, True, 9, 9)),
]


def messages() -> Iterator[bytes]:
    """Empty and short ones, what repeats, what was there before, and what does not compress."""
    noise, state = bytearray(), 1
    for _ in range(5000):
        state = (state * 1_664_525 + 1_013_904_223) % 2**32
        noise.append(state >> 24)
    for round_ in range(ROUNDS):
        yield b""
        yield b"%d" % round_
        yield b"again and again, " * (round_ * 40)
        yield bytes(noise[: round_ * 125])


@pytest.mark.parametrize(("ours", "theirs"), PARAMETERS)
def test_their_client(
    engine: Engine,
    tmp_path: Path,
    ours: str,
    theirs: tuple[bool, bool, int | None, int | None],
) -> None:
    server_alone, client_alone, server_bits, client_bits = theirs
    factory = ClientPerMessageDeflateFactory(
        server_no_context_takeover=server_alone,
        client_no_context_takeover=client_alone,
        server_max_window_bits=server_bits,
        client_max_window_bits=client_bits or True,
    )
    command = [str(engine.binary), "respond", "--http", "127.0.0.1:0", f"--deflate={ours}"]
    with Process(command, log=tmp_path / "log") as server:
        address = server.hear(r"ready http=(\S+)")
        # `compression` would add an offer of its own.
        with connect(f"ws://{address}", extensions=[factory], compression=None) as client:
            assert [extension.name for extension in client.protocol.extensions] == [
                "permessage-deflate"
            ]
            for message in messages():
                client.send(message)
                assert client.recv() == message
            client.send(["in ", "several ", "pieces"])
            assert client.recv() == "in several pieces"


@pytest.mark.parametrize(("ours", "theirs"), PARAMETERS)
def test_their_server(
    load: Load,
    certificate: Certificate,
    ours: str,
    theirs: tuple[bool, bool, int | None, int | None],
) -> None:
    server_alone, client_alone, server_bits, client_bits = theirs
    factory = ServerPerMessageDeflateFactory(
        server_no_context_takeover=server_alone,
        client_no_context_takeover=client_alone,
        server_max_window_bits=server_bits,
        client_max_window_bits=client_bits,
    )

    def echo(connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            for message in connection:
                connection.send(message)

    with serve(echo, "127.0.0.1", 0, extensions=[factory], compression=None) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"127.0.0.1:{server.socket.getsockname()[1]}"
        both = Both(plain=address, secure=address, certificate=certificate)
        try:
            summary = load(both, "ws", "/", f"--deflate={ours}", "--payload", "3000", "--text")
        finally:
            server.shutdown()
            thread.join()
    total = summary.bytes
    assert total.payload_sent == total.payload_received
    assert total.application_sent * 5 < total.payload_sent
    assert total.application_received * 5 < total.payload_received
