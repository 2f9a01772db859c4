"""Copies of the applications in `build/apps`, with the packages that they need.

Knows venv, npm and go; must not know what an application does. What is installed is kept for the
next run, until the list of packages changes.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.interop.conftest import program
from wiretrial.subjects import toolchains

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PLACE = ROOT / "build" / "apps"
LIMIT_S = 170.0


def python_application(name: str, source: Path | None = None) -> Path:
    """The folder of an application that lists its packages in requirements.txt.

    `source`: not one of `examples`.
    """

    def install(folder: Path) -> None:
        venv = folder / ".venv"
        _run([sys.executable, "-m", "venv", "--without-pip", str(venv)], folder)
        pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin" / "python"), "install"]
        _run([*pip, "--quiet", "--require-hashes", "-r", "requirements.txt"], folder)

    return _copy(name, "requirements.txt", install, source)


def node_application(name: str, source: Path | None = None) -> Path:
    """The folder of an application with a package-lock.json; `source`: not one of `examples`."""
    program("node", "nodejs")
    npm = program("npm", "npm")
    return _copy(
        name,
        "package-lock.json",
        lambda folder: _run([npm, "ci", "--no-audit", "--no-fund", "--silent"], folder),
        source,
    )


def go_application(name: str) -> Path:
    """The program that comes of an application with a go.mod."""
    program("go", "golang-go")
    folder = _copy(name, "go.mod", lambda _folder: None)
    go = toolchains.go_program(toolchains.go_wanted(folder), _run)
    _run([go, "build", "-trimpath", "-buildvcs=false", "-o", name, "."], folder)
    return folder / name


def _copy(
    name: str, packages: str, install: Callable[[Path], object], source: Path | None = None
) -> Path:
    """The folder `name` of `examples`, or `source`, as it is now, and what `install` adds."""
    folder = PLACE / name
    folder.mkdir(parents=True, exist_ok=True)
    with (PLACE / f"{name}.lock").open("w") as lock:
        # Another process of the same test run may want it, too.
        fcntl.flock(lock, fcntl.LOCK_EX)
        left_out = shutil.ignore_patterns("node_modules", ".venv", "__pycache__")
        shutil.copytree(source or EXAMPLES / name, folder, dirs_exist_ok=True, ignore=left_out)
        stamp = PLACE / f"{name}.installed"
        wanted = hashlib.sha256((folder / packages).read_bytes()).hexdigest()
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
            stamp.unlink(missing_ok=True)
            install(folder)
            stamp.write_text(wanted, encoding="utf-8")
    return folder


def _run(command: Sequence[str], folder: Path | None) -> str:
    done = subprocess.run(
        list(command), cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
    return done.stdout
