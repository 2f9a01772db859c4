"""`wiretrial load --server`: real servers with a known cost, a limit, a death, a restart."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.observers.conftest import Burner, Limited, Run, Start
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, EXIT_INVALID, EXIT_USAGE
from wiretrial.results.store import read_trial

BURN_US = 2000
MEASURED = (EXIT_GOOD, EXIT_INVALID)


def result(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    return found


def flags(*more: str) -> tuple[str, ...]:
    return ("--expect", "status", "--format", "json", "-o", "out.json", *more)


def on_cpu_ns(pid: int) -> int:
    """CPU time of a process so far. Ticks would miss short bursts that keep step with them."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text(encoding="ascii").split()[0]) for thread in threads)


def once_loaded(server: Burner, deed: Callable[[], object]) -> threading.Thread:
    """Does it when the load has cost the server 0.3 s: at 50 requests/s that is after 3 s.

    It is done without a load, too, after a while: a test that goes wrong ends.
    """
    until, latest = on_cpu_ns(server.pid) + 300_000_000, time.monotonic() + 30

    def wait() -> None:
        while on_cpu_ns(server.pid) < until and time.monotonic() < latest:
            time.sleep(0.02)
        deed()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


@pytest.mark.alone
def test_the_cost_of_a_server_is_what_it_burns(
    wiretrial: Run, burner: Start, tmp_path: Path
) -> None:
    server = burner(BURN_US)
    done = wiretrial(
        *("load", server.url, "-c", "1", "--rate", "100", "-d", "4s"),
        *flags("--server", f"app=pid:{server.pid}", "--report", "out.html"),
    )
    assert done.returncode in MEASURED, done.stderr
    own_ns = server.ended()
    found = result(tmp_path)
    (app,) = found["servers"]
    (host,) = found["server_hosts"]
    assert (app["name"], app["address"]) == ("app", f"pid:{server.pid}")
    assert (app["restarts"], app["has_ended"]) == (0, False)
    # Each request burns so much at least; a process's two parts are known to a tick of 10 ms.
    assert app["cpu_ns_per_message"] * app["replies"] >= BURN_US * 1000 * app["replies"] - 2e7
    assert app["cpu_ns_per_message"] * app["replies"] <= own_ns + 2e7
    assert app["cpu_user_ns_per_message"] > 0
    assert app["memory_bytes"] > 1e6
    # The same process, seen by the laboratory itself.
    assert found["server"]["cpu_ns_per_message"] == pytest.approx(
        app["cpu_ns_per_message"], rel=0.25
    )
    assert host["cpus_busy"] >= app["cpus_busy"] + host["cpus_of_generator"] - 0.1
    assert host["cpus_busy_before"] is not None
    trial = read_trial(tmp_path / "out.json")
    assert trial.places[0].parts[0].samples
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "What each server cost" in page
    text = wiretrial("report", "out.json").stdout
    assert "What each server cost" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "What each server cost" in wiretrial("report", "out.json", "--format", "markdown").stdout


@pytest.mark.alone
def test_a_server_that_its_limit_stops_is_the_bottleneck(
    wiretrial: Run, burner: Start, limited: Limited, tmp_path: Path
) -> None:
    server = burner(BURN_US, group=limited.folder)
    done = wiretrial(
        *("load", server.url, "-c", "1", "-d", "3s"),
        *flags("--server", f"db=cgroup:{limited.folder}"),
    )
    assert done.returncode in MEASURED, done.stderr
    found = result(tmp_path)
    (part,) = found["servers"]
    assert part["cpu_limit"] == limited.cpus
    assert part["throttled_share"] > 0.5
    assert part["throttled_ns"] > 0
    assert found["bottleneck"] == "server"
    assert "db was stopped by its limit of 0.2 CPUs" in found["evidence"]
    assert "server-throttled" in [one["code"] for one in found["warnings"]]
    assert limited.counter("nr_throttled") > 0


def test_a_server_that_is_killed_has_no_cost(wiretrial: Run, burner: Start, tmp_path: Path) -> None:
    server, database = burner(BURN_US), burner(1)
    death = once_loaded(server, database.process.kill)
    done = wiretrial(
        *("load", server.url, "-c", "1", "--rate", "50", "-d", "6s"),
        *flags("--server", f"app=pid:{server.pid}", "--server", f"db=pid:{database.pid}"),
    )
    death.join()
    assert done.returncode in MEASURED, done.stderr
    found = result(tmp_path)
    app, db = found["servers"]
    assert app["cpu_ns_per_message"] > 0
    assert not app["has_ended"]
    assert db["has_ended"]
    assert db["cpu_ns_per_message"] is None
    assert "server-restarted" in [one["code"] for one in found["warnings"]]
    text = wiretrial("report", "out.json").stdout
    assert "db ended" in text


def test_a_server_that_is_started_again_has_no_cost(
    wiretrial: Run, burner: Start, limited: Limited, tmp_path: Path
) -> None:
    server, database = burner(BURN_US), burner(1, group=limited.folder)

    def again() -> None:
        database.process.kill()
        database.process.wait()
        burner(1, group=limited.folder)

    restart = once_loaded(server, again)
    done = wiretrial(
        *("load", server.url, "-c", "1", "--rate", "50", "-d", "6s"),
        *flags("--server", f"db=cgroup:{limited.folder}"),
    )
    restart.join()
    assert done.returncode in MEASURED, done.stderr
    found = result(tmp_path)
    (db,) = found["servers"]
    assert (db["restarts"], db["has_ended"]) == (1, False)
    assert db["cpu_ns_per_message"] is None
    assert any("started again" in one["message"] for one in found["warnings"])


@pytest.mark.alone
def test_the_highest_rate_is_the_server_s_whose_limit_binds(
    wiretrial: Run, burner: Start, limited: Limited, tmp_path: Path
) -> None:
    server = burner(BURN_US, group=limited.folder)
    done = wiretrial(
        *("limit", server.url, "-c", "1", "-d", "1s", "--searches", "1", "--tolerance", "30%"),
        *("--goal", "p50 < 1s", "--from", "40", "--to", "400", "--within", "60s"),
        *flags("--server", f"db=cgroup:{limited.folder}"),
    )
    assert done.returncode in MEASURED, done.stderr
    refused = [one for one in result(tmp_path)["levels"] if not one["is_kept"]]
    assert any("db was stopped by its limit" in one["evidence"] for one in refused)


@pytest.mark.parametrize(
    ("server", "code", "words"),
    [
        ("4711", EXIT_USAGE, "write pid:4711"),
        ("pid:x", EXIT_USAGE, "'x' is no process id"),
        ("pid:2147483647", EXIT_FAILED, "can't observe process 2147483647"),
        ("cgroup:/no/such", EXIT_FAILED, "can't observe control group /no/such"),
    ],
)
def test_what_can_not_be_watched_is_told_in_one_line(
    wiretrial: Run, burner: Start, server: str, code: int, words: str
) -> None:
    done = wiretrial("load", burner(1).url, "--expect", "status", "--server", server)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.strip().count("\n") <= 1
