"""The catalogue's subjects, really installed and started; and servers that break their word."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.conftest import Children
from wiretrial.engine import Engine
from wiretrial.errors import SubjectFailed, SubjectUnavailable, UsageProblem
from wiretrial.subjects import build, registry, spec
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import Subject

OWN = """
name = "own"
kind = "server"
summary = "The reference server, with a fault"
language = "Rust"
homepage = "https://example.org"
licence = "Apache-2.0"
speaks = ["http", "ws", "tcp"]
contracts = ["http-echo", "ws-echo", "raw-echo"]

[version]
command = ["{engine}", "--version"]
pattern = '(\\S+)$'

[readiness]
deadline_s = 5

[configurations.default]
description = "Wrong on purpose."
command = [
  "{engine}", "respond", "--http", "{host}:{port}", "--tcp", "{host}:{raw_port}"FLAGS
]
"""


def own(folder: Path, *flags: str) -> Subject:
    """A subject in a folder of its own, as a user would add one."""
    words = "".join(f', "{flag}"' for flag in flags)
    (folder / spec.SPEC_FILE).write_text(OWN.replace("FLAGS", words), encoding="utf-8")
    return registry.find(f"{folder}/")


def test_a_server_that_ends_at_its_start_is_told_with_its_last_words(
    engine: Engine, children: Children, tmp_path: Path
) -> None:
    subject = own(tmp_path, "--no-such-flag")
    built = build.install(subject, engine.binary)
    with (
        pytest.raises(SubjectFailed, match="own ended at its start: exit status 2"),
        Server(subject, built, "default", engine=engine.binary) as server,
    ):
        server.wait_ready()
    assert children() == []


@pytest.fixture
def narrow() -> Iterator[Path]:
    """A control group in which 32 MiB of memory are all there is."""
    root = Path("/sys/fs/cgroup")
    base, limit = (
        (root / "memory", "memory.limit_in_bytes")
        if (root / "memory").is_dir()
        else (root, "memory.max")
    )
    group = base / f"wiretrial-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / limit).write_text(str(32 << 20), encoding="ascii")
    except OSError as error:
        if group.is_dir():
            group.rmdir()
        pytest.skip(f"no control group may be made here: {error.strerror}")
    yield group
    group.rmdir()


def test_a_server_that_the_kernel_ends_for_want_of_memory_is_told_so(
    engine: Engine, tmp_path: Path, narrow: Path
) -> None:
    hungry = f"echo $$ > {narrow}/cgroup.procs && exec {sys.executable} -c 'bytearray(1 << 30)'"
    begin = OWN.index("command = [\n")
    text = OWN[:begin] + f'command = ["sh", "-c", "{hungry}"]\n'
    (tmp_path / spec.SPEC_FILE).write_text(text, encoding="utf-8")
    subject = registry.find(f"{tmp_path}/")
    built = build.install(subject, engine.binary)
    with (
        pytest.raises(SubjectFailed, match="signal SIGKILL, and the kernel was out of memory"),
        Server(subject, built, "default", engine=engine.binary) as server,
    ):
        server.wait_ready()


def test_a_server_on_the_wrong_port_is_given_up(engine: Engine, tmp_path: Path) -> None:
    text = OWN.replace("FLAGS", "").replace("{host}:{raw_port}", "{host}:0")
    (tmp_path / spec.SPEC_FILE).write_text(
        text.replace("deadline_s = 5", "deadline_s = 0.3"), encoding="utf-8"
    )
    subject = registry.find(f"{tmp_path}/")
    built = build.install(subject, engine.binary)
    with (
        pytest.raises(SubjectFailed, match=r"does not answer on 127.0.0.1:\d+ after 0.3 s"),
        Server(subject, built, "default", engine=engine.binary) as server,
    ):
        server.wait_ready()


def test_more_threads_than_a_subject_has_are_refused(engine: Engine) -> None:
    ws = registry.find("ws")
    built = build.install(ws, engine.binary)
    with pytest.raises(UsageProblem, match="ws uses 1 thread at most, not 2"):
        Server(ws, built, "default", engine=engine.binary, threads=2)


def test_what_can_not_be_built_is_unavailable_with_its_reason(
    engine: Engine, tmp_path: Path
) -> None:
    text = OWN.replace("FLAGS", "").replace(
        "[version]", 'build = [["no-such-compiler", "-o", "{build}/own"]]\n\n[version]'
    )
    (tmp_path / spec.SPEC_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(SubjectUnavailable) as told:
        build.install(registry.find(f"{tmp_path}/"), engine.binary)
    assert told.value.line() == (
        "own is unavailable: no-such-compiler is not installed: install no-such-compiler"
    )


def test_a_build_is_made_once_and_follows_the_sources(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(build.ENVIRONMENT, str(tmp_path / "cache"))
    folder = tmp_path / "own"
    folder.mkdir()
    subject = own(folder)
    assert build.installed(subject, engine.binary) is None
    first = build.install(subject, engine.binary)
    assert build.installed(subject, engine.binary) == first
    assert build.install(subject, engine.binary) == first
    (folder / "README.md").write_text("Another text.", encoding="utf-8")
    assert build.install(subject, engine.binary).folder != first.folder
    builds = [path.name for path in (tmp_path / "cache" / "subjects").iterdir()]
    assert len(builds) == 2
    assert all(name.startswith("own-") for name in builds)
