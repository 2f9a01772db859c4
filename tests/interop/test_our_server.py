"""Clients that other people wrote against the reference server.

Each does all that it has a way for, says what was right, and the whole list must come: what a
client skips in silence is missed here.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import ssl
import subprocess
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect

from conformance.process import Process
from tests.interop import chromium
from tests.interop.conftest import program
from tests.interop.parts import LIMIT_S, Both, Scheme
from wiretrial.engine import Engine
from wiretrial.subjects.certificates import Certificate
from wiretrial.subjects.endpoint import payload

HERE = Path(__file__).resolve().parent
LARGE = 1 << 20

PAIRS: list[tuple[Scheme, Scheme]] = [("http", "ws"), ("https", "wss")]
WEB: list[Scheme] = ["http", "https"]
SOCKETS: list[Scheme] = ["ws", "wss"]

REQUESTS = {"get", "head", "keep-alive", "post", "post-large", "chunked-reply", "not-found"}
MESSAGES = {"text", "binary", "empty", "large", "close-1000", "close-4000"}
# Where a client has a way to ask for them.
LOW_LEVEL = {"chunked-request", "fragments", "ping"}

both_ways = pytest.mark.parametrize(("web", "socket"), PAIRS, ids=["plain", "tls"])


@dataclass(frozen=True)
class Reference(Both):
    """The reference server, and the WebSocket extension that it agrees to."""

    extension: str


@pytest.fixture(scope="module", params=["", "permessage-deflate"], ids=["as-is", "compressed"])
def reference(
    request: pytest.FixtureRequest,
    engine: Engine,
    certificate: Certificate,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Reference]:
    command = [str(engine.binary), "respond", "--http", "127.0.0.1:0", "--https", "127.0.0.1:0"]
    command += ["--cert", str(certificate.chain), "--key", str(certificate.key)]
    if request.param:
        command.append("--deflate")
    with Process(command, log=tmp_path_factory.mktemp("reference") / "log") as server:
        both = Both.told_by(server, certificate)
        yield Reference(both.plain, both.secure, certificate, request.param)


def run(command: list[str], **environment: str) -> str:
    """What a client said, that ended well."""
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def good(output: str) -> set[str]:
    """The names in lines that say `ok NAME`."""
    return {line.removeprefix("ok ") for line in output.splitlines() if line.startswith("ok ")}


@both_ways
def test_go(reference: Reference, go_programs: Path, web: Scheme, socket: Scheme) -> None:
    command = [str(go_programs / "client"), reference.url(web), reference.url(socket)]
    output = run([*command, str(reference.certificate.authority), reference.extension])
    assert good(output) == REQUESTS | MESSAGES | LOW_LEVEL


@both_ways
def test_node(reference: Reference, node_packages: str, web: Scheme, socket: Scheme) -> None:
    command = ["node", str(HERE / "node_client.cjs"), reference.url(web), reference.url(socket)]
    output = run(
        [*command, reference.extension],
        NODE_PATH=node_packages,
        NODE_EXTRA_CA_CERTS=str(reference.certificate.authority),
    )
    assert good(output) == REQUESTS | MESSAGES | LOW_LEVEL


@both_ways
def test_chromium(reference: Reference, tmp_path: Path, web: Scheme, socket: Scheme) -> None:
    binary = program("chromium", "Debian's chromium")
    script = (HERE / "browser_client.js").read_text(encoding="utf-8")
    with chromium.page(binary, reference.certificate.chain, tmp_path) as page:
        page.open(reference.url(web, "/"))
        words = json.dumps([reference.url(socket), reference.extension])
        names = page.run(f"({script})(...{words})")
    assert isinstance(names, list)
    assert set(names) == REQUESTS | MESSAGES


def curl(reference: Reference, *arguments: str) -> str:
    trust = ["--cacert", str(reference.certificate.authority)]
    quiet = ["--silent", "--show-error", "--noproxy", "*", "--max-time", "30"]
    return run([program("curl", "curl"), *quiet, *trust, *arguments])


@pytest.mark.parametrize("scheme", WEB)
def test_curl_reads(reference: Reference, scheme: Scheme, tmp_path: Path) -> None:
    def url(path: str) -> str:
        return reference.url(scheme, path)

    assert len(curl(reference, "--fail", url("/message"))) == 64
    assert "content-length: 64" in curl(reference, "--head", url("/message")).lower()
    chunked = curl(reference, "--fail", "--include", url("/chunked/100000"))
    assert "transfer-encoding: chunked" in chunked.lower()
    assert len(chunked.partition("\n\n")[2]) == 100_000
    told = curl(reference, "--output", str(tmp_path / "page"), "-w", "%{http_code}", url("/none"))
    assert told == "404"


@pytest.mark.parametrize("scheme", WEB)
def test_curl_keeps_a_connection(reference: Reference, scheme: Scheme) -> None:
    urls = [reference.url(scheme, "/message")] * 5
    told = curl(reference, "--fail", "-w", "\n%{num_connects}\n", *urls)
    assert [line for line in told.splitlines() if line.isdecimal()] == ["1", "0", "0", "0", "0"]


@pytest.mark.parametrize("scheme", WEB)
@pytest.mark.parametrize("in_chunks", [False, True], ids=["with-length", "in-chunks"])
@pytest.mark.parametrize("size", [0, 1000, LARGE])
def test_curl_posts(
    reference: Reference, scheme: Scheme, size: int, in_chunks: bool, tmp_path: Path
) -> None:
    sent, received = tmp_path / "sent", tmp_path / "received"
    sent.write_bytes(payload(size))
    # curl says Expect: 100-continue before a large body.
    headers = ["-H", "Transfer-Encoding: chunked"] if in_chunks else []
    body = ["--data-binary", f"@{sent}", *headers]
    curl(reference, "--fail", "-o", str(received), *body, reference.url(scheme, "/echo"))
    assert received.read_bytes() == payload(size)


def trust(reference: Reference, scheme: Scheme) -> ssl.SSLContext | None:
    if scheme in ("http", "ws"):
        return None
    return ssl.create_default_context(cafile=str(reference.certificate.authority))


def connection(reference: Reference, scheme: Scheme) -> http.client.HTTPConnection:
    context = trust(reference, scheme)
    if context:
        return http.client.HTTPSConnection(reference.secure, timeout=LIMIT_S, context=context)
    return http.client.HTTPConnection(reference.plain, timeout=LIMIT_S)


@pytest.mark.parametrize("scheme", WEB)
def test_pythons_http_client(reference: Reference, scheme: Scheme) -> None:
    def pieces() -> Iterable[bytes]:
        yield from (sent[:10], sent[10:])

    def ask(method: str, path: str, body: bytes | Iterable[bytes] | None = None) -> bytes:
        client.request(method, path, body)
        response = client.getresponse()
        content = response.read()
        assert response.status == (404 if path == "/none" else 200)
        ports.add(client.sock.getsockname()[1])
        return content

    ports: set[int] = set()
    sent = payload(100_000)
    client = connection(reference, scheme)
    assert len(ask("GET", "/message")) == 64
    assert ask("HEAD", "/message") == b""
    assert ask("POST", "/echo", sent) == sent
    assert ask("POST", "/echo", pieces()) == sent
    assert len(ask("GET", "/chunked/100000")) == 100_000
    assert ask("GET", "/none")
    assert len(ports) == 1, "the connection was kept over all of them"
    client.close()


def talk(
    reference: Reference,
    scheme: Scheme,
    conversation: Callable[[ClientConnection], Awaitable[None]],
) -> None:
    """One conversation on an event loop: two threads must not share Python's TLS."""

    async def run() -> None:
        url = reference.url(scheme, "/")
        async with (
            asyncio.timeout(LIMIT_S),
            connect(url, ssl=trust(reference, scheme), max_size=None, proxy=None) as socket,
        ):
            # The package offers compression unless it is told not to.
            agreed = [extension.name for extension in socket.protocol.extensions]
            assert agreed == [reference.extension] * bool(reference.extension)
            await conversation(socket)

    asyncio.run(run())


@pytest.mark.parametrize("scheme", SOCKETS)
@pytest.mark.parametrize(
    "message",
    [
        pytest.param("Grüße, 世界", id="text"),
        pytest.param(payload(1000), id="binary"),
        pytest.param(b"", id="empty"),
        pytest.param(payload(LARGE), id="large"),
    ],
)
def test_pythons_websockets_echo(
    reference: Reference, scheme: Scheme, message: str | bytes
) -> None:
    async def conversation(socket: ClientConnection) -> None:
        for _ in range(3):
            await socket.send(message)
            assert await socket.recv() == message

    talk(reference, scheme, conversation)


@pytest.mark.parametrize("scheme", SOCKETS)
def test_pythons_websockets_fragments(reference: Reference, scheme: Scheme) -> None:
    async def conversation(socket: ClientConnection) -> None:
        await socket.send(["one ", "two ", "", "three"])
        assert await socket.recv() == "one two three"
        await (await socket.ping())

    talk(reference, scheme, conversation)


@pytest.mark.parametrize("scheme", SOCKETS)
@pytest.mark.parametrize("code", [1000, 1001, 3000, 4999])
def test_pythons_websockets_close(reference: Reference, scheme: Scheme, code: int) -> None:
    async def conversation(socket: ClientConnection) -> None:
        await socket.close(code, "enough")
        assert socket.close_code == code

    talk(reference, scheme, conversation)
