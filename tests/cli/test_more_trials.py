"""A study that is gone on with for more trials says so from then on."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiretrial.cli import progress
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
