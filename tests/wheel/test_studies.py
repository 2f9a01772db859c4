"""Studies from an installed wheel, own and prepared, without root or a compiler.

Each is measured for a few seconds; what a study finds is tried elsewhere.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from tests.wheel.installed import PATH, Installed
from tests.wheel.test_installed import MEASURED, good
from wiretrial.errors import EXIT_FAILED

MINE = """\
title = "Which of two servers echoes more?"
question = "How many messages of 64 bytes does each of my two servers echo?"
subjects = ["./mine", "./other"]
trials = 10
duration = "5s"

[[workload]]
name = "echo"
protocol = "http"
contract = "http-echo"
payload = 64
connections = [2, 8]

[quick]
trials = 2
duration = "300ms"
warmup = "100ms"
"""
QUICK = ("--quick", "--budget", "2m", "--seed", "1")


@pytest.fixture
def home(laboratory: Installed) -> Path:
    """A new home, with a folder of programs that holds a Python and nothing else."""
    made = laboratory.home()
    (made / "programs").mkdir()
    python = shutil.which("python3", path=PATH)
    assert python
    (made / "programs" / "python3").symlink_to(python)
    return made


def run(laboratory: Installed, home: Path, *words: str) -> tuple[int, str, list[str]]:
    """The exit code, what was printed, and the lines that were said; no compiler is there."""
    done = laboratory.run(home, "wiretrial", "study", "run", *words, path=str(home / "programs"))
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr.splitlines()


def results_of(home: Path, study: str) -> Path:
    """The folder of the study's results."""
    (kept,) = (home / "results").glob(f"{study}-*")
    return kept


def exported(laboratory: Installed, home: Path, kept: Path) -> dict[str, list[dict[str, object]]]:
    """The whole result, as other tools read it."""
    words = ("results", "export", str(kept), "--format", "json")
    found: dict[str, list[dict[str, object]]] = json.loads(good(laboratory, home, *words))
    return found


def test_a_study_of_ones_own_is_measured_reported_and_exported(
    laboratory: Installed, home: Path
) -> None:
    for name in ("mine", "other"):
        good(laboratory, home, "subject", "new", f"./{name}")
    (home / "echo").mkdir()
    (home / "echo" / "study.toml").write_text(MINE, encoding="utf-8")
    assert "mine" in good(laboratory, home, "study", "show", "./echo", "--quick")
    code, told, said = run(laboratory, home, "./echo", *QUICK)
    assert code in MEASURED, said
    assert "report: " in told
    kept = results_of(home, "echo")
    page = (kept / "report.html").read_text(encoding="utf-8")
    assert "Which of two servers echoes more?" in page
    whole = exported(laboratory, home, kept)
    assert whole["absent"] == []
    rows = good(laboratory, home, "results", "export", str(kept), "--format", "csv")
    names = {row["subject"] for row in csv.DictReader(io.StringIO(rows))}
    assert names == {"./mine", "./other"}
    # Two levels of two subjects and one of them again, two trials of each.
    assert len(whole["trials"]) == 10
    assert "mine" in good(laboratory, home, "report", str(kept), "--format", "markdown")
    assert kept.name in good(laboratory, home, "results", "list")


def test_part_of_a_prepared_study_needs_no_compiler(laboratory: Installed, home: Path) -> None:
    words = ("http-vs-websocket", "--only", "reference*100 messages*loopback*", *QUICK)
    code, told, said = run(laboratory, home, *words)
    assert code in MEASURED, said
    assert "report: " in told
    whole = exported(laboratory, home, results_of(home, "http-vs-websocket"))
    assert whole["trials"]
    assert whole["absent"] == []


def test_what_needs_a_compiler_is_told_in_a_line_each(laboratory: Installed, home: Path) -> None:
    names = ("uwebsockets", "ws")
    only = (word for name in names for word in ("--only", f"{name}:tuned: sizes*"))
    code, _, said = run(laboratory, home, "websocket-servers", *only, *QUICK)
    assert code == EXIT_FAILED, said
    for name in names:
        (line,) = (line for line in said if f"left out: {name} is unavailable: " in line)
        assert "install" in line
