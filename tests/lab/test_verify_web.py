"""The contract `web`: what a right server passes, and how each fault is found out."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.interop.conftest import lacking
from tests.lab.conftest import Children
from tests.lab.test_verify import PROGRAM, PROGRAMS
from wiretrial.engine import Engine
from wiretrial.errors import SubjectFailed, UsageProblem
from wiretrial.subjects import build, contracts, database_parts, registry, verification, web_parts
from wiretrial.subjects.any_connection import connect
from wiretrial.subjects.build import Build
from wiretrial.subjects.database import Database
from wiretrial.subjects.http_connection import Request
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import SPEC_FILE, Part, Subject

RESTORED = f"""
UPDATE world SET number = (id * 6571 + 2741) % {web_parts.ROWS} + 1;
DELETE FROM item WHERE id > {web_parts.ACCOUNTS * web_parts.FIRST_ITEMS};
"""
DATABASE = 'database = "postgresql"\nspeaks'


def started_database() -> Iterator[Database]:
    """One for all servers of a module, in which statements are counted."""
    if database_parts.programs() is None:
        lacking("there is no PostgreSQL: install postgresql")
    with Database(counts=True) as started:
        yield started


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Database]:
    """What servers change is put right again after each test."""
    yield from started_database()


@contextmanager
def built_program(folder: Path) -> Iterator[tuple[Subject, Build]]:
    """The server of the tests, built into a cache of its own that has the tables already."""
    (folder / "cache").mkdir()
    (folder / "cache" / "databases").symlink_to(build.cache() / "databases")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(build.ENVIRONMENT, str(folder / "cache"))
        subject = described(folder)
        yield subject, build.install(subject, Engine.find().binary)


@contextmanager
def started_program(postgresql: Database, folder: Path) -> Iterator[Server]:
    """A start of it, whose fault can be changed."""
    with built_program(folder) as (subject, built):
        engine = Engine.find().binary
        with Server(subject, built, "default", engine=engine, database=postgresql) as started:
            started.wait_ports()
            yield started


@pytest.fixture(scope="module")
def server(postgresql: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One start for all faults."""
    with started_program(postgresql, tmp_path_factory.mktemp("program")) as started:
        yield started


def described(folder: Path) -> Subject:
    """The server of the tests as a subject."""
    text = PROGRAM.replace("PYTHON", sys.executable).replace("FILE", str(PROGRAMS / "web.py"))
    text = text.replace("CONTRACTS", '"web"').replace("WORDS", "").replace("PROTOCOL", "http")
    (folder / SPEC_FILE).write_text(text.replace("speaks", DATABASE), encoding="utf-8")
    return registry.find(f"{folder}/")


def test_a_server_that_keeps_the_contract_passes(
    engine: Engine, children: Children, postgresql: Database, tmp_path: Path
) -> None:
    assert postgresql.pid
    with built_program(tmp_path) as (subject, built):
        found = verification.examine(subject, built, "default", engine.binary)
    assert found.problems(subject) == []
    wanted = {"data", "clamping", "escaping", "updates", "cached", "session", "concurrency"}
    assert wanted <= {one.part for one in found.outcomes}
    assert children() == []


FAULTS: list[tuple[str, Part, str]] = [
    ("wrong-row", "data", "/db answered {'id': 1, 'number': 9314} as row 0, not"),
    ("one-statement", "data", "GET /queries?id=5&count=7 asked the database 1 times, not 7"),
    ("unclamped", "clamping", "/queries answered 101 rows, not 100"),
    ("none", "clamping", "/queries answered 0 rows, not 1"),
    ("unescaped", "escaping", "/fortunes has tags that no page has: em, script"),
    ("escaped-twice", "escaping", "&lt;script&gt;"),
    ("unsorted", "escaping", "/fortunes has the row ['1', 'A benchmark"),
    ("caseless", "escaping", "/fortunes has the row"),
    ("no-more", "escaping", "/fortunes has 13 rows of a table, not 14"),
    ("no-charset", "escaping", "/fortunes says charset nothing, not utf-8"),
    ("charset-twice", "escaping", "/fortunes says charset utf-8, utf-8, not utf-8"),
    ("forgets", "updates", "1 rows of the database are not as the reply said: row 17 is"),
    ("others", "updates", "rows of the database are not as the reply said"),
    ("blind", "updates", "/updates of 7 rows read 0 of them before"),
    ("alone", "updates", "answered 503, not 200"),
    ("stale", "updates", "/db answered {'id': 17, "),
    ("uncached", "cached", "/cached asked the database 3 times for what it had been told"),
    ("any-password", "session", "POST /login answered 200, not 401"),
    ("unkept-token", "session", "the token of /login is not in the table session"),
    ("open", "session", "GET /items answered 200, not 401"),
    ("oldest", "session", "/items lists ["),
    ("everybody", "session", "/items lists ["),
    ("ascii", "session", "in the database"),
    ("ok-created", "session", "POST /items answered 200, not 201"),
]


@pytest.mark.parametrize(("fault", "part", "words"), FAULTS)
def test_each_part_finds_the_fault_that_is_its_own(
    server: Server, postgresql: Database, fault: str, part: Part, words: str
) -> None:
    postgresql.asked.ask(RESTORED, web_parts.DATABASE)
    endpoint = server.endpoint("http")
    with connect(endpoint) as connection:
        connection.exchange(Request("GET", f"/fault?name={fault}"))
    checks = [check for check in contracts.checks("web", "http") if check.part == part]
    found = [contracts.problem(check, endpoint) for check in checks]
    assert any(words in problem for problem in found if problem), found


def test_a_server_in_go_keeps_no_rows_that_it_could_not_read(
    engine: Engine, postgresql: Database
) -> None:
    if shutil.which("go") is None:
        lacking("there is no Go: install golang")
    subject = registry.find("go-web")
    built = build.install(subject, engine.binary)

    def cached(started: Server) -> tuple[int, bytes]:
        with connect(started.endpoint("http")) as connection:
            connection.send(Request("GET", "/cached?id=1&count=1"))
            reply = connection.receive_any("GET")
        return reply.status, reply.content

    def renamed(old: str, new: str) -> None:
        postgresql.asked.ask(f"ALTER TABLE {old} RENAME TO {new}", web_parts.DATABASE)

    with Server(subject, built, "default", engine=engine.binary, database=postgresql) as started:
        started.wait_ports()
        renamed("cached_world", "elsewhere")
        try:
            failed, _ = cached(started)
        finally:
            renamed("elsewhere", "cached_world")
        status, body = cached(started)
    assert failed == 500
    assert status == 200
    assert json.loads(body) == [{"id": 1, "number": web_parts.cached_number(1)}]


def test_each_start_has_the_same_rows(postgresql: Database) -> None:
    with Database() as second:
        assert second.pid != postgresql.pid
        rows = second.asked.ask("TABLE world", web_parts.DATABASE)
        assert [int(number) for _, number in rows] == [
            web_parts.number(int(row)) for row, _ in rows
        ]
        cached = second.asked.ask("TABLE cached_world", web_parts.DATABASE)
        assert {int(row): int(number) for row, number in cached} == {
            row: web_parts.cached_number(row) for row in range(1, web_parts.ROWS + 1)
        }
        fortunes = second.asked.ask("TABLE fortune", web_parts.DATABASE)
        assert [message for _, message in fortunes] == list(web_parts.FORTUNES)
        newest = "SELECT text FROM item WHERE account = 9 ORDER BY id DESC LIMIT 1"
        last = second.asked.ask(newest, web_parts.DATABASE)
        assert last == [(web_parts.item(9, web_parts.FIRST_ITEMS),)]


@pytest.mark.parametrize(
    ("asked", "index"),
    [
        ("account FROM session WHERE token = $1", "session_pkey"),
        (
            f"id, text FROM item WHERE account = $1::int ORDER BY id DESC LIMIT {web_parts.ITEMS}",
            "item_of_account",
        ),
    ],
)
def test_no_statement_of_a_session_reads_more_as_rows_are_added(
    postgresql: Database, asked: str, index: str
) -> None:
    plan = postgresql.asked.ask(
        "SET plan_cache_mode = force_generic_plan;"
        f" PREPARE known(text) AS SELECT {asked}; EXPLAIN EXECUTE known('1');",
        web_parts.DATABASE,
    )
    steps = "\n".join(step for (step,) in plan)
    assert f"Index Scan using {index}" in steps
    assert "Bitmap" not in steps
    assert "Sort" not in steps


def test_rows_of_a_request_are_different_ones() -> None:
    for first in (1, 4242, web_parts.ROWS):
        rows = web_parts.chain(first, web_parts.MOST)
        assert rows[0] == first
        assert len(set(rows)) == web_parts.MOST
        assert set(rows) <= set(range(1, web_parts.ROWS + 1))


def test_without_postgresql_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wiretrial.subjects.database.programs", lambda: None)
    with pytest.raises(SubjectFailed) as caught:
        Database()
    assert caught.value.line() == (
        "there is no PostgreSQL, which this subject's contract needs: run: apt-get install"
        " postgresql"
    )


def test_the_contract_and_its_database_go_together(tmp_path: Path) -> None:
    described(tmp_path)
    file = tmp_path / SPEC_FILE
    file.write_text(file.read_text().replace(DATABASE, "speaks"), encoding="utf-8")
    with pytest.raises(UsageProblem, match='web has database = "postgresql"'):
        registry.find(f"{tmp_path}/")
