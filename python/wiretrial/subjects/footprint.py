"""What a subject weighs: dependencies over a stated base, program size, build time, own lines.

Knows what an installation left behind and what apt would install; must not install anything.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from wiretrial.subjects.spec import Subject, fill

BASE = ("g++", "cmake", "libssl-dev", "zlib1g-dev")
"""Debian packages that every C++ project has; what a subject adds to them is its own."""

_COMMENT = {
    ".py": ("#",),
    ".toml": ("#",),
    ".conf": ("#",),
}
_COMMENT_ELSEWHERE = ("//", "/*", "*/", "* ")


class _Step(Protocol):
    @property
    def compiles(self) -> bool: ...
    @property
    def wall_ns(self) -> int: ...
    @property
    def cpu_ns(self) -> int: ...


class Weight(BaseModel):
    """One subject's footprint. None: it has no such thing, or it can't be told here."""

    model_config = ConfigDict(frozen=True)

    dependencies: int | None
    """Packages of every package manager that it brings, over `BASE`."""
    dependency_bytes: int | None
    """Their installed size: Debian's own figure, and what npm, pip, go or cargo put beside it."""
    artefact_bytes: int | None
    """What is deployed, as built."""
    stripped_bytes: int | None
    """The same without symbols, for a native program."""
    build_wall_ns: int | None
    build_cpu_ns: int | None
    """Of the clean build of our service with it, downloads apart."""
    service_lines: int | None
    """Lines of our service that are neither blank nor a comment."""


def weigh(subject: Subject, work: Path, values: dict[str, str], steps: Sequence[_Step]) -> Weight:
    """The footprint of what lies in `work`."""
    built = [step for step in steps if step.compiles]
    artefact = subject.spec.footprint.artefact
    program = work / fill(artefact, values) if artefact else None
    if program and not program.is_file():
        program = None
    count, size = _dependencies(subject, work)
    return Weight(
        dependencies=count,
        dependency_bytes=size,
        artefact_bytes=program.stat().st_size if program else None,
        stripped_bytes=_stripped(program) if program else None,
        build_wall_ns=sum(step.wall_ns for step in built) if built else None,
        build_cpu_ns=sum(step.cpu_ns for step in built) if built else None,
        service_lines=_lines(subject),
    )


def _dependencies(subject: Subject, work: Path) -> tuple[int | None, int | None]:
    """How many packages, and their bytes."""
    install = subject.spec.install
    found = [
        _debian([name.partition("=")[0] for name in install.apt]) if install.apt else None,
        _npm(work) if install.npm else None,
        _tree(work, [pack.name for pack in install.npm_pack]) if install.npm_pack else None,
        _tree(work, ["usr"]) if install.deb else None,
        _pip(work) if install.pip else None,
        (_locked_crates(work), _bytes(work / "vendor")) if install.crates else None,
        (_locked_crates(work), 0) if install.cargo else None,
        (_go_modules(work), 0) if install.go else None,
        _jars(work) if install.maven else None,
    ]
    known = [entry for entry in found if entry is not None]
    if not known:
        return None, None
    return sum(count for count, _ in known), sum(size for _, size in known)


def _debian(packages: Sequence[str]) -> tuple[int, int] | None:
    """What apt would add for `packages` to a system that has only `BASE`."""
    if not shutil.which("apt-get"):
        return None
    base = _simulated(BASE)
    added = _simulated([*BASE, *packages]) - base
    shown = _output(["apt-cache", "show", "--no-all-versions", *sorted(added)]) if added else ""
    sizes = dict(
        re.findall(r"^Package: (\S+)$.*?^Installed-Size: (\d+)$", shown, re.MULTILINE | re.DOTALL)
    )
    return len(added), sum(int(size) for size in sizes.values()) * 1024


def _simulated(packages: Sequence[str]) -> set[str]:
    """The packages that apt would install on a system that has none."""
    said = _output(
        [
            *("apt-get", "-o", "Dir::State::status=/dev/null", "--simulate"),
            *("--no-install-recommends", "install", *packages),
        ]
    )
    return set(re.findall(r"^Inst (\S+) ", said, re.MULTILINE))


def _npm(work: Path) -> tuple[int, int]:
    modules = work / "node_modules"
    count = sum(1 for _ in modules.glob("*/package.json"))
    count += sum(1 for _ in modules.glob("@*/*/package.json"))
    return count, _bytes(modules)


def _tree(work: Path, names: Sequence[str]) -> tuple[int, int]:
    return len(names), sum(_bytes(work / name) for name in names)


def _pip(work: Path) -> tuple[int, int]:
    own = {"pip", "setuptools", "wheel", "pkg_resources", "_distutils_hack", "__pycache__"}
    size = count = 0
    for site in work.glob("venv/lib/python*/site-packages"):
        for entry in site.iterdir():
            if entry.name.partition("-")[0] in own:
                continue
            size += _bytes(entry)
            count += entry.name.endswith(".dist-info")
    return count, size


def _locked_crates(work: Path) -> int:
    with (work / "Cargo.lock").open("rb") as file:
        return len(tomllib.load(file)["package"]) - 1


def _go_modules(work: Path) -> int:
    locked = work / "go.sum"
    if not locked.is_file():
        # Of the standard library alone.
        return 0
    lines = locked.read_text(encoding="utf-8").splitlines()
    return len({line.split()[0] for line in lines if "/go.mod " not in line})


def _jars(work: Path) -> tuple[int, int]:
    jars = list((work / "target" / "lib").glob("*.jar"))
    return len(jars), sum(path.stat().st_size for path in jars)


def _bytes(folder: Path) -> int:
    if folder.is_file():
        return folder.stat().st_size
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def _stripped(program: Path) -> int | None:
    with program.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return None
    if not shutil.which("strip"):
        return None
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / program.name
        done = subprocess.run(["strip", "-o", copy, program], capture_output=True, check=False)
        return copy.stat().st_size if done.returncode == 0 else None


def _lines(subject: Subject) -> int | None:
    names = subject.spec.footprint.service
    if not names:
        return None
    return sum(_code_lines(subject.folder / name) for name in names)


def _code_lines(path: Path) -> int:
    marks = _COMMENT.get(path.suffix, _COMMENT_ELSEWHERE)
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return sum(1 for line in lines if line and not line.startswith(marks) and line != "*")


def _output(command: Sequence[str]) -> str:
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False
    ).stdout
