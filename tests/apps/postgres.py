"""A PostgreSQL of its own, empty, in a folder that is removed when it is left.

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
from collections.abc import Iterator
from pathlib import Path

from tests.interop.conftest import lacking
from wiretrial import launch

USER = "shop"
LIMIT_S = 60.0
STOP_LIMIT_S = 10.0
FAST_SHUTDOWN = signal.SIGINT
# What is kept is thrown away a minute later.
SETTINGS = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "shared_buffers=32MB")


@contextlib.contextmanager
def started() -> Iterator[str]:
    """The address of its database, on a free port of loopback."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="wiretrial-postgres-"))
    try:
        as_user = _unprivileged(folder)
        data = folder / "data"
        made = subprocess.run(
            [
                *(*as_user, str(programs / "initdb"), "--no-sync", "--auth=trust"),
                *("--encoding=UTF8", "--locale=C", f"--username={USER}", str(data)),
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert made.returncode == 0, made.stderr
        with _serving([*as_user, str(programs / "postgres")], data) as port:
            yield f"postgresql://{USER}@127.0.0.1:{port}/postgres"
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def _serving(command: list[str], data: Path) -> Iterator[int]:
    port = _free_port()
    options = [f"-cport={port}", "-clisten_addresses=127.0.0.1", "-cunix_socket_directories="]
    options += [f"-c{setting}" for setting in SETTINGS]
    log = data.with_name("log")
    with log.open("wb") as sink:
        server = subprocess.Popen(
            launch.command_line([*command, f"-D{data}", *options], death_signal=FAST_SHUTDOWN),
            cwd=data.parent,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + LIMIT_S
        while "ready to accept connections" not in log.read_text(encoding="utf-8"):
            assert server.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
            time.sleep(0.05)
        yield port
    finally:
        server.send_signal(FAST_SHUTDOWN)
        try:
            server.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


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
