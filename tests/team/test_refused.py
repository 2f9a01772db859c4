"""What can't be: one line with the remedy, an exit code, and never a password."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.team.conftest import PASSWORD, Run, Team, study
from wiretrial.cli import results_team
from wiretrial.errors import EXIT_FAILED, EXIT_USAGE, UsageProblem
from wiretrial.redaction import MARK
from wiretrial.team import address

SECRET = "hunter22"


@pytest.fixture
def nobody() -> Iterator[int]:
    """A port at which nothing listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that takes connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        taken: list[socket.socket] = []

        def take() -> None:
            try:
                while True:
                    taken.append(held.accept()[0])
            except OSError:
                return

        thread = threading.Thread(target=take)
        thread.start()
        yield held.getsockname()[1]
        held.shutdown(socket.SHUT_RDWR)
        thread.join()
        for one in taken:
            one.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (
            f"postgresql://wanda:{SECRET}@db/lab",
            "postgresql://***@db/lab carries a password, which other users",
        ),
        (f"postgresql:///lab?host=db&password={SECRET}", "carries a password"),
        (f"postgres://wanda:{SECRET}/x@db/lab", ""),
        (f"mysql://wanda:{SECRET}@db/lab", "mysql://***@db/lab names no PostgreSQL: write"),
        ("http://db/lab", "names no PostgreSQL: write postgresql://HOST/DATABASE"),
        ("postgresql://db/lab?colour=red", "is not a URL of PostgreSQL: write"),
        ("postgresql://[::1/lab", "is not a URL of PostgreSQL: write"),
    ],
)
@pytest.mark.parametrize("words_before", [("push",), ("pull",), ("list", "--from")])
def test_a_wrong_url_is_refused_without_its_password(
    wiretrial: Run, url: str, words: str, words_before: tuple[str, ...]
) -> None:
    done = wiretrial(*words_before, url)
    assert done.returncode == EXIT_USAGE
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    assert SECRET not in done.stderr + done.stdout


@pytest.mark.parametrize("variables", [{}, {"PGUSER": "wanda"}, {"WIRETRIAL_STORE": ""}])
def test_no_store_is_refused(wiretrial: Run, variables: dict[str, str]) -> None:
    done = wiretrial("push", **variables)
    assert done.returncode == EXIT_USAGE
    assert done.stderr == (
        "wiretrial: no store is named: give its URL, postgresql://HOST/DATABASE, or set"
        " WIRETRIAL_STORE\n"
    )


def test_a_password_of_the_environment_is_used_and_not_shown(
    team: Team, wiretrial: Run, tmp_path: Path
) -> None:
    study(tmp_path / "results")
    store = team.address().conninfo
    assert "password=" in store
    done = wiretrial("push", WIRETRIAL_STORE=store, PGPASSWORD="wrong")
    assert done.returncode == 0, done.stderr
    gone = wiretrial("pull", WIRETRIAL_STORE=store.replace(team.name, "gone"))
    assert gone.returncode == EXIT_FAILED
    assert PASSWORD.split()[1] not in gone.stderr
    assert MARK in gone.stderr
    bad = wiretrial("pull", WIRETRIAL_STORE=f"mysql://x:{SECRET}@db/lab")
    assert "WIRETRIAL_STORE (mysql://***@db/lab) names no PostgreSQL" in bad.stderr


def test_libpq_s_own_variables_and_files_are_used(
    team: Team, wiretrial: Run, tmp_path: Path
) -> None:
    port = str(team.cluster.port)
    where = {"PGHOST": "127.0.0.1", "PGPORT": port, "PGDATABASE": team.name, "PGUSER": "wanda"}
    assert wiretrial("list", "--from", "env", **where).returncode == 0
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"127.0.0.1:{port}:*:wanda:{PASSWORD}\n", encoding="utf-8")
    passwords.chmod(0o600)
    done = wiretrial("list", "--from", "env", **where, PGPASSWORD="", PGPASSFILE=str(passwords))
    assert done.returncode == 0, done.stderr
    services = tmp_path / "services"
    services.write_text(
        f"[lab]\nhost=127.0.0.1\nport={port}\ndbname={team.name}\nuser=wanda\n", encoding="utf-8"
    )
    for named in ({"PGSERVICE": "lab"}, {"WIRETRIAL_STORE": "postgresql://?service=lab"}):
        done = wiretrial("list", "--from", "env", **named, PGSERVICEFILE=str(services))
        assert done.returncode == 0, done.stderr


def test_no_server_is_one_line(wiretrial: Run, nobody: int) -> None:
    done = wiretrial("push", f"postgresql://127.0.0.1:{nobody}/lab")
    assert done.returncode == EXIT_FAILED
    assert done.stderr.startswith(
        f"wiretrial: can't connect to postgresql://127.0.0.1:{nobody}/lab: "
    )
    assert "Connection refused" in done.stderr
    assert done.stderr.endswith(": check that the server runs and that the address is right\n")
    assert done.stderr.count("\n") == 1


def test_an_unknown_host_is_one_line(wiretrial: Run) -> None:
    done = wiretrial("push", "postgresql://nowhere.invalid/lab")
    assert done.returncode == EXIT_FAILED
    assert "can't connect to postgresql://nowhere.invalid/lab: " in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_server_that_says_nothing_is_not_waited_for(wiretrial: Run, silent: int) -> None:
    done = wiretrial("push", f"postgresql://127.0.0.1:{silent}/lab", PGCONNECT_TIMEOUT="2")
    assert done.returncode == EXIT_FAILED
    assert "timeout" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_wrong_password_is_one_line(team: Team, wiretrial: Run) -> None:
    done = wiretrial("push", team.url(), PGPASSWORD=SECRET)
    assert done.returncode == EXIT_FAILED
    assert "password authentication failed" in done.stderr
    assert done.stderr.endswith(": give the right one in PGPASSWORD, ~/.pgpass or a service file\n")
    assert done.stderr.count("\n") == 1
    assert SECRET not in done.stderr


def test_a_database_that_is_not_there_is_one_line(team: Team, wiretrial: Run) -> None:
    done = wiretrial("pull", team.url().replace(team.name, "gone"))
    assert done.returncode == EXIT_FAILED
    assert done.stderr.endswith(": check the names of the role and of the database\n")
    assert done.stderr.count("\n") == 1


def test_a_folder_that_is_not_there_or_can_not_be_written_is_one_line(
    team: Team, wiretrial: Run, tmp_path: Path
) -> None:
    done = wiretrial("push", team.url())
    assert done.returncode == EXIT_FAILED
    assert done.stderr == (
        "wiretrial: there is no folder results: measure something first, or name it (--results)\n"
    )
    done = wiretrial("push", team.url(), "gone")
    assert done.returncode == EXIT_FAILED
    assert "gone holds no results: it does not exist" in done.stderr
    folder = study(tmp_path / "results")
    assert wiretrial("push", team.url()).returncode == 0
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = wiretrial("pull", team.url(), "--to", "file/there")
    assert done.returncode == EXIT_FAILED
    assert done.stderr.startswith("wiretrial: can't write file/there: ")
    trial = next((folder / "trials").iterdir())
    done = wiretrial("push", team.url(), str(trial))
    assert done.returncode == EXIT_FAILED
    assert "is one trial of a study: name the study's folder" in done.stderr


def test_without_the_driver_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageProblem, match="needs psycopg with its libpq") as refused:
        results_team.pull(results_team.Wanted(("postgresql://db/lab",)), Path("results"))
    assert refused.value.remedy == "pip install 'wiretrial[store]'"


def test_a_url_shows_no_secret_however_it_is_printed() -> None:
    named = address.named(None, {address.VARIABLE: f"postgresql://wanda:{SECRET}@db/lab"})
    assert SECRET not in f"{named} {named.shown}"
    assert SECRET in named.conninfo
