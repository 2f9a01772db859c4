"""What both directions share: where a server answers, and one run of our load generator."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from conformance.process import Process
from wiretrial.engine import Engine
from wiretrial.snapshot import SNAPSHOT, Summary
from wiretrial.subjects.certificates import Certificate

Scheme = Literal["http", "https", "ws", "wss"]
SCHEMES: tuple[Scheme, ...] = ("http", "https", "ws", "wss")

LIMIT_S = 60.0
MESSAGES = 300


@dataclass(frozen=True)
class Both:
    """A server that answers plainly at one address and over TLS at another."""

    plain: str
    secure: str
    certificate: Certificate

    @classmethod
    def told_by(cls, server: Process, certificate: Certificate) -> Both:
        """As the line says that our servers begin with."""
        return cls(
            plain=server.hear(r"ready http=(\S+) "),
            secure=server.hear(r"https=(\S+)\n"),
            certificate=certificate,
        )

    def url(self, scheme: Scheme, path: str = "") -> str:
        """The URL of `path` here."""
        address = self.secure if scheme in ("https", "wss") else self.plain
        return f"{scheme}://{address}{path}"


@contextlib.contextmanager
def reference_server(
    engine: Engine, certificate: Certificate, folder: Path, *flags: str
) -> Iterator[Both]:
    """The reference server, which speaks HTTP/2, with more flags; `folder` keeps its log."""
    command = [str(engine.binary), "respond", "--http2", *flags]
    command += ["--http", "127.0.0.1:0", "--https", "127.0.0.1:0"]
    command += ["--cert", str(certificate.chain), "--key", str(certificate.key)]
    with Process(command, log=folder / "log") as server:
        yield Both.told_by(server, certificate)


class Load:
    """Our load generator."""

    def __init__(self, engine: Path) -> None:
        self._engine = engine

    def __call__(self, server: Both, scheme: Scheme, path: str, *flags: str) -> Summary:
        """Sends `MESSAGES` messages and asserts that every reply was right."""
        done = self.run(server, scheme, path, *flags)
        assert done.returncode == 0, (done.stdout.splitlines()[-1:], done.stderr)
        summary = SNAPSHOT.validate_json(done.stdout.splitlines()[-1])
        assert isinstance(summary, Summary)
        counters = summary.counters
        assert (counters.sent, counters.ok) == (MESSAGES, MESSAGES), counters
        assert (counters.errors, counters.in_flight) == ({}, 0)
        assert (summary.end, summary.examples) == ("complete", {})
        return summary

    def run(
        self, server: Both, scheme: Scheme, path: str, *flags: str
    ) -> subprocess.CompletedProcess[str]:
        """Sends `MESSAGES` messages, whatever comes of it."""
        command = [str(self._engine), "load", server.url(scheme, path), *flags]
        if scheme in ("https", "wss"):
            command += ["--cacert", str(server.certificate.authority)]
        return subprocess.run(
            [*command, "-n", str(MESSAGES), "-c", "3", "--warmup", "0s", "--format", "json"],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
