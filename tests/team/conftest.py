"""A team's store in a PostgreSQL of the tests' own: a new database for each test.

Skipped where PostgreSQL is missing.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests import postgres
from tests.cli.conftest import LIMIT_S, ROOT
from tests.cli.nursery import ended
from tests.lab.trials import trial
from tests.postgres import CRASHED, Cluster
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.team import connection, schema
from wiretrial.team.address import Address
from wiretrial.team.connection import Database

OWNER, WRITER, READER, STRANGER = "olga", "wanda", "ruth", "ivan"
PASSWORD = "correct horse"
_NUMBERS = itertools.count()

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


@dataclass(frozen=True)
class Team:
    """One store: a database of a server."""

    cluster: Cluster
    name: str

    def url(self, role: str = WRITER) -> str:
        """Without its password."""
        return self.cluster.url(self.name, role)

    def address(self, role: str = WRITER) -> Address:
        """With it, as only a test has it."""
        return Address(f"{self.url(role)}?password={PASSWORD.replace(' ', '%20')}", self.url(role))

    def asked(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """What the superuser is told."""
        with psycopg.connect(self.cluster.url(self.name), autocommit=True) as database:
            found = database.execute(query.encode(), values or None)
            return found.fetchall() if found.description else []

    def counts(self) -> dict[str, int]:
        """How many rows each table has."""
        tables = ("result", "result_file", "file", "piece", "trial")
        return {
            name: int(str(self.asked(f"SELECT count(*) FROM wiretrial.{name}")[0][0]))
            for name in tables
        }


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A server with the four roles."""
    with postgres.cluster(user="admin", settings=CRASHED) as made:
        with_roles(made)
        yield made


def with_roles(cluster: Cluster) -> None:
    """Starts a server and makes the four roles, whom it asks for their password."""
    cluster.ask_passwords()
    cluster.start()
    with psycopg.connect(cluster.url(), autocommit=True) as database:
        for role in (OWNER, WRITER, READER, STRANGER):
            database.execute(
                sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(
                    sql.Identifier(role), sql.Literal(PASSWORD)
                )
            )
        database.execute(f"ALTER ROLE {OWNER} CREATEROLE")


@pytest.fixture
def empty(cluster: Cluster) -> Team:
    """A database without a store."""
    made = Team(cluster, f"team_{next(_NUMBERS)}")
    with psycopg.connect(cluster.url(), autocommit=True) as database:
        database.execute(f"CREATE DATABASE {made.name} OWNER {OWNER}")
    return made


@pytest.fixture
def team(empty: Team) -> Team:
    """An empty store."""
    address = empty.address(OWNER)
    with connection.connected(address) as database:
        schema.migrate(database, address)
    empty.asked(f"GRANT wiretrial_writer TO {WRITER}")
    empty.asked(f"GRANT wiretrial_reader TO {READER}")
    return empty


@pytest.fixture
def database(team: Team) -> Iterator[Database]:
    """A writer's connection."""
    with connection.connected(team.address()) as connected:
        yield connected


def environment(**changes: str) -> dict[str, str]:
    """That of a person at a terminal, with the password of all roles."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    ours = {"PYTHONPATH": str(ROOT / "python"), "COLUMNS": "80", "NO_COLOR": "1"}
    return {**known, **ours, "PGPASSWORD": PASSWORD, **changes}


@pytest.fixture
def wiretrial(tmp_path: Path) -> Run:
    """Runs `wiretrial results` to its end."""

    def run(*arguments: str, **changes: str) -> Done:
        return ended(("results", *arguments), tmp_path, environment(**changes), LIMIT_S)

    return run


def study(base: Path, trials: int = 3, name: str = "tiny", *, secrets: bool = False) -> Path:
    """A folder of results."""
    document = json.dumps({"name": name, "keeps_secrets": secrets})
    results = ResultsFolder.create(base, name, document)
    for block in range(trials):
        results.add(of_study(name, block))
    results.write("absent.json", b"[]")
    results.write("report.html", b"<p>made again</p>")
    results.write("running.json", b"{}")
    return results.folder


def of_study(name: str, block: int, day: str = "2026-01-01") -> Trial:
    """A trial of that study, unlike the others."""
    started = f"{day}T00:00:{block % 60:02}+02:00"
    return trial(block).model_copy(update={"study": name, "started_at": started})


def load(path: Path, day: str = "2026-02-03") -> Path:
    """A load's file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    inside = of_study("load", 0, day).model_dump(mode="json", by_alias=True)
    document = {"schema": "wiretrial-load", "version": 1, "trial": inside}
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder that belongs to a result."""
    made_again = {"report.html", "running.json", "index.sqlite"}
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in made_again
    }
