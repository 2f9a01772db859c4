"""`wiretrial site`: what is published, what is refused, and that the kept studies fit."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Run
from tests.cli.test_reports import named
from tests.publish.test_build import MOST_TEXT, dead
from tests.report.synthetic import DEMO, demo_trials, one_trial
from wiretrial.catalogues import SUBJECTS
from wiretrial.cli import publishing
from wiretrial.cli.publishing import Wanted
from wiretrial.errors import EXIT_USAGE, StoreError, UsageProblem
from wiretrial.report.document import load_text
from wiretrial.results import kept
from wiretrial.results.model import Judgement
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import demo as demo_study

Captured = pytest.CaptureFixture[str]
BLOCKS = 2
MOST_BYTES = 3_000_000
"""Of the site for each kept study of three occasions, without its trials, which take up to 3 MB."""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with the demo's results, one that has no trial yet, and a load's file."""
    base = tmp_path / "results"
    asked = demo_study.study(BLOCKS, 1)
    document = asked.model_dump_json(by_alias=True)
    folder = ResultsFolder.create(base, asked.name, document)
    names = dict(
        zip((s.name for s in DEMO), (case.scenario.name for case in asked.cases), strict=True)
    )
    for trial in demo_trials(blocks=BLOCKS):
        folder.add(named(trial, asked, names))
    folder.folder.rename(base / "demo-1")
    ResultsFolder.create(base, "empty", document)
    judgement = Judgement(verdict="valid", bottleneck="server", evidence="its core 99 % busy")
    run = one_trial(DEMO[0], 0, 0, 1, judgement, 1.0, random.Random(3))
    (base / "load.json").write_text(load_text(run))
    return base


def published(target: Path, *results: Path, studies: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Each file of the site that is made."""
    wanted = Wanted(studies, results)
    assert publishing.publish(target, wanted, "Ours", None, force=False) == 0
    return {
        path.relative_to(target).as_posix(): path.read_bytes()
        for path in target.rglob("*")
        if path.is_file()
    }


def test_own_results_are_published_with_their_data(
    results: Path, tmp_path: Path, capsys: Captured
) -> None:
    files = published(tmp_path / "public", results)
    told = capsys.readouterr()
    assert told.out == f"{tmp_path / 'public' / 'index.html'}\n"
    assert "2 studies, 3 subjects, 8 scenarios: " in told.err
    assert re.search(r"left out: .*/empty-\S+ holds no trial yet", told.err)
    assert dead(files) == []
    packed = tmp_path / "public" / "data" / "demo-1" / "trials.jsonl.xz"
    assert len(kept.read(packed).trials) == BLOCKS * len(DEMO)
    rows = gzip.decompress(files["data/demo-1/trials.csv.gz"]).decode()
    assert len([*csv.DictReader(io.StringIO(rows))]) == BLOCKS * len(DEMO)
    assert json.loads(files["data/demo-1/found.json"])["trials"] == BLOCKS * len(DEMO)
    assert files["data/load/load.json"] == (results / "load.json").read_bytes()
    # Of the catalogue those that were measured, and no others.
    assert {name for name in files if name.startswith("subjects/")} == {
        f"subjects/{name}.html" for name in ("nginx", "reference", "ws")
    }


def test_a_second_site_takes_the_place_of_the_first(results: Path, tmp_path: Path) -> None:
    target = tmp_path / "public"
    first = published(target, results)
    again = published(target, results)
    assert again == first
    fewer = published(target, results / "load.json")
    assert "studies/demo-1.html" in first
    assert not [name for name in fewer if "demo" in name]


def test_what_holds_secrets_is_not_published(results: Path, tmp_path: Path) -> None:
    document = json.loads((results / "load.json").read_text())
    document["trial"]["keeps_secrets"] = True
    (results / "load.json").write_text(json.dumps(document))
    with pytest.raises(UsageProblem, match=r"load\.json holds secrets.*--keep-secrets"):
        published(tmp_path / "public", results)
    assert not (tmp_path / "public").exists()


def test_two_results_of_one_name_are_told(results: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="two results are called demo-1"):
        published(tmp_path / "public", results, results / "demo-1")


def test_a_study_of_one_s_own_is_published_from_its_folder(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (mine / "results").mkdir(parents=True)
    theirs = ROOT / "studies" / "rest-frameworks"
    for name in ("study.toml", "results/found.json"):
        (mine / name).write_bytes((theirs / name).read_bytes())
    files = published(tmp_path / "public", studies=(str(mine),))
    assert "studies/mine.html" in files
    assert "subjects/restinio.html" in files
    assert dead(files) == []
    (mine / "results" / "found.json").unlink()
    with pytest.raises(StoreError, match="mine keeps no result yet"):
        published(tmp_path / "public", studies=(str(mine),))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--base", "results.example"), "--base results.example is not the URL of a folder"),
        (("--base", "https://a.example/?b"), "is not the URL of a folder"),
        (("--study", "rest-framework"), "did you mean rest-frameworks?"),
        (("--study", "rst*"), "--study rst*: no study matches"),
        (("--results", "none"), "none holds no results"),
    ],
)
def test_what_can_not_be_published_is_told_in_one_line(
    wiretrial: Run, words: tuple[str, ...], said: str
) -> None:
    done = wiretrial("site", "public", *words)
    *_, last = done.stderr.splitlines()
    assert said in last
    assert done.returncode in {1, EXIT_USAGE}
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_folder_of_something_else_is_refused_at_once(wiretrial: Run, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("mine")
    done = wiretrial("site", ".")
    assert done.returncode == EXIT_USAGE
    (line,) = done.stderr.splitlines()
    assert "--force" in line


@pytest.mark.timeout(1200)
def test_all_kept_studies_fit_and_lead_everywhere(tmp_path: Path) -> None:
    files = published(tmp_path / "public")
    shown = (data for name, data in files.items() if not name.endswith(kept.SUFFIX))
    kept_ones = {path.parts[-3] for path in (ROOT / "studies").glob("*/results/found.json")}
    assert sum(map(len, shown)) < MOST_BYTES * len(kept_ones)
    assert dead(files) == []
    names = {folder.name for folder in SUBJECTS.members()}
    assert {name for name in files if name.startswith("subjects/")} == {
        f"subjects/{name}.html" for name in names
    }
    assert {f"studies/{name}.html" for name in kept_ones} <= set(files)
    for name, data in files.items():
        if name.endswith(".html"):
            text = re.sub(r"<svg.*?</svg>", "", data.decode(), flags=re.DOTALL)
            assert len(text.encode()) < MOST_TEXT, name
