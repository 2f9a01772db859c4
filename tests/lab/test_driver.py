"""Client drivers: how they are run and read, and how a broken contract is found out."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.lab.conftest import Children
from tests.lab.test_verify import PROGRAMS, examined
from wiretrial.engine import Engine
from wiretrial.errors import SubjectFailed
from wiretrial.subjects import build, checks_driver, driver, registry
from wiretrial.subjects.driver import Driver, Job
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import SPEC_FILE, Subject

CLIENT = """
name = "sockets"
kind = "client"
summary = "Plain sockets"
language = "Python"
homepage = "https://example.org"
licence = "Apache-2.0"
speaks = ["tcp"]
modes = [MODES]

[version]
command = ["PYTHON", "--version"]
pattern = 'Python (\\S+)'

[configurations.default]
description = "With faults."
command = ["PYTHON", "PROGRAM"FAULTS]
"""


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Builds of a test's own subjects are not left in the user's cache."""
    monkeypatch.setenv(build.ENVIRONMENT, str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def server(engine: Engine) -> Iterator[Server]:
    """The reference server."""
    reference = registry.find("reference")
    built = build.install(reference, engine.binary)
    with Server(reference, built, "default", engine=engine.binary) as running:
        running.wait_ports()
        yield running


def client(folder: Path, *faults: str, modes: str = '"kept", "fresh"') -> Subject:
    """A driver with faults."""
    words = "".join(f', "{fault}"' for fault in faults)
    text = CLIENT.replace("PYTHON", sys.executable).replace("PROGRAM", str(PROGRAMS / "client.py"))
    text = text.replace("FAULTS", words).replace("MODES", modes)
    (folder / SPEC_FILE).write_text(text, encoding="utf-8")
    return registry.find(f"{folder}/")


def running(subject: Subject, engine: Engine) -> Driver:
    """The subject's driver."""
    return Driver(subject, build.install(subject, engine.binary), "default", engine=engine.binary)


def job(server: Server) -> Job:
    """A few small messages."""
    url = server.endpoint("tcp").url()
    return Job(url=url, payload=64, mode="kept", iterations=30, warmup=3, repetitions=2)


def test_a_driver_does_its_job_and_tells_of_it(
    engine: Engine, server: Server, tmp_path: Path
) -> None:
    first, second = running(client(tmp_path), engine).run(job(server), 30)
    assert (first.repetition, second.repetition) == (0, 1)
    assert first.iterations == first.round_trips.get_total_count() == 30
    assert first.errors == 0
    assert 0 < first.round_trips.get_max_value() <= first.wall_ns * checks_driver.ROUNDING


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("mute", "told of the repetitions [], not of 2"),
        ("miscounting", "recorded 31 round trips of 30 iterations with 0 errors"),
        ("boasting", "wrote a line out of contract (rate: Extra inputs are not permitted)"),
        ("garbled", "wrote a line out of contract (histogram: Value error, no HdrHistogram V2"),
        ("failing", "ended with 1 (it failed after all)"),
        ("endless", "did not end"),
        ("no-such-flag --", "ended with 2 (client.py: error:"),
    ],
)
def test_what_is_told_out_of_contract_is_no_result(
    engine: Engine,
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    words: str,
) -> None:
    monkeypatch.setattr(driver, "LARGEST_OUTPUT", 1 << 20)
    with pytest.raises(SubjectFailed) as told:
        running(client(tmp_path, *fault.split()), engine).run(job(server), 30)
    assert words in told.value.line()
    assert "\n" not in told.value.line()


def test_a_driver_that_hangs_is_ended_at_the_deadline(
    engine: Engine, server: Server, children: Children, tmp_path: Path
) -> None:
    began = time.monotonic()
    with pytest.raises(SubjectFailed, match=r"sockets did not end in 0\.5 s"):
        running(client(tmp_path, "hanging"), engine).run(job(server), 0.5)
    # The program would sleep for a minute.
    assert time.monotonic() - began < 60
    assert children() == []


def test_a_driver_that_keeps_its_contract_is_verified(
    engine: Engine, children: Children, tmp_path: Path
) -> None:
    subject = client(tmp_path)
    found = examined(subject, engine)
    assert found.problems(subject) == []
    assert {one.part for one in found.outcomes} == {
        *("exchange", "many", "large", "connections", "wrong-reply", "refused", "silence")
    }
    assert children() == []


def test_a_driver_that_breaks_its_contract_is_found_out_part_by_part(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks_driver, "DEADLINE_S", 5.0)
    faults = ("trusting", "wasteful", "wordy", "patient")
    found = examined(client(tmp_path, *faults, modes='"kept"'), engine)
    problems = {one.check.partition(",")[0]: one.problem for one in found.failed()}
    assert problems == {
        "altered replies": "none of 20 replies was found wrong",
        "connections": "opened 46 connections, not 1",
        "a closed port": "the connection was refused, and it said so in 2 lines, not in one",
        "a silent server": "the server was silent, and it did not end in 5 s",
    }


@pytest.mark.parametrize(
    ("fault", "mode", "check", "words"),
    [
        ("coarse", "kept", "right replies, kept", "its round trips sum up to"),
        ("hoarding", "fresh", "connections, fresh", "opened 1 connections, not 45"),
    ],
)
def test_a_driver_s_clock_and_connections_are_held_against_ours(
    engine: Engine, tmp_path: Path, fault: str, mode: str, check: str, words: str
) -> None:
    found = examined(client(tmp_path, fault, modes=f'"{mode}"'), engine)
    (outcome,) = found.failed()
    assert outcome.check == check
    assert words in str(outcome.problem)


def test_a_driver_is_told_of_http_2_and_of_nothing_that_is_usual() -> None:
    job = Job(url="http://127.0.0.1:80/echo", payload=64, mode="kept", iterations=1)
    assert "--http" not in job.flags()
    words = replace(job, http="2").flags()
    assert words[words.index("--http") + 1] == "2"
