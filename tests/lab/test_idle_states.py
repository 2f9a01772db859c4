"""CPUs that are kept awake: what is asked of the kernel, and what a study says of it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.lab.test_sized import expanded
from wiretrial.errors import UsageProblem
from wiretrial.machine import idle_states


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


def test_a_study_that_says_nothing_has_the_digest_that_it_had(tmp_path: Path) -> None:
    plain = expanded(tmp_path, "cpus = 1")
    assert all(case.idle_states == "on" for case in plain.cases)
    said = expanded(tmp_path, 'cpus = 1\nidle_states = "off"')
    assert plain.digest() != said.digest()
