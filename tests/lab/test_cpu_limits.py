"""Servers with a part of a CPU: the control groups, and a trial in one."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from wiretrial.engine import Engine
from wiretrial.errors import UsageProblem
from wiretrial.machine import cpu_limits, identity
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import document, matrix, runner
from wiretrial.studies.events import TrialDone, Unavailable

SPIN = "import os\nos.fork()\nwhile True: pass"
REFUSAL = cpu_limits.refusal(0.25)
limited = pytest.mark.skipif(REFUSAL is not None, reason=str(REFUSAL))


@pytest.fixture
def spinning() -> Iterator[psutil.Process]:
    """A process and its child, which compute without end."""
    with subprocess.Popen([sys.executable, "-c", SPIN], start_new_session=True) as begun:
        process = psutil.Process(begun.pid)
        while not process.children():
            time.sleep(0.01)
        yield process
        os.killpg(begun.pid, 9)


def used(process: psutil.Process) -> float:
    """CPU seconds of a process and its children."""
    times = [one.cpu_times() for one in (process, *process.children())]
    return sum(one.user + one.system for one in times)


@limited
def test_a_tree_of_processes_has_no_more_than_its_part(spinning: psutil.Process) -> None:
    with cpu_limits.Group(0.25) as group:
        group.take([spinning.pid])
        group.hold()
        before, begun, told = used(spinning), time.monotonic(), group.read()
        time.sleep(1)
        spent, elapsed = used(spinning) - before, time.monotonic() - begun
        # A period more at each end; ticks are 10 ms.
        assert spent <= 0.25 * (elapsed + 0.2) + 0.04
        assert group.read().throttled_periods > told.throttled_periods
        assert group.read().throttled_ns > told.throttled_ns
        os.killpg(spinning.pid, 9)
        spinning.wait()


@limited
def test_a_group_is_gone_behind_its_server_and_behind_a_maker_that_was_killed() -> None:
    where, own = cpu_limits.hierarchy(), identity.own()
    left = where.folder / f"wiretrial-cpu-{own.pid}-1-{own.numbering}-0"
    left.mkdir()
    with cpu_limits.Group(0.5):
        assert not left.exists()
    assert not list(where.folder.glob(f"wiretrial-cpu-{os.getpid()}-*"))


@pytest.mark.parametrize(
    ("maker", "stays"),
    [
        # This process, and one that had its number before it.
        ("{own.pid}-{own.start}-{own.numbering}-7", True),
        ("{own.pid}-1-{own.numbering}-7", False),
        # A number that no process can have.
        ("4194305-1-{own.numbering}-7", False),
        # Of a container, whose processes can't be looked for.
        ("{own.pid}-1-3-7", True),
        ("mine", True),
    ],
)
def test_a_group_is_swept_away_when_its_maker_is_gone(
    tmp_path: Path, maker: str, *, stays: bool
) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("cpu", "ascii")
    left = tmp_path / f"wiretrial-cpu-{maker.format(own=identity.own())}"
    left.mkdir()
    cpu_limits.Group(0.5, cpu_limits.Hierarchy(tmp_path, 2))
    assert left.exists() == stays


def test_version_2_is_written_in_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("", "ascii")
    group = cpu_limits.Group(0.5, cpu_limits.Hierarchy(tmp_path, 2))
    assert (tmp_path / "cgroup.subtree_control").read_text("ascii") == "+cpu"
    (folder,) = tmp_path.glob("wiretrial-cpu-*")
    (folder / "cpu.stat").write_text(
        "usage_usec 9\nnr_periods 10\nnr_throttled 4\nthrottled_usec 250\n", "ascii"
    )
    group.hold()
    assert (folder / "cpu.max").read_text("ascii") == "50000 100000"
    assert group.read() == cpu_limits.Throttling(10, 4, 250_000)


def test_where_no_group_can_be_made_it_says_so(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("proc /proc proc rw 0 0\ncgroup /c cgroup rw,memory 0 0\n", "utf-8")
    with pytest.raises(UsageProblem, match="no control groups that limit CPU time"):
        cpu_limits.hierarchy(mounts)
    nowhere = cpu_limits.Hierarchy(tmp_path / "gone", 1)
    with pytest.raises(UsageProblem, match="can't be limited here"):
        cpu_limits.Group(0.5, nowhere)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("cgroup {} cgroup rw,relatime,cpu,cpuacct 0 0", 1),
        ("cgroup2 {} cgroup2 rw,relatime 0 0", 2),
    ],
)
def test_both_versions_are_found_where_they_are_mounted(
    tmp_path: Path, line: str, version: int
) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io\n", "ascii")
    (tmp_path / "mounts").write_text(line.format(tmp_path) + "\n", "utf-8")
    assert cpu_limits.hierarchy(tmp_path / "mounts") == cpu_limits.Hierarchy(tmp_path, version)  # type: ignore[arg-type]


STUDY = """\
title = "t"
question = "q?"
subjects = ["reference"]
trials = 1
duration = "500ms"
warmup = "200ms"
[[workload]]
name = "echo"
protocol = "ws"
contract = "ws-echo"
cpus = [0.1, 64]
shares = [0.4, 0.5]
"""


@limited
@pytest.mark.alone
def test_a_trial_of_a_part_of_a_cpu_tells_how_often_the_limit_held(
    engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    study = matrix.expand("s", document.read(tmp_path), command="c", seed=1)
    results = ResultsFolder.create(tmp_path, "s", study.document())
    events = list(runner.run(study, results, engine))
    top, level = (
        next(e.trial for e in events if isinstance(e, TrialDone) and e.trial.scenario.name == name)
        for name in (
            "reference: 0.1 CPUs",
            "reference: 0.1 CPUs, at 50% of its capacity",
        )
    )
    assert top.subject is not None
    assert top.subject.limit is not None
    assert level.subject is not None
    assert level.subject.limit is not None
    assert top.subject.limit.cpus == 0.1
    assert top.subject.limit.throttled > 0.5
    # How often it held a lower load back depends on how that falls into its periods.
    assert level.subject.limit.periods > 0
    assert 0 <= level.subject.limit.throttled <= 1
    # What binds is its part of a CPU, though that is idle most of the time.
    assert top.judgement.bottleneck == "server"
    assert "server: its 0.1 CPUs" in top.judgement.evidence
    assert "of its limit's periods" in top.judgement.evidence
    spent = [s.cpu_user_ns + s.cpu_system_ns for s in top.subject_samples]
    at = [s.offset_ns for s in top.subject_samples]
    for (a, b), (c, d) in itertools.pairwise(zip(at, spent, strict=True)):
        assert d - b <= 0.1 * (c - a + 200_000_000)
    # The size and two shares of it: each is told once.
    missing = [e for e in events if isinstance(e, Unavailable)]
    assert len(missing) == len({e.scenarios for e in missing}) == 3
    assert all("64 server and 1 generator threads share" in e.reason for e in missing)
