"""Who was asked for and has no figure, from a study's document and what is stored of it."""

from __future__ import annotations

import pytest

from tests.lab import trials
from tests.lab.test_study import TWO, scenario, tiny
from wiretrial.plan import OpenLoop
from wiretrial.results.absent import Absent
from wiretrial.results.model import Trial
from wiretrial.studies import asked
from wiretrial.studies.fields import Knee
from wiretrial.studies.spec import Case, Study, parse

FIRST, SECOND = (case.scenario.name for case in TWO)


def trial_of(case: Case, **changes: object) -> Trial:
    made = trials.trial()
    return made.model_copy(update={"scenario": case.scenario.model_copy(update=changes)})


def missing(study: Study, *stored: Trial, absent: tuple[Absent, ...] = ()) -> dict[str, str]:
    return {row.scenario: row.why for row in asked.missing(study, stored, absent)}


def test_a_scenario_without_a_trial_is_missing_for_the_reason_that_was_kept() -> None:
    study = tiny(*TWO)
    reason = Absent(subject="ws", reason="it ended at its start", scenarios=(SECOND,))
    other = Absent(subject="ws", reason="it lacks wss", scenarios=("Node, wss",))
    assert missing(study, trial_of(TWO[0]), absent=(other, reason)) == {
        SECOND: "it ended at its start"
    }
    # Older lists are about whole subjects.
    old = Absent(subject="ws", reason="there is no node")
    assert missing(study, trial_of(TWO[0]), absent=(old,)) == {SECOND: "there is no node"}
    assert missing(study, trial_of(TWO[0])) == {SECOND: asked.UNTOLD}
    assert missing(study, *map(trial_of, TWO)) == {}


def test_a_search_is_there_with_its_first_step_and_a_twin_is_nobody() -> None:
    search = scenario("search", "reference", "ws", "ws-echo")
    search = search.model_copy(
        update={
            "knee": Knee(),
            "load": search.load.model_copy(update={"executor": OpenLoop(rate=1)}),
        }
    )
    twin = TWO[0].model_copy(
        update={"scenario": TWO[0].scenario.model_copy(update={"name": "again", "twin_of": FIRST})}
    )
    study = tiny(TWO[0], twin, search)
    step = trial_of(search, name="search at 1,000/s", search="search")
    assert missing(study, trial_of(TWO[0]), step) == {}
    assert missing(study, trial_of(TWO[0])) == {"search": asked.UNTOLD}


@pytest.mark.parametrize(
    ("only", "left"), [((), [SECOND]), (("Node*",), [SECOND]), (("reference*",), [])]
)
def test_what_only_an_earlier_result_has_is_missing_unless_it_was_left_out(
    only: tuple[str, ...], left: list[str]
) -> None:
    study = tiny(TWO[0]).model_copy(update={"only": only})
    before = [*map(trial_of, TWO), trial_of(TWO[1], name="again", twin_of=SECOND)]
    rows = asked.only_before(study, [trial_of(TWO[0])], before)
    assert [row.scenario for row in rows] == left


def test_an_older_study_without_the_patterns_is_the_same_study() -> None:
    study = tiny(*TWO)
    text = study.model_dump_json(by_alias=True, exclude={"only"})
    assert parse(text).digest() == study.model_copy(update={"only": ("a",)}).digest()
