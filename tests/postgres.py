"""A PostgreSQL of a test's own, empty, in a folder that is removed when it is left.

Knows initdb and postgres; must not know what is kept in it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.interop.conftest import lacking
from wiretrial import launch

USER = "shop"
LIMIT_S = 60.0
STOP_LIMIT_S = 10.0
FAST_SHUTDOWN = signal.SIGINT
SMALL = ("shared_buffers=32MB",)
# What is kept is thrown away a minute later, and outlives no crash.
THROWAWAY = (*SMALL, "fsync=off", "full_page_writes=off", "synchronous_commit=off")
# It outlives the end of its processes, though not that of the machine.
CRASHED = (*SMALL, "fsync=off")
STILL_HELD = "is still in use"
"""What a new server says while processes of a killed one are ending."""


class Cluster:
    """One server; `user` is its superuser, whom it trusts."""

    def __init__(self, folder: Path, user: str, settings: Sequence[str]) -> None:
        self.user = user
        self._programs = _programs()
        self._as_user = _unprivileged(folder)
        self._data = folder / "data"
        self._settings = settings
        self._server: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self.port = _free_port()
        made = subprocess.run(
            [
                *(*self._as_user, str(self._programs / "initdb"), "--no-sync", "--auth=trust"),
                *("--encoding=UTF8", "--locale=C", f"--username={user}", str(self._data)),
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert made.returncode == 0, made.stderr

    def ask_passwords(self) -> None:
        """From its start on: everybody but the superuser needs a password."""
        rules = (
            f"host all {self.user} 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        )
        (self._data / "pg_hba.conf").write_text(rules, encoding="utf-8")

    def program(self, name: str) -> str:
        """Where another of its programs is, such as pg_dump."""
        return str(self._programs / name)

    def url(self, database: str = "postgres", user: str | None = None) -> str:
        """The address of a database."""
        return f"postgresql://{user or self.user}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Returns when connections are accepted. The log of a start is its own."""
        deadline = time.monotonic() + LIMIT_S
        while not self._start(deadline):
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.2)

    def kill(self) -> None:
        """Ends the server's first process as a crash does; the others notice."""
        assert self._server
        self._server.kill()
        self._server.wait()
        self._server = None

    def stop(self) -> None:
        """Ends it, if it runs."""
        if self._server is None:
            return
        self._server.send_signal(FAST_SHUTDOWN)
        try:
            self._server.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._server = None

    def log(self) -> str:
        """What the server has said since it was started last."""
        return self._log().read_text(encoding="utf-8")

    def _log(self) -> Path:
        return self._data.with_name(f"log-{self._starts}")

    def _start(self, deadline: float) -> bool:
        """False where a killed server's processes have not ended yet."""
        self._starts += 1
        options = [f"-cport={self.port}", "-clisten_addresses=127.0.0.1"]
        options += ["-cunix_socket_directories=", *(f"-c{one}" for one in self._settings)]
        command = [*self._as_user, str(self._programs / "postgres"), f"-D{self._data}", *options]
        with self._log().open("wb") as sink:
            server = subprocess.Popen(
                launch.command_line(command, death_signal=FAST_SHUTDOWN),
                cwd=self._data.parent,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
            )
        while "ready to accept connections" not in self.log():
            if server.poll() is not None and STILL_HELD in self.log():
                return False
            assert server.poll() is None, self.log()
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.05)
        self._server = server
        return True


@contextlib.contextmanager
def cluster(user: str = USER, settings: Sequence[str] = THROWAWAY) -> Iterator[Cluster]:
    """A server that is not started yet, on a free port of loopback."""
    _programs()
    folder = Path(tempfile.mkdtemp(prefix="wiretrial-postgres-"))
    try:
        made = Cluster(folder, user, settings)
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def started() -> Iterator[str]:
    """The address of the database of a server that runs."""
    with cluster() as server:
        server.start()
        yield server.url()


def _programs() -> Path:
    """The folder of initdb and postgres; Debian keeps them out of PATH, by version."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    lacking("there is no PostgreSQL: install postgresql")
    raise AssertionError


def _unprivileged(folder: Path) -> list[str]:
    """The words before a command that make it nobody's where we are root, whom initdb refuses."""
    if os.geteuid() != 0:
        return []
    shutil.chown(folder, "nobody", "nogroup")
    # Another user's process forgets that it ends with its parent, unless it is told once more.
    ends = f"--pdeathsig={FAST_SHUTDOWN.name}"
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", ends, "--"]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port: int = held.getsockname()[1]
    return port
