"""What can't be run is refused by `study show` as by `study run`, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

STUDY = """
title = "t"
question = "q?"
subjects = ["{subject}"]
trials = 1
duration = "200ms"
[[workload]]
name = "echo"
protocol = "ws"
contract = "ws-echo"
connections = {connections}
"""


def write(folder: Path, subject: str = "reference", connections: int = 1) -> None:
    folder.mkdir()
    text = STUDY.format(subject=subject, connections=connections)
    (folder / "study.toml").write_text(text, encoding="utf-8")


def left(folder: Path) -> list[str]:
    """What lies in the folder beside the study."""
    return sorted(path.name for path in folder.iterdir() if path.name != "mine")


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ("refrence", "there is no subject 'refrence': did you mean reference?"),
        ("reference:tunned", "reference has no configuration 'tunned': did you mean tuned?"),
        ("./nowhere", "nowhere/subject.toml: No such file or directory"),
    ],
)
def test_a_subject_that_does_not_exist(
    wiretrial: Run, tmp_path: Path, subject: str, words: str
) -> None:
    write(tmp_path / "mine", subject)
    shown, ran = wiretrial("study", "show", "./mine"), wiretrial("study", "run", "./mine")
    assert words in shown.stderr
    assert shown.stderr == ran.stderr
    assert (shown.returncode, ran.returncode) == (2, 2)
    assert left(tmp_path) == []


@pytest.mark.parametrize("path", ["./nowhere", ".", "./mine/other.toml", "mine", "./mine/study"])
def test_a_path_without_a_study(wiretrial: Run, tmp_path: Path, path: str) -> None:
    write(tmp_path / "mine")
    shown, ran = wiretrial("study", "show", path), wiretrial("study", "run", path)
    assert shown.stderr == ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert (shown.returncode, ran.returncode) == (2, 2)
    assert left(tmp_path) == []


def test_more_than_this_machine_can_carry(wiretrial: Run, tmp_path: Path) -> None:
    write(tmp_path / "mine", connections=50_000_000)
    shown = wiretrial("study", "show", "./mine")
    # It may run elsewhere, and can be looked at here.
    assert "this machine can't run it: needs 50,000," in shown.stdout
    assert shown.returncode == 0
    ran = wiretrial("study", "run", "./mine")
    assert "needs 50,000," in ran.stderr
    assert ran.returncode == 2
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    "arguments", [("demo",), ("study", "run", "./mine"), ("compare", "reference", "ws")]
)
def test_without_an_engine(wiretrial: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    write(tmp_path / "mine")
    done = wiretrial(*arguments, WIRETRIAL_ENGINE="/no/such/engine")
    assert "WIRETRIAL_ENGINE names /no/such/engine" in done.stderr
    assert done.returncode == 1
    assert left(tmp_path) == []
