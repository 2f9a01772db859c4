"""The process from which the tests' runs are forked: a run is as if it had been started anew."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from tests.cli import nursery
from tests.cli.conftest import LIMIT_S, command
from tests.cli.nursery import ROOT, ended

RUNS = [
    ("--version",),
    ("load", "--help"),
    ("frobnicate",),
    ("load", "http://h/", "-d", "1s", "-o", "."),
    ("results", "list"),
    ("study", "show", "http-vs-websocket"),
]


def environment() -> dict[str, str]:
    """That of the tests."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "python"), "COLUMNS": "80", "NO_COLOR": "1"}


@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_a_run_says_what_one_says_that_is_started_anew(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    forked = ended(words, tmp_path, environment(), LIMIT_S)
    anew = subprocess.run(
        command(*words),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    told = (forked.returncode, forked.stdout, forked.stderr)
    assert told == (anew.returncode, anew.stdout, anew.stderr)


def test_one_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        words = ("load", f"http://127.0.0.1:{silent.getsockname()[1]}/", "--timeout", "60s")
        with pytest.raises(subprocess.TimeoutExpired):
            ended(words, tmp_path, environment(), 2.0)
    # The next is as if nothing had been.
    assert ended(("frobnicate",), tmp_path, environment(), LIMIT_S).returncode == 2


def test_another_language_is_read_at_the_start_only(tmp_path: Path) -> None:
    other = {**environment(), "PYTHONUTF8": "0", "LC_ALL": "C.UTF-8"}
    assert ended(("frobnicate",), tmp_path, other, LIMIT_S).returncode == 2


VOID = "Verdict: invalid. The generator was kept from\n  running in 1 of 1 intervals"
LOAD = ("load", "http://h/", "-n", "1")


@pytest.mark.parametrize(
    ("words", "told", "runs"),
    [
        (LOAD, [(4, VOID), (0, "")], 2),
        (LOAD, [(4, VOID)] * 4, 3),
        (LOAD, [(4, "nothing was answered"), (0, "")], 1),
        (LOAD, [(1, VOID), (0, "")], 1),
        ((*LOAD, "-o", "a.json"), [(4, VOID), (0, "")], 1),
        (("study", "run", "x"), [(4, VOID), (0, "")], 1),
    ],
    ids=["again", "not for ever", "another reason", "another code", "written", "a study"],
)
def test_a_load_without_a_cpu_is_run_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    told: list[tuple[int, str]],
    runs: int,
) -> None:
    left = [subprocess.CompletedProcess(words, code, text, "") for code, text in told]
    monkeypatch.setattr(nursery, "_once", lambda *_: left.pop(0))
    done = ended(words, tmp_path, environment(), LIMIT_S)
    assert len(told) - len(left) == runs
    assert (done.returncode, done.stdout) == told[runs - 1]
