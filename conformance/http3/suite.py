"""The suite itself: taken out of a pinned artifact of Maven's, started.

Knows where its program is and its options; must not know what is tested with it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

from conformance.process import Process, Unavailable

VERSION = "0.1.7"
ARTIFACT = "io.netty.incubator:netty-incubator-h3spec-maven-plugin:0.0.5.Final"
"""It carries the program as its authors built it. Later ones carry none that runs."""
SHA256 = "321d9a68bce0986633f4dc594f15b7f53e0ebe98a8de6a2e45db13635393a510"
PROGRAM = "h3spec/h3spec-linux-x86_64"
FETCH_LIMIT_S = 300.0


class Suite:
    """The program."""

    def __init__(self, program: Path) -> None:
        self._program = program

    @classmethod
    def install(cls, folder: Path) -> Suite:
        """Puts it into `folder`, unless it is there already; raises Unavailable where it can't."""
        if os.uname().machine != "x86_64":
            raise Unavailable("it is there for x86_64 alone")
        program = folder / VERSION / Path(PROGRAM).name
        if not program.is_file():
            with zipfile.ZipFile(_fetched(folder)) as archive:
                part = program.with_suffix(".part")
                part.parent.mkdir(parents=True, exist_ok=True)
                part.write_bytes(archive.read(PROGRAM))
                part.chmod(0o755)
                part.rename(program)
        suite = cls(program)
        suite.require_running()
        return suite

    def require_running(self) -> None:
        """Raises Unavailable where the program does not start."""
        try:
            done = subprocess.run(
                [str(self._program), "--version"],
                capture_output=True,
                text=True,
                timeout=FETCH_LIMIT_S,
                check=False,
            )
        except OSError as error:
            raise Unavailable(f"h3spec does not start: {error.strerror}") from None
        if done.returncode or VERSION not in done.stdout:
            told = (done.stderr or done.stdout).strip().splitlines() or ["without a word"]
            raise Unavailable(f"h3spec does not start (libgmp10 is needed): {told[-1]}")

    def try_server(self, address: str, log: Path) -> Process:
        """Asks the server at `address`, in ways that are wrong."""
        host, _, port = address.rpartition(":")
        # Its own tongue would be that of the machine, which may lack the signs that it prints.
        tongue = {**os.environ, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
        return Process([str(self._program), host, port], log=log, environment=tongue)


def _fetched(folder: Path) -> Path:
    """The artifact, with the bytes that are pinned."""
    maven = shutil.which("mvn")
    if not maven:
        raise Unavailable("there is no Maven: install Debian's maven")
    folder.mkdir(parents=True, exist_ok=True)
    _, name, version = ARTIFACT.split(":")
    artifact = folder / f"{name}-{version}.jar"
    if not artifact.is_file():
        command = [maven, "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}"]
        done = subprocess.run(
            [*command, f"-DoutputDirectory={folder.resolve()}"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=FETCH_LIMIT_S,
            check=False,
        )
        if done.returncode:
            lines = [line for line in done.stdout.splitlines() if "ERROR" in line]
            raise Unavailable(f"Maven has not brought it: {(lines or ['without a word'])[0]}")
    found = hashlib.sha256(artifact.read_bytes()).hexdigest()
    if found != SHA256:
        artifact.unlink()
        raise Unavailable(f"{artifact.name} has other bytes than are pinned ({found})")
    return artifact
