"""Kept trials of one occasion: another boot can still go on with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiretrial.results import kept
from wiretrial.studies.spec import Study

STUDIES = Path(__file__).parents[2] / "studies"
KEPT = sorted(STUDIES.glob("*/results/*.jsonl.xz"))


@pytest.mark.parametrize("file", KEPT, ids=lambda file: f"{file.parts[-3]}-{file.name}")
def test_the_digest_of_a_kept_study_is_still_its_own(file: Path, tmp_path: Path) -> None:
    # A field that is new in a plan or a case changes the digest unless it is left out where it says
    # nothing, and then no occasion could be added.
    results = kept.unpack(file, tmp_path)
    study = Study.model_validate_json((results.folder / "study.json").read_text("utf-8"))
    assert {trial.study_digest for trial in results.trials()} == {study.digest()}
