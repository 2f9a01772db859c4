"""Names that are spelled nearly right: the error says which one was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from wiretrial import suggest

URL = "http://127.0.0.1:1/"
STUDY = """
title = "t"
question = "q?"
subjects = ["reference"]
[[workload]]
name = "echo"
protocol = "ws"
contract = "ws-echo"
"""

# Command line, and what it should have been.
TABLE: list[tuple[tuple[str, ...], str]] = [
    (("laod", URL), "load"),
    (("study", "runn", "x"), "run"),
    (("load", URL, "--conections", "3"), "--connections"),
    (("load", URL, "--pacing", "poison"), "poisson"),
    (("load", URL, "--expect", "learnt"), "learned"),
    (("load", URL, "-d", "5 minuts"), "minutes"),
    (("load", URL, "--payload", "64 kibs"), "kib"),
    (("load", "htpp://127.0.0.1:1/"), "http"),
    (("load", "ws://h/", "--deflate-with", "levl=3"), "level"),
    (("compare", "nginxx", "ws"), "nginx"),
    (("compare", "ws:tunned"), "tuned"),
    (("compare", "ws", "reference", "--protocol", "htttp"), "http"),
    (("study", "show", "websocket-server"), "websocket-servers"),
    (("study", "show", "client-libraries", "--provoke", "nagel"), "nagle"),
    (("study", "show", "game-bots", "--pacing", "fased"), "phased"),
    (("study", "show", "websocket-servers", "--only", "nettty"), "netty"),
    (("subject", "show", "uwebsocket"), "uwebsockets"),
    (("subject", "list", "--kind", "sever"), "server"),
    (("subject", "verify", "--study", "game-bot"), "game-bots"),
    (("browser", "--link", "satelite"), "satellite"),
    (("browser", "--headless", "--browser", "chrome"), "chromium"),
    (("link", "run", "satelite", "--", "true"), "satellite"),
    (("gate", ".", "--threshold", "servce.p99 <= 2ms"), "service.p99"),
    (("results", "export", ".", "--format", "hlog", "--metric", "servicetime"), "service_time"),
]


@pytest.mark.parametrize(("arguments", "meant"), TABLE, ids=lambda v: str(v)[:60])
def test_the_name_that_was_meant(wiretrial: Run, arguments: tuple[str, ...], meant: str) -> None:
    done = wiretrial(*arguments)
    assert f"did you mean {meant}?" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("right", "wrong", "meant"),
    [
        ('name = "echo"', 'name = "echo"\nconections = 3', "connections"),
        ('contract = "ws-echo"', 'contract = "ws-ecko"', "ws-echo"),
        ('name = "echo"', 'name = "echo"\nenvironment = "satelite"', "satellite"),
        ('name = "echo"', 'name = "echo"\nduration = "5 minuts"', "minutes"),
        ('title = "t"', 'title = "t"\ntwin = "refrence"', "reference"),
        ('name = "echo"', 'name = "echo"\nknee = { objectiv = "5ms" }', "objective"),
        ('name = "echo"', 'name = "echo"\nrate = "common"\nrate_of = "ecko"', "echo"),
    ],
    ids=lambda words: str(words)[-30:],
)
def test_a_study_that_misspells_a_name(
    wiretrial: Run, tmp_path: Path, right: str, wrong: str, meant: str
) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace(right, wrong), encoding="utf-8")
    done = wiretrial("study", "show", "./study.toml")
    assert f"did you mean {meant}?" in done.stderr
    assert done.returncode == 2


def test_a_folder_that_is_named_like_a_subject(wiretrial: Run, tmp_path: Path) -> None:
    for command, file in (("subject", "subject.toml"), ("study", "study.toml")):
        (tmp_path / "mine").mkdir(exist_ok=True)
        (tmp_path / "mine" / file).touch()
        assert "write ./mine for the folder" in wiretrial(command, "show", "mine").stderr


def test_what_is_like_nothing_is_not_guessed_at() -> None:
    assert suggest.closest("zzz", ("load", "compare")) is None
    assert suggest.closest("ftp", ("http", "tcp", "ws")) is None
    assert suggest.closest("--port", ("--format", "--help")) is None
    assert suggest.remedy("zzz", ("load", "compare")) == "use one of load, compare"


def test_case_is_no_difference() -> None:
    assert suggest.closest("LOAD", ("load", "compare")) == "load"
