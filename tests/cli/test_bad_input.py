"""Bad input: one line that says what and the remedy, the right exit code, never a traceback."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run

# Command line, exit code, words of the one line. Nothing here gets as far as a connection.
TABLE: list[tuple[tuple[str, ...], int, str]] = [
    (("load",), 2, "Missing argument 'URL|FILE': see `wiretrial load --help`"),
    (("load", "localhost:80"), 2, "is not a URL: write http://localhost:80"),
    (("load", "ftp://x/"), 2, "unknown scheme 'ftp': use one of http"),
    (("load", "http://"), 2, "names no host"),
    (("load", "http://127.0.0.1:99999/"), 2, "Port out of range"),
    (("load", "http://[::1/"), 2, "is not a URL"),
    (("load", "tcp://127.0.0.1"), 2, "names no port: write tcp://127.0.0.1:PORT"),
    (("load", "http://h/", "--deflate"), 2, "--deflate is for ws and wss: leave it out"),
    (("load", "ws://h/", "--table-size", "2"), 2, "--table-size, --table-delay and --lobby"),
    (("load", "ws://h/", "--lobby"), 2, "--lobby are for styx: leave them out"),
    (("load", "styx://h"), 2, "names no port"),
    (("load", "ws://h/", "--pacing", "after-response"), 2, "needs a rate: give --rate"),
    (("load", "ws://h/", "--deflate-with", "fast"), 2, "'fast' is no parameter: use server_no"),
    (("load", "ws://h/", "--deflate-with", "level=0"), 2, "not a whole number from 1 to 9"),
    (("load", "http://h/", "-c", "0"), 2, "--connections 0: not a whole number from 1"),
    (("load", "http://h/", "-c", "1.5"), 2, "--connections 1.5: not a whole number"),
    (("load", "http://h/", "-c", "many"), 2, "--connections many: not a number"),
    (("load", "http://h/", "-d", "abc"), 2, "write a duration such as 10s"),
    (("load", "http://h/", "-d", "5 parsecs"), 2, "no such unit of time"),
    (("load", "http://h/", "-d", "0s"), 2, "--duration 0s: too short: use 1ms or more"),
    (("load", "http://h/", "-d", "-1s"), 2, "not a duration"),
    (("load", "http://h/", "-d", "1s", "-n", "5"), 2, "exclude each other"),
    (("load", "http://h/", "--payload", "64XB"), 2, "no such unit of size"),
    (("load", "http://h/", "--payload", "@/no/such/file"), 2, "No such file"),
    (("load", "http://h/", "--payload", "1", "--json", "{}"), 2, "exclude each other"),
    (("load", "http://h/", "--rate", "0"), 2, "not a rate above zero"),
    (("load", "ws://h/", "--hold", "-n", "5"), 2, "--hold and -n exclude each other"),
    (("load", "ws://h/", "--hold", "--depth", "2"), 2, "--hold keeps connections"),
    (
        ("load", "ws://h/", "--pattern", "random-burst", "--rate", "5"),
        2,
        "a closed loop on kept connections: leave --hold, --rate",
    ),
    (("load", "ws://h/", "--pattern", "random-burst", "--depth", "2"), 2, "use --depth 1"),
    (("load", "http://h/", "--depth", "3", "--pack", "2"), 2, "no multiple of --pack 2"),
    (("load", "ws://h/", "--sse"), 2, "--sse is for http and https"),
    (("load", "http://h/", "--sse", "-n", "5"), 2, "--sse and -n exclude each other"),
    (("load", "http://h/", "--sse", "--rate", "5"), 2, "the server decides when an event comes"),
    (("load", "http://h/", "--sse", "--streams", "2"), 2, "--streams is of HTTP/2, and http:"),
    (("load", "http://h/", "--sse", "--depth", "2"), 2, "over HTTP/1.1 a connection carries one"),
    (("load", "http://h/", "--sse", "--pack", "2"), 2, "--sse holds streams throughout"),
    (("load", "http://h/", "--sse", "--json", "{}"), 2, "--sse asks by GET"),
    (("load", "http://h/", "--sse", "--expect", "echo"), 2, "is of replies, which events are not"),
    (("load", "shop.toml", "--sse"), 2, "--sse is of one URL"),
    (("load", "http://h/", "--header", "nonsense"), 2, "not `Name: value`"),
    (("load", "tcp://h:1", "--method", "GET"), 2, "tcp has no methods or headers"),
    (("load", "ws://h/", "--method", "GET"), 2, "--method is for http and https"),
    (("load", "ws://h/", "--header-profile", "unique"), 2, "--header-profile is for requests of"),
    (("load", "http://h/", "--header-profile", "unique", "--sse"), 2, "not for --sse"),
    (("load", "http://h/", "--header-profile", "some"), 2, "unique"),
    (
        ("load", "http://h/", "--expect", "perhaps"),
        2,
        "is no rule: use learned, shape, echo, broadcast, @FILE, status",
    ),
    (("load", "http://h/", "--cpus", "4095"), 2, "there is no CPU 4095 for us"),
    (("load", "http://h/", "--cpus", "x"), 2, "not a list of CPUs"),
    (("load", "http://h/", "--sources", "10.0.0.0/8"), 2, "use a network of 4,096 at most"),
    (("load", "http://h/", "--sources", "nowhere"), 2, "write it as 127.0.1.0/28"),
    (("load", "http://h/", "--cacert", "/no/such.pem"), 2, "can't be read: name a PEM file"),
    (("load", "http://h/", "--insecure", "--cacert", "x"), 2, "exclude each other"),
    (("load", "http://h/", "--format", "yaml"), 2, "yaml"),
    (("load", "http://h/", "--frobnicate"), 2, "there is no option --frobnicate"),
    (("load", "ws://h/", "--fleet", "tcp://10.0.0.1"), 2, "beyond this machine a fleet needs TLS"),
    (("load", "ws://h/", "--fleet", "tls://10.0.0.1"), 2, "add --fleet-certificates DIR"),
    (("load", "ws://h/", "--fleet", "ftp://h"), 2, "write tls://HOST:8786"),
    (("load", "http://h/", "--metrics", "statsd:h"), 2, "not where metrics can go: write otlp:"),
    (("load", "http://h/", "--metrics", "otlp:h:4318"), 2, "no URL of a server: write otlp:http"),
    (("load", "http://h/", "--metrics", "prometheus:http://a:b@h"), 2, "a line in ~/.netrc"),
    (("study", "run", "x", "--metrics", "otlp:"), 2, "no URL of a server: write otlp:http"),
    (("load", "http://h/", "--server", "prometheus:h:9090"), 2, "write prometheus:http://HOST"),
    (
        ("load", "http://h/", "--server", "prometheus:http://a:b@h:9090"),
        2,
        "a user name or a password, which other users of this machine can see: give h a line in",
    ),
    (
        ("load", "http://h/", "-d", "10s", "--server", "prometheus:http://h:9090"),
        2,
        "10 s are too short for that: measure for 60 s or more: -d 60s",
    ),
    (
        ("load", "http://h/", "-n", "1k", "--server", "prometheus:http://h:9090"),
        2,
        "may be over between two scrapes: give a time: -d 60s or more",
    ),
    (("load", "ws://h/", "--fleet-agents", "3"), 2, "--fleet-agents is for fleets: add --fleet"),
    (("load", "http://h/", "--server", "4711"), 2, "write pid:4711"),
    (("load", "http://h/", "--server", "podmn:db"), 2, "did you mean podman?"),
    (("limit", "http://h/", "--server", "podman:"), 2, "is no name of a container"),
    (
        ("load", "ws://h/", "--fleet", "tls://h", "--fleet-certificates", "/no/such"),
        2,
        "can't be read: make it with `wiretrial fleet certificates DIR`",
    ),
    (("fleet", "scheduler", "--host", "0.0.0.0"), 2, "beyond this machine a fleet needs TLS"),
    (("fleet", "agent", "tcp://10.0.0.1:8786"), 2, "beyond this machine a fleet needs TLS"),
    (("fleet", "certificates", "/proc/nowhere"), 2, "name another folder"),
    (("load", "http://h/", "-d", "1s", "-o", "/no/such/folder/x"), 2, "can't be written"),
    (("load", "http://h/", "-d", "1s", "-o", "."), 2, "is a folder: name a file"),
    (("load", "http://127.0.0.1:1/", "-c", "100m"), 2, "bytes of memory"),
    (("browser", "--target", "ftp://x/"), 2, "is not an HTTP URL: write it as http://host:port"),
    (("browser", "--target", "http://h:99999/"), 2, "Port out of range"),
    (("browser", "--target", "http://h/", "--link", "vpn"), 2, "can't put a link in front of it"),
    (("browser", "--subject", "raw-client"), 2, "does not answer a GET from a browser"),
    (("browser", "--subject", "nobody"), 2, "there is no subject 'nobody'"),
    (("browser", "--link", "nowhere"), 2, "there is no environment 'nowhere'"),
    (("browser", "--headless", "--browser", "lynx"), 2, "use chromium or firefox"),
    (("browser", "--headless", "--requests", "0"), 2, "--requests 0: not a whole number"),
    (("study", "run"), 2, "no study is named: name one of `wiretrial study list`"),
    (
        ("study", "run", "echo", "--resume", "x"),
        2,
        "leave the name out: DIR and REPORT know theirs",
    ),
    (("study", "run", "echo", "--prefix", "/no/such"), 2, "there is no such folder: correct it"),
    (("frobnicate",), 2, "there is no command 'frobnicate'"),
    (("compare",), 2, "nothing to measure: name URLs or subjects"),
    (("compare", "ws", "no-such-server"), 2, "there is no subject 'no-such-server'"),
    (("compare", "ws:fast", "nginx"), 2, "it has: default, tuned"),
    (
        ("compare", "nginx", "reference", "--protocol", "ws"),
        2,
        "have no contract in common over ws",
    ),
    (("compare", "nginx", "ws", "--protocol", "gopher"), 2, "--protocol gopher: unknown"),
    (("compare", "nginx", "ws", "--payload", "9"), 2, "not all of these subjects echo"),
    (("compare", "http://h/", "http://i/", "-d", "0"), 2, "--duration 0: too short"),
    (("compare", "http://h/", "gopher://h/"), 2, "unknown scheme 'gopher'"),
    (("compare", "http://h/", "http://i/", "--isolate"), 2, "--isolate is for subjects"),
    (("compare", "--resume", "."), 1, "holds no results"),
    (("demo", "--trials", "0"), 2, "--trials 0: not a whole number from 1"),
    (("demo", "--resume", "nowhere"), 1, "nowhere holds no results"),
    (("demo", "--results", "/proc/nowhere"), 1, "can't write results to /proc/nowhere"),
    (("subject", "show", "nope"), 2, "there is no subject 'nope'"),
    (("subject", "verify", "./nope"), 2, "a subject is a folder with a subject.toml"),
    (("results", "list"), 1, "there is no folder results"),
    (("results", "show", "nope"), 1, "nope holds no results"),
    (
        ("results", "show", "/etc/hostname"),
        1,
        "is not a result of wiretrial (it is not JSON): name a",
    ),
    (("report", "nope"), 1, "nope holds no results"),
    (("machine", "-c", "none"), 2, "not a number"),
]


def _only_line(text: str) -> str:
    lines = text.splitlines()
    assert len(lines) == 1, text
    assert lines[0].startswith("wiretrial: ")
    return lines[0]


@pytest.mark.parametrize(("arguments", "code", "words"), TABLE, ids=lambda v: str(v)[:60])
def test_one_line_and_an_exit_code(
    wiretrial: Run, arguments: tuple[str, ...], code: int, words: str
) -> None:
    done = wiretrial(*arguments)
    assert words in _only_line(done.stderr)
    assert done.returncode == code
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("binary", "words"),
    [("/no/such/engine", "can't be run"), ("/bin/true", "is not wiretrial-engine")],
)
def test_an_engine_that_is_none(wiretrial: Run, binary: str, words: str) -> None:
    done = wiretrial("load", "http://127.0.0.1:1/", WIRETRIAL_ENGINE=binary)
    assert words in _only_line(done.stderr)
    assert done.returncode == 1


def test_an_engine_of_another_version_is_refused(wiretrial: Run, tmp_path: Path) -> None:
    other = tmp_path / "other-engine"
    other.write_text("#!/bin/sh\necho wiretrial-engine 99.0.0\n", encoding="utf-8")
    other.chmod(0o755)
    for arguments in (("--version",), ("load", "http://127.0.0.1:1/")):
        done = wiretrial(*arguments, WIRETRIAL_ENGINE=str(other))
        line = _only_line(done.stderr)
        assert "is version 99.0.0, the laboratory is" in line
        assert "install both from one release" in line
        assert done.returncode == 1


@pytest.fixture
def refusing_port() -> Iterator[int]:
    """A port that is bound and does not listen: every connection to it is refused."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def test_a_refusing_server(wiretrial: Run, refusing_port: int) -> None:
    url = f"http://127.0.0.1:{refusing_port}/"
    done = wiretrial("load", url, "-d", "1s", "--connect-timeout", "300ms")
    assert str(refusing_port) in _only_line(done.stderr)
    assert done.returncode == 1


def test_a_host_without_an_address(wiretrial: Run) -> None:
    done = wiretrial("load", "http://no-such-host.invalid/", "-d", "1s")
    assert "no-such-host.invalid" in _only_line(done.stderr)
    assert done.returncode == 1


def test_a_server_that_speaks_something_else(wiretrial: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            try:
                while True:
                    connection, _ = listening.accept()
                    with connection:
                        connection.recv(1024)
                        connection.sendall(b"220 mail.example.org ESMTP\r\n")
            except OSError:
                return

        threading.Thread(target=answer, daemon=True).start()
        port = listening.getsockname()[1]
        done = wiretrial("load", f"http://127.0.0.1:{port}/", "-d", "1s", "--timeout", "1s")
        listening.shutdown(socket.SHUT_RDWR)
    assert _only_line(done.stderr)
    assert done.returncode == 1
