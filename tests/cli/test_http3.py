"""HTTP/3: `load` by URL and by file, `compare` and `limit`; what does not go over it is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.process import Process
from tests.cli.checkouts import write
from tests.cli.conftest import Run
from tests.cli.test_http2 import https, loaded
from tests.cli.test_runs import MEASURED, results_of
from wiretrial.errors import EXIT_FAILED, EXIT_GATE, EXIT_GOOD, EXIT_INVALID, EXIT_USAGE
from wiretrial.results.limits import Limit
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
    assert found["http3"]["congestion"] == "cubic"
    # The least that a path of QUIC carries (RFC 9000 section 14).
    assert found["http3"]["path"]["datagram_bytes"] >= 1200
    # By Little's law, so that what was sent just before the window counts a little more.
    assert 0 < found["http3"]["streams_in_flight"] < 3.3
    shown = ("-n", "60", "--warmup", "0s", "--congestion", "bbr")
    text = " ".join(wiretrial("load", url, *over, *shown).stdout.split())
    assert "bbr, congestion window" in text
    assert "HTTP/3, agreed on by ALPN" in text
    assert "open on each connection on average, at most 3" in text
    assert "packets lost" in text


def test_the_process_with_the_port_of_udp_is_watched(
    wiretrial: Run, server: tuple[str, str]
) -> None:
    url, authority = server
    over = ("--cacert", authority, "--http", "3", "-c", "2")
    # Nothing listens on the TCP port of this number: HTTP/1.1 would be refused.
    _, found, said = loaded(wiretrial, url, *over)
    assert "server: its CPU" in found["evidence"], said
    assert "its CPU unknown" not in found["evidence"]


def test_servers_are_compared_over_it(wiretrial: Run, tmp_path: Path) -> None:
    over = ("--http", "3", "-c", "2", "--streams", "3")
    briefly = ("--trials", "2", "-d", "300ms", "--warmup", "100ms", "--seed", "1")
    with https(tmp_path, "--http3") as (url, authority):
        done = wiretrial("compare", url, url, "--cacert", str(authority), *over, *briefly)
    assert done.returncode in MEASURED, done.stderr
    trials = results_of(tmp_path).trials()
    assert len(trials) == 4
    for trial in trials:
        assert trial.start.http is not None
        assert trial.start.http.version == "3"
        assert (trial.plan.load.connections, trial.plan.load.depth) == (2, 3)
        assert trial.scenario.workload.endswith(", HTTP/3, 3 streams on each")
        assert (trial.summary.counters.ok > 0, trial.summary.counters.errors) == (True, {})
        assert trial.summary.http3 is not None
        assert len(trial.subject_samples) > 1


def test_servers_of_websockets_are_compared_over_it(wiretrial: Run, tmp_path: Path) -> None:
    over = ("--http", "3", "-c", "2", "--streams", "3")
    briefly = ("--trials", "1", "-d", "300ms", "--warmup", "100ms", "--seed", "1")
    with https(tmp_path, "--http3") as (url, authority):
        chat = url.replace("https://", "wss://").replace("/message", "/chat")
        done = wiretrial("compare", chat, chat, "--cacert", str(authority), *over, *briefly)
    assert done.returncode in MEASURED, done.stderr
    for trial in results_of(tmp_path).trials():
        assert trial.start.http is not None
        assert trial.start.http.version == "3"
        assert trial.scenario.workload.endswith(", HTTP/3, 3 WebSockets on each")
        assert (trial.summary.counters.ok > 0, trial.summary.counters.errors) == (True, {})
        assert trial.summary.http3 is not None


def test_a_subject_is_compared_with_itself_over_it(wiretrial: Run, tmp_path: Path) -> None:
    over = ("--http", "3", "-c", "2", "--streams", "3")
    briefly = ("--trials", "1", "-d", "300ms", "--warmup", "100ms", "--seed", "1")
    done = wiretrial("compare", "reference-http3", "reference-http3", *over, *briefly)
    assert done.returncode in MEASURED, done.stderr
    for trial in results_of(tmp_path).trials():
        assert trial.subject is not None
        assert trial.start.http is not None
        assert trial.start.http.version == "3"
        assert trial.summary.counters.errors == {}


def test_a_rate_is_found_over_it(wiretrial: Run, server: tuple[str, str]) -> None:
    url, authority = server
    over = ("--cacert", authority, "--http", "3", "-c", "2", "--streams", "3")
    search = ("--from", "100", "--to", "200", "--searches", "1", "-d", "150ms", "--warmup", "0")
    goals = ("--goal", "p50 < 2s", "--goal", "errors < 1%", "--format", "json")
    done = wiretrial("limit", url, *over, *search, *goals)
    assert done.returncode in (EXIT_GOOD, EXIT_GATE, EXIT_INVALID), done.stderr
    found = Limit.model_validate_json(done.stdout)
    assert (found.unit, found.levels[0].rate) == ("requests/s", 100)
    assert all(level.failed_share == 0 for level in found.levels)


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (("compare", "http://h/", "http://i/"), "use https://, or --http 2 or 1.1"),
        (("compare", "tls://h:1", "tls://i:1"), "not for tls://: leave --http out"),
        (("compare", "grpc://h/a.B/C", "grpc://i/a.B/C"), "use grpcs://, or leave --http out"),
        (("compare", "reference"), "reference has no contract in HTTP/3: see"),
        (("compare", "reference", "--protocol", "wss"), "no contract over wss in HTTP/3"),
        (("compare", "https://h/", "--streams", "4", "--depth", "4"), "exclude each other"),
        (("limit", "http://h/"), "use https://, or --http 2 or 1.1"),
        (("limit", "tcp://h:1"), "not for tcp://: leave --http out"),
        (("limit", "grpc://h/a.B/C"), "use grpcs://, or leave --http out"),
        (("load", "grpcs://h/a.B/C", "--early-data"), "not for calls of gRPC: leave it out"),
        (("load", "wss://h/", "--early-data"), "not for --sse or WebSockets: leave it out"),
        (("load", "https://h/", "--sse", "--early-data"), "not for --sse or WebSockets"),
    ],
)
def test_what_is_compared_or_searched_for_and_does_not_go_over_it_is_one_line(
    wiretrial: Run, arguments: tuple[str, ...], remedy: str
) -> None:
    done = wiretrial(*arguments, "--http", "3")
    assert done.returncode == EXIT_USAGE, done.stderr
    [line] = done.stderr.strip().splitlines()
    assert remedy in line


def test_a_server_that_is_started_from_a_folder_is_refused(wiretrial: Run, tmp_path: Path) -> None:
    write(tmp_path / "a")
    done = wiretrial("compare", "./a", "--http", "3")
    assert done.returncode == EXIT_USAGE
    [line] = done.stderr.strip().splitlines()
    assert "a server of your own is started without TLS: start it yourself" in line


def test_a_server_without_it_is_one_line(wiretrial: Run, tmp_path: Path) -> None:
    with https(tmp_path) as (url, authority):
        done = wiretrial("limit", url, "--http", "3", "--cacert", str(authority))
    assert done.returncode == EXIT_FAILED
    [line] = done.stderr.strip().splitlines()
    assert "is the server running, and does it speak HTTP/3?" in line


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (("http://127.0.0.1:1/",), "use https://, or --http 2 or 1.1"),
        (("ws://127.0.0.1:1/",), "use wss://, or --http 2 or 1.1"),
        (("grpc://127.0.0.1:1/a.B/C",), "use grpcs://, or leave --http out"),
        (("tcp://127.0.0.1:1",), "leave --http out"),
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


def test_over_tcp_the_congestion_control_is_the_kernel_s_of_that_name(
    wiretrial: Run, tmp_path: Path
) -> None:
    # Every kernel has Reno, and lets everybody have it.
    asked = ("--congestion", "new-reno")
    with https(tmp_path) as (url, authority):
        code, found, said = loaded(wiretrial, url, "--cacert", str(authority), *asked)
        shown = ("-n", "60", "--warmup", "0s", "--cacert", str(authority))
        text = wiretrial("load", url, *shown, *asked).stdout
        usual = wiretrial("load", url, *shown).stdout
    assert code in MEASURED, said
    assert (found["tcp_congestion"], found["http3"]) == ("reno", None)
    assert found["target"]["http"]["congestion"] == "new-reno"
    assert "congestion control reno" in " ".join(text.split())
    assert "congestion control" not in " ".join(usual.split())


def test_streams_of_events_go_over_it(wiretrial: Run, tmp_path: Path) -> None:
    with https(tmp_path, "--http3") as (url, authority):
        events = url.replace("/message", "/events?rate=100")
        over = ("--cacert", str(authority), "--http", "3", "-c", "2", "--streams", "4")
        code, found, said = loaded(wiretrial, events, "--sse", *over)
        text = wiretrial("load", events, "--sse", *over, "-d", "200ms", "--warmup", "0s").stdout
    assert code in MEASURED, said
    totals = found["totals"]
    assert (totals["in_flight"], any(totals["errors"].values())) == (8, False)
    assert totals["ok"] > 100
    assert (found["http"]["version"], found["connect_time"]["count"]) == ("3", 2)
    assert found["delivery_time"]["count"] > 100
    assert found["http3"]["streams_in_flight"] is None
    assert "4 streams of events on each connection" in " ".join(text.split())


def test_websockets_go_over_it(wiretrial: Run, tmp_path: Path) -> None:
    with https(tmp_path, "--http3") as (url, authority):
        chat = url.replace("https://", "wss://").replace("/message", "/chat")
        over = ("--cacert", str(authority), "--http", "3", "-c", "2", "--streams", "4")
        code, found, said = loaded(wiretrial, chat, *over)
        text = wiretrial("load", chat, *over, "-n", "60", "--warmup", "0s").stdout
    assert code in MEASURED, said
    assert (found["totals"]["errors"], found["http"]["version"]) == ({}, "3")
    assert found["totals"]["ok"] > 100
    assert found["upgrade_time"]["count"] == 8
    shown = " ".join(text.split())
    assert "4 WebSockets on each" in shown
    assert "upgrade time max " in shown


SHOP = """\
# @name back
POST {{base}}/back
{"n": "a{{seq}}"}
HTTP 200
[Captures]
n: jsonpath "$.n"
[Asserts]
jsonpath "$.n" == "a{{seq}}"

# @name again
POST {{base}}/again
{"n": "{{n}}"}
HTTP 200
[Asserts]
jsonpath "$.n" == "{{n}}"

# @name line
GET {{base}}/line
"""
OWN = '[[flow]]\nfile = "shop.hurl"\n[load]\nusers = 3\n'
SHARED = (
    '[[flow]]\nfile = "shop.hurl"\n[load]\nusers = 6\nconnections = {pool = 2, streams = 3}\n'
    '[goal]\n"blocked.max" = "< 30s"\n'
)
SESSIONS = 20


def shop(folder: Path, url: str, rest: str, http: str = "") -> str:
    """A traffic file for the server at this URL."""
    (folder / "shop.hurl").write_text(SHOP, encoding="utf-8")
    base = url.rstrip("/")
    (folder / "shop.toml").write_text(f'{http}base = "{base}"\n{rest}', encoding="utf-8")
    return str(folder / "shop.toml")


@pytest.mark.parametrize(
    ("rest", "connections"),
    [(OWN, 3), (SHARED, 2)],
    ids=["a connection per user", "shared streams"],
)
def test_a_traffic_file_is_loaded_and_what_it_does_not_say_is_learned(
    wiretrial: Run, server: tuple[str, str], tmp_path: Path, rest: str, connections: int
) -> None:
    url, authority = server
    file = shop(tmp_path, url, rest)
    over = ("--http", "3", "--cacert", authority, "-n", str(SESSIONS), "--warmup", "0s")
    done = wiretrial("load", file, *over, "--format", "json")
    assert done.returncode in MEASURED, done.stderr
    assert "learned" in done.stderr
    found = json.loads(done.stdout)
    assert found["http"]["version"] == "3"
    summary = found["trial"]["summary"]
    assert (summary["counters"]["ok"], summary["examples"]) == (3 * SESSIONS, {})
    assert [route["ok"] for route in summary["traffic"]["routes"]] == [SESSIONS] * 3
    assert summary["connections"]["opened"] == connections
    assert summary["http3"]["datagrams_sent"] > 0


def test_a_traffic_file_says_itself_that_it_goes_over_http_3(
    wiretrial: Run, server: tuple[str, str], tmp_path: Path
) -> None:
    url, authority = server
    file = shop(tmp_path, url, OWN, 'http = "3"\n')
    shown = wiretrial("traffic", "check", file, "--cacert", authority)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert f"GET {url}line" in shown.stdout
    assert "one line" in shown.stdout
    over = ("--cacert", authority, "-n", "1", "--warmup", "0s", "--format", "json")
    done = wiretrial("load", file, *over, "--congestion", "new-reno")
    assert done.returncode in MEASURED, done.stderr
    found = json.loads(done.stdout)
    assert (found["http"]["version"], found["http3"]["congestion"]) == ("3", "new-reno")


CHAT = '[[flow]]\nurl = "wss://127.0.0.1:1/"\nstep = [{send = "x", reply = {text = "x"}}]\n'


@pytest.mark.parametrize(
    ("file", "options", "remedy"),
    [
        (f'base = "http://127.0.0.1:1"\n{OWN}', ("--http", "3"), "write https:// or grpcs://"),
        (f'http = "3"\nbase = "http://127.0.0.1:1"\n{OWN}', (), "write https:// or grpcs://"),
        (CHAT, ("--http", "3"), "leave --http and --streams out"),
        (f'base = "https://127.0.0.1:1"\n{OWN}', ("--http", "3", "--window", "64KiB"), "--http 2"),
    ],
)
def test_a_file_that_does_not_go_over_it_is_refused(
    wiretrial: Run, tmp_path: Path, file: str, options: tuple[str, ...], remedy: str
) -> None:
    (tmp_path / "shop.hurl").write_text(SHOP, encoding="utf-8")
    (tmp_path / "shop.toml").write_text(file, encoding="utf-8")
    done = wiretrial("load", str(tmp_path / "shop.toml"), *options, "-d", "1s")
    assert done.returncode == EXIT_USAGE
    [line] = done.stderr.strip().splitlines()
    assert remedy in line
