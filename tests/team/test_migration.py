"""A store's schema: made once, brought up to date, refused where it is newer."""

from __future__ import annotations

import threading
from pathlib import Path

import psycopg
import pytest

from tests.team.conftest import OWNER, WRITER, Run, Team, contents, study
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, StoreError
from wiretrial.team import connection, schema
from wiretrial.team.schema import Step

KNOWN = schema.steps()
NEXT = KNOWN[-1].version + 1
LATER = (
    *KNOWN,
    Step(NEXT, "remarks", "ALTER TABLE wiretrial.result ADD COLUMN remark text DEFAULT 'none';"),
)
BROKEN = (
    *LATER,
    Step(NEXT + 1, "broken", "CREATE TABLE wiretrial.half (n int); SELECT 1 / 0;"),
)


def migrate(team: Team, steps: tuple[Step, ...] | None = None) -> list[str]:
    """The names of the steps that were applied."""
    address = team.address(OWNER)
    with connection.connected(address) as database:
        return [step.name for step in schema.migrate(database, address, steps)]


def test_the_steps_are_numbered_on() -> None:
    assert [step.version for step in KNOWN] == list(range(1, len(KNOWN) + 1))


def test_a_database_without_a_store_says_how_to_make_one(
    empty: Team, wiretrial: Run, tmp_path: Path
) -> None:
    study(tmp_path / "results")
    for words in (("push",), ("pull",)):
        done = wiretrial(*words, empty.url())
        assert done.returncode == EXIT_FAILED
        assert "holds no store of wiretrial yet: its owner runs" in done.stderr
        assert done.stderr.count("\n") == 1
    done = wiretrial("push", empty.url(OWNER), "--migrate")
    assert done.stdout.endswith(f": the store is now of version {KNOWN[-1].version}\n")
    # What is there to be pushed was not named.
    assert empty.counts()["result"] == 0
    done = wiretrial("push", empty.url(OWNER), "--migrate")
    assert done.stdout.endswith(f": the store was already of version {KNOWN[-1].version}\n")
    assert migrate(empty) == []


def test_results_that_are_named_are_pushed_after_the_migration(
    empty: Team, wiretrial: Run, tmp_path: Path
) -> None:
    folder = study(tmp_path / "results")
    done = wiretrial("push", empty.url(OWNER), f"results/{folder.name}", "--migrate")
    assert done.returncode == EXIT_GOOD
    assert empty.counts()["result"] == 1


def test_two_who_migrate_at_once_do_it_once(empty: Team) -> None:
    start, applied = threading.Barrier(4), list[str]()

    def one() -> None:
        start.wait()
        applied.extend(migrate(empty, LATER))

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert applied == [step.name for step in LATER]


def test_an_older_store_is_refused_until_it_is_migrated_and_keeps_what_it_has(
    team: Team, wiretrial: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = study(tmp_path / "results")
    assert wiretrial("push", team.url()).returncode == EXIT_GOOD
    address = team.address(WRITER)
    with monkeypatch.context() as later, connection.connected(address) as database:
        later.setattr(schema, "steps", lambda: LATER)
        with pytest.raises(StoreError) as refused:
            schema.require(database, address)
    assert refused.value.line().endswith(
        f"has a store of version {NEXT - 1}, this wiretrial needs {NEXT}: its owner runs"
        " `wiretrial results push URL --migrate`"
    )
    assert migrate(team, LATER) == ["remarks"]
    assert team.asked("SELECT name, remark FROM wiretrial.result") == [(folder.name, "none")]
    history = team.asked("SELECT version, name, applied_by FROM wiretrial.migration ORDER BY 1")
    assert history == [(step.version, step.name, OWNER) for step in LATER]
    # This wiretrial does not know that version, and touches nothing.
    for words in (("push",), ("pull",), ("push", "--migrate")):
        done = wiretrial(words[0], team.url(OWNER), *words[1:])
        assert done.returncode == EXIT_FAILED
        assert done.stderr.endswith(
            f"has a store of version {NEXT}, this wiretrial knows {NEXT - 1}: use a newer"
            " wiretrial\n"
        )


def test_a_step_that_fails_leaves_the_store_as_it_was(
    team: Team, wiretrial: Run, tmp_path: Path
) -> None:
    study(tmp_path / "results")
    with pytest.raises(StoreError, match="division by zero"):
        migrate(team, BROKEN)
    assert team.asked("SELECT max(version) FROM wiretrial.migration") == [(KNOWN[-1].version,)]
    with pytest.raises(psycopg.errors.UndefinedTable):
        team.asked("SELECT FROM wiretrial.half")
    assert wiretrial("push", team.url()).returncode == EXIT_GOOD
    assert wiretrial("pull", team.url(), "--to", "there").returncode == EXIT_GOOD
    assert contents(tmp_path / "there") == contents(tmp_path / "results")
