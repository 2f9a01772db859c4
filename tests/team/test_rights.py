"""Who may do what in a store, found by trying it."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from tests.team.conftest import OWNER, READER, STRANGER, WRITER, Run, Team, contents, study
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD

TABLES = ("file", "piece", "result", "result_file", "trial")
FORBIDDEN = (
    *(f"UPDATE wiretrial.{table} SET sha256 = sha256" for table in TABLES),
    *(f"DELETE FROM wiretrial.{table}" for table in TABLES),
    *(f"TRUNCATE wiretrial.{table} CASCADE" for table in TABLES),
    *(f"DROP TABLE wiretrial.{table} CASCADE" for table in TABLES),
    "INSERT INTO wiretrial.migration (version, name, program) VALUES (9, 'mine', '')",
    "UPDATE wiretrial.migration SET version = 9",
    "CREATE TABLE wiretrial.mine (number integer)",
    "ALTER TABLE wiretrial.result ADD COLUMN mine integer",
)
FORGED = (
    (
        "INSERT INTO wiretrial.result (sha256, name, kind, trials, bytes, pushed_by)"
        " VALUES (sha256('x'), 'x', 'load', 1, 1, 'olga')"
    ),
    (
        "INSERT INTO wiretrial.result (sha256, name, kind, trials, bytes, pushed_at)"
        " VALUES (sha256('x'), 'x', 'load', 1, 1, '2001-01-01')"
    ),
)
INSERTS = "INSERT INTO wiretrial.file (sha256, bytes) VALUES (sha256('x'), 1)"


def tried(team: Team, role: str, statement: str) -> None:
    with psycopg.connect(team.address(role).conninfo, autocommit=True) as database:
        database.execute(statement.encode())


@pytest.mark.parametrize("role", [WRITER, READER])
def test_who_writes_or_reads_can_neither_change_nor_delete(
    team: Team, wiretrial: Run, tmp_path: Path, role: str
) -> None:
    study(tmp_path / "results")
    assert wiretrial("push", team.url()).returncode == EXIT_GOOD
    before = team.counts()
    for statement in (*FORBIDDEN, *FORGED):
        with pytest.raises(errors.InsufficientPrivilege):
            tried(team, role, statement)
    assert team.counts() == before
    assert wiretrial("pull", team.url(role), "--to", "there").returncode == EXIT_GOOD
    assert contents(tmp_path / "there") == contents(tmp_path / "results")


def test_who_reads_can_not_insert_and_who_writes_can(team: Team) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        tried(team, READER, INSERTS)
    tried(team, WRITER, INSERTS)


@pytest.mark.parametrize(
    ("role", "words", "told"),
    [
        (READER, ("push",), "permission denied for table file"),
        (STRANGER, ("push",), "permission denied for schema wiretrial"),
        (STRANGER, ("pull",), "permission denied for schema wiretrial"),
    ],
)
def test_a_role_without_the_right_is_told_which_it_needs(
    team: Team, wiretrial: Run, tmp_path: Path, role: str, words: tuple[str, ...], told: str
) -> None:
    study(tmp_path / "results")
    done = wiretrial(*words, team.url(role))
    assert done.returncode == EXIT_FAILED
    assert done.stdout == ""
    assert done.stderr == (
        f"wiretrial: {team.url(role).replace(f'{role}@', '***@')}: {told}: ask the store's owner to"
        " grant wiretrial_reader (to list and pull) or wiretrial_writer (to push)\n"
    )


def test_only_the_owner_migrates(empty: Team, wiretrial: Run) -> None:
    done = wiretrial("push", empty.url(WRITER), "--migrate")
    assert done.returncode == EXIT_FAILED
    assert "can't be migrated by this role: permission denied for database" in done.stderr
    assert "do it as the owner of the database" in done.stderr
    assert done.stderr.count("\n") == 1
    assert wiretrial("push", empty.url(OWNER), "--migrate").returncode == EXIT_GOOD
