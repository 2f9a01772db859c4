"""A study that is gone on with for more trials says so from then on."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiretrial.cli import progress
from wiretrial.cli.fleet_wanted import FleetWanted
from wiretrial.cli.options import Fleet, OnAgentLoss
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import demo, spec


@pytest.mark.parametrize(
    ("command", "then"),
    [
        ("wiretrial demo --trials 2 --seed 1", "wiretrial demo --trials 7 --seed 1"),
        ("wiretrial study run echo --seed 1", "wiretrial study run echo --seed 1 --trials 7"),
    ],
)
def test_its_command_and_its_document_have_the_new_number(
    tmp_path: Path, command: str, then: str
) -> None:
    begun = demo.study(trials=2, seed=1).model_copy(update={"command": command})
    folder = progress.begin(begun, tmp_path).folder
    study, results = progress.resume(folder, None, 7)
    assert (study.trials, study.command) == (7, then)
    assert spec.parse(results.document()) == study
    assert study.digest() == begun.digest()
    # And whoever goes on without a number keeps it.
    assert progress.resume(folder, None, None)[0] == spec.parse(
        ResultsFolder.open(folder).document()
    )


@pytest.mark.parametrize(
    ("name", "command", "then"),
    [
        ("demo", "wiretrial demo --seed 1", "wiretrial demo --resume"),
        ("compare", "wiretrial compare ws nginx --seed 1", "wiretrial compare --resume"),
        ("browser", "wiretrial browser --headless", "wiretrial browser --resume"),
        ("echo", "wiretrial study run echo --seed 1", "wiretrial study run --resume"),
        # A folder of a user's own, called as a command of ours is.
        ("demo", "wiretrial study run ./demo --seed 1", "wiretrial study run --resume"),
    ],
)
def test_it_is_gone_on_with_by_the_command_that_began_it(
    tmp_path: Path, name: str, command: str, then: str
) -> None:
    study = demo.study(trials=2, seed=1).model_copy(update={"name": name, "command": command})
    results = ResultsFolder(tmp_path / "with a space")
    told = progress.resume_command(study, results)
    assert told == f"{then} '{results.folder}'"


def test_a_fleet_is_gone_on_with_as_a_fleet(tmp_path: Path) -> None:
    fleet = FleetWanted.of(Fleet("tcp://127.0.0.1:8786", None, "3", OnAgentLoss.GO_ON))
    assert fleet is not None
    study = demo.study(trials=2, seed=1).model_copy(update={"command": "wiretrial study run x"})
    told = progress.resume_command(study, ResultsFolder(tmp_path), fleet.words)
    assert told.endswith("--fleet tcp://127.0.0.1:8786 --fleet-agents 3 --on-agent-loss go-on")
