"""WebSocket over HTTP/2 (RFC 8441) between other people's software and ours, in both directions."""

from __future__ import annotations

import contextlib
import json
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from h2.settings import SettingCodes
from websockets.frames import Opcode

from conformance.process import Process
from tests.interop import chromium, h2_websockets
from tests.interop.conftest import program
from tests.interop.h2_websockets import Server
from tests.interop.parts import MESSAGES, Both, Load, Scheme
from tests.interop.test_http2 import installed, subject
from tests.interop.test_our_server import good, run
from wiretrial.engine import Engine
from wiretrial.snapshot import SNAPSHOT, Summary
from wiretrial.subjects.certificates import Certificate
from wiretrial.subjects.ports import free_ports

HERE = Path(__file__).resolve().parent

SOCKETS: list[Scheme] = ["ws", "wss"]
ENABLED = {SettingCodes.ENABLE_CONNECT_PROTOCOL: 1}
LARGE = bytes(range(256)) * 1200
# Three connections with four WebSockets each.
FOUR = ["--http", "2", "--depth", "4"]

BROWSED = """async () => {
  const sockets = Array.from({ length: 5 }, () => new WebSocket(`wss://${location.host}/chat`));
  const echoed = sockets.map((socket, at) => new Promise((resolve) => {
    const sent = "x".repeat(1000 + at * 20000);
    socket.onopen = () => socket.send(sent);
    socket.onmessage = ({ data }) => resolve(data === sent);
    socket.onerror = () => resolve(false);
  }));
  const right = (await Promise.all(echoed)).every(Boolean);
  const closed = sockets.map((socket) => new Promise((resolve) => {
    socket.onclose = ({ code, wasClean }) => resolve(wasClean && code);
    socket.close(4000);
  }));
  return [right, ...new Set(await Promise.all(closed))];
}"""


def at(both: Both, scheme: Scheme) -> tuple[str, str | None]:
    """Address, and whom to trust there."""
    if scheme == "wss":
        return both.secure, str(both.certificate.authority)
    return both.plain, None


@pytest.mark.parametrize("scheme", SOCKETS)
def test_h2_and_websockets_talk_to_our_server(reference: Both, scheme: Scheme) -> None:
    with h2_websockets.client(*at(reference, scheme), "/chat", 3) as peer:
        first, second, third = peer.sockets.values()
        first.send_text("grüß".encode())
        second.send_binary(LARGE)
        third.send_text(b"in ", fin=False)
        third.send_ping(b"between")
        third.send_continuation(b"parts", fin=True)
        first.send_binary(b"")
        peer.flush()
        one, two, three = peer.heard.values()
        while len(one) < 2 or len(two) < 1 or len(three) < 2:
            peer.hear()
            peer.flush()
        assert one == [(Opcode.TEXT, "grüß".encode()), (Opcode.BINARY, b"")]
        assert two == [(Opcode.BINARY, LARGE)]
        assert sorted(three) == [(Opcode.TEXT, b"in parts"), (Opcode.PONG, b"between")]
        stream = next(iter(peer.sockets))
        first.send_close(1000)
        peer.flush()
        while stream not in peer.ended:
            peer.hear()
            peer.flush()
        assert peer.ended[stream] == -1, "it is ended, and not reset"
        assert (Opcode.CLOSE, b"\x03\xe8") in one
        second.send_text(b"still")
        peer.flush()
        while len(two) < 2:
            peer.hear()
            peer.flush()
        assert two[1] == (Opcode.TEXT, b"still")


def test_our_server_refuses_what_it_does_not_have(reference: Both) -> None:
    with h2_websockets.client(reference.plain, None, "/socket.io/", 1) as peer:
        assert [answer[":status"] for answer in peer.answers.values()] == ["501"]


@pytest.mark.parametrize("scheme", SOCKETS)
def test_node_talks_to_our_server(reference: Both, scheme: Scheme, node_packages: str) -> None:
    web: Scheme = "https" if scheme == "wss" else "http"
    command = [program("node", "Node"), str(HERE / "websocket_http2.cjs"), "ask"]
    command += [reference.url(web), str(reference.certificate.authority)]
    output = run(command, NODE_PATH=node_packages)
    assert good(output) == {"enabled", "text", "binary", "large", "ping", "close-4000", "others"}


def test_chromium_talks_to_our_server(reference: Both, tmp_path: Path) -> None:
    binary = program("chromium", "Debian's chromium")
    with chromium.page(binary, reference.certificate.chain, tmp_path) as page:
        page.watch()
        # It opens none for a WebSocket, but takes a connection that speaks HTTP/2 and says so.
        page.open(reference.url("https", "/"))
        assert page.run(f"({BROWSED})()") == [True, 4000], json.dumps(page.problems)
        assert page.upgraded == [200] * 5, "over HTTP/2"


@contextlib.contextmanager
def python_server(
    certificate: Certificate,
    settings: dict[SettingCodes, int],
    *,
    secure: bool,
    after: int | None = None,
) -> Iterator[Server]:
    """A server of `h2` and `websockets`."""
    context = None
    if secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.chain, certificate.key)
        context.set_alpn_protocols(["h2"])
    server = Server(settings, context, after)
    try:
        yield server
    finally:
        server.close()


@pytest.mark.parametrize("scheme", SOCKETS)
@pytest.mark.parametrize("size", ["64", "100000"])
def test_our_client_talks_to_h2_and_websockets(
    certificate: Certificate, scheme: Scheme, size: str, load: Load
) -> None:
    with python_server(certificate, ENABLED, secure=scheme == "wss") as server:
        both = Both(server.address, server.address, certificate)
        summary = load(both, scheme, "/chat", "--payload", size, *FOUR)
        assert summary.connections.opened == 3
        # And the one before the load.
        assert server.connects == 13


def test_our_client_goes_on_where_a_server_closes(certificate: Certificate, load: Load) -> None:
    with python_server(certificate, ENABLED, secure=False, after=10) as server:
        both = Both(server.address, server.address, certificate)
        done = load.run(both, "ws", "/chat", *FOUR)
        summary = SNAPSHOT.validate_json(done.stdout.splitlines()[-1])
        assert isinstance(summary, Summary)
        assert summary.connections.opened == 3, "the connections stay"
        counters = summary.counters
        errors = {name: count for name, count in counters.errors.items() if count}
        # A message may be on its way when the server closes.
        assert set(errors) <= {"closed"}, summary.examples
        assert counters.ok + sum(errors.values()) == MESSAGES
        assert server.connects > 13


@pytest.mark.parametrize("settings", [{}, {SettingCodes.ENABLE_CONNECT_PROTOCOL: 0}])
def test_a_server_that_does_not_offer_it_is_refused(
    certificate: Certificate, settings: dict[SettingCodes, int], load: Load
) -> None:
    with python_server(certificate, settings, secure=False) as server:
        both = Both(server.address, server.address, certificate)
        done = load.run(both, "ws", "/chat", *FOUR)
        assert done.returncode == 1
        assert "SETTINGS_ENABLE_CONNECT_PROTOCOL" in done.stderr
        assert "--http 1.1" in done.stderr
        assert server.connects == 0


@pytest.mark.parametrize("name", ["nginx-http2", "h2o", "go-http2", "node-http2"])
def test_servers_that_do_not_offer_it_are_refused(name: str, engine: Engine, load: Load) -> None:
    with subject(name, engine) as server:
        done = load.run(server, "ws", "/", *FOUR)
        assert done.returncode == 1
        assert "SETTINGS_ENABLE_CONNECT_PROTOCOL" in done.stderr


@pytest.fixture(scope="module")
def node_server(
    certificate: Certificate, node_packages: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    command = [program("node", "Node"), str(HERE / "websocket_http2.cjs"), "serve"]
    command += [str(certificate.chain), str(certificate.key)]
    environment = {"NODE_PATH": node_packages}
    log = tmp_path_factory.mktemp("node") / "log"
    with Process(command, log=log, environment=environment) as server:
        yield Both.told_by(server, certificate)


def standing(plain: int, secure: int, certificate: Certificate) -> Both:
    return Both(f"127.0.0.1:{plain}", f"127.0.0.1:{secure}", certificate)


@pytest.fixture(scope="module")
def hypercorn(
    engine: Engine, certificate: Certificate, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    python = installed("hypercorn", engine)[1].folder / "venv" / "bin" / "python"
    plain, secure = free_ports(["127.0.0.1"], ["plain", "secure"]).values()
    command = [str(python), str(HERE / "hypercorn_echo.py"), str(plain), str(secure)]
    command += [str(certificate.chain), str(certificate.key)]
    with Process(command, log=tmp_path_factory.mktemp("hypercorn") / "log") as server:
        server.hear(rf"Running on (\S+:{plain})")
        yield standing(plain, secure, certificate)


@pytest.fixture(scope="module")
def haproxy(
    engine: Engine,
    reference: Both,
    certificate: Certificate,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Both, Both]]:
    """HAProxy before our server: HTTP/2 in front and HTTP/1.1 behind, and the other way round."""
    built = installed("haproxy", engine)[1].folder
    folder = tmp_path_factory.mktemp("haproxy")
    pem = folder / "server.pem"
    pem.write_bytes(certificate.chain.read_bytes() + certificate.key.read_bytes())
    ports = list(free_ports(["127.0.0.1"], ["a", "b", "c", "d"]).values())
    (folder / "haproxy.cfg").write_text(f"""
global
    nbthread 1
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
    timeout tunnel 30s
frontend second
    bind 127.0.0.1:{ports[0]} proto h2
    bind 127.0.0.1:{ports[1]} ssl crt {pem} alpn h2
    default_backend first
backend first
    server ours {reference.plain} ws h1
frontend first
    bind 127.0.0.1:{ports[2]}
    bind 127.0.0.1:{ports[3]} ssl crt {pem} alpn http/1.1
    default_backend second
backend second
    server ours {reference.plain} proto h2 ws h2
""")
    libraries = {"LD_LIBRARY_PATH": str(built / "usr/lib/x86_64-linux-gnu")}
    command = [str(built / "usr/sbin/haproxy"), "-W", "-f", str(folder / "haproxy.cfg")]
    with Process(command, log=folder / "log", environment=libraries) as server:
        server.hear(r"(Loading success)")
        plain, secure, plain_before, secure_before = ports
        yield (
            standing(plain, secure, certificate),
            standing(plain_before, secure_before, certificate),
        )


@pytest.mark.parametrize("scheme", SOCKETS)
@pytest.mark.parametrize("size", ["64", "100000"])
@pytest.mark.parametrize("server", ["node_server", "hypercorn"])
def test_our_client_talks_to(
    request: pytest.FixtureRequest, server: str, size: str, scheme: Scheme, load: Load
) -> None:
    both: Both = request.getfixturevalue(server)
    summary = load(both, scheme, "/chat", "--payload", size, *FOUR)
    assert summary.connections.opened == 3
    load(both, scheme, "/chat", "--text", *FOUR)


@pytest.mark.parametrize("scheme", SOCKETS)
@pytest.mark.parametrize("size", ["64", "100000"])
def test_haproxy_carries_it_to_our_server(
    haproxy: tuple[Both, Both], size: str, scheme: Scheme, load: Load
) -> None:
    in_front, behind = haproxy
    load(in_front, scheme, "/chat", "--payload", size, *FOUR)
    load(behind, scheme, "/chat", "--payload", size, "--http", "1.1")
