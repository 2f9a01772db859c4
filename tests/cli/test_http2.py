"""`load` over HTTP/2: which version is taken, what its windows do, and what is refused."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, address_in
from tests.cli.test_runs import MEASURED, results_of
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_GATE, EXIT_GOOD, EXIT_INVALID
from wiretrial.results import hdr
from wiretrial.results.limits import Limit
from wiretrial.subjects import certificates

ON_STREAMS = ("--http", "2", "-c", "2", "--streams", "3")


@contextlib.contextmanager
def https(folder: Path, *options: str) -> Iterator[tuple[str, Path]]:
    """A reference server over TLS, and whom to trust."""
    own = certificates.make(folder, "127.0.0.1")
    binary = str(Engine.find().binary)
    tls = ("--cert", str(own.chain), "--key", str(own.key))
    with subprocess.Popen(
        [binary, "respond", "--https", "127.0.0.1:0", *tls, *options],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        try:
            yield f"https://{address_in(server.stdout.readline())}/message", own.authority
        finally:
            server.terminate()


def loaded(wiretrial: Run, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Exit code and result of a short load."""
    done = wiretrial("load", *arguments, "-d", "500ms", "--warmup", "0s", "--format", "json")
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


@pytest.mark.parametrize(
    ("options", "version"), [(("--http2",), "2"), ((), "1.1")], ids=["offered", "not offered"]
)
def test_a_load_over_tls_speaks_what_the_server_picks_and_says_so(
    wiretrial: Run, tmp_path: Path, options: tuple[str, ...], version: str
) -> None:
    with https(tmp_path, *options) as (url, authority):
        _, found, said = loaded(wiretrial, url, "--cacert", str(authority))
        assert found["totals"]["ok"] > 0, said
        assert (found["http"]["version"], found["http"]["by"]) == (version, "alpn")
        assert found["totals"]["errors"] == {}
        assert (found["http2"] is not None) is (version == "2")
        text = wiretrial("load", url, "--cacert", str(authority), "-n", "100").stdout
        assert f"HTTP/{version}, agreed on by ALPN" in " ".join(text.split())
        assert ("1 stream on each" in text) is (version == "2")


@pytest.mark.parametrize("option", [("--streams", "10"), ("--window", "64KiB"), ("--http", "2")])
def test_what_only_http_2_has_is_refused_where_the_server_picks_http_1_1(
    wiretrial: Run, tmp_path: Path, option: tuple[str, str]
) -> None:
    with https(tmp_path) as (url, authority):
        done = wiretrial("load", url, "--cacert", str(authority), *option, "-n", "10")
    assert done.returncode == 1
    [line] = done.stderr.strip().splitlines()
    assert "does not agree on HTTP/2 (ALPN)" in line


def test_a_narrow_window_is_marked_where_it_was_given(wiretrial: Run, tmp_path: Path) -> None:
    with https(tmp_path, "--http2") as (url, authority):
        echo = url.replace("/message", "/echo")
        code, found, said = loaded(
            *(wiretrial, echo, "--cacert", str(authority), "--expect", "echo"),
            *("--payload", "1MiB", "-c", "2", "--window", "16KiB"),
        )
    assert found["verdict"] != "invalid", said
    assert code == 0
    assert found["http"]["window"] == 16 * 1024
    assert found["http2"]["stream_exhausted_share"] > 0.03
    assert "own-window" in {one["code"] for one in found["warnings"]}


@contextlib.contextmanager
def plain() -> Iterator[str]:
    """The address of a reference server without TLS."""
    command = [str(Engine.find().binary), "respond", "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield address_in(server.stdout.readline())
        finally:
            server.terminate()


def test_websockets_on_streams_are_loaded_and_told_as_such(wiretrial: Run, tmp_path: Path) -> None:
    with https(tmp_path, "--http2") as (url, authority):
        secure = url.replace("https:", "wss:").replace("/message", "/chat")
        trusting = (secure, "--cacert", str(authority), "-c", "2", "--streams", "3")
        _, found, said = loaded(wiretrial, *trusting)
        assert found["totals"]["ok"] > 0, said
        assert found["totals"]["errors"] == {}
        assert (found["http"]["version"], found["http"]["by"]) == ("2", "alpn")
        assert (found["settings_time"]["count"], found["upgrade_time"]["count"]) == (2, 6)
        text = wiretrial("load", *trusting, "-n", "300", "--warmup", "0s").stdout
        told = " ".join(text.split())
        assert "3 WebSockets on each" in told
        assert "HTTP/2, agreed on by ALPN" in told
        assert "3 WebSockets on each connection, " in told
        assert "upgrade time max " in told


def test_websockets_on_streams_are_held(wiretrial: Run) -> None:
    with plain() as address:
        _, found, said = loaded(wiretrial, f"ws://{address}/chat", *ON_STREAMS, "--hold")
    assert (found["totals"]["ok"], found["totals"]["errors"]) == (6, {}), said


def test_servers_of_websockets_on_streams_are_compared(wiretrial: Run, tmp_path: Path) -> None:
    with plain() as first, plain() as second:
        urls = [f"ws://{address}/chat" for address in (first, second)]
        briefly = ("--trials", "2", "-d", "300ms", "--warmup", "100ms", "--seed", "1")
        done = wiretrial("compare", *urls, *ON_STREAMS, *briefly)
    assert done.returncode in MEASURED, done.stderr
    trials = results_of(tmp_path).trials()
    assert len(trials) == 4
    for trial in trials:
        assert trial.start.http is not None
        assert trial.start.http.version == "2"
        assert (trial.plan.load.connections, trial.plan.load.depth) == (2, 3)
        assert trial.scenario.workload.endswith(", HTTP/2, 3 WebSockets on each")
        assert (trial.summary.counters.ok > 0, trial.summary.counters.errors) == (True, {})
        times = trial.summary.histograms
        assert hdr.decode(times["settings_time"]).count == 2
        assert hdr.decode(times["upgrade_time"]).count == 6


def test_a_rate_of_websockets_on_streams_is_found(wiretrial: Run) -> None:
    search = ("--from", "800", "--to", "1600", "--searches", "1", "-d", "150ms", "--warmup", "0")
    goals = ("--goal", "p50 < 2s", "--goal", "errors < 1%", "--format", "json")
    with plain() as address:
        done = wiretrial("limit", f"ws://{address}/chat", *ON_STREAMS, *search, *goals)
    assert done.returncode in (EXIT_GOOD, EXIT_GATE, EXIT_INVALID), done.stderr
    found = Limit.model_validate_json(done.stdout)
    assert (found.unit, found.levels[0].rate) == ("messages/s", 800)
    assert all(level.failed_share == 0 for level in found.levels)


@pytest.mark.parametrize("version", ["1.1", "2"])
def test_a_header_profile_is_told_with_its_bytes(wiretrial: Run, version: str) -> None:
    sent: dict[str, int] = {}
    with plain() as address:
        asks = (f"http://{address}/message", "--http", version, "-n", "200", "--header-profile")
        for profile in ("constant", "partly", "unique"):
            found = json.loads(wiretrial("load", *asks, profile, "--format", "json").stdout)
            assert (found["totals"]["ok"], found["totals"]["errors"]) == (200, {})
            told = found["header_profile"]
            assert (told["profile"], found["target"]["http"]["header_profile"]) == (profile,) * 2
            sent[profile] = round(told["sent_bytes"])
        text = " ".join(wiretrial("load", *asks, "unique").stdout.split())
    assert "header profile unique" in text
    fields = f"unique: {told['field_bytes']:,} bytes of names and values in a request"
    assert f"{fields}, sent as {sent['unique']:,}" in text
    if version == "1.1":
        assert len(set(sent.values())) == 1
    else:
        assert sent["constant"] < sent["partly"] < sent["unique"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("http://h/", "--streams", "4"), "--streams is of HTTP/2, and http:// URLs"),
        (("http://h/", "--window", "64KiB"), "use --http 2 where the server speaks it"),
        (("https://h/", "--http", "1.1", "--streams", "4"), "--streams is of HTTP/2: use --http 2"),
        (("tcp://h:1", "--window", "1KiB"), "--window is of HTTP/2, for http, https, ws and wss"),
        (("ws://h/", "--streams", "4"), "--streams is of HTTP/2, and ws:// URLs"),
        (("https://h/", "--streams", "4", "--depth", "4"), "--streams and --depth exclude"),
        (("https://h/", "--connection-window", "1KiB"), "a window has 65,535 to 2,147,483,647"),
    ],
)
def test_what_does_not_fit_is_one_line(
    wiretrial: Run, arguments: tuple[str, ...], said: str
) -> None:
    done = wiretrial("load", *arguments)
    assert done.returncode == 2
    [line] = done.stderr.strip().splitlines()
    assert said in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "ws://h/", "ws://i/", "--streams", "4"), "--streams is of HTTP/2: use --http"),
        (("compare", "http://h/", "--streams", "4"), "--streams is of HTTP/2: use --http 2, or"),
        (
            ("limit", "ws://h/", "--streams", "4"),
            "--streams is of HTTP/2: use --http 2, or --depth",
        ),
        (("limit", "tcp://h:1", "--http", "2", "--streams", "4"), "for http, https, ws and wss"),
        (("limit", "ws://h/", *ON_STREAMS, "--depth", "4"), "--streams and --depth exclude each"),
        (
            ("compare", "reference", "--protocol", "ws", "--http", "2"),
            "no contract over ws in HTTP/2",
        ),
        (("limit", "ws://h/", *ON_STREAMS, "--greetings", "1"), "websocket.greetings"),
    ],
)
def test_what_is_compared_or_searched_for_and_does_not_fit_is_one_line(
    wiretrial: Run, arguments: tuple[str, ...], said: str
) -> None:
    done = wiretrial(*arguments)
    assert done.returncode == 2, done.stderr
    [line] = done.stderr.strip().splitlines()
    assert said in line


def test_a_server_that_does_not_take_them_is_one_line(wiretrial: Run, tmp_path: Path) -> None:
    with https(tmp_path) as (url, authority):
        secure = url.replace("https:", "wss:").replace("/message", "/chat")
        done = wiretrial("limit", secure, *ON_STREAMS, "--cacert", str(authority))
    assert done.returncode == 1
    [line] = done.stderr.strip().splitlines()
    assert "does not agree on HTTP/2 (ALPN)" in line
