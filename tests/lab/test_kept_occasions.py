"""Kept trials of one occasion: another boot can still go on with them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tools import occasion
from wiretrial.results import answers, kept
from wiretrial.studies.spec import Study

STUDIES = Path(__file__).parents[2] / "studies"
KEPT = sorted(STUDIES.glob("*/results/*.jsonl.xz"))


@pytest.mark.parametrize("file", KEPT, ids=lambda file: f"{file.parts[-3]}-{file.name}")
def test_the_digest_of_a_kept_study_is_still_its_own(file: Path) -> None:
    # A field that is new in a plan or a case changes the digest unless it is left out where it says
    # nothing, and then no occasion could be added.
    first, rest = kept.unpacked(file.read_bytes()).decode().split("\n", 1)
    head = kept.Head.model_validate_json(first)
    study = Study.model_validate_json(json.dumps(head.study))
    assert re.findall(r'"study_digest":"([^"]*)"', rest) == [study.digest()] * head.trials


def test_ctrl_c_leaves_the_measurement_its_own_end() -> None:
    interrupted = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGINT, lambda *_: sys.exit(70))\n"
        "os.kill(os.getppid(), signal.SIGINT)\n"
        # For longer than Python waits for a child after Ctrl-C.
        "time.sleep(0.5)\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
    )
    before = signal.getsignal(signal.SIGINT)
    assert occasion.run([sys.executable, "-c", interrupted]) == 70
    assert signal.getsignal(signal.SIGINT) is before


@cache
def occasions(count: int) -> bytes:
    """A file with so many occasions, of a few trials each."""
    told = smallest()
    trials = [
        trial.model_copy(update={"occasion": number})
        for number in range(1, count + 1)
        for trial in told.trials[:2]
    ]
    head = told.head.model_copy(update={"trials": len(trials)})
    return kept.pack(head, [{} for _ in trials], trials)


@cache
def smallest() -> kept.Kept:
    """What the smallest file holds."""
    return kept.read(min(KEPT, key=lambda file: file.stat().st_size))


def with_occasions(count: int, path: Path) -> Path:
    path.write_bytes(occasions(count))
    return path


def test_occasions_wait_until_there_are_enough_for_pages(tmp_path: Path) -> None:
    study = tmp_path / "study"
    (study / "results").mkdir(parents=True)
    first = with_occasions(1, study / kept.FILE)
    before = first.read_bytes()
    assert occasion.newest(study) == first
    two = with_occasions(2, tmp_path / "two")
    waiting = occasion.settle(study, two)
    assert waiting == study / occasion.WAITING == occasion.newest(study)
    assert (waiting.read_bytes(), first.read_bytes()) == (two.read_bytes(), before)
    three = with_occasions(3, tmp_path / "three")
    assert occasion.settle(study, three) == first == occasion.newest(study)
    assert first.read_bytes() == three.read_bytes()
    assert not waiting.exists()


def test_a_study_without_trials_gets_its_first_occasion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tmp_path / "studies" / "study"
    study.mkdir(parents=True)

    def run(command: list[str], *, check: bool) -> subprocess.CompletedProcess[bytes]:
        assert not check
        if "export" in command:
            assert Path(command[3]).name == "study-today"
            with_occasions(1, Path(command[-1]))
        else:
            assert command[1:4] == ["study", "run", "study"]
            (Path(command[5]) / "study-today").mkdir()
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(occasion, "ROOT", tmp_path)
    monkeypatch.setattr(occasion, "STUDIES", study.parent)
    monkeypatch.setattr(subprocess, "run", run)
    assert occasion.measure(study, []) == 0
    assert (study / kept.FILE).exists()
    assert not (study / occasion.WAITING).exists()


@pytest.mark.parametrize(("code", "is_kept"), [(0, True), (4, True), (1, False), (130, False)])
def test_an_occasion_with_invalid_trials_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, is_kept: bool
) -> None:
    study = tmp_path / "studies" / "study"
    (study / "results").mkdir(parents=True)
    with_occasions(1, study / kept.FILE)

    def run(command: list[str], *, check: bool) -> subprocess.CompletedProcess[bytes]:
        assert not check
        if "export" in command:
            with_occasions(2, Path(command[-1]))
            return subprocess.CompletedProcess(command, 0)
        return subprocess.CompletedProcess(command, code)

    monkeypatch.setattr(occasion, "ROOT", tmp_path)
    monkeypatch.setattr(occasion, "STUDIES", study.parent)
    monkeypatch.setattr(subprocess, "run", run)
    assert occasion.measure(study, []) == (0 if is_kept else code)
    assert (study / occasion.WAITING).exists() == is_kept


@pytest.mark.parametrize(
    ("codes", "ends", "is_kept"),
    [
        ([1, 0], True, True),  # it failed by chance
        ([1, 1], True, True),  # it can't be measured here
        ([1, 1], False, False),  # something else went wrong
        ([1, 130], True, False),
    ],
)
def test_what_can_t_be_measured_lacks_in_an_occasion_that_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codes: list[int], ends: bool, is_kept: bool
) -> None:
    study = tmp_path / "studies" / "study"
    (study / "results").mkdir(parents=True)
    with_occasions(1, study / kept.FILE)
    seen: list[list[str]] = []

    def run(command: list[str], *, check: bool) -> subprocess.CompletedProcess[bytes]:
        assert not check
        if "export" in command:
            with_occasions(2, Path(command[-1]))
            return subprocess.CompletedProcess(command, 0)
        seen.append(command[3:5])
        if ends:
            (Path(command[4]) / answers.FILE).write_text("{}")
        return subprocess.CompletedProcess(command, codes[len(seen) - 1])

    monkeypatch.setattr(occasion, "ROOT", tmp_path)
    monkeypatch.setattr(occasion, "STUDIES", study.parent)
    monkeypatch.setattr(subprocess, "run", run)
    code = occasion.measure(study, [])
    assert (code == 0, (study / occasion.WAITING).exists()) == (is_kept, is_kept)
    assert [one[0] for one in seen] == ["--add-occasion", "--resume"][: 2 if ends else 1]
