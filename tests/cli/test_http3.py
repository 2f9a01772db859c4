"""`load` over HTTP/3: a server of aioquic's is loaded, and what does not go over it is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.process import Process
from tests.cli.conftest import Run
from tests.cli.test_http2 import loaded
from wiretrial.errors import EXIT_USAGE
from wiretrial.subjects import certificates

SERVER = Path(__file__).parents[1] / "interop" / "http3_echo.py"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Its URL, and whom to trust."""
    folder = tmp_path_factory.mktemp("aioquic")
    own = certificates.make(folder, "127.0.0.1")
    command = [sys.executable, str(SERVER), str(own.chain), str(own.key)]
    with Process(command, log=folder / "log") as process:
        yield f"https://{process.hear(r'ready https=(.+)')}/", str(own.authority)


def test_a_server_is_loaded_over_quic_and_the_result_says_so(
    wiretrial: Run, server: tuple[str, str]
) -> None:
    url, authority = server
    over = ("--cacert", authority, "--http", "3", "-c", "2", "--streams", "3")
    _, found, said = loaded(wiretrial, url, *over)
    assert found["totals"]["ok"] > 0, said
    assert found["totals"]["errors"] == {}
    assert (found["http"]["version"], found["http"]["by"]) == ("3", "alpn")
    assert found["connect_time"]["count"] == 2
    assert found["http2"] is None
    assert found["http3"]["datagrams_sent"] > 0
    # By Little's law, so that what was sent just before the window counts a little more.
    assert 0 < found["http3"]["streams_in_flight"] < 3.3
    text = " ".join(wiretrial("load", url, *over, "-n", "60", "--warmup", "0s").stdout.split())
    assert "HTTP/3, agreed on by ALPN" in text
    assert "open on each connection on average, at most 3" in text
    assert "packets lost" in text


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (("http://127.0.0.1:1/",), "use https://, or --http 2 or 1.1"),
        (("wss://127.0.0.1:1/",), "leave --http out"),
        (("tcp://127.0.0.1:1",), "leave --http out"),
        (("https://127.0.0.1:1/", "--sse"), "use --http 2 or 1.1"),
        (("https://127.0.0.1:1/", "--window", "64KiB"), "leave --window out, or use --http 2"),
    ],
)
def test_what_does_not_go_over_it_is_refused_in_one_line_with_the_remedy(
    wiretrial: Run, arguments: tuple[str, ...], remedy: str
) -> None:
    done = wiretrial("load", *arguments, "--http", "3", "-d", "1s")
    assert done.returncode == EXIT_USAGE
    [line] = done.stderr.strip().splitlines()
    assert remedy in line


def test_a_traffic_file_is_refused_too(wiretrial: Run, tmp_path: Path) -> None:
    (tmp_path / "one.hurl").write_text("GET {{base}}/\nHTTP 200\n", encoding="utf-8")
    toml = 'base = "https://127.0.0.1:1"\n[[flow]]\nfile = "one.hurl"\n'
    (tmp_path / "one.toml").write_text(toml, encoding="utf-8")
    done = wiretrial("load", str(tmp_path / "one.toml"), "--http", "3", "-d", "1s")
    assert done.returncode == EXIT_USAGE
    [line] = done.stderr.strip().splitlines()
    assert "--http 3 is for one URL" in line
