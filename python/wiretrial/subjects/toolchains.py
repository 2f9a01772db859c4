"""Compilers and package managers that recipes call: where Debian has them, a newer Go or Java.

Knows names of programs and packages, how Go hands out its own releases, and where JDKs lie; must
not run a recipe.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

DEBIAN_PACKAGES: Final = {
    "c++": "g++",
    "cmake": "cmake",
    "dpkg-source": "dpkg-dev",
    "g++": "g++",
    "gcc": "gcc",
    "go": "golang-go",
    "java": "default-jdk-headless",
    "javac": "default-jdk-headless",
    "make": "make",
    "mvn": "maven",
    "node": "nodejs",
    "npm": "npm",
}
"""Which package has a program that recipes call."""

GO_RELEASE: Final = "1.26.8"
"""What is used where the installed Go is too old, and too old to fetch a newer one by itself."""

JDKS: Final = Path("/usr/lib/jvm")
"""Where Linux distributions keep them side by side."""

_MODULE: Final = "golang.org/toolchain"
_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


def go_wanted(work: Path) -> tuple[int, ...]:
    """The least version of Go that the `go.mod` of a subject asks for; empty: any will do."""
    try:
        text = (work / "go.mod").read_text(encoding="utf-8")
    except OSError:
        return ()
    found = re.search(r"^go (\S+)$", text, re.MULTILINE)
    return _numbers(found[1]) if found else ()


def go_program(wanted: tuple[int, ...], run: Callable[[Sequence[str], Path | None], str]) -> str:
    """The `go` to build with. `run` carries out a command in a folder and gives what it printed.

    From 1.21 on, Go fetches the release that a module asks for. An older one, such as that of
    Debian 12, can still download the same release, which is a module, checksums included.
    """
    found = _numbers(run(["go", "env", "GOVERSION"], None).strip().removeprefix("go"))
    if found >= wanted:
        return "go"
    architecture = _ARCHITECTURES.get(platform.machine(), platform.machine())
    release = f"{_MODULE}@v0.0.1-go{GO_RELEASE}.linux-{architecture}"
    # Outside of the subject's folder, whose go.mod an old Go may not understand.
    told = json.loads(run(["go", "mod", "download", "-json", release], Path("/")))
    folder = Path(told["Dir"])
    for program in (*folder.glob("bin/*"), *folder.glob("pkg/tool/*/*")):
        # Modules are unpacked without the right to execute.
        program.chmod(program.stat().st_mode | 0o555)
    return str(folder / "bin" / "go")


def java_home(wanted: int, kept: Path = JDKS) -> Path | None:
    """The JDK of this version or a later one; None: there is none.

    That of JAVA_HOME is taken first, then that of the PATH, then the newest of those that are kept.
    """
    named, on_path = os.environ.get("JAVA_HOME"), shutil.which("javac")
    homes = [
        *([Path(named)] if named else []),
        *([Path(on_path).resolve().parent.parent] if on_path else []),
        *sorted(kept.glob("*"), key=_java_version, reverse=True),
    ]
    return next((home for home in homes if _java_version(home) >= wanted), None)


def _java_version(home: Path) -> int:
    """What the JDK in this folder says of itself; 0: there is none."""
    try:
        text = (home / "release").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = re.search(r'^JAVA_VERSION="(\d+)', text, re.MULTILINE)
    return int(found[1]) if found and (home / "bin" / "javac").is_file() else 0


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
