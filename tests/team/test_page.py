"""docs/team.md as its readers follow it: set up a server, use it, back it up, delete a result."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests import postgres
from tests.cli.conftest import LIMIT_S
from tests.docs.fences import blocks
from tests.postgres import Cluster
from tests.team.conftest import Run, contents, study
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD

PAGE = Path("docs/team.md")
DELETED = "echo-20260101-120000"


@pytest.fixture
def bare() -> Iterator[Cluster]:
    """A server on which nothing was set up."""
    with postgres.cluster(user="admin") as made:
        made.start()
        yield made


def done(url: str, block: str) -> list[tuple[object, ...]]:
    """What the last of these statements finds. Each runs by itself, as in psql."""
    found: list[tuple[object, ...]] = []
    with psycopg.connect(url, autocommit=True) as database:
        for statement in block.split(";\n"):
            if statement.strip():
                told = database.execute(statement.encode())
                found = told.fetchall() if told.description else []
    return found


def test_each_statement_of_the_page_does_what_it_says(
    bare: Cluster, wiretrial: Run, tmp_path: Path
) -> None:
    set_up, grants, ask, delete = blocks(PAGE, "sql")
    done(bare.url(), set_up)
    olga, wanda, ruth = (bare.url("lab", role) for role in ("olga", "wanda", "ruth"))
    migrated = wiretrial("push", olga, "--migrate")
    assert migrated.returncode == EXIT_GOOD, migrated.stderr
    done(olga, grants)
    base = tmp_path / "results"
    study(base, name="echo").rename(base / DELETED)
    kept = study(base, name="echo")
    assert wiretrial("push", wanda).returncode == EXIT_GOOD
    ((day, subject, trials, throughput),) = done(ruth, ask)
    assert (str(day), subject, trials) == ("2026-01-01", "s", 3)
    assert isinstance(throughput, float)

    dump = str(tmp_path / "lab.dump")
    in_full = ("pg_dump", "--format=custom", f"--file={dump}", bare.url("lab"))
    for words in (in_full, ("createdb", f"--maintenance-db={bare.url()}", "copy")):
        ran(bare, *words)
    ran(bare, "pg_restore", f"--dbname={bare.url('copy')}", dump)
    pulled = wiretrial("pull", bare.url("copy", "ruth"), "--to", "restored")
    assert pulled.returncode == EXIT_GOOD, pulled.stderr
    assert contents(tmp_path / "restored") == contents(base)

    assert done(olga, delete) == []
    gone = wiretrial("pull", ruth, DELETED, "--to", "there")
    assert gone.returncode == EXIT_FAILED
    assert wiretrial("pull", ruth, "--to", "there").returncode == EXIT_GOOD
    assert contents(tmp_path / "there") == {
        path: data for path, data in contents(base).items() if path.startswith(kept.name)
    }


def ran(cluster: Cluster, name: str, *words: str) -> None:
    told = subprocess.run(
        [cluster.program(name), *words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert told.returncode == 0, told.stderr
