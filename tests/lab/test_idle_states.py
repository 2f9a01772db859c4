"""CPUs that are kept awake: what is asked of the kernel, and what a study says of it."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from tests.lab.test_sized import STUDY, expanded
from wiretrial.cli import studying
from wiretrial.cli.output import Format
from wiretrial.cli.studying import Choice
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.machine import idle_states
from wiretrial.studies import document
from wiretrial.studies.sized import Limited
from wiretrial.studies.spec import Study


def states(folder: Path, driver: str = "haltpoll") -> Path:
    file = folder / "current_driver"
    file.write_text(f"{driver}\n")
    return file


def test_no_latency_is_asked_for_while_it_lasts(tmp_path: Path) -> None:
    requests = tmp_path / "cpu_dma_latency"
    with idle_states.off(requests, states(tmp_path)):
        assert requests.read_bytes() == struct.pack("=i", 0)


@pytest.mark.parametrize(
    ("requests", "driver", "told"),
    [
        ("missing/cpu_dma_latency", "haltpoll", "CPUs can't be kept awake here: .*No such file"),
        ("cpu_dma_latency", "none", "this kernel enters no idle state"),
    ],
)
def test_what_can_t_be_asked_for_is_refused(
    tmp_path: Path, requests: str, driver: str, told: str
) -> None:
    with (
        pytest.raises(UsageProblem, match=told),
        idle_states.off(tmp_path / requests, states(tmp_path, driver)),
    ):
        pytest.fail("it was entered")


def test_an_error_within_is_told_as_itself(tmp_path: Path) -> None:
    requests = tmp_path / "cpu_dma_latency"
    with (
        pytest.raises(FileNotFoundError),
        idle_states.off(requests, states(tmp_path)),
    ):
        raise FileNotFoundError


def test_a_workload_says_whether_cpus_may_sleep(tmp_path: Path) -> None:
    study = expanded(tmp_path, 'cpus = 1\nidle_states = ["on", "off"]')
    asked = {
        case.scenario.name: case.idle_states for case in study.cases if not case.scenario.twin_of
    }
    assert asked == {
        "a: CPUs that may sleep": "on",
        "b:tuned: CPUs that may sleep": "on",
        "a: CPUs kept awake": "off",
        "b:tuned: CPUs kept awake": "off",
    }


ASKED = 'cpus = 1\nidle_states = "off-if-possible"'


def test_where_they_can_be_cpus_are_kept_awake_and_nobody_says_so(tmp_path: Path) -> None:
    rather, off = (expanded(tmp_path, said) for said in (ASKED, 'cpus = 1\nidle_states = "off"'))
    assert [case.idle_states for case in rather.cases] == [case.idle_states for case in off.cases]
    assert rather.digest() == off.digest()


@pytest.mark.parametrize("why", [None, "this kernel enters no idle state"])
def test_where_they_can_t_be_a_study_is_measured_all_the_same_and_says_why(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    why: str | None,
) -> None:
    (tmp_path / "study.toml").write_text(
        STUDY.replace('"a", "b:tuned"', '"reference"') % ASKED, encoding="utf-8"
    )
    monkeypatch.setattr(idle_states, "refusal", lambda: why and UsageProblem(why, "be root"))
    choice = Choice(quick=False, only=(), provoke=None, targets=(), pacing=None)
    assert studying.show(str(tmp_path), choice, Format.JSON) == EXIT_GOOD
    study = Study.model_validate(json.loads(capsys.readouterr().out)["study"])
    assert {case.idle_states for case in study.cases} == {"on" if why else "off"}
    assert study.question == (f"q? CPUs are left as they are: {why}." if why else "q?")


def test_of_two_ways_the_one_that_can_be_had_is_left(tmp_path: Path) -> None:
    expanded(tmp_path, 'cpus = 1\nidle_states = ["on", "off-if-possible"]')
    asleep = document.read(tmp_path).asleep("because")
    (workload,) = asleep.workload
    assert isinstance(workload, Limited)
    assert workload.idle_states == ("on",)
    assert not asleep.is_rather_awake


def test_a_study_that_says_nothing_has_the_digest_that_it_had(tmp_path: Path) -> None:
    plain = expanded(tmp_path, "cpus = 1")
    assert all(case.idle_states == "on" for case in plain.cases)
    said = expanded(tmp_path, 'cpus = 1\nidle_states = "off"')
    assert plain.digest() != said.digest()
