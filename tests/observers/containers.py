"""A real container, made from the engine's own binary: no image is needed."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from wiretrial.engine import Engine

LIMIT_S = 60
APART = 'umount /sys/fs/cgroup/unified; exec "$@"'
WRAPPERS: tuple[list[str], ...] = ([], ["unshare", "--mount", "sh", "-c", APART, "sh"])
"""crun refuses machines with both versions of control groups; without the second it sees one."""
LIMITS = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000"]
"""Where the limits that podman has by itself may not be set."""
OPTIONS = (["--cpus=0.5"], ["--cpus=0.5", *LIMITS], LIMITS, [*LIMITS, "--cgroups=disabled"])


@dataclass(frozen=True)
class Running:
    """A container that serves HTTP on this machine's loopback."""

    name: str
    port: int

    def ended(self) -> str:
        """Ends what runs in it; its name."""
        command = ["podman", "stop", "--time", "1", self.name]
        subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=True)
        return self.name


@contextmanager
def running(folder: Path) -> Iterator[Running]:
    """The reference server in a container without an image; skipped where none can run."""
    if shutil.which("podman") is None:
        pytest.skip("podman is not installed")
    rootfs = _rootfs(folder)
    name = f"wiretrial-test-{uuid.uuid4().hex[:8]}"
    problems = []
    for wrapper, options in itertools.product(WRAPPERS, OPTIONS):
        command = [
            *(*wrapper, "podman", "run", "--detach", "--name", name, "--network=host"),
            *("--log-driver=k8s-file", *options, "--rootfs", str(rootfs)),
            *("/wiretrial-engine", "respond", "--http", "127.0.0.1:0"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        port = _port(name) if done.returncode == 0 else None
        if port is not None:
            break
        problems.append(done.stderr.strip()[-120:])
        _removed(name)
    else:
        pytest.skip(f"podman can't run a container here: {'; '.join(dict.fromkeys(problems))}")
    try:
        yield Running(name, port)
    finally:
        _removed(name)


def _removed(name: str) -> None:
    command = ["podman", "rm", "--force", "--time", "1", name]
    subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=False)


def _port(name: str) -> int | None:
    """The port that it says on its standard output."""
    for _ in range(50):
        done = subprocess.run(
            ["podman", "logs", name], capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        for word in done.stdout.split():
            if word.startswith("http="):
                return int(word.rpartition(":")[2])
        if "exited" in _state(name):
            return None
    return None


def _state(name: str) -> str:
    command = ["podman", "inspect", "--format", "{{.State.Status}}", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return done.stdout


def _rootfs(folder: Path) -> Path:
    """The engine with the libraries that it needs, and the folders that a container has."""
    binary = Engine.find().binary.resolve()
    folder.mkdir(exist_ok=True)
    for name in ("proc", "sys", "dev", "tmp", "etc", "run"):
        (folder / name).mkdir()
    shutil.copy2(binary, folder / "wiretrial-engine")
    listed = subprocess.run(["ldd", str(binary)], capture_output=True, text=True, check=False)
    for word in listed.stdout.split():
        if word.startswith("/") and Path(word).is_file():
            place = folder / word.removeprefix("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(Path(word).resolve(), place)
    return folder
