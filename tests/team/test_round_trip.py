"""What is pushed comes back byte for byte, is sent once, and is shown as it was at last."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from datetime import date
from pathlib import Path

import pytest

from tests.team.conftest import Run, Team, contents, load, of_study, study
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, EXIT_USAGE, StoreError
from wiretrial.report import indexed
from wiretrial.report.indexed import Filter
from wiretrial.results.index import Index
from wiretrial.results.store import ResultsFolder
from wiretrial.team import connection, manifest, pulling, pushing, stored
from wiretrial.team.connection import Database
from wiretrial.team.pushing import PIECE_BYTES, Pushed


def push(database: Database, path: Path) -> Pushed:
    return pushing.push(database, manifest.read(path), with_secrets=False)


def pull(database: Database, name: str, base: Path) -> pulling.Pulled:
    with pulling.into(base):
        return pulling.pull(database, stored.named(database, name), base)


def test_studies_and_loads_come_back_byte_for_byte(
    team: Team, wiretrial: Run, tmp_path: Path
) -> None:
    folder = study(tmp_path / "results")
    load(tmp_path / "results" / "monday.json")
    pushed = wiretrial("push", team.url())
    assert (pushed.returncode, pushed.stderr) == (EXIT_GOOD, "")
    told = pushed.stdout.splitlines()
    assert [line.split(": ")[0] for line in told] == [
        f"results/{folder.name}",
        "results/monday.json",
    ]
    assert told[0].split(": ")[1].startswith("5 files (")
    pulled = wiretrial("pull", team.url(), "--to", "other")
    assert (pulled.returncode, pulled.stderr) == (EXIT_GOOD, "")
    assert contents(tmp_path / "other") == contents(tmp_path / "results")
    # What can be made again, and what holds for now only, is not stored.
    names = {path.name for path in (tmp_path / "other" / folder.name).iterdir()}
    assert names == {"study.json", "absent.json", "trials"}
    assert not (tmp_path / "other" / pulling.STAGING).exists()
    assert len(ResultsFolder.open(tmp_path / "other" / folder.name).trials()) == 3


def test_what_is_stored_is_not_sent_again(database: Database, team: Team, tmp_path: Path) -> None:
    folder = study(tmp_path)
    assert push(database, folder).sent == 5
    assert push(database, folder) == Pushed(is_new=False)
    ResultsFolder.open(folder).add(of_study("tiny", 7))
    grown = push(database, folder)
    assert (grown.is_new, grown.sent) == (True, 1)
    assert team.counts() == {"result": 2, "result_file": 11, "file": 6, "piece": 6, "trial": 4}


def test_a_grown_study_is_shown_once_and_fills_up_a_folder(
    database: Database, tmp_path: Path
) -> None:
    folder = study(tmp_path / "here")
    push(database, folder)
    pull(database, folder.name, tmp_path / "there")
    earlier = stored.named(database, folder.name)
    ResultsFolder.open(folder).add(of_study("tiny", 7))
    push(database, folder)
    (shown,) = stored.results(database, Filter())
    assert shown.trials == 4
    pulled = pull(database, folder.name, tmp_path / "there")
    assert pulled.files == 1
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    assert pull(database, folder.name, tmp_path / "there").files == 0
    # As it was before, it can be had by its digest.
    assert pull(database, earlier.digest, tmp_path / "before").files == 5
    # And is not what is shown, should somebody push it once more.
    with_three = tmp_path / "before" / folder.name
    assert push(database, with_three) == Pushed(is_new=False)
    assert stored.named(database, folder.name) == shown


def test_a_large_file_goes_in_pieces(database: Database, team: Team, tmp_path: Path) -> None:
    folder = study(tmp_path / "here", trials=1)
    size = 2 * PIECE_BYTES + 17
    (folder / "big.json").write_bytes(bytes(number % 251 for number in range(size)))
    push(database, folder)
    assert team.counts()["piece"] == 3 + 3
    pull(database, folder.name, tmp_path / "there")
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_writers_of_the_same_result_end_with_one_copy(team: Team, tmp_path: Path) -> None:
    folder, other = study(tmp_path, 20), study(tmp_path, 12)
    start, came, failed = threading.Barrier(6), list[Pushed](), list[StoreError]()

    def write(path: Path) -> None:
        try:
            with connection.connected(team.address()) as database:
                start.wait()
                came.append(push(database, path))
        except StoreError as error:
            failed.append(error)

    # The other one shares twelve trials and more with the first.
    writers = [threading.Thread(target=write, args=(path,)) for path in (folder, other) * 3]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert failed == []
    assert sum(one.is_new for one in came) == 2
    assert sum(one.sent for one in came) == 22
    assert team.counts() == {"result": 2, "result_file": 36, "file": 22, "piece": 22, "trial": 20}


def test_list_shows_the_store_as_a_folder(team: Team, wiretrial: Run, tmp_path: Path) -> None:
    assert wiretrial("list", "--from", team.url()).stdout.startswith("no result in")
    folder = study(tmp_path / "results")
    load(tmp_path / "results" / "monday.json")
    wiretrial("push", team.url())
    shown = wiretrial("list", "--from", "env", WIRETRIAL_STORE=team.url()).stdout.splitlines()
    assert shown[0].startswith(f"{folder.name}   2026-01-01   3 trials: 3 valid   (")
    assert shown[1].startswith("monday.json   2026-02-03   1 trial: 1 valid   (")
    assert shown[0].endswith(", pushed by wanda)")
    told = json.loads(wiretrial("list", "--from", team.url(), "--format", "json").stdout)
    assert told["trials"] == [asdict(row) for row in Index(tmp_path / "results").rows()]
    assert [one["name"] for one in told["results"]] == [folder.name, "monday.json"]


def test_results_are_chosen_by_day_study_name_and_digest(
    team: Team, wiretrial: Run, tmp_path: Path
) -> None:
    base = tmp_path / "results"
    echo, tiny = study(base, name="echo"), study(base)
    load(base / "monday.json")
    assert wiretrial("push", team.url(), "--since", "2026-02-01").stdout.count("\n") == 1
    assert (
        f"results/{echo.name}: 5 files" in wiretrial("push", team.url(), "--study", "echo").stdout
    )
    assert "no such result" in wiretrial("push", team.url(), "--study", "none").stdout
    # A name is looked for in the folder of results, too.
    assert f"results/{tiny.name}: " in wiretrial("push", team.url(), tiny.name).stdout
    shown = wiretrial("list", "--from", team.url()).stdout.splitlines()
    assert [line.split()[0] for line in shown] == ["monday.json", echo.name, tiny.name]
    assert wiretrial("pull", team.url(), "--study", "echo", "--to", "a").returncode == EXIT_GOOD
    assert contents(tmp_path / "a") == contents_of(base, echo.name)
    assert wiretrial("pull", team.url(), "--since", "2026-02-01", "--to", "b").returncode == 0
    assert list(contents(tmp_path / "b")) == ["monday.json"]
    digest = shown[2].partition("(")[2].partition(",")[0]
    wiretrial("pull", digest, "--to", "c", WIRETRIAL_STORE=team.url())
    assert contents(tmp_path / "c") == contents_of(base, tiny.name)
    missing = wiretrial("pull", team.url(), "gone", "--to", "d")
    assert missing.returncode == EXIT_FAILED
    assert missing.stderr.startswith("wiretrial: the store holds no result gone: ")
    both = wiretrial("push", team.url(), echo.name, "--study", "echo")
    assert both.returncode == EXIT_USAGE
    no_date = wiretrial("pull", team.url(), "--since", "yesterday")
    assert no_date.stderr == ("wiretrial: --since yesterday: not a date: write it as 2026-01-31\n")


def contents_of(base: Path, name: str) -> dict[str, bytes]:
    """Those of one result in a folder of several."""
    return {path: data for path, data in contents(base).items() if path.startswith(f"{name}/")}


def test_two_results_of_one_name_are_told_apart_by_their_digests(
    database: Database, tmp_path: Path
) -> None:
    one = load(tmp_path / "a" / "load.json", "2026-01-01")
    two = load(tmp_path / "b" / "load.json", "2026-01-02")
    push(database, one)
    push(database, two)
    digests = [found.digest for found in stored.results(database, Filter())]
    with pytest.raises(StoreError) as refused:
        stored.named(database, "load.json")
    assert refused.value.line() == (
        f"the store holds 2 results load.json: name {digests[0]} or {digests[1]}"
    )
    pull(database, digests[0], tmp_path / "c")
    assert (tmp_path / "c" / "load.json").read_bytes() == one.read_bytes()
    with pytest.raises(StoreError, match="is not the one in the store"):
        pull(database, digests[1], tmp_path / "c")
    assert (tmp_path / "c" / "load.json").read_bytes() == one.read_bytes()


def test_a_result_with_secrets_is_pushed_only_where_that_is_meant(
    team: Team, wiretrial: Run, tmp_path: Path
) -> None:
    folder = study(tmp_path / "results", secrets=True)
    refused = wiretrial("push", team.url())
    assert refused.returncode == EXIT_FAILED
    assert f"results/{folder.name} was measured with --keep-secrets" in refused.stderr
    assert team.counts()["file"] == 0
    assert wiretrial("push", team.url(), "--keep-secrets").returncode == EXIT_GOOD
    assert team.counts()["result"] == 1


def test_a_damaged_result_stops_no_other(team: Team, wiretrial: Run, tmp_path: Path) -> None:
    bad, good = study(tmp_path / "results", name="bad"), study(tmp_path / "results", name="good")
    sorted((bad / "trials").iterdir())[1].write_bytes(b"no trial")
    done = wiretrial("push", team.url())
    assert done.returncode == EXIT_FAILED
    assert "is damaged" in done.stderr
    assert done.stderr.count("\n") == 1
    assert f"results/{good.name}: 5 files" in done.stdout
    # Nothing of the other one is there, neither the files before the damaged one.
    assert [row[0] for row in team.asked("SELECT name FROM wiretrial.result")] == [good.name]
    assert team.counts()["file"] == 5


def test_a_file_that_changes_while_it_is_sent_is_not_stored(
    database: Database, team: Team, tmp_path: Path
) -> None:
    folder = study(tmp_path)
    local = manifest.read(folder)
    (folder / "absent.json").write_bytes(b"[ ]")
    with pytest.raises(StoreError, match="changed while it was sent"):
        pushing.push(database, local, with_secrets=False)
    assert set(team.counts().values()) == {0}


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ("UPDATE wiretrial.piece SET data = data || 'x'", "in the store is damaged"),
        ("DELETE FROM wiretrial.piece", "in the store is damaged"),
        ("UPDATE wiretrial.result_file SET path = '../' || path", "other files than were pushed"),
        ("DELETE FROM wiretrial.result_file WHERE is_trial", "other files than were pushed"),
        ("UPDATE wiretrial.result SET name = '../x'", "other files than were pushed"),
    ],
)
def test_what_is_not_as_it_was_pushed_is_not_pulled(
    database: Database, team: Team, tmp_path: Path, harm: str, words: str
) -> None:
    push(database, study(tmp_path / "here"))
    team.asked(harm)
    (found,) = stored.results(database, Filter())
    there = tmp_path / "there"
    with pulling.into(there), pytest.raises(StoreError) as refused:
        pulling.pull(database, found, there)
    assert words in refused.value.line()
    assert list(there.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["../x.json", "/x.json", ".x.json", "a/b.json", "trials/../x.json"]
)
def test_a_name_that_leads_elsewhere_is_not_sound(name: str) -> None:
    entry = manifest.Entry(name, b"", 0)
    assert not manifest.Manifest("study", "study", (entry,)).is_sound()
    assert not manifest.Manifest(name, "load", (entry,)).is_sound()
    good = manifest.Entry("study.json", b"", 0)
    assert manifest.Manifest("study", "study", (good,)).is_sound()
    assert not manifest.Manifest("../study", "study", (good,)).is_sound()


def test_what_a_killed_pull_left_is_removed_and_two_do_not_mix(
    database: Database, tmp_path: Path
) -> None:
    folder = study(tmp_path / "here")
    push(database, folder)
    there = tmp_path / "there"
    (there / pulling.STAGING / folder.name).mkdir(parents=True)
    (there / pulling.STAGING / folder.name / "study.json").write_text("{", encoding="utf-8")
    with pulling.into(there), pytest.raises(StoreError, match="another pull writes to"):
        pull(database, folder.name, there)
    pull(database, folder.name, there)
    assert contents(there) == contents(tmp_path / "here")


def test_both_stores_give_the_same_rows_of_figures(database: Database, tmp_path: Path) -> None:
    base = tmp_path / "results"
    for path in (study(base), study(base, name="echo"), load(base / "monday.json")):
        push(database, path)
    everything = Filter()
    rows = list(stored.trials(database, everything))
    assert rows == list(indexed.in_folder(base, everything))
    assert {row.study for row in rows} == {"tiny", "echo", "load"}
    assert all(row.figures["throughput"] > 0 for row in rows)
    for chosen in (Filter(since=date(2026, 2, 1)), Filter(study="echo")):
        rows = list(stored.trials(database, chosen))
        assert rows == list(indexed.in_folder(base, chosen))
        assert len(rows) in (1, 3)
