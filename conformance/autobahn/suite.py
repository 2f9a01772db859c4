"""The suite itself: found, installed, started.

Knows Python 2.7, pip and the suite's two modes; must not know what is tested with it.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.process import Process, Unavailable

VERSION = "25.10.1"
AGENT = "wiretrial"

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"
LAUNCHER = HERE / "wstest.py"
OVERRIDE = "WIRETRIAL_PYTHON2"
BOUND = "WIRETRIAL_BYTES_PER_CASE"
INSTALL_LIMIT_S = 300.0
PROBE_LIMIT_S = 30.0


class Misnamed(Exception):
    """Somebody said which Python to take, and it is none; says which."""


class Suite:
    """An installed suite."""

    def __init__(self, python: Path, packages: Path, bytes_per_case: int | None) -> None:
        self._python = python
        self._environment = {**os.environ, "PYTHONPATH": str(packages)}
        if bytes_per_case is not None:
            self._environment[BOUND] = str(bytes_per_case)

    @classmethod
    def install(cls, folder: Path, bytes_per_case: int | None = None) -> Suite:
        """The suite in `folder`, installed there unless it already is.

        `bytes_per_case` bounds what each case of compression sends; None leaves it as it is.
        """
        python = _find_python()
        # The stamp lies in what it vouches for, and names what that was made from.
        made_from = f"{python} {hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()}"
        stamp = folder / ".made-from"
        if not (stamp.is_file() and stamp.read_text(encoding="utf-8") == made_from):
            shutil.rmtree(folder, ignore_errors=True)
            _install(python, folder)
            stamp.write_text(made_from, encoding="utf-8")
        return cls(python, folder, bytes_per_case)

    def client(self, url: str, cases: Sequence[str], folder: Path) -> Process:
        """The suite as the client of the server at `url`."""
        servers = [{"agent": AGENT, "url": url}]
        return self._start("fuzzingclient", {"servers": servers}, cases, folder)

    def server(self, cases: Sequence[str], folder: Path) -> Process:
        """The suite as a server; it says `listening PORT`."""
        # The port is the launcher's choice.
        return self._start("fuzzingserver", {"url": "ws://127.0.0.1:9"}, cases, folder)

    def _start(
        self, mode: str, what: dict[str, object], cases: Sequence[str], folder: Path
    ) -> Process:
        rest = {"outdir": str(folder / "reports"), "cases": list(cases), "exclude-cases": []}
        spec = folder / "spec.json"
        spec.write_text(json.dumps({**what, **rest, "exclude-agent-cases": {}}), encoding="utf-8")
        command = [str(self._python), "-B", str(LAUNCHER), "--mode", mode, "--spec", str(spec)]
        return Process(
            [*command, "--webport", "0"],
            log=folder / "suite.log",
            environment=self._environment,
        )


def results(folder: Path) -> dict[str, tuple[str, str]]:
    """What a run in `folder` reported: case -> how it behaved, how it closed."""
    index = json.loads((folder / "reports" / "index.json").read_text(encoding="utf-8"))
    return {
        case: (report["behavior"], report["behaviorClose"])
        for case, report in index.get(AGENT, {}).items()
    }


def _find_python() -> Path:
    chosen = os.environ.get(OVERRIDE)
    if chosen:
        if not _is_right(Path(chosen)):
            raise Misnamed(f"{OVERRIDE}={chosen} is no Python 2.7 with pip and setuptools")
        return Path(chosen)
    if platform.machine() != "x86_64":
        raise Unavailable(f"its parts are pinned for x86_64, and this is {platform.machine()}")
    for candidate in _candidates():
        if _is_right(candidate):
            return candidate
    raise Unavailable(
        "it needs a Python 2.7 with pip and setuptools: `pyenv install 2.7.18`,"
        f" or {OVERRIDE}=/path/to/python2.7"
    )


def _candidates() -> Iterator[Path]:
    for name in ("python2.7", "python2"):
        if found := shutil.which(name):
            yield Path(found)
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(root.glob("versions/2.7.*/bin/python2.7"), reverse=True)


def _is_right(python: Path) -> bool:
    probe = "import pip, setuptools, sys; sys.exit(sys.version_info[:2] != (2, 7))"
    try:
        command = [str(python), "-c", probe]
        done = subprocess.run(command, capture_output=True, timeout=PROBE_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _install(python: Path, folder: Path) -> None:
    # All of it is named in the requirements; some of it is old enough to know only setup.py.
    options = ["--no-deps", "--require-hashes", "--no-use-pep517", "--target", str(folder)]
    command = [str(python), "-m", "pip", "install", *options, "-r", str(REQUIREMENTS)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=INSTALL_LIMIT_S, check=False
    )
    if done.returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        lines = (done.stderr or done.stdout).strip().splitlines() or ["without a word"]
        raise Unavailable(f"pip could not install it: {lines[-1]}")
    # pip forgets the namespace's own file where it installs into a folder.
    (folder / "zope" / "__init__.py").touch()
