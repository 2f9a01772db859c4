"""Compilers that a recipe calls: had from Debian's packages, and a Go that is new enough."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.lab.test_build import own
from wiretrial.engine import Engine
from wiretrial.errors import SubjectUnavailable
from wiretrial.subjects import build, toolchains

APT_GET = """#!/bin/sh
echo "$@" >> {log}
case "$*" in *install*)
  printf '#!/bin/sh\\nexec touch made\\n' > {bin}/javac
  chmod +x {bin}/javac ;;
esac
"""


def a_machine(folder: Path, monkeypatch: pytest.MonkeyPatch, apt_get: str | None) -> Path:
    """A PATH with little on it, and an `apt-get` that writes down what it is asked."""
    bin_, log = folder / "bin", folder / "apt.log"
    bin_.mkdir()
    for name in ("env", "sh", "cp", "cat", "touch", "chmod", "true"):
        (bin_ / name).symlink_to(Path("/usr/bin") / name)
    scripts = {"dpkg-query": "#!/bin/sh\n", "sudo": '#!/bin/sh\nshift\nexec "$@"\n'}
    if apt_get is not None:
        scripts["apt-get"] = apt_get.format(log=log, bin=bin_)
    for name, text in scripts.items():
        (bin_ / name).write_text(text, encoding="utf-8")
        (bin_ / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(bin_))
    monkeypatch.setenv(build.ENVIRONMENT, str(folder / "cache"))
    return log


def test_a_missing_compiler_comes_from_its_package(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = a_machine(tmp_path, monkeypatch, APT_GET)
    built = build.install(own(tmp_path, '["javac", "Main.java"]'), engine.binary)
    assert (built.folder / "made").exists()
    assert log.read_text(encoding="utf-8").splitlines() == [
        "-o DPkg::Lock::Timeout=300 install -y --no-install-recommends default-jdk-headless"
    ]


def test_what_no_package_has_is_refused_by_name(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = a_machine(tmp_path, monkeypatch, APT_GET)
    with pytest.raises(SubjectUnavailable, match="zig is not installed"):
        build.install(own(tmp_path, '["zig"]'), engine.binary)
    assert not log.exists()


def test_without_apt_a_compiler_is_refused_by_name(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_machine(tmp_path, monkeypatch, None)
    with pytest.raises(SubjectUnavailable, match="javac is not installed"):
        build.install(own(tmp_path, '["javac"]'), engine.binary)


@pytest.mark.parametrize(
    ("module", "wanted"),
    [("go 1.23\n", (1, 23)), ("go 1.23.0\n", (1, 23, 0)), ("", ()), (None, ())],
)
def test_table_of_what_a_module_asks_for(
    tmp_path: Path, module: str | None, wanted: tuple[int, ...]
) -> None:
    if module is not None:
        (tmp_path / "go.mod").write_text(f"module own\n\n{module}", encoding="utf-8")
    assert toolchains.go_wanted(tmp_path) == wanted


def test_a_go_that_is_new_enough_is_used() -> None:
    asked: list[Sequence[str]] = []

    def run(command: Sequence[str], folder: Path | None) -> str:
        asked.append(command)
        assert folder is None
        return "go1.23.4\n"

    assert toolchains.go_program((1, 23), run) == "go"
    assert asked == [["go", "env", "GOVERSION"]]


def test_an_old_go_downloads_a_newer_one_as_a_module(tmp_path: Path) -> None:
    program, tool = tmp_path / "bin" / "go", tmp_path / "pkg" / "tool" / "linux_amd64" / "compile"
    for path in (program, tool):
        path.parent.mkdir(parents=True)
        path.touch(mode=0o444)

    def run(command: Sequence[str], folder: Path | None) -> str:
        if command[1] == "env":
            return "go1.19.8\n"
        assert command[:4] == ["go", "mod", "download", "-json"]
        assert folder is not None
        assert not (folder / "go.mod").exists()
        assert command[4].startswith(f"golang.org/toolchain@v0.0.1-go{toolchains.GO_RELEASE}.linux")
        return json.dumps({"Dir": str(tmp_path)})

    assert toolchains.go_program((1, 23), run) == str(program)
    for path in (program, tool):
        assert path.stat().st_mode & stat.S_IXUSR
        assert os.access(path, os.X_OK)
