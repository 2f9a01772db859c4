"""A database that a server uses: where its programs are, and how a check looks into it by psql.

Knows how it is asked, past the server; must not know who started it, or what is in it.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from wiretrial.errors import SubjectFailed

PACKAGE = "postgresql"
"""Debian's, which brings all of them."""
LIMIT_S = 60.0
_BETWEEN = "\x1f"


class Asked(BaseModel):
    """A PostgreSQL that runs, by its Unix socket: in whichever network namespace it is."""

    model_config = ConfigDict(frozen=True)

    psql: Path
    sockets: Path
    """The folder of its socket, which only its own user may enter."""
    port: int
    user: str

    def ask(self, sql: str, database: str) -> list[tuple[str, ...]]:
        """The rows that the statements give, each value as text."""
        command = [str(self.psql), "-X", "-q", "-A", "-t", "-F", _BETWEEN, "-v", "ON_ERROR_STOP=1"]
        command += ["-h", str(self.sockets), "-p", str(self.port), "-U", self.user, "-d", database]
        done = subprocess.run(
            [*command, "-f", "-"],
            input=sql,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=LIMIT_S,
            check=False,
        )
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise SubjectFailed(f"the database refuses a statement: {said[0] if said else '?'}")
        return [tuple(line.split(_BETWEEN)) for line in done.stdout.splitlines()]


def programs() -> Path | None:
    """The folder of initdb and postgres; Debian keeps them out of PATH, by version."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    versions = Path("/usr/lib/postgresql").glob("*/bin")
    folders += sorted(versions, key=lambda path: _number(path.parent.name), reverse=True)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return None


def _number(name: str) -> int:
    return int(name) if name.isdigit() else 0
