"""HTTP/2 with what other people wrote: servers under our load, clients against our server."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop import chromium
from tests.interop.conftest import lacking, program
from tests.interop.java_peers import checked, jetty_clients
from tests.interop.parts import LIMIT_S, Both, Load, Scheme
from tests.interop.test_our_server import good, run
from wiretrial.engine import Engine
from wiretrial.errors import SubjectUnavailable
from wiretrial.subjects import build, registry
from wiretrial.subjects.build import Build
from wiretrial.subjects.driver import Driver, Job
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import Subject

HERE = Path(__file__).resolve().parent
PROXIES = HERE / "proxies"
WEB: list[Scheme] = ["http", "https"]
STATIC = ["nginx-http2", "h2o", "haproxy", "caddy"]
ECHOING = ["node-http2", "go-http2", "hypercorn", "netty-http2", "jetty-http2"]
UPLOADS = [*ECHOING, "nghttpd"]
"""nghttpd knows no other routes."""
LARGE = "200000"

BROWSED = """async () => {
  const asked = Array.from({ length: 50 }, async (_, at) => {
    const body = "x".repeat(1000 + at);
    const response = await fetch(`/echo?${at}`, { method: "POST", body });
    return (await response.text()) === body;
  });
  const right = (await Promise.all(asked)).every(Boolean);
  const spoken = performance.getEntriesByType("resource").map((one) => one.nextHopProtocol);
  return [right, ...new Set(spoken)];
}"""


def installed(name: str, engine: Engine) -> tuple[Subject, Build]:
    """A subject of the catalogue."""
    chosen = registry.find(name)
    try:
        return chosen, build.install(chosen, engine.binary)
    except SubjectUnavailable as error:
        lacking(error.line())
        raise


@contextlib.contextmanager
def subject(name: str, engine: Engine) -> Iterator[Both]:
    """A server of the catalogue, over HTTP/2."""
    chosen, built = installed(name, engine)
    with Server(chosen, built, "default", engine=engine.binary) as server:
        server.wait_ready([(chosen.spec.contracts[0], "h2c"), (chosen.spec.contracts[0], "h2")])
        yield addresses(server)


def addresses(server: Server) -> Both:
    plain, secure = server.endpoint("h2c"), server.endpoint("h2")
    return Both(
        plain=f"{plain.host}:{plain.port}",
        secure=f"{secure.host}:{secure.port}",
        certificate=server.certificate,
    )


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, engine: Engine) -> Iterator[Both]:
    with subject(request.param, engine) as both:
        yield both


@pytest.mark.parametrize("server", [*STATIC, *ECHOING], indirect=True)
@pytest.mark.parametrize("scheme", WEB)
@pytest.mark.parametrize("streams", ["1", "16"])
def test_our_client_reads(server: Both, streams: str, scheme: Scheme, load: Load) -> None:
    summary = load(server, scheme, "/message", "--http", "2", "--depth", streams)
    assert summary.connections.opened == 3


@pytest.mark.parametrize("server", UPLOADS, indirect=True)
@pytest.mark.parametrize("scheme", WEB)
@pytest.mark.parametrize("size", ["1000", LARGE])
def test_our_client_uploads(server: Both, size: str, scheme: Scheme, load: Load) -> None:
    flags = ["--method", "POST", "--payload", size, "--expect", "echo", "--http", "2"]
    load(server, scheme, "/echo", *flags, "--depth", "8")


@pytest.fixture(scope="module")
def proxy(request: pytest.FixtureRequest, reference: Both, engine: Engine) -> Iterator[Both]:
    """A server of the catalogue that asks the reference server in our client's place."""
    chosen, built = installed(request.param, engine)
    usual = chosen.configuration("default")
    ours = {name: str(PROXIES / name) for name in usual.files if (PROXIES / name).exists()}
    spec = chosen.spec.model_copy(
        update={"configurations": {"default": usual.model_copy(update={"files": ours})}}
    )
    behind = {
        "plain": reference.plain,
        "secure": reference.secure,
        "authority": str(reference.certificate.authority),
    }
    passing = chosen.model_copy(update={"spec": spec})
    with Server(passing, built, "default", engine=engine.binary, values=behind) as server:
        server.wait_ready([("static", "h2c"), ("static", "h2")])
        yield addresses(server)


@pytest.mark.parametrize("proxy", ["nginx-http2", "haproxy", "caddy"], indirect=True)
@pytest.mark.parametrize("scheme", WEB)
@pytest.mark.parametrize("size", ["1000", LARGE])
def test_proxies_ask_our_server(proxy: Both, size: str, scheme: Scheme, load: Load) -> None:
    flags = ["--method", "POST", "--payload", size, "--expect", "echo", "--http", "2"]
    load(proxy, scheme, "/echo", *flags, "--depth", "8")


@pytest.mark.parametrize("name", ["go-http-client", "httpx-client"])
@pytest.mark.parametrize("scheme", WEB)
@pytest.mark.parametrize("size", [1000, int(LARGE)])
def test_drivers(reference: Both, name: str, size: int, scheme: Scheme, engine: Engine) -> None:
    driver = Driver(*installed(name, engine), "default", engine=engine.binary)
    job = Job(
        url=reference.url(scheme, "/echo"),
        payload=size,
        mode="kept",
        iterations=20,
        authority=reference.certificate.authority if scheme == "https" else None,
        http="2",
    )
    (told,) = driver.run(job, LIMIT_S)
    assert (told.iterations, told.errors) == (20, 0)


def curl(reference: Both, *arguments: str) -> str:
    trust = ["--cacert", str(reference.certificate.authority)]
    quiet = ["--silent", "--show-error", "--noproxy", "*", "--max-time", "30"]
    return run([program("curl", "curl"), *quiet, *trust, "--http2-prior-knowledge", *arguments])


@pytest.mark.parametrize("scheme", WEB)
def test_curl(reference: Both, scheme: Scheme, tmp_path: Path) -> None:
    url = reference.url(scheme, "/message")
    # From the first byte, curl 7.88 can't use a connection twice: no server understands it then.
    urls = [url] if scheme == "http" else [url, url]
    told = curl(reference, "--fail", "-w", "%{http_version} %{num_connects}\n", *urls)
    assert [one[64:] for one in told.splitlines()] == ["2 1", "2 0"][: len(urls)]
    assert "content-length: 64" in curl(reference, "--head", url)
    sent = tmp_path / "sent"
    sent.write_bytes(bytes(index % 251 for index in range(1 << 20)))
    back = tmp_path / "back"
    upload = ["--data-binary", f"@{sent}", "--output", str(back)]
    curl(reference, "--fail", *upload, reference.url(scheme, "/echo"))
    assert back.read_bytes() == sent.read_bytes()


@pytest.mark.parametrize("scheme", WEB)
def test_nghttp(reference: Both, scheme: Scheme) -> None:
    nghttp = program("nghttp", "nghttp2-client")
    told = run([nghttp, "--stat", "--null-out", "-m", "20", reference.url(scheme, "/message")])
    assert told.count(" 200 ") == 20


@pytest.mark.parametrize("scheme", WEB)
def test_h2load(reference: Both, scheme: Scheme) -> None:
    h2load = program("h2load", "nghttp2-client")
    told = run([h2load, "-n", "2000", "-c", "4", "-m", "32", reference.url(scheme, "/message")])
    assert "2000 succeeded, 0 failed, 0 errored, 0 timeout" in told


@pytest.mark.parametrize("scheme", WEB)
def test_node(reference: Both, scheme: Scheme) -> None:
    command = [program("node", "Node"), str(HERE / "http2_client.cjs"), reference.url(scheme)]
    output = run([*command, str(reference.certificate.authority)])
    wanted = {"get", "head", "streams", "post-large", "not-found", "cancelled", "ping"}
    assert good(output) == wanted


JAVA = {"get", "post", "post-large", "streams"}


def test_java(reference: Both, tmp_path: Path) -> None:
    # Without TLS it asks for an upgrade, which HTTP/2 has given up.
    words = [reference.url("https"), str(reference.certificate.authority)]
    assert checked("PlatformClient", tmp_path, "", *words) == JAVA


@pytest.mark.parametrize("scheme", WEB)
def test_netty(reference: Both, scheme: Scheme, engine: Engine, tmp_path: Path) -> None:
    _, built = installed("netty-http2", engine)
    words = [reference.url(scheme), str(reference.certificate.authority)]
    told = checked("NettyClient", tmp_path, f"{built.folder}/target/lib/*", *words)
    assert told - {"alpn"} == JAVA


@pytest.fixture(scope="module")
def jetty(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The class path of Jetty's client."""
    installed("jetty-http2", engine)  # Brings Maven where there is none.
    return jetty_clients(tmp_path_factory.mktemp("jetty"))


@pytest.mark.parametrize("scheme", WEB)
def test_jetty(reference: Both, jetty: str, scheme: Scheme, tmp_path: Path) -> None:
    words = [reference.url(scheme), str(reference.certificate.authority)]
    assert checked("JettyClient", tmp_path, jetty, *words) == JAVA


def test_chromium(reference: Both, tmp_path: Path) -> None:
    binary = program("chromium", "Debian's chromium")
    with chromium.page(binary, reference.certificate.chain, tmp_path) as page:
        page.open(reference.url("https", "/"))
        assert page.run(f"({BROWSED})()") == [True, "h2"], json.dumps(page.problems)
