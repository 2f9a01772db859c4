"""The report of a folder is whole and the same, whoever asks for it."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from tests.report.synthetic import DEMO, demo_trials
from wiretrial.cli import progress, serving, study
from wiretrial.cli import report as report_command
from wiretrial.cli import results as stored
from wiretrial.cli.forms import ExportForm
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD
from wiretrial.results import absent, adoption
from wiretrial.results.absent import Absent
from wiretrial.results.adoption import Adopted
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import demo as demo_study
from wiretrial.studies.spec import Study

BLOCKS = 2
OWN_SENTENCE = "an HTTP keep-alive request costs"
REASON = "crow can't be built: no compiler is here"
LICENCE = "EUPL-1.2"


def named(trial: Trial, asked: Study, names: dict[str, str]) -> Trial:
    """The trial as one of the study's."""
    name = names[trial.scenario.name]
    scenario = asked.case(name).scenario
    return trial.model_copy(
        update={
            "study": asked.name,
            "study_digest": asked.digest(),
            "scenario": trial.scenario.model_copy(update={"name": name, "group": scenario.group}),
        }
    )


@pytest.fixture
def demo(tmp_path: Path) -> ResultsFolder:
    """The demo, measured whole, with a subject that could not be had and what one weighs."""
    asked = demo_study.study(BLOCKS, 1)
    folder = ResultsFolder.create(tmp_path, asked.name, asked.model_dump_json(by_alias=True))
    names = dict(
        zip((s.name for s in DEMO), (case.scenario.name for case in asked.cases), strict=True)
    )
    for trial in demo_trials(blocks=BLOCKS):
        folder.add(named(trial, asked, names))
    absent.keep(folder, [Absent(subject="crow", reason=REASON)])
    weighed = Adopted(subject="ws", language="JavaScript", licence=LICENCE, released=date.min)
    adoption.keep(folder, [weighed])
    return folder


def test_served_it_has_all_that_the_report_has(demo: ResultsFolder) -> None:
    page = serving.page_of(demo)
    assert OWN_SENTENCE in page
    assert "no compiler is here" in page
    assert LICENCE in page


def test_gone_on_with_by_another_command_it_keeps_its_own_verdict(
    demo: ResultsFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    code = study.run(resume=demo.folder, details=True)
    told = " ".join(capsys.readouterr().out.split())
    assert OWN_SENTENCE in told
    assert REASON in told
    assert OWN_SENTENCE in (demo.folder / "report.html").read_text(encoding="utf-8")
    assert code != EXIT_FAILED
    shown = told.partition(" report: ")[0]
    report_command.report(demo.folder)
    assert " ".join(capsys.readouterr().out.split()) == shown


def test_run_again_from_its_page_it_keeps_its_own_verdict(
    demo: ResultsFolder, tmp_path: Path
) -> None:
    page = demo.folder / "report.html"
    page.write_text(serving.page_of(demo), encoding="utf-8")
    asked = progress.study_of_report(page)
    again = progress.begin(asked, tmp_path / "again")
    for trial in demo.trials():
        again.add(trial)
    assert OWN_SENTENCE in serving.page_of(again)


def test_exported_whole_it_has_what_only_all_trials_tell(
    demo: ResultsFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    stored.export(demo.folder, ExportForm.JSON)
    told = json.loads(capsys.readouterr().out)
    assert len(told["trials"]) == BLOCKS * len(DEMO)
    assert [row["reason"] for row in told["absent"]] == [REASON]
    assert "few_trials" in [row["code"].replace("-", "_") for row in told["warnings"]]
    assert told["knees"] == []
    stored.export(demo.paths()[0], ExportForm.JSON)
    assert "warnings" not in json.loads(capsys.readouterr().out)


def test_trials_that_were_kept_and_imported_tell_the_same(
    demo: ResultsFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "trials.jsonl.xz"
    assert stored.export(demo.folder, ExportForm.KEPT, file=file) == EXIT_GOOD
    capsys.readouterr()
    assert stored.import_(file, results=tmp_path / "imported") == EXIT_GOOD
    told = capsys.readouterr().out
    (again,) = (tmp_path / "imported").iterdir()
    assert told.strip() == f"{BLOCKS * len(DEMO)} trials are in {again}"
    report_command.report(demo.folder)
    shown = capsys.readouterr().out
    report_command.report(again)
    assert capsys.readouterr().out.replace(str(again), str(demo.folder)) == shown
