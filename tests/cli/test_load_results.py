"""A load's file is a result: reported, held against bounds, listed, exported and served."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import LIMIT_S, ROOT, Run, address_in, command
from tests.cli.test_runs import MEASURED
from wiretrial.cli import gate, output, report, serving
from wiretrial.cli import results as stored
from wiretrial.cli.forms import ExportForm, ReportForm
from wiretrial.engine import Engine
from wiretrial.errors import (
    EXIT_FAILED,
    EXIT_GATE,
    EXIT_GOOD,
    EXIT_INVALID,
    StoreError,
    UsageProblem,
)
from wiretrial.live.site import Site
from wiretrial.results.store import loads, read_all, read_trial

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the result of one load, its page, and what it said."""
    made = tmp_path_factory.mktemp("loads")
    binary = str(Engine.find().binary)
    with subprocess.Popen(
        [binary, "respond", "--http", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        url = f"http://{address_in(server.stdout.readline())}/"
        flags = ("-c", "4", "-d", "2s", "--format", "json")
        done = subprocess.run(
            command("load", url, *flags, "-o", "new.json", "--report", "new.html"),
            cwd=made,
            env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        server.terminate()
    assert done.returncode in MEASURED, done.stderr
    assert (done.stdout, done.stderr) == ("", "page: new.html\n")
    (made / "old.json").write_bytes((made / "new.json").read_bytes())
    return made


@pytest.fixture
def load(folder: Path) -> Path:
    return folder / "new.json"


def test_the_file_is_for_scripts_and_holds_the_trial(load: Path) -> None:
    document = json.loads(load.read_text(encoding="utf-8"))
    trial = read_trial(load)
    assert document["schema"] == "wiretrial-load"
    assert document["throughput"] > 0
    assert document["command"].startswith("wiretrial load http://127.0.0.1:")
    assert trial.command == document["command"]
    assert document["trial"] == json.loads(trial.model_dump_json(by_alias=True))
    assert read_all(load) == [trial]
    # A person who looks into it sees the figures first.
    assert load.read_text(encoding="utf-8").splitlines()[1] == '  "schema": "wiretrial-load",'


def test_reported_as_text_it_is_what_the_load_said(load: Path, capsys: Captured) -> None:
    assert report.report(load) == EXIT_GOOD
    said = capsys.readouterr().out
    for word in ("throughput", "service time", "connections", "cost"):
        assert f"\n  {word}" in said
    assert "\nVerdict: " in said


@pytest.mark.parametrize("form", sorted(set(ReportForm) - {ReportForm.SVG, ReportForm.PNG}))
def test_it_is_reported_in_each_form(load: Path, capsys: Captured, form: ReportForm) -> None:
    assert report.report(load, form) == EXIT_GOOD
    said = capsys.readouterr().out
    assert said
    if form in (ReportForm.HTML, ReportForm.MARKDOWN):
        assert "wiretrial load http://127.0.0.1:" in said
        assert "one run" in said.lower()
        assert "only 1 usable" not in said


def test_its_pictures_show_it_over_time(load: Path, tmp_path: Path, capsys: Captured) -> None:
    assert report.report(load, ReportForm.SVG, tmp_path) == EXIT_GOOD
    names = {Path(line).stem for line in capsys.readouterr().out.split()}
    assert {"over-time-throughput", "over-time-times"} <= names
    assert all("<svg" in (tmp_path / f"{name}.svg").read_text("utf-8") for name in names)


def test_the_page_of_a_load_is_that_of_its_report(load: Path, capsys: Captured) -> None:
    report.report(load, ReportForm.HTML)
    page = load.with_suffix(".html").read_text(encoding="utf-8")
    assert page.strip() == capsys.readouterr().out.strip()
    titles = re.findall(r"<h2>(.*?)</h2>", page)
    assert titles[:2] == ["What it took", "Over time"]
    assert "No request failed" in page


def test_it_is_held_against_bounds(load: Path, capsys: Captured) -> None:
    assert gate.gate(load, ["throughput >= 100"]) == EXIT_GOOD
    said = capsys.readouterr().out
    assert said.startswith("kept")
    assert "in this one run" in said
    assert gate.gate(load, ["service.p50 <= 1ns"]) == EXIT_GATE
    assert capsys.readouterr().out.startswith("broken")
    with pytest.raises(UsageProblem, match=r"there are no response times of http.*, a closed loop"):
        gate.gate(load, ["response.p50 <= 1s"])


def test_one_run_against_another_tells_no_difference(load: Path, capsys: Captured) -> None:
    old = load.with_name("old.json")
    assert gate.gate(load, ["service.p50 <= 1.05x"], baseline=old) == EXIT_INVALID
    said = capsys.readouterr().out
    assert "1.00 times the baseline" in said
    assert "one run on a side has no interval" in said
    assert "wiretrial compare" in said
    stored.compare(load, old)
    assert "one run on a side" in capsys.readouterr().out


def test_loads_are_listed_shown_and_exported(load: Path, capsys: Captured) -> None:
    assert [path.name for path in loads(load.parent)] == ["new.json", "old.json"]
    assert stored.list_(load.parent) == EXIT_GOOD
    assert "new.json" in capsys.readouterr().out
    stored.list_(load.parent, format_=output.Format.JSON)
    rows = json.loads(capsys.readouterr().out)["trials"]
    assert [row["path"] for row in rows] == ["new.json", "old.json"]
    stored.show(load)
    assert "http://127.0.0.1" in capsys.readouterr().out
    stored.export(load, ExportForm.CSV)
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_loads_are_served(load: Path) -> None:
    site = Site(load.parent, serving.page_of, serving.page_of_load)
    (listed, _) = site.listed()
    assert (listed.name, listed.trials) == ("new.json", 1)
    assert listed.title.startswith("http://127.0.0.1:")
    assert listed.answer
    page = site.result("new.json")
    assert page
    assert "Over time" in page
    assert site.result("none.json") is None
    assert site.result("../new.json") is None


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("x.txt", "throughput  179,511 messages/s", "it is not JSON"),
        ("x.json", '{"schema": "wiretrial-load", "version": 1}', "it holds no trial"),
        ("x.json", '{"schema": "wiretrial-load", "version": 9}', "use a newer wiretrial"),
        ("x.json", '{"schema": "other"}', "is not a trial of wiretrial"),
        ("x.json", '{"schema": "wiretrial-load", "version": 1, "trial": {}}', "load"),
    ],
)
def test_what_is_no_result_is_refused_with_a_remedy(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StoreError) as refused:
        report.report(path)
    line = refused.value.line()
    assert words in line
    assert "delete" not in line
    assert "--resume" not in line
    assert "\n" not in line


def test_a_folder_of_loads_is_no_study(load: Path) -> None:
    with pytest.raises(StoreError, match="no study, but 2 loads") as refused:
        report.report(load.parent)
    assert refused.value.remedy.startswith("name one of them, such as ")
    with pytest.raises(StoreError, match="does not exist"):
        report.report(load.with_name("none.json"))


def test_a_page_that_can_not_be_written_is_refused_before(wiretrial: Run, tmp_path: Path) -> None:
    done = wiretrial("load", "http://127.0.0.1:1/", "--report", str(tmp_path / "no" / "x.html"))
    assert done.returncode not in (EXIT_GOOD, EXIT_FAILED)
    assert done.stderr.startswith("wiretrial: --report ")
