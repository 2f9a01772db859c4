"""Kept trials of one occasion: another boot can still go on with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wiretrial.results import kept
from wiretrial.studies.spec import Study

STUDIES = Path(__file__).parents[2] / "studies"
KEPT = sorted(STUDIES.glob("*/results/*.jsonl.xz"))


@pytest.mark.parametrize("file", KEPT, ids=lambda file: f"{file.parts[-3]}-{file.name}")
def test_the_digest_of_a_kept_study_is_still_its_own(file: Path) -> None:
    # A field that is new in a plan or a case changes the digest unless it is left out where it says
    # nothing, and then no occasion could be added.
    told = kept.read(file)
    study = Study.model_validate_json(json.dumps(told.head.study))
    assert {trial.study_digest for trial in told.trials} == {study.digest()}
