"""The folder of one start of a subject: rendered files, certificate, output; gone with the run.

Knows temporary folders, who made them and who runs for them; must not know what lies in one. A
folder names its owner, and processes name their folder, so that the next laboratory can tell what a
crash left behind from what is in use.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

from wiretrial.machine import identity

PREFIX = "wiretrial-run-"
OWNER = ".owner"
NAMELESS_S = 600
"""A folder without an owner is left alone for so long after its last change."""
MARK = "WIRETRIAL_RUN"
"""The variable in the environment of a run's processes that names its folder."""


def make(name: str) -> Path:
    """A new folder for a start of `name`. What dead laboratories left behind goes first."""
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{name}-"))
    # A server started by root may serve as another user; the key has its own, narrower mode.
    folder.chmod(0o755)
    (folder / OWNER).write_text(" ".join(map(str, identity.own())), encoding="ascii")
    return folder


def sweep() -> list[Path]:
    """Removes our user's folders whose makers are dead, and says which.

    Processes that are left of such a run go first: only where its keeper was killed too are there
    any.
    """
    stale = [
        folder for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*") if _is_stale(folder)
    ]
    for folder in stale:
        _end_processes_of(folder)
        shutil.rmtree(folder, ignore_errors=True)
    return stale


def _end_processes_of(folder: Path) -> None:
    mark = f"{MARK}={folder}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            pidfd = os.pidfd_open(int(process.name))
            try:
                # Read after the process is held, so that it is the one that is ended.
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            finally:
                os.close(pidfd)


def _is_stale(folder: Path) -> bool:
    """Whether the folder is ours and its maker is gone."""
    with contextlib.suppress(OSError, ValueError):
        found = folder.lstat()
        if found.st_uid != os.geteuid() or folder.is_symlink():
            return False
        if not (folder / OWNER).exists():
            # Just being made, or left by somebody who was stopped while removing it.
            return time.time() - found.st_mtime > NAMELESS_S
        return identity.read((folder / OWNER).read_text(encoding="ascii").split()).is_gone
    return False
