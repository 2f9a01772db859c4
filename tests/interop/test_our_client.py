"""Our load generator against servers that other people wrote: every reply arrives and is right."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import os
import socket
import ssl
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from websockets.asyncio.server import Server as WebSocketServer
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from conformance.process import Process
from tests.interop.parts import LIMIT_S, MESSAGES, Both, Load, Scheme
from wiretrial.engine import Engine
from wiretrial.subjects import build, registry
from wiretrial.subjects.certificates import Certificate
from wiretrial.subjects.process import Server

T = TypeVar("T")

WEB: list[Scheme] = ["http", "https"]
SOCKETS: list[Scheme] = ["ws", "wss"]
LARGE = "200000"

# What is asked of each WebSocket server: flags of `wiretrial-engine load`.
CONVERSATIONS = [
    pytest.param(["--payload", "20"], id="binary"),
    pytest.param(["--payload", "300", "--text"], id="text"),
    pytest.param(["--payload", LARGE], id="large"),
    pytest.param(["--payload", "20", "--depth", "12", "--pack", "4"], id="packs"),
    pytest.param(["--payload", "20", "--requests-per-connection", "10"], id="renewed"),
]


class Handler(http.server.BaseHTTPRequestHandler):
    """GET answers a line; POST the body, in chunks where it is long."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """A line."""
        self._answer(b"one line\n")

    def do_POST(self) -> None:
        """The body."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if len(body) < int(LARGE) or self.protocol_version == "HTTP/1.0":
            self._answer(body)
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        half = len(body) // 2
        for piece in (body[:half], body[half:], b""):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        if self.protocol_version == "HTTP/1.1":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class OldHandler(Handler):
    """As HTTP/1.0 has it: the body ends with the connection."""

    protocol_version = "HTTP/1.0"


class PoliteServer(http.server.ThreadingHTTPServer):
    """Ends TLS before the connection, which Python's own server does not."""

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """The end of one connection."""
        if isinstance(request, ssl.SSLSocket):
            with contextlib.suppress(OSError):
                request.unwrap()
        super().shutdown_request(request)


@contextlib.contextmanager
def subject(name: str, engine: Engine) -> Iterator[Both]:
    """A subject of the catalogue, on ports of its own."""
    chosen = registry.find(name)
    built = build.install(chosen, engine.binary)
    with Server(chosen, built, "default", engine=engine.binary) as server:
        server.wait_ready()
        plain, secure = (server.endpoint(scheme) for scheme in WEB)
        yield Both(
            plain=f"{plain.host}:{plain.port}",
            secure=f"{secure.host}:{secure.port}",
            certificate=server.certificate,
        )


@pytest.fixture(scope="module")
def nginx(engine: Engine) -> Iterator[Both]:
    with subject("nginx", engine) as server:
        yield server


@pytest.fixture(scope="module")
def node(engine: Engine) -> Iterator[Both]:
    with subject("ws", engine) as server:
        yield server


@pytest.fixture(scope="module")
def go(
    go_programs: Path, certificate: Certificate, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    files = [str(certificate.chain), str(certificate.key)]
    log = tmp_path_factory.mktemp("go-server") / "log"
    with Process([str(go_programs / "server"), *files], log=log) as server:
        yield Both.told_by(server, certificate)


@pytest.fixture(scope="module")
def node_deflate(
    node_packages: str, certificate: Certificate, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    """Node's ws with compression, which the subject leaves off as its quick start does."""
    script = Path(__file__).resolve().parent / "node_server.cjs"
    command = ["node", str(script), str(certificate.chain), str(certificate.key)]
    log = tmp_path_factory.mktemp("node-server") / "log"
    environment = {**os.environ, "NODE_PATH": node_packages}
    with Process(command, log=log, environment=environment) as server:
        yield Both.told_by(server, certificate)


def context(certificate: Certificate) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate.chain, certificate.key)
    return made


@contextlib.contextmanager
def pythons_http(
    handler: type[Handler],
    certificate: Certificate,
    kind: type[http.server.ThreadingHTTPServer] = PoliteServer,
) -> Iterator[Both]:
    """Python's http.server, twice."""
    plain, secure = (kind(("127.0.0.1", 0), handler) for _ in WEB)
    # The handshake is left to the connection's own thread.
    secure.socket = context(certificate).wrap_socket(
        secure.socket, server_side=True, do_handshake_on_connect=False
    )
    servers = (plain, secure)
    threads = [threading.Thread(target=server.serve_forever) for server in servers]
    for thread in threads:
        thread.start()
    try:
        addresses = [f"127.0.0.1:{server.server_address[1]}" for server in servers]
        yield Both(plain=addresses[0], secure=addresses[1], certificate=certificate)
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            server.server_close()
            thread.join()


@pytest.fixture(scope="module")
def python(certificate: Certificate) -> Iterator[Both]:
    with pythons_http(Handler, certificate) as server:
        yield server


@pytest.fixture(scope="module")
def old_python(certificate: Certificate) -> Iterator[Both]:
    with pythons_http(OldHandler, certificate) as server:
        yield server


@pytest.fixture(scope="module")
def websockets(certificate: Certificate) -> Iterator[Both]:
    """The package websockets, twice, on an event loop: one thread, because Python's TLS must not
    be read and written by two."""

    async def echo(connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for message in connection:
                await connection.send(message)

    async def start(secure: ssl.SSLContext | None) -> WebSocketServer:
        return await serve(echo, "127.0.0.1", 0, max_size=None, ssl=secure)

    async def stop() -> None:
        for server in servers:
            server.close()
            await server.wait_closed()

    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()

        def do(what: Coroutine[None, None, T]) -> T:
            return asyncio.run_coroutine_threadsafe(what, loop).result(LIMIT_S)

        servers = [do(start(secure)) for secure in (None, context(certificate))]
        plain, secure = (
            f"127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}" for server in servers
        )
        yield Both(plain=plain, secure=secure, certificate=certificate)
        do(stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


@pytest.mark.parametrize("scheme", WEB)
@pytest.mark.parametrize("flags", [[], ["--depth", "8"]], ids=["one-by-one", "pipelined"])
@pytest.mark.parametrize("name", ["nginx", "node", "go", "python"])
def test_get(
    name: str, flags: list[str], scheme: Scheme, load: Load, request: pytest.FixtureRequest
) -> None:
    summary = load(request.getfixturevalue(name), scheme, "/message", *flags)
    assert summary.connections.opened == 3


@pytest.mark.parametrize("scheme", WEB)
@pytest.mark.parametrize("size", ["1000", LARGE])
@pytest.mark.parametrize("name", ["node", "go", "python"])
def test_post(
    name: str, size: str, scheme: Scheme, load: Load, request: pytest.FixtureRequest
) -> None:
    server: Both = request.getfixturevalue(name)
    load(server, scheme, "/echo", "--method", "POST", "--payload", size, "--expect", "echo")


@pytest.mark.parametrize("scheme", WEB)
def test_chunks(go: Both, scheme: Scheme, load: Load) -> None:
    load(go, scheme, "/chunked")


@pytest.mark.parametrize("scheme", WEB)
def test_bodies_that_end_with_the_connection(old_python: Both, scheme: Scheme, load: Load) -> None:
    summary = load(old_python, scheme, "/message")
    assert summary.connections.opened >= MESSAGES


def test_bodies_that_end_with_tls_cut_off_are_refused(certificate: Certificate, load: Load) -> None:
    rude = http.server.ThreadingHTTPServer
    with pythons_http(OldHandler, certificate, rude) as server:
        done = load.run(server, "https", "/message")
    assert done.returncode == 1
    assert "TLS ended without close_notify" in done.stderr


@pytest.mark.parametrize("scheme", SOCKETS)
@pytest.mark.parametrize("flags", CONVERSATIONS)
@pytest.mark.parametrize("name", ["node", "go", "websockets"])
def test_echo(
    name: str, flags: list[str], scheme: Scheme, load: Load, request: pytest.FixtureRequest
) -> None:
    load(request.getfixturevalue(name), scheme, "/", *flags)


@pytest.mark.parametrize("scheme", SOCKETS)
@pytest.mark.parametrize("flags", CONVERSATIONS)
@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param("", id="as-a-browser"),
        pytest.param(
            "=server_no_context_takeover,client_no_context_takeover,client_max_window_bits=9",
            id="little-memory",
        ),
    ],
)
@pytest.mark.parametrize("name", ["node_deflate", "go", "websockets"])
def test_compressed_echo(
    name: str,
    parameters: str,
    flags: list[str],
    scheme: Scheme,
    load: Load,
    request: pytest.FixtureRequest,
) -> None:
    load(request.getfixturevalue(name), scheme, "/", f"--deflate{parameters}", *flags)
