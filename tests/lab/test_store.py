"""Stored trials: whole or not there, readable or a clear error, and an index that can be lost."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lab.trials import trial
from wiretrial.errors import StoreError
from wiretrial.results.index import INDEX_FILE, Index
from wiretrial.results.store import ResultsFolder, read_trial

WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.lab.trials import trial
from wiretrial.results.store import ResultsFolder
results = ResultsFolder.open(Path(sys.argv[1]))
for block in range(10_000):
    results.add(trial(block))
    print(block, flush=True)
"""


@pytest.fixture
def results(tmp_path: Path) -> ResultsFolder:
    return ResultsFolder.create(tmp_path, "tiny", "{}")


def test_a_trial_comes_back_as_it_went_in(results: ResultsFolder) -> None:
    stored = trial()
    path = results.add(stored)
    assert read_trial(path) == stored
    assert path.name == "000-000-a-b-c.json.gz"


def test_trials_come_back_in_the_order_of_running(results: ResultsFolder) -> None:
    for block, position in [(1, 0), (0, 1), (10, 0), (0, 0)]:
        results.add(trial(block, position))
    places = [(stored.block, stored.position) for stored in results.trials()]
    assert places == [(0, 0), (0, 1), (1, 0), (10, 0)]


def test_killed_in_the_middle_of_writing_nothing_stored_is_lost(results: ResultsFolder) -> None:
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(results.folder), root],
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(25)]
        writer.send_signal(signal.SIGKILL)
        told += [int(line) for line in writer.stdout.read().split()]
    assert writer.returncode == -signal.SIGKILL
    stored = {kept.block for kept in results.trials()}
    assert stored >= set(told)
    # One more may have been renamed and not told; never a part of one.
    assert len(stored) <= len(told) + 1


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def _scribble(path: Path) -> None:
    path.write_bytes(b"not gzip at all")


def _flip(path: Path) -> None:
    packed = bytearray(path.read_bytes())
    packed[len(packed) // 2] ^= 0xFF
    path.write_bytes(packed)


def _change(**members: Any) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        document = json.loads(gzip.decompress(path.read_bytes()))
        path.write_bytes(gzip.compress(json.dumps({**document, **members}).encode()))

    return change


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_cut, "is damaged"),
        (_scribble, "is damaged (it is not whole): delete the file"),
        (_flip, "measures that trial again"),
        (_change(version=99), "version 99 of wiretrial-trial, this wiretrial reads 2: use a newer"),
        (
            _change(version=0),
            "version 0 of wiretrial-trial, this wiretrial reads 2: use the wiretr",
        ),
        (
            _change(schema="something-else"),
            "is not a trial of wiretrial (schema wiretrial-trial): move it",
        ),
        (_change(block="first"), "is damaged (block"),
    ],
)
def test_a_file_that_can_not_be_read_says_which_and_why(
    results: ResultsFolder, spoil: Callable[[Path], None], words: str
) -> None:
    path = results.add(trial())
    spoil(path)
    with pytest.raises(StoreError) as refused:
        read_trial(path)
    assert str(path) in refused.value.line()
    assert words in refused.value.line()
    assert refused.value.remedy


@pytest.mark.parametrize("content", [b"# Read me\n", b'{"schema": "mine"}', b"[]", b"\x1f\x8b"])
@pytest.mark.parametrize("name", ["README.md", "some.json", "trials/notes.json.gz"])
def test_a_file_that_is_no_result_is_never_to_be_deleted(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with pytest.raises(StoreError) as refused:
        read_trial(path)
    assert "delete" not in refused.value.line()
    assert "name a folder that `wiretrial results list` shows" in refused.value.remedy


def test_a_trial_that_may_not_be_read_is_not_to_be_deleted(results: ResultsFolder) -> None:
    path = results.add(trial())
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreError) as refused:
        read_trial(path)
    assert "Is a directory: name a file that can be read" in refused.value.line()


def test_results_that_can_not_be_written_say_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="can't write results"):
        ResultsFolder.create(tmp_path / "file" / "results", "tiny", "{}")


def test_a_disk_that_is_full_loses_nothing_that_was_there(results: ResultsFolder) -> None:
    kept = results.add(trial(0))
    before = kept.read_bytes()
    blocked = results.folder / "trials" / "001-000-a-b-c.json.gz"
    # A folder in the file's place stands for whatever makes the last step fail.
    blocked.mkdir()
    with pytest.raises(StoreError, match="can't write"):
        results.add(trial(1))
    blocked.rmdir()
    assert kept.read_bytes() == before
    assert results.paths() == [kept]
    assert not list((results.folder / "trials").glob(".*"))


def test_the_index_is_made_again_from_the_files(tmp_path: Path) -> None:
    results = ResultsFolder.create(tmp_path, "tiny", "{}")
    for block in range(3):
        results.add(trial(block))
    first = Index(tmp_path).rows()
    assert [row.block for row in first] == [0, 1, 2]
    (tmp_path / INDEX_FILE).unlink()
    assert Index(tmp_path).rows() == first
    (tmp_path / INDEX_FILE).write_bytes(b"this is no database, by any means" * 100)
    assert Index(tmp_path).rows() == first


def test_the_index_follows_what_is_added_removed_and_spoilt(tmp_path: Path) -> None:
    results = ResultsFolder.create(tmp_path, "tiny", "{}")
    paths = [results.add(trial(block)) for block in range(3)]
    assert len(Index(tmp_path).rows()) == 3
    paths[0].unlink()
    results.add(trial(7))
    _scribble(results.add(trial(8)))
    index = Index(tmp_path)
    assert [row.block for row in index.rows()] == [1, 2, 7]
    (problem,) = index.problems
    assert "008-000" in problem
    assert index.rows("another study") == []
