"""A Docker of the tests' own: a real daemon with folders, a socket and control groups of its own.

Knows how the daemon is started apart from everything, and how it goes without a trace; must not
know what runs in it. A Docker that this machine has already is not touched.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

GROUPS = Path("/sys/fs/cgroup")
LIMIT_S = 30.0
APART = (
    "mount -t tmpfs tmpfs /run && mkdir -p /etc/docker && mount -t tmpfs tmpfs /etc/docker"
    ' && exec "$@"'
)
"""What it and containerd write outside of their folders goes with it, and it has no settings."""


@dataclass(frozen=True)
class Docker:
    """A daemon that runs. `group`: the path of the control group that its containers are in."""

    address: str
    group: str


@contextmanager
def docker() -> Iterator[Docker]:
    """A daemon, which DOCKER_HOST names meanwhile; skipped where none can be had or started."""
    for program in ("dockerd", "docker"):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program}: install docker.io")
    if os.geteuid() != 0:
        pytest.skip("only root can start a Docker daemon")
    # A folder of its own near the root: paths of sockets have 107 bytes at most.
    folder = Path(tempfile.mkdtemp(prefix="wiretrial-docker-"))
    found = Docker(
        f"unix://{folder / 'docker.sock'}", f"/wiretrial-test-docker-{uuid.uuid4().hex[:8]}"
    )
    command = [
        *("unshare", "--mount", "sh", "-c", APART, "sh", "dockerd", f"--host={found.address}"),
        *(f"--data-root={folder / 'data'}", f"--exec-root={folder / 'exec'}"),
        *(f"--pidfile={folder / 'pid'}", "--storage-driver=vfs"),
        # Its containers are in a group of ours, also where systemd has all others.
        *("--exec-opt=native.cgroupdriver=cgroupfs", f"--cgroup-parent={found.group}"),
        # Containers have the network of the host: nothing of it is changed.
        *("--iptables=false", "--ip6tables=false", "--bridge=none"),
    ]
    log = folder / "log"
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT
        )
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DOCKER_HOST", found.address)
            if not _answers(process):
                said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
                pytest.skip(f"dockerd can't run here: {said[-1][-200:] if said else 'silent'}")
            yield found
    finally:
        _ended(process)
        _cleared(folder, found.group)


def _answers(process: subprocess.Popen[bytes]) -> bool:
    """Waits until it serves; False where it ends, or takes too long."""
    ends = time.monotonic() + LIMIT_S
    while time.monotonic() < ends and process.poll() is None:
        asked = ["docker", "version"]
        done = subprocess.run(asked, capture_output=True, timeout=LIMIT_S, check=False)
        if done.returncode == 0:
            return True
        time.sleep(0.1)
    return False


def _ended(process: subprocess.Popen[bytes]) -> None:
    """Its containerd goes with it, however it ends."""
    process.terminate()
    try:
        process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _cleared(folder: Path, group: str) -> None:
    # Version 2, or each hierarchy of version 1.
    for place in (GROUPS, *GROUPS.glob("*")):
        with contextlib.suppress(OSError):
            (place / group.removeprefix("/")).rmdir()
    shutil.rmtree(folder, ignore_errors=True)
