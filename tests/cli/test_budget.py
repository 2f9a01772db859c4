"""A budget that holds no trial of each scenario: the error says what would."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Run
from wiretrial import quantities
from wiretrial.errors import UsageProblem
from wiretrial.studies import demo, estimate

ECHO = str(ROOT / "examples" / "echo")


def test_quick_is_not_advised_to_who_gave_it(wiretrial: Run, tmp_path: Path) -> None:
    done = wiretrial("study", "run", ECHO, "--quick", "--budget", "2s")
    assert "--quick" not in done.stderr
    assert re.search(r"use --budget [\dms]+ or more", done.stderr)
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_quick_is_advised_where_it_fits(wiretrial: Run) -> None:
    fits = wiretrial("study", "run", ECHO, "--budget", "3m")
    assert re.search(r"use --quick, or --budget \d+m\d+s or more", fits.stderr)
    assert "--quick" not in wiretrial("study", "run", ECHO, "--budget", "2s").stderr


@pytest.mark.parametrize("length_ns", [10**9, 10**10, 10**11])
def test_what_is_advised_is_enough_and_little_more(length_ns: int) -> None:
    study = demo.study(trials=5, seed=1).model_copy(update={"duration_ns": length_ns})
    with pytest.raises(UsageProblem) as refused:
        estimate.within(study, 1)
    advised = re.findall(r"--budget (\w+) or more", refused.value.remedy)[0]
    advised_ns = quantities.duration_ns(advised, "--budget")
    assert estimate.within(study, advised_ns).trials == 1
    assert advised_ns <= 1.2 * estimate.estimate(study.model_copy(update={"trials": 1})).total_ns
