"""Whole commands on real servers: results, interruption, resumption, reports."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.cli.conftest import LIMIT_S, ROOT, Run, address_in, command
from wiretrial.cli import subject_list
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_GOOD, EXIT_INVALID
from wiretrial.results.store import ResultsFolder

START_LIMIT_S = 30.0
MEASURED = (EXIT_GOOD, EXIT_INVALID)
"""A busy machine may keep the generator from running in most of a trial, which is told by 4."""
STUDY = (
    *("compare", "reference", "ws", "--protocol", "ws", "-c", "4"),
    *("-d", "300ms", "--warmup", "200ms", "--seed", "5"),
)


@pytest.fixture
def reference() -> Iterator[tuple[psutil.Process, str]]:
    """A reference server of somebody else's: its process, and HOST:PORT."""
    binary = str(Engine.find().binary)
    with subprocess.Popen(
        [binary, "respond", "--http", "127.0.0.1:0", "--deflate"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield psutil.Process(process.pid), address_in(process.stdout.readline())
        process.terminate()


@contextlib.contextmanager
def start(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command that is going to be disturbed; it does not outlive the block."""
    with subprocess.Popen(
        command(*arguments),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_load(process: subprocess.Popen[str]) -> psutil.Process:
    """The engine below `process`, once it has more connections than the preflight's."""
    parent = psutil.Process(process.pid)
    binary = str(Engine.find().binary)
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        for child in parent.children():
            with contextlib.suppress(psutil.Error):
                if child.cmdline() == [binary, "run"] and len(child.net_connections()) > 1:
                    return child
        time.sleep(0.02)
    raise AssertionError("no engine was started")


def test_load_says_what_it_took(wiretrial: Run, reference: tuple[psutil.Process, str]) -> None:
    _, address = reference
    done = wiretrial("load", f"ws://{address}/", "-d", "500ms", "--payload", "20", "-c", "5")
    # A machine that keeps the generator from running for most of so short a time is not to blame.
    starved = "the generator was kept from running" in " ".join(done.stdout.split())
    assert done.returncode == (4 if starved else 0), done.stdout
    assert done.stderr == ""
    assert "5 connections, closed loop, depth 1, 20-byte messages" in done.stdout
    for word in ("throughput", "service time", "connections", "cost"):
        assert f"\n  {word}" in done.stdout
    assert "verified messages/s; service time p50 " in done.stdout.splitlines()[0]
    assert "\nVerdict: " in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_a_server_s_cpu_is_read_by_name_as_by_address(
    wiretrial: Run, reference: tuple[psutil.Process, str], name: str
) -> None:
    _, address = reference
    url = f"ws://{name}:{address.rpartition(':')[2]}/"
    done = wiretrial("load", url, "-d", "600ms", "--warmup", "100ms")
    assert done.returncode in MEASURED, done.stderr
    said = " ".join(done.stdout.split())
    assert "server: its CPU" in said
    assert "its CPU unknown" not in said


def test_servers_of_others_that_are_compared_are_watched_too(
    wiretrial: Run, reference: tuple[psutil.Process, str], tmp_path: Path
) -> None:
    _, address = reference
    url = f"ws://{address}/"
    done = wiretrial("compare", url, url, "--trials", "1", "-d", "600ms", "--warmup", "100ms")
    assert done.returncode in MEASURED, done.stderr
    for trial in results_of(tmp_path).trials():
        assert len(trial.subject_samples) > 1
        assert trial.scenario.environment == "loopback"


def test_held_connections_are_asked_once_and_then_in_turn(
    wiretrial: Run, reference: tuple[psutil.Process, str]
) -> None:
    _, address = reference
    url = f"ws://{address}/"
    done = wiretrial("load", url, "-c", "20", "--hold", "--rate", "50", "-d", "500ms")
    assert done.returncode in MEASURED, done.stderr
    assert "held, 50 messages/s in turn" in done.stdout


def test_players_get_copies_and_events_are_acknowledged(
    wiretrial: Run, reference: tuple[psutil.Process, str]
) -> None:
    _, address = reference
    flags = ("-c", "6", "--table-size", "3", "--rate", "120", "--pacing", "phased", "-d", "1s")
    done = wiretrial("load", f"styx+json+ws://{address}", *flags, "--format", "json")
    assert done.returncode in MEASURED, done.stderr
    found = json.loads(done.stdout)
    copies, sent = found["deliveries"], found["totals"]["sent"]
    assert (sent > 0, copies["expected"]) == (True, 3 * sent)
    wrong = ("missing", "mismatch", "out_of_order", "duplicate")
    assert [copies[name] for name in wrong] == [0, 0, 0, 0]
    done = wiretrial("load", f"styx+ws://{address}", *flags[:-1], "2s", "--lobby")
    assert done.returncode in MEASURED, done.stderr
    assert re.search(r"lobby +snapshots \d+$", done.stdout, re.M), done.stdout
    done = wiretrial("load", f"socketio+ws://{address}", "-n", "500")
    assert done.returncode in MEASURED, done.stderr
    assert "sent 500  ok 500" in done.stdout


def test_a_broadcast_is_checked_at_everybody(
    wiretrial: Run, reference: tuple[psutil.Process, str]
) -> None:
    _, address = reference
    flags = ("-c", "5", "-n", "200", "--payload", "20", "--expect", "broadcast")
    done = wiretrial("load", f"ws://{address}/broadcast", *flags, "--format", "json")
    assert done.returncode in MEASURED, done.stderr
    copies = json.loads(done.stdout)["deliveries"]
    assert (copies["expected"], copies["ok"]) == (5 * 200, 5 * 200)
    refused = wiretrial("load", f"http://{address}/", *flags)
    assert refused.returncode == 2
    assert "only ws and wss have broadcasts" in refused.stderr


@pytest.mark.alone
def test_load_shows_what_compression_saves(
    wiretrial: Run, reference: tuple[psutil.Process, str]
) -> None:
    _, address = reference
    flags = ("-n", "500", "--payload", "2000", "--deflate-with", "server_max_window_bits=12")
    done = wiretrial("load", f"ws://{address}/", *flags)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "permessage-deflate; server_max_window_bits=12" in said
    found = re.search(r"compression sent ([\d,]+) bytes for 1,000,000 of payload", said)
    assert found, said
    assert int(found[1].replace(",", "")) < 200_000


@pytest.mark.alone
def test_load_as_json_to_a_file(
    wiretrial: Run, reference: tuple[psutil.Process, str], tmp_path: Path
) -> None:
    _, address = reference
    url = f"http://{address}/echo"
    done = wiretrial(
        *("load", url, "--json", '{"n":"{seq}"}', "--expect", "echo", "-n", "2k"),
        *("--format", "json", "-o", "result.json"),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    found = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert found["schema"] == "wiretrial-load"
    assert found["target"]["url"] == url
    assert found["totals"] == {"sent": 2000, "ok": 2000, "in_flight": 0, "errors": {}}
    assert found["verdict"] in ("valid", "client-bound")
    assert found["service_time"]["count"] > 0


def test_a_wrong_reply_makes_the_measurement_invalid(wiretrial: Run) -> None:
    binary = str(Engine.find().binary)
    with subprocess.Popen(
        [binary, "respond", "--http", "127.0.0.1:0", "--fault", "wrong@50"],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        address = address_in(server.stdout.readline())
        done = wiretrial("load", f"ws://{address}/", "-n", "1000", "--format", "json")
        server.terminate()
    assert done.returncode == 4
    found = json.loads(done.stdout)
    assert found["verdict"] == "invalid"
    assert found["totals"]["errors"]["mismatch"] > 0
    assert "errors" in [warning["code"] for warning in found["warnings"]]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_load_with_what_was_measured(
    reference: tuple[psutil.Process, str], tmp_path: Path, number: int, code: int
) -> None:
    _, address = reference
    arguments = ("load", f"http://{address}/", "-d", "100s", "--format", "json")
    with start(tmp_path, *arguments) as process:
        engine = wait_for_load(process)
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == code
    assert err == ""
    found = json.loads(out)
    assert found["verdict"] == "partial"
    # A load has no trials to go on with.
    assert "--resume" not in out
    totals = found["totals"]
    assert totals["sent"] == totals["ok"] + totals["in_flight"] + sum(totals["errors"].values())
    assert not engine.is_running()


def test_a_killed_command_leaves_nothing_running(
    reference: tuple[psutil.Process, str], tmp_path: Path
) -> None:
    _, address = reference
    with start(tmp_path, "load", f"http://{address}/", "-d", "100s") as process:
        engine = wait_for_load(process)
        process.kill()
        process.communicate(timeout=LIMIT_S)
    gone, alive = psutil.wait_procs([engine], timeout=LIMIT_S)
    assert (len(gone), alive) == (1, [])


def test_a_server_that_dies_ends_the_load_at_once(
    reference: tuple[psutil.Process, str], tmp_path: Path
) -> None:
    server, address = reference
    with start(tmp_path, "load", f"ws://{address}/", "-d", "100s", "--format", "json") as process:
        wait_for_load(process)
        server.kill()
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 4
    assert json.loads(out)["verdict"] == "invalid"


def results_of(base: Path) -> ResultsFolder:
    """The only results below `base`."""
    (folder,) = (base / "results").iterdir()
    return ResultsFolder.open(folder)


def test_an_interrupted_study_reports_and_goes_on(wiretrial: Run, tmp_path: Path) -> None:
    with start(tmp_path, *STUDY, "--trials", "2") as process:
        assert process.stderr is not None
        told = [next(line for line in process.stderr if line.lstrip().startswith("1/4"))]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    results = results_of(tmp_path)
    kept = {path: path.read_bytes() for path in results.paths()}
    assert len(kept) >= len(told)
    resume = f"--resume {results.folder.relative_to(tmp_path)}"
    assert resume in err.splitlines()[-1]
    assert "report: " in out

    done = wiretrial("compare", *resume.split())
    assert done.returncode in MEASURED, done.stderr
    assert len(results.paths()) == 4
    assert all(path.read_bytes() == content for path, content in kept.items())
    assert (results.folder / "report.html").read_text(encoding="utf-8").startswith("<!")


def test_killed_in_the_middle_a_study_loses_one_trial_at_most(
    wiretrial: Run, tmp_path: Path
) -> None:
    with start(tmp_path, *STUDY, "--trials", "2") as process:
        assert process.stderr is not None
        next(line for line in process.stderr if line.lstrip().startswith("2/4"))
        below = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate(timeout=LIMIT_S)
    _, alive = psutil.wait_procs(below, timeout=LIMIT_S)
    assert alive == []
    results = results_of(tmp_path)
    assert len(results.paths()) in (2, 3)
    resumed = wiretrial("compare", "--resume", str(results.folder))
    assert resumed.returncode in MEASURED, resumed.stderr
    assert len(results.paths()) == 4


def test_stored_results_are_listed_shown_and_reported(wiretrial: Run, tmp_path: Path) -> None:
    measured = wiretrial(*STUDY, "--trials", "1", "--details")
    assert measured.returncode in MEASURED, measured.stderr
    folder = str(results_of(tmp_path).folder)

    listed = json.loads(wiretrial("results", "list", "--format", "json").stdout)
    assert [row["study"] for row in listed["trials"]] == ["compare", "compare"]
    shown = json.loads(wiretrial("results", "show", folder, "--format", "json").stdout)
    assert {trial["schema"] for trial in shown["trials"]} == {"wiretrial-load"}
    assert wiretrial("results", "show", folder).stdout.count("block  1") == 2

    assert wiretrial("report", folder).stdout == measured.stdout.partition("\nreport: ")[0]
    pictures = wiretrial("report", folder, "--format", "svg", "-o", "pictures").stdout.split()
    assert pictures
    assert all("<svg" in (tmp_path / name).read_text(encoding="utf-8") for name in pictures)
    page = wiretrial("report", folder, "--format", "html").stdout
    assert page.startswith("<!")


def test_the_catalogue_is_listed_and_shown(wiretrial: Run) -> None:
    listed = json.loads(wiretrial("subject", "list", "--format", "json").stdout)
    assert {"nginx", "reference", "ws"} <= {row["name"] for row in listed["subjects"]}
    shown = json.loads(wiretrial("subject", "show", "ws", "--format", "json").stdout)
    assert {"http-echo", "static", "ws-echo"} <= set(shown["subject"]["contracts"])
    verified = wiretrial("subject", "verify", "nginx", "--format", "json")
    assert verified.returncode == 0
    assert {check["problem"] for check in json.loads(verified.stdout)["checks"]} == {None}


@pytest.mark.parametrize(("columns", "shown"), [(80, 4), (100, 5), (120, 6)])
def test_the_catalogue_fits_the_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: int, shown: int
) -> None:
    row: dict[str, Any] = {
        "name": "simple-websocket-server",
        "installed": "aiohttp 3.14.5 on Python 3.11.7",
        "reason": None,
        "language": "JavaScript",
        "licence": "Apache-2.0",
        "verified": {"default": True},
        "speaks": ["http", "socketio+wss", "styx+json+ws", "styx+json+wss"],
    }
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = subject_list.table("servers", [row]).splitlines()
    assert len(lines[1].split()) == shown
    assert max(map(len, lines)) <= columns
    assert all(word in " ".join(lines) for word in row["speaks"])


def test_a_subject_can_be_run_by_hand(tmp_path: Path) -> None:
    with start(tmp_path, "subject", "run", "reference") as process:
        assert process.stdout is not None
        urls = [process.stdout.readline().strip() for _ in range(6)]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT_S)
    assert [url.partition(":")[0] for url in urls] == ["http", "https", "ws", "wss", "tcp", "tls"]
    assert process.returncode == 0


def test_the_machine_is_told(wiretrial: Run) -> None:
    done = wiretrial("machine", "--format", "json")
    found = json.loads(done.stdout)
    assert found["facts"]["kernel"] == os.uname().release
    names = {row["name"] for row in found["preflight"]}
    assert names - {"files"} == {"descriptors", "ports", "memory"}
    short = wiretrial("machine", "-c", "100m")
    assert "SHORT descriptors" in short.stdout
    assert short.returncode == 1
