"""The image that `make image` builds: the whole laboratory, in a container with nothing else.

`make image` names it, and how podman starts a container on this machine.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wheel.test_installed import BRIEFLY, MEASURED
from wiretrial.engine import BINARY
from wiretrial.errors import EXIT_GOOD

IMAGE = os.environ.get("WIRETRIAL_IMAGE", "")
PODMAN = (
    "podman",
    "run",
    "--rm",
    "--network=host",
    *os.environ.get("WIRETRIAL_PODMAN", "").split(),
)
SERVER = "wiretrial-image-test"
LIMIT_S = 120.0

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(not IMAGE, reason="no image is named (WIRETRIAL_IMAGE): make image"),
]


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The address of the reference server in a container of its own."""
    inside = (f"--name={SERVER}", f"--entrypoint={BINARY}", IMAGE, "respond")
    with subprocess.Popen(
        [*PODMAN, *inside, "--http", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            ready = re.search(r"http=(\S+)", server.stdout.readline())
            assert ready
            yield f"http://{ready[1]}/message"
        finally:
            subprocess.run(
                ["podman", "rm", "--force", "--time=0", SERVER],
                check=True,
                capture_output=True,
                timeout=LIMIT_S,
            )


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in a container, which has the folder for its results."""
    done = subprocess.run(
        [*PODMAN, f"--volume={folder}:/results", IMAGE, *words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done


def test_a_load_is_kept_outside_of_the_container(served: str, tmp_path: Path) -> None:
    done = run(tmp_path, "load", served, *BRIEFLY, "--format", "json", "-o", "load.json")
    assert done.returncode in MEASURED, done.stderr
    told = json.loads((tmp_path / "load.json").read_text(encoding="utf-8"))
    assert told["totals"]["ok"] > 0
    assert sum(told["totals"]["errors"].values()) == 0
    page = run(tmp_path, "report", "load.json", "--format", "html", "-o", "load.html")
    assert page.returncode == EXIT_GOOD, page.stderr
    assert "<html" in (tmp_path / "load.html").read_text(encoding="utf-8")


def test_a_limit_is_looked_for(served: str, tmp_path: Path) -> None:
    goal = ("--goal", "p99 < 10s", "-c", "2", "-d", "150ms", "--warmup", "0", "--searches", "1")
    done = run(tmp_path, "limit", served, *goal)
    assert done.returncode in MEASURED, done.stderr
    assert "requests/s" in done.stdout


def test_servers_are_compared(served: str, tmp_path: Path) -> None:
    done = run(tmp_path, "compare", served, served, "--trials", "2", *BRIEFLY)
    assert done.returncode in MEASURED, done.stderr
    (kept,) = (tmp_path / "results").glob("compare-*")
    assert (kept / "report.html").exists()


def test_every_study_is_there(tmp_path: Path) -> None:
    done = run(tmp_path, "study", "list")
    assert done.returncode == EXIT_GOOD, done.stderr
    assert "http-vs-websocket" in done.stdout
