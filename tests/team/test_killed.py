"""A push that is killed on either side leaves whole results, and is done by pushing again.

The moment is not left to chance: another transaction holds a file that the push wants last, or what
is sent is so much that the server is seen taking it in.
"""

from __future__ import annotations

import filecmp
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest

from tests import postgres, waiting
from tests.cli.conftest import LIMIT_S, command
from tests.postgres import CRASHED, Cluster
from tests.team.conftest import Run, Team, contents, environment, study, with_roles
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD
from wiretrial.team import manifest

LIMIT_OF_NOTICE_S = 30.0
WAITING = (
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'wiretrial'"
    " AND wait_event_type = 'Lock'"
)
COPYING = (
    "SELECT pid FROM pg_stat_progress_copy"
    " WHERE relid = 'wiretrial.piece'::regclass AND bytes_processed > 4000000"
)
OURS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'wiretrial'"
BIG_BYTES = 64_000_000
until = partial(waiting.until, limit_s=LIMIT_OF_NOTICE_S)


@contextmanager
def pushing(team: Team, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A push under way."""
    with subprocess.Popen(
        command("results", "push", team.url(), str(folder)),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as client:
        try:
            yield client
        finally:
            client.kill()


@contextmanager
def held(team: Team, folder: Path) -> Iterator[None]:
    """Keeps a push of the folder from sending its last file."""
    last = max(entry.sha256 for entry in manifest.read(folder).manifest.entries)
    database = psycopg.connect(team.cluster.url(team.name))
    try:
        database.execute("INSERT INTO wiretrial.file VALUES (%s, 0)", (last,))
        yield
    finally:
        # Nothing was committed, so that nothing stays.
        database.close()


@pytest.fixture
def first(team: Team, wiretrial: Run, tmp_path: Path) -> Path:
    """A result that was pushed before, whole."""
    folder = study(tmp_path / "first", name="first")
    assert wiretrial("push", team.url(), str(folder)).returncode == EXIT_GOOD
    return folder


def require_whole(team: Team, wiretrial: Run, first: Path, second: Path) -> None:
    """Only the first is there; then the second can be pushed; then both are as they were."""
    assert team.counts() == {"result": 1, "result_file": 5, "file": 5, "piece": 5, "trial": 3}
    pushed = wiretrial("push", team.url(), str(second))
    assert pushed.returncode == EXIT_GOOD, pushed.stderr
    assert wiretrial("pull", team.url(), "--to", "there").returncode == EXIT_GOOD
    there = contents(first.parent.parent / "there")
    assert there == contents(first.parent) | contents(second.parent)


def test_a_client_that_is_killed_leaves_nothing_of_its_result(
    team: Team, wiretrial: Run, first: Path, tmp_path: Path
) -> None:
    second = study(tmp_path / "second", 10)
    with held(team, second), pushing(team, second) as client:
        until(lambda: bool(team.asked(WAITING)))
        client.kill()
        client.wait()
        assert client.returncode == -signal.SIGKILL
    until(lambda: not team.asked(OURS))
    require_whole(team, wiretrial, first, second)


def test_a_client_that_is_killed_within_a_file_leaves_nothing_of_it(
    team: Team, wiretrial: Run, first: Path, tmp_path: Path
) -> None:
    second = study(tmp_path / "second", 10)
    (second / "big.json").write_bytes(os.urandom(1 << 20) * (BIG_BYTES >> 20))
    with pushing(team, second) as client:
        until(lambda: bool(team.asked(COPYING)), pause_s=0.002)
        client.kill()
        client.wait()
        assert client.returncode == -signal.SIGKILL
    until(lambda: not team.asked(OURS))
    (second / "big.json").unlink()
    require_whole(team, wiretrial, first, second)


def test_a_push_that_is_stopped_ends_at_once_and_leaves_nothing(
    team: Team, wiretrial: Run, first: Path, tmp_path: Path
) -> None:
    second = study(tmp_path / "second", 10)
    with held(team, second), pushing(team, second) as client:
        until(lambda: bool(team.asked(WAITING)))
        client.send_signal(signal.SIGTERM)
        said = client.communicate(timeout=LIMIT_S)
    assert (client.returncode, said) == (143, ("", "wiretrial: stopped\n"))
    until(lambda: not team.asked(OURS))
    require_whole(team, wiretrial, first, second)


@pytest.mark.parametrize("whole", [False, True], ids=["backend", "postmaster"])
def test_a_server_that_is_killed_recovers_and_the_push_is_done_by_pushing_again(
    team: Team, wiretrial: Run, first: Path, tmp_path: Path, whole: bool
) -> None:
    second = study(tmp_path / "second", 10)
    with held(team, second), pushing(team, second) as client:
        until(lambda: bool(team.asked(WAITING)))
        if whole:
            team.cluster.kill()
        else:
            ((backend,),) = team.asked(WAITING)
            os.kill(int(str(backend)), signal.SIGKILL)
        said, failed = client.communicate(timeout=LIMIT_S)
    assert client.returncode == EXIT_FAILED
    assert said == ""
    assert failed.startswith("wiretrial: postgresql://***@127.0.0.1:")
    assert failed.endswith("run the command again: what is stored already is not sent again\n")
    assert failed.count("\n") == 1
    if whole:
        team.cluster.start()
        assert "automatic recovery in progress" in team.cluster.log()
    else:
        until(lambda: answers(team))
    require_whole(team, wiretrial, first, second)


def answers(team: Team) -> bool:
    """Whether the server takes connections again."""
    try:
        return bool(team.asked("SELECT 1"))
    except psycopg.OperationalError:
        return False


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A server of this file's own: all who are connected notice its end."""
    with postgres.cluster(user="admin", settings=CRASHED) as made:
        with_roles(made)
        yield made


MEASURES = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_kib(*words: str) -> int:
    """The most memory that the command used."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURES, *command("results", *words)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    return int(done.stdout)


def test_memory_does_not_grow_with_what_is_sent(team: Team, tmp_path: Path) -> None:
    small, large = study(tmp_path / "here", name="small"), study(tmp_path / "here", name="large")
    (large / "big.json").write_bytes(os.urandom(1 << 20) * (BIG_BYTES >> 20))
    sent = [peak_kib("push", team.url(), str(folder)) for folder in (small, large)]
    came = [
        peak_kib("pull", team.url(), folder.name, "--to", str(tmp_path / "there"))
        for folder in (small, large)
    ]
    for few, many in (sent, came):
        assert many - few < 32 * 1024
    here, there = (tmp_path / place / large.name / "big.json" for place in ("here", "there"))
    assert filecmp.cmp(here, there, shallow=False)
