"""Compilers that a recipe calls: from Debian, and a Go and a Java that are new enough."""

from __future__ import annotations

import json
import os
import shutil
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


def a_jdk(home: Path, version: str, *programs: str) -> Path:
    (home / "bin").mkdir(parents=True)
    for name in programs:
        (home / "bin" / name).touch(mode=0o755)
    (home / "release").write_text(f'IMPLEMENTOR="own"\nJAVA_VERSION="{version}"\n', "utf-8")
    return home


@pytest.mark.parametrize(
    ("wanted", "found"), [(11, "17"), (17, "17"), (18, "25"), (21, "25"), (25, "25"), (26, None)]
)
def test_a_jdk_that_is_new_enough_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: int, found: str | None
) -> None:
    """That of the PATH where it will do, else the newest that is kept."""
    kept = tmp_path / "jvm"
    ours = a_jdk(kept / "17", "17.0.15", "java", "javac")
    a_jdk(kept / "21", "21.0.2", "java", "javac")
    a_jdk(kept / "25", "25.0.3", "java", "javac")
    a_jdk(kept / "27", "27", "java")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "javac").symlink_to(ours / "bin" / "javac")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert toolchains.java_home(wanted, kept) == (kept / found if found else None)


@pytest.mark.parametrize(("wanted", "found"), [(21, "named"), (22, "kept/25")])
def test_a_jdk_that_was_named_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: int, found: str
) -> None:
    a_jdk(tmp_path / "kept" / "25", "25", "java", "javac")
    named = a_jdk(tmp_path / "named", "21.0.2", "java", "javac")
    monkeypatch.setenv("JAVA_HOME", str(named))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert toolchains.java_home(wanted, tmp_path / "kept") == tmp_path / found


ASKING = """
[install]
java = VERSION
"""


def test_a_build_has_the_jdk_that_it_asks_for(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = a_jdk(tmp_path / "jdk-21", "21.0.2", "java", "javac")
    monkeypatch.setenv(build.ENVIRONMENT, str(tmp_path / "cache"))
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", f"{home / 'bin'}:{os.environ['PATH']}")
    subject = own(
        tmp_path, '["sh", "-c", "echo $JAVA_HOME > told"]', ASKING.replace("VERSION", "21")
    )
    built = build.install(subject, engine.binary)
    assert (built.folder / "jdk").resolve() == home
    assert (built.folder / "told").read_text(encoding="utf-8").endswith("/jdk\n")
    assert build.installed(subject, engine.binary) == built
    shutil.rmtree(home)
    assert build.installed(subject, engine.binary) is None


def test_without_such_a_jdk_a_build_is_refused(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = a_jdk(tmp_path / "jdk-21", "21.0.2", "java", "javac")
    monkeypatch.setenv(build.ENVIRONMENT, str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{home / 'bin'}:{os.environ['PATH']}")
    subject = own(tmp_path, install=ASKING.replace("VERSION", "99"))
    with pytest.raises(SubjectUnavailable, match="Java 99 or later is not installed"):
        build.install(subject, engine.binary)
