"""Real programs that other people wrote, and the engine between them.

Whoever lacks one of them skips its tests and is told why; CI lacks none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.interop.parts import Both, Load, reference_server
from wiretrial.engine import Engine
from wiretrial.subjects import build, certificates, registry, toolchains

ROOT = Path(__file__).resolve().parents[2]
GO_MODULE = ROOT / "conformance" / "go"
BUILD_LIMIT_S = 170.0


def lacking(what: str) -> None:
    """Ends the test: a machine of a person's own may lack a part, CI may not."""
    if os.environ.get("CI"):
        pytest.fail(f"{what}, and CI skips nothing")
    pytest.skip(what)


def program(name: str, package: str) -> str:
    """Where a program is that has to be installed."""
    found = shutil.which(name)
    if not found:
        lacking(f"there is no {name}: install {package}")
    return str(found)


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine that belongs to this laboratory."""
    return Engine.find()


@pytest.fixture(scope="session")
def load(engine: Engine) -> Load:
    """Runs `wiretrial-engine load`."""
    return Load(engine.binary)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> certificates.Certificate:
    """An authority, and a certificate for loopback."""
    return certificates.make(tmp_path_factory.mktemp("tls"), "127.0.0.1")


@pytest.fixture(scope="module")
def reference(
    engine: Engine,
    certificate: certificates.Certificate,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Both]:
    """The reference server, which speaks HTTP/2."""
    with reference_server(engine, certificate, tmp_path_factory.mktemp("reference")) as both:
        yield both


@pytest.fixture(scope="session")
def node_packages(engine: Engine) -> str:
    """The folder of Node's packages, for NODE_PATH."""
    return str(build.install(registry.find("ws"), engine.binary).folder / "node_modules")


@pytest.fixture(scope="session")
def go_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of our client and our server in Go."""
    program("go", "Go")
    # One that is too old still downloads the release that the module asks for.
    go = toolchains.go_program(toolchains.go_wanted(GO_MODULE), printed)
    folder = tmp_path_factory.mktemp("go")
    command = [go, "build", "-trimpath", "-buildvcs=false", "-o", f"{folder}/", "./..."]
    done = subprocess.run(
        command,
        cwd=GO_MODULE,
        capture_output=True,
        text=True,
        timeout=BUILD_LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def printed(command: Sequence[str], folder: Path | None) -> str:
    """What a command says."""
    done = subprocess.run(
        list(command), cwd=folder, capture_output=True, text=True, timeout=BUILD_LIMIT_S, check=True
    )
    return done.stdout
