"""A disk that is full: refused before, or told after, and never at the cost of what was measured.

The disk is a small file system in memory, which only root may mount.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import LIMIT_S, Run
from tests.cli.test_runs import STUDY, reference, start
from tests.lab.trials import trial
from wiretrial.errors import StoreError
from wiretrial.results.store import ResultsFolder, read_trial

__all__ = ["reference"]

SIZE_BYTES = 64 << 20


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of `SIZE_BYTES`."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root may mount the small file system that this test fills")
    options = ["-t", "tmpfs", "-o", f"size={SIZE_BYTES}", "tmpfs", str(folder)]
    mounted = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no file system may be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path, *, leave: int = 0) -> None:
    """Leaves so many bytes, in whole pages."""
    free = psutil.disk_usage(str(disk)).free
    with (disk / "filler").open("ab") as filler:
        os.posix_fallocate(filler.fileno(), filler.tell(), max(free - leave, 1))
    assert psutil.disk_usage(str(disk)).free <= leave


def test_a_study_that_has_no_room_is_refused_before_it_begins(wiretrial: Run, disk: Path) -> None:
    fill(disk, leave=1 << 20)
    done = wiretrial(*STUDY, "--trials", "1000", "--results", str(disk / "results"))
    assert done.returncode == 2
    assert "bytes of disk" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_disk_that_fills_up_costs_no_trial_that_was_stored(disk: Path) -> None:
    results = ResultsFolder.create(disk, "tiny", "{}")
    kept = results.add(trial(0))
    fill(disk)
    with pytest.raises(StoreError, match="No space left") as refused:
        results.add(trial(1))
    assert "--resume" in refused.value.remedy
    assert results.paths() == [kept]
    assert read_trial(kept) == trial(0)
    assert not list((results.folder / "trials").glob(".*"))


def test_a_study_whose_disk_fills_up_shows_what_it_has(disk: Path) -> None:
    with start(disk.parent, *STUDY, "--trials", "2", "--results", str(disk)) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if line.lstrip().startswith("1/4"))
        fill(disk)
        out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    assert "Traceback" not in err
    last = err.strip().splitlines()[-1]
    assert "No space left" in last
    assert "--resume" in last
    assert "messages/s" in out or "throughput" in out


def test_a_result_that_does_not_fit_is_printed_and_spoils_no_file(
    wiretrial: Run, reference: tuple[psutil.Process, str], disk: Path
) -> None:
    _, address = reference
    target = disk / "result.json"
    target.write_text("of an earlier run", encoding="utf-8")
    fill(disk)
    words = ("load", f"ws://{address}/", "-n", "1000", "--format", "json", "-o", str(target))
    done = wiretrial(*words)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["totals"]["ok"] == 1000
    assert "No space left" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert target.read_text(encoding="utf-8") == "of an earlier run"


def test_an_output_that_is_full_is_told(
    wiretrial: Run, reference: tuple[psutil.Process, str], tmp_path: Path
) -> None:
    _, address = reference
    arguments = ("load", f"ws://{address}/", "-n", "1000", "--format", "json")
    with start(tmp_path, *arguments) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    assert "Traceback" not in err
    done = wiretrial(*arguments, "-o", "/dev/full")
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert json.loads(done.stdout)["totals"]["ok"] == 1000
