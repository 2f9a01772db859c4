"""`trend`, `gate --trend` and `site --trend` over a team's store: as over the folder pushed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import LIMIT_S, command
from tests.report import synthetic_trend
from tests.team.conftest import Done, Team, environment, load
from wiretrial.cli import publishing_trends
from wiretrial.report.trend.briefs import SHORT
from wiretrial.results import imported
from wiretrial.results.store import ResultsFolder
from wiretrial.team import connection, manifest, over_time, pushing
from wiretrial.team.connection import Database


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty commits of two trials each, of which the 18th and all after it cost 15 % more."""
    base = tmp_path_factory.mktemp("slower")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synthetic_trend, "TRIALS", 2)
        synthetic_trend.store(base, step=0.15, at=17)
    return base


def push(team: Team, *paths: Path) -> None:
    with connection.connected(team.address()) as database:
        for path in paths:
            pushing.push(database, manifest.read(path), with_secrets=False)


def run(folder: Path, *arguments: str, **changes: str) -> Done:
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(XDG_CACHE_HOME=str(folder / "cache"), **changes),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def test_a_store_tells_what_its_folder_tells(team: Team, slower: Path, tmp_path: Path) -> None:
    results = sorted(path for path in slower.iterdir() if path.is_dir())
    push(team, *results)
    of_folder = run(tmp_path, "trend", "--results", str(slower), "--format", "json")
    place = {"WIRETRIAL_STORE": team.url("ruth")}
    of_store = run(tmp_path, "trend", "--results", "env", "--format", "json", **place)
    assert (of_store.returncode, of_store.stderr) == (0, "")
    assert json.loads(of_store.stdout) == json.loads(of_folder.stdout)
    (line,) = json.loads(of_store.stdout)["lines"]
    assert [step["kind"] for step in line["steps"]] == ["worse"]
    # Briefs are kept for this user alone.
    kept = tmp_path / "cache" / "wiretrial" / over_time.CACHE
    assert kept.stat().st_mode & 0o777 == 0o600
    # A gate has the newest result here, and those before it in the store.
    own = tmp_path / "own" / results[-1].name
    shutil.copytree(results[-1], own)
    gate = ("gate", str(own), "--trend", "20", "--results", team.url())
    broken = run(tmp_path, *gate)
    assert (broken.returncode, broken.stderr) == (3, "")
    assert "worse since" in broken.stdout
    assert run(tmp_path, *gate[:2], "--trend", "20").returncode == 4
    # It need not have been pushed.
    team.asked("DELETE FROM wiretrial.result WHERE name = %s", own.name)
    assert run(tmp_path, *gate).stdout == broken.stdout


def test_a_site_of_a_store_has_the_histories_of_its_folder(
    team: Team, slower: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A few of them: what changes are found is tried above.
    for path in sorted(path for path in slower.iterdir() if path.is_dir())[:4]:
        push(team, shutil.copytree(path, tmp_path / "results" / path.name))
    of_folder = publishing_trends.read(str(tmp_path / "results"))
    assert [len(one.results) for one in of_folder] == [4]
    for name, value in environment(XDG_CACHE_HOME=str(tmp_path / "cache")).items():
        monkeypatch.setenv(name, value)
    assert publishing_trends.read(team.url("ruth")) == of_folder
    monkeypatch.setenv("WIRETRIAL_STORE", team.url("ruth"))
    assert publishing_trends.read("env") == of_folder


def test_a_site_of_a_store_publishes_no_secrets(
    team: Team, database: Database, tmp_path: Path
) -> None:
    folder = ResultsFolder.create(tmp_path / "kept", "compare", json.dumps({"keeps_secrets": True}))
    one = synthetic_trend.trial(0, 1.0, day=0)
    folder.add(one.model_copy(update={"keeps_secrets": True}))
    pushing.push(database, manifest.read(folder.folder), with_secrets=True)
    done = run(tmp_path, "site", "public", "--trend", team.url())
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{folder.folder.name} in postgresql://" in done.stderr
    assert "holds secrets: it was measured with --keep-secrets" in done.stderr
    assert not (tmp_path / "public").exists()
    away = run(tmp_path, "site", "public", "--trend", "postgresql://127.0.0.1:1/lab")
    assert (away.returncode, away.stdout) == (1, "")
    assert "can't connect" in away.stderr


def test_a_trial_is_brought_once(
    team: Team, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    push(team, load(tmp_path / "a" / "monday.json"))
    first = over_time.read(database, tmp_path / "cache", SHORT)
    assert [one.name for one in first.results] == ["monday.json"]
    monkeypatch.setattr(over_time, "read_trial", None)
    assert over_time.read(database, tmp_path / "cache", SHORT) == first
    # What is no cache is left as it is, and everything is read.
    monkeypatch.undo()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / over_time.CACHE).write_text("mine" * 99, encoding="utf-8")
    assert over_time.read(database, tmp_path / "other", SHORT) == first
    assert (tmp_path / "other" / over_time.CACHE).read_text(encoding="utf-8").startswith("mine")
    (tmp_path / "file").touch()
    assert over_time.read(database, tmp_path / "file", SHORT) == first


def test_imported_figures_are_followed_too(team: Team, database: Database, tmp_path: Path) -> None:
    series = imported.Series(name="parse", real_ns=(2.0, 2.1), cpu_ns=(1.0, 1.1))
    made = imported.Imported(measured_at="2026-02-03", context={}, series=(series,))
    folder = imported.keep(tmp_path / "results", "bench", made).folder
    push(team, folder)
    (found,) = over_time.read(database, tmp_path / "cache", SHORT).results
    assert (found.name, found.imported) == (folder.name, made)
    assert over_time.read(database, tmp_path / "cache", SHORT, lambda *_: False).results == ()


def test_files_of_one_name_are_results_apart(
    team: Team, database: Database, tmp_path: Path
) -> None:
    for day in ("2026-02-03", "2026-02-04"):
        push(team, load(tmp_path / day / "load.json", day))
    found = over_time.read(database, tmp_path / "cache", SHORT).results
    assert len({one.name for one in found}) == 2
    assert all(one.name.startswith("load.json (") for one in found)


def test_a_damaged_trial_is_told_and_the_others_stand(
    team: Team, database: Database, tmp_path: Path
) -> None:
    for name in ("monday.json", "tuesday.json"):
        day = "2026-02-03" if name == "monday.json" else "2026-02-04"
        push(team, load(tmp_path / name, day))
    team.asked(
        "UPDATE wiretrial.piece SET data = '\\x00' WHERE sha256 ="
        " (SELECT sha256 FROM wiretrial.result_file WHERE path = 'monday.json')"
    )
    read = over_time.read(database, tmp_path / "cache", SHORT)
    assert [one.name for one in read.results] == ["tuesday.json"]
    (problem,) = read.problems
    assert problem.startswith("monday.json of monday.json in the store can't be read")


@pytest.mark.parametrize(
    ("place", "code", "told"),
    [
        ("postgresql://ruth:secret@127.0.0.1/lab", 2, "carries a password"),
        ("http://example.org", 2, "names no PostgreSQL"),
        ("env", 2, "no store is named"),
        ("postgresql://127.0.0.1:1/lab", 1, "can't connect"),
    ],
)
def test_a_store_that_cannot_be_read_is_one_line(
    tmp_path: Path, place: str, code: int, told: str
) -> None:
    done = run(tmp_path, "trend", "--results", place)
    assert (done.returncode, done.stdout) == (code, "")
    assert told in done.stderr
    assert "secret" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_is_not_there_is_named(team: Team, tmp_path: Path) -> None:
    empty = run(tmp_path, "trend", "--results", team.url())
    assert empty.returncode == 2
    assert "holds no result" in empty.stderr
    push(team, load(tmp_path / "monday.json"))
    other = run(tmp_path, "trend", "nothing", "--results", team.url())
    assert "there are load; change another name" in other.stderr
