"""The contract `web` under load: its traffic files, and the faults that each of them finds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.conftest import lacking
from tests.lab import web_traffic
from tests.lab.test_verify_web import (
    RESTORED,
    built_program,
    started_database,
    started_program,
)
from wiretrial.engine import Engine
from wiretrial.errors import EngineFailed
from wiretrial.plan import Http, Load, Plan, Stop, Target
from wiretrial.report import metrics
from wiretrial.report.measures import Measured
from wiretrial.results.model import Trial
from wiretrial.snapshot import Summary
from wiretrial.studies import document, matrix
from wiretrial.studies import trial as trials
from wiretrial.studies.bench import Bench
from wiretrial.studies.order import Slot
from wiretrial.studies.prepare import Ready
from wiretrial.subjects import database_parts, registry, web_parts
from wiretrial.subjects.any_connection import connect
from wiretrial.subjects.database import Database
from wiretrial.subjects.http_connection import Request
from wiretrial.subjects.process import Server
from wiretrial.traffic.compiler import compile_at

FOLDER = Path(__file__).resolve().parents[2] / "subjects" / "_contract" / "web"
SESSIONS = 60
FAULTS = [
    ("db", "wrong-row", "db: $.number was 9314, and is wanted '9313'"),
    ("queries", "wrong-row", "queries: $[0].number was 9314, and is wanted '9313'"),
    ("fortunes", "unescaped", 'and is wanted to be not with "<script" in it'),
    ("fortunes", "no-charset", "fortunes: header Content-Type was 'text/html'"),
    ("fortunes", "no-more", "One more fortune, made while you wait"),
    ("session", "oldest", "list again: $[0].id was 1, and is wanted"),
    ("session", "ok-created", "create: status 200, not 201"),
]
"""What one session of a file finds, which goes before each load."""
LATER = [("db", "sometimes-wrong", "$.number was"), ("updates", "alone", "status 503")]
"""What comes under load only."""


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Database]:
    """One for all."""
    yield from started_database()


@pytest.fixture(scope="module")
def server(
    postgresql: Database, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Database]]:
    """The server of the tests, whose fault changes."""
    with started_program(postgresql, tmp_path_factory.mktemp("program")) as started:
        yield started, postgresql


def loaded(engine: Engine, server: tuple[Server, Database], name: str, fault: str) -> Summary:
    """What comes of some sessions of the file, beside the fault."""
    started, postgresql = server
    postgresql.asked.ask(RESTORED, web_parts.DATABASE)
    endpoint = started.endpoint("http")
    with connect(endpoint) as connection:
        connection.exchange(Request("GET", f"/fault?name={fault}"))
    scenario = compile_at(FOLDER / f"{name}.toml", {}, None)
    plan = Plan(
        target=Target(url=endpoint.url("/"), http=Http(headers=scenario.headers)),
        traffic=scenario.traffic,
        load=Load(connections=4),
        stop=Stop(sessions=SESSIONS, duration_ns=30_000_000_000),
    )
    with engine.run(plan) as run:
        *_, summary = run
    assert isinstance(summary, Summary)
    return summary


def test_the_files_say_what_the_database_keeps() -> None:
    wanted = web_traffic.files()
    if os.environ.get("WIRETRIAL_UPDATE_GOLDEN"):
        for name, text in wanted.items():
            (FOLDER / name).write_text(text, encoding="utf-8")
    assert {path.name for path in FOLDER.iterdir()} == set(wanted)
    for name, text in wanted.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, name


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.toml")))
def test_right_replies_are_right_under_load(
    engine: Engine, server: tuple[Server, Database], name: str
) -> None:
    summary = loaded(engine, server, name, "none-of-them")
    assert summary.traffic is not None
    assert [route.errors for route in summary.traffic.routes if any(route.errors.values())] == []
    assert sum(flow.done for flow in summary.traffic.flows) == SESSIONS
    if name == "updates":
        _, postgresql = server
        rows = postgresql.asked.ask("TABLE world", web_parts.DATABASE)
        assert any(int(number) != web_parts.number(int(row)) for row, number in rows)


@pytest.mark.parametrize(("name", "fault", "words"), FAULTS)
def test_wrong_replies_are_found_before_a_load(
    engine: Engine, server: tuple[Server, Database], name: str, fault: str, words: str
) -> None:
    with pytest.raises(EngineFailed) as caught:
        loaded(engine, server, name, fault)
    assert words in caught.value.message


@pytest.mark.parametrize(("name", "fault", "words"), LATER)
def test_wrong_replies_are_found_under_load(
    engine: Engine, server: tuple[Server, Database], name: str, fault: str, words: str
) -> None:
    summary = loaded(engine, server, name, fault)
    assert summary.traffic is not None
    told = [text for route in summary.traffic.routes for text in route.examples.values()]
    assert any(words in text for text in told), told


EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "web"


def test_the_example_asks_each_subject_for_each_route() -> None:
    study = matrix.expand("web", document.read(EXAMPLE), command="c", seed=1)
    files = {path.stem for path in FOLDER.glob("*.toml")}
    assert {Path(case.scenario.file or "").stem for case in study.cases} == files
    names = {case.answering[0] for case in study.cases}
    claims = {name: registry.find(name).spec.contracts for name in names}
    assert {name for name, contracts in claims.items() if contracts != ("web",)} == set()


STUDY = """
title = "t"
question = "q?"
subjects = ["./program"]
duration = "1s"
warmup = "100ms"
[[workload]]
name = "db"
traffic = "web/db.toml"
users = 4
"""


def test_the_cpu_of_server_and_database_are_told_apart(engine: Engine, tmp_path: Path) -> None:
    if database_parts.programs() is None:
        lacking("there is no PostgreSQL: install postgresql")
    (tmp_path / "web").symlink_to(FOLDER)
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "program").mkdir()
    study = matrix.expand("s", document.read(tmp_path), command="c", seed=1)
    with built_program(tmp_path / "program") as (subject, built):
        bench = Bench(study, engine, {})
        run = trials.measure(bench, study.cases[0], Slot(0, 0, "one", 1), Ready(subject, built))
        while True:
            try:
                next(run)
            except StopIteration as ended:
                trial: Trial = ended.value
                break
    assert trial.subject is not None
    assert trial.subject.database is not None
    assert trial.subject.database.version.startswith("PostgreSQL ")
    assert trial.subject.database.connections == 16
    (place,) = trial.places
    assert [part.name for part in place.parts] == ["server", "database"]
    assert all((part.cpu_ns or 0) > 0 for part in place.parts)
    found = Measured(trial)
    told = metrics.DATABASE.of(found)
    assert told == place.parts[1].per_reply_ns
    assert told is not None
    assert told > 0
    # A Python server of threads needs more than the database for a row.
    server = metrics.SERVER.of(found)
    assert server is not None
    assert server > told
