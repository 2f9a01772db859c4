"""HTTP to services: credentials of the user's own, time limits, and one line for each fault."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.cli.conftest import serving
from wiretrial.errors import ServiceFailed, UsageProblem
from wiretrial.observers.promapi import Prometheus
from wiretrial.services import Service, checked

VARIABLE = "WIRETRIAL_TEST_TOKEN"
NAME = "the service"


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody's own."""
    for name in (VARIABLE, f"{VARIABLE}_FILE", "WIRETRIAL_PROMETHEUS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    monkeypatch.setenv("no_proxy", "*")


class Answering(BaseHTTPRequestHandler):
    """Answers as its path says: /STATUS/..., /slow, /drip, /echo."""

    def do_GET(self) -> None:
        path = self.path.strip("/")
        if path.startswith("drip"):
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                for _ in range(100):
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    time.sleep(0.05)
            return
        if path == "elsewhere":
            self.send_response(302)
            self.send_header("Location", "/echo")
            self.end_headers()
            return
        status, _, text = path.partition("/")
        said = self.headers.get("Authorization", "nobody") if path == "echo" else text
        self.send_response(int(status) if status.isdigit() else 200)
        self.end_headers()
        self.wfile.write(said.encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def origin() -> Iterator[str]:
    """Where it listens."""
    with serving(Answering) as url:
        yield url


def asked(origin: str, path: str = "/echo") -> str:
    service = Service.of(NAME, origin, VARIABLE)
    return service.ask(origin + path).body.decode()


def test_without_credentials_none_are_sent(origin: str) -> None:
    assert asked(origin) == "nobody"


def test_a_token_of_the_environment_is_sent(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "abc.def")
    assert asked(origin) == "Bearer abc.def"
    assert "abc" not in repr(Service.of(NAME, origin, VARIABLE))


def test_a_token_is_not_sent_on_to_where_it_is_redirected(
    origin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "abc.def")
    assert asked(origin, "/elsewhere") == "nobody"


def test_a_file_may_hold_the_token(
    origin: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text("abc.def\n", encoding="utf-8")
    monkeypatch.setenv(f"{VARIABLE}_FILE", str(file))
    assert asked(origin) == "Bearer abc.def"


def test_the_users_netrc_is_used(
    origin: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "netrc"
    file.write_text("machine 127.0.0.1 login ann password sesame\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(file))
    assert asked(origin) == "Basic YW5uOnNlc2FtZQ=="


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        (VARIABLE, "two words", f"{VARIABLE} holds no bearer token"),
        (f"{VARIABLE}_FILE", "/no/such", "can't be read: No such file or directory: correct it"),
    ],
)
def test_credentials_that_are_none_are_refused(
    name: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageProblem) as refused:
        Service.of(NAME, "http://h", VARIABLE)
    assert words in refused.value.line()
    assert "two words" not in refused.value.line()


def test_a_netrc_with_a_fault_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "netrc"
    file.write_text("machine h nonsense\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(file))
    with pytest.raises(UsageProblem, match="can't be read"):
        Service.of(NAME, "http://h", VARIABLE)


def test_a_wrong_status_is_an_answer_and_its_error_has_a_remedy(origin: str) -> None:
    service = Service.of(NAME, origin, VARIABLE)
    answer = service.ask(f"{origin}/401/go-away")
    assert (answer.status, answer.is_good, answer.words) == (401, False, "go-away")
    line = service.refused(answer, VARIABLE).line()
    assert "answered with status 401: go-away" in line
    assert f"set {VARIABLE} to a bearer token" in line
    assert "~/.netrc" in line


def failure(url: str, timeout_s: float = 5.0) -> str:
    with pytest.raises(ServiceFailed) as failed:
        Service.of(NAME, url, VARIABLE).ask(url, timeout_s=timeout_s)
    line = failed.value.line()
    assert "\n" not in line
    return line


def test_a_port_at_which_nobody_listens() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        line = failure(f"http://127.0.0.1:{held.getsockname()[1]}")
    assert "can't be reached: Connection refused" in line


def test_a_name_that_is_unknown() -> None:
    assert "can't be found" in failure("http://no-such-host.invalid")


def test_a_server_that_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        assert "did not answer within 0.3 s" in failure(url, 0.3)


def test_a_server_that_drips_is_not_waited_for(origin: str) -> None:
    began = time.monotonic()
    assert "did not answer within 0.5 s" in failure(f"{origin}/drip", 0.5)
    assert time.monotonic() - began < 4


def test_a_server_that_speaks_something_else() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            peer, _ = listening.accept()
            with peer:
                peer.recv(1000)
                peer.sendall(b"220 ready for mail\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        assert "no proper answer" in failure(f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread.join()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/200/{}", "its answer is not that of Prometheus's HTTP API"),
        ("/200/<html>", "its answer is not that of Prometheus's HTTP API"),
        ("/404/none", "answered with status 404"),
        ("/503/later", "answered with status 503"),
    ],
)
def test_what_is_no_prometheus_is_told(origin: str, path: str, words: str) -> None:
    with pytest.raises(ServiceFailed) as failed:
        Prometheus(f"{origin}{path}").clock()
    assert words in failed.value.line()
    assert "\n" not in failed.value.line()


def test_a_url_loses_the_slash_at_its_end() -> None:
    assert checked("http://h:9/a/", "x", "y") == "http://h:9/a"
