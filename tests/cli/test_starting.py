"""Servers that a search starts: what is meant, where they answer, what can't be started twice."""

from __future__ import annotations

import urllib.request
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.advise.synthetic import limit
from tests.cli import checkouts
from tests.cli.checkouts import write
from wiretrial.cli import advising_together, limiting, starting
from wiretrial.cli.advising_together import Planned
from wiretrial.cli.limiting import Kept, Search, Searched
from wiretrial.cli.loading import Extent, Further, Generator, Typed
from wiretrial.cli.options import Asked, Loop, Security
from wiretrial.cli.output import Format
from wiretrial.cli.starting import NO_OWN, Own, Startable, Tell
from wiretrial.errors import SubjectFailed, UsageProblem

LOCK = """
import fcntl, sys
lock = open("lock", "w")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    sys.exit("another instance has the lock")
"""
TRAFFIC = """
base = "http://127.0.0.1:1"
[[flow]]
file = "get.hurl"
"""
SEARCH = Search((), None, None, "1", "30%", "1m")
KEPT = Kept(keeps_secrets=False, format=Format.TEXT, file=None, page=None)
WHOLE: Any = SimpleNamespace(signal=None, failure=None)
"""Levels that came to their end."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a test runs; no server of it is left behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WIRETRIAL_CACHE", str(tmp_path / "cache"))
    return tmp_path


def typed(url: str = "", **changes: Any) -> Typed:
    """What is typed where nothing is said but what is measured."""
    loop = Loop(changes.pop("connections", ""), "1", "1", None, None)
    asked = Asked(None, None, False, None, (), (), "200")
    extent = Extent("1s", None, "0", "10s", "30s")
    further = Further(False, None, "0")
    generator = Generator("1")
    return Typed(url, loop, asked, Security(False, None), extent, generator, further, **changes)


def reply(url: str) -> bytes:
    """What it answers."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        found: bytes = answer.read()
    return found


@pytest.mark.parametrize("url", ["http://h/", "127.0.0.1:8080", "shop.toml", "nowhere", ""])
def test_what_runs_already_is_not_started(url: str) -> None:
    assert starting.meant(typed(url), NO_OWN) is None


def test_what_is_started_is_told_by_what_was_typed(folder: Path) -> None:
    write(folder / "shop")
    found = starting.meant(typed("./shop"), NO_OWN)
    assert found is not None
    assert (found.shown, found.port, found.traffic) == ("./shop", None, None)
    found = starting.meant(typed(), Own(command=("./server",), port="8080"))
    assert found is not None
    assert (found.shown, found.port) == ("./server", 8080)
    found = starting.meant(typed("reference"), NO_OWN)
    assert found is not None
    assert found.shown == "reference"


@pytest.mark.parametrize(
    ("url", "own", "says"),
    [
        ("http://h/", Own(command=("x",)), "--command with http://h/: the one is started here"),
        ("nowhere", Own(command=("x",)), "nowhere is neither a folder nor a traffic file"),
        ("", Own(port="80"), "--port is for servers of your own"),
        ("reference", Own(port="80"), "--port is for servers of your own"),
        ("shop.toml", Own(command=("x",), path="/a"), "--path and shop.toml exclude each other"),
        ("./empty", NO_OWN, "./empty has no wiretrial.toml"),
    ],
)
def test_what_makes_no_sense_is_refused(folder: Path, url: str, own: Own, says: str) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(UsageProblem) as refused:
        starting.meant(typed(url), own)
    assert says in refused.value.message


def test_instances_answer_at_ports_of_their_own_and_end_together(folder: Path) -> None:
    write(folder / "shop")
    asked = typed("./shop", servers=("db=pid:1",))
    what = starting.meant(asked, NO_OWN)
    assert what is not None
    with starting.running(what, asked, None) as running:
        running.start()
        first, second = running.addresses
        assert first != second
        assert [reply(f"http://{one}/") for one in (first, second)] == [b"ok", b"ok"]
        aimed = running.typed
        assert aimed.url == f"http://{first}/"
        # Who names one part of an application names the server by that.
        *own, db = [one.partition("=pid:")[0] for one in aimed.servers]
        assert (own, db) == (["shop", "shop 2"], "db")
    assert checkouts.running(folder) == []


def test_a_server_has_no_fewer_threads_than_it_needs(folder: Path) -> None:
    write(folder / "shop", command="echo {threads} > threads; python3 server.py {port}")
    asked = typed("./shop")
    what = starting.meant(asked, NO_OWN)
    assert what is not None
    usual = what.make

    def make(tell: Tell) -> Startable:
        one = usual(tell)
        spec = one.subject.spec.model_copy(update={"least_threads": 2})
        return replace(one, subject=one.subject.model_copy(update={"spec": spec}))

    with starting.running(replace(what, make=make), asked, None):
        assert (folder / "shop" / "threads").read_text(encoding="utf-8") == "2\n"


def test_sessions_go_to_the_server_in_place_of_their_base(folder: Path) -> None:
    write(folder / "shop", extra="traffic = 'shop.toml'\n")
    (folder / "shop" / "shop.toml").write_text(TRAFFIC, encoding="utf-8")
    (folder / "shop" / "get.hurl").write_text("GET {{base}}/\nHTTP 200\n", encoding="utf-8")
    asked = typed("./shop")
    what = starting.meant(asked, NO_OWN)
    assert what is not None
    with starting.running(what, asked, None) as running:
        aimed = running.typed
        assert aimed.url == str(folder / "shop" / "shop.toml")
        assert aimed.further.variables == (f"base=http://{running.addresses[0]}",)


def test_a_generator_keeps_the_cpus_that_were_chosen_for_it(folder: Path) -> None:
    write(folder / "shop")
    asked = typed("./shop")
    what, cpus = starting.meant(asked, NO_OWN), starting.dealt(asked, 1)
    assert what is not None
    if cpus is None:
        pytest.skip("there is one CPU")
    with starting.running(what, asked, cpus) as running:
        assert running.shared_cpus is None
        assert running.typed.generator.cpus == ",".join(map(str, cpus.generator))


def test_a_server_that_locks_has_no_second_instance(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = write(folder / "shop")
    program = shop / "server.py"
    program.write_text(LOCK + program.read_text(encoding="utf-8"), encoding="utf-8")
    asked = typed("./shop")
    what = starting.meant(asked, NO_OWN)
    assert what is not None
    with starting.running(what, asked, None) as running:
        found = advising_together.measured(
            running, Planned(2, None), asked, SEARCH, Searched(limit(), WHOLE), KEPT
        )
    assert found.lacks is not None
    assert found.lacks.startswith("instance 2 did not start: shop ended at its start: exit status")
    assert "another instance has the lock" in found.lacks
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"scaling is not measured: {found.lacks}"


def test_a_server_that_does_not_start_tells_how_to_look(folder: Path) -> None:
    asked = typed()
    what = starting.meant(asked, Own(command=("exit 3",)))
    assert what is not None
    with pytest.raises(SubjectFailed) as failed, starting.running(what, asked, None):
        pass
    assert "exit status 3" in failed.value.message
    assert failed.value.remedy == f"run it by hand in {folder}: exit 3"


@pytest.mark.parametrize(
    ("port", "asked", "dealt", "many", "lacks"),
    [
        (None, None, True, 2, None),
        (None, "3", True, 3, None),
        (None, "2", False, 2, None),
        (None, "1", True, 1, "one instance was asked for (--instances 1)"),
        (8080, "2", True, 1, "the server listens on port 8080 alone"),
        (None, None, False, 1, "2 of them beside the load generator need 3 CPUs"),
    ],
)
def test_how_many_are_measured_together(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    port: int | None,
    asked: str | None,
    dealt: bool,
    many: int,
    lacks: str | None,
) -> None:
    monkeypatch.setattr(starting, "dealt", lambda *_: "some" if dealt else None)
    what: Any = SimpleNamespace(port=port)
    found = advising_together.planned(what, typed("./shop"), asked)
    assert found.many == many
    if lacks is None:
        assert (found.lacks, capsys.readouterr().err) == (None, "")
        return
    assert found.lacks is not None
    assert found.lacks.startswith(lacks)
    # Who asks for one alone knows it.
    assert ("is not measured" in capsys.readouterr().err) == (asked != "1")


@pytest.mark.parametrize(
    ("one", "two", "lacks"),
    [
        ({}, {}, None),
        ({"end": "time"}, {}, "the search of one did not come to its end"),
        ({"is_at_least": True}, {}, "one alone was more than was sent"),
        ({}, {"rate": None}, "no rate of 2 together was found that keeps the goals"),
        ({}, {"is_at_least": True}, "2 together were more than this load generator sends"),
    ],
)
def test_what_two_carry_is_kept_or_why_it_is_not(
    monkeypatch: pytest.MonkeyPatch, one: dict[str, Any], two: dict[str, Any], lacks: str | None
) -> None:
    given: dict[str, Any] = {}

    def searched(asked: Typed, search: Search, *_: object, **more: Any) -> Searched:
        given.update(more, connections=asked.loop.connections, first=search.first)
        return Searched(limit(**two), WHOLE)

    monkeypatch.setattr(limiting, "searched", searched)
    running: Any = SimpleNamespace(
        addresses=("127.0.0.1:1", "127.0.0.1:2"), typed=typed("http://h/"), shown="./shop"
    )
    running.shared_cpus = 2
    found = advising_together.measured(
        running,
        Planned(2, None),
        typed("./shop", connections="50"),
        SEARCH,
        Searched(limit(**one), WHOLE),
        KEPT,
    )
    if lacks is not None:
        assert found.lacks is not None
        assert found.lacks.startswith(lacks)
        return
    (together,) = found.together
    assert (together.instances, together.is_spread, together.shared_cpus) == (2, True, 2)
    assert given["addresses"] == running.addresses
    assert (given["shown"], given["connections"]) == ("2 of ./shop", "100")
    # Twice 8,400, and a fifth less.
    assert given["first"] == "13440"
