"""Real containers, made from the engine's own binary: no image is needed from anywhere.

Knows how podman runs a folder, and how a Docker that the tests started runs an image of it. Where
one of them can't run a container here, the test is skipped with the reason.
"""

from __future__ import annotations

import itertools
import shutil
import subprocess
import tarfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from wiretrial.engine import Engine

LIMIT_S = 60
APART = 'umount /sys/fs/cgroup/unified; exec "$@"'
WRAPPERS: tuple[list[str], ...] = ([], ["unshare", "--mount", "sh", "-c", APART, "sh"])
"""crun refuses machines with both versions of control groups; without the second it sees one."""
LIMITS = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000"]
"""Where the limits that podman has by itself may not be set."""
OPTIONS = (["--cpus=0.5"], ["--cpus=0.5", *LIMITS], LIMITS, [*LIMITS, "--cgroups=disabled"])
SERVER = ("/wiretrial-engine", "respond", "--http", "127.0.0.1:0")
IMAGE = "wiretrial-test"

Tool = Literal["docker", "podman"]


@dataclass(frozen=True)
class Running:
    """A container that serves HTTP on this machine's loopback."""

    tool: Tool
    name: str
    port: int

    @property
    def address(self) -> str:
        """What `--server` calls it."""
        return f"{self.tool}:{self.name}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/message"

    def ended(self) -> str:
        """Ends what runs in it; its name."""
        command = [self.tool, "stop", "--time", "1", self.name]
        subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=True)
        return self.name


@contextmanager
def in_podman(folder: Path) -> Iterator[Running]:
    """The reference server in a container without an image; skipped where none can run."""
    if shutil.which("podman") is None:
        pytest.skip("podman is not installed")
    rootfs = _rootfs(folder)
    name = _name()
    problems = []
    for wrapper, options in itertools.product(WRAPPERS, OPTIONS):
        command = [
            *(*wrapper, "podman", "run", "--detach", "--name", name, "--network=host"),
            *("--log-driver=k8s-file", *options, "--rootfs", str(rootfs), *SERVER),
        ]
        done = _ran(*command)
        port = _port("podman", name) if done.returncode == 0 else None
        if port is not None:
            break
        problems.append(done.stderr.strip()[-120:])
        _removed("podman", name)
    else:
        pytest.skip(f"podman can't run a container here: {'; '.join(dict.fromkeys(problems))}")
    try:
        yield Running("podman", name, port)
    finally:
        _removed("podman", name)


@contextmanager
def in_docker(folder: Path, cpus: float) -> Iterator[Running]:
    """The same in an image of `folder`, with so many CPUs; by the Docker that DOCKER_HOST names."""
    archive = folder.with_suffix(".tar")
    with tarfile.open(archive, "w") as sink:
        sink.add(_rootfs(folder), arcname=".")
    name = _name()
    try:
        made = _ran("docker", "import", str(archive), IMAGE)
        assert made.returncode == 0, made.stderr
        options = ("--detach", "--name", name, "--network=host", f"--cpus={cpus:g}")
        done = _ran("docker", "run", *options, IMAGE, *SERVER)
        port = _port("docker", name) if done.returncode == 0 else None
        if port is None:
            said = done.stderr.strip() or _ran("docker", "logs", name).stderr.strip()
            pytest.skip(f"docker can't run a container here: {said[-200:]}")
        yield Running("docker", name, port)
    finally:
        archive.unlink()
        _removed("docker", name)


def _name() -> str:
    return f"wiretrial-test-{uuid.uuid4().hex[:8]}"


def _ran(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def _removed(tool: Tool, name: str) -> None:
    # Docker's has no time to give: it kills at once.
    _ran(tool, "rm", "--force", *(("--time", "1") if tool == "podman" else ()), name)


def _port(tool: Tool, name: str) -> int | None:
    """The port that it says on its standard output."""
    for _ in range(50):
        for word in _ran(tool, "logs", name).stdout.split():
            if word.startswith("http="):
                return int(word.rpartition(":")[2])
        if "exited" in _ran(tool, "inspect", "--format", "{{.State.Status}}", name).stdout:
            return None
    return None


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
