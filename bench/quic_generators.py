"""The generators of HTTP/3: how each is asked, and where it says how many replies it had.

Knows command lines and outputs; must not know how a run is measured.
"""

from __future__ import annotations

import json
import shutil
from abc import ABC, abstractmethod
from pathlib import Path

from bench.generators import Ask
from bench.places import (
    FLOOR,
    FLOOR_REMEDY,
    QUIC_GO,
    QUIC_GO_REMEDY,
    QUIC_LOAD,
    QUIC_LOAD_REMEDY,
)
from bench.quic_loads import QuicLoad, Shape
from bench.rounds import Asked
from bench.stream_generators import summary
from wiretrial.plan import (
    Expect,
    GeneratorSettings,
    Http,
    LearnedContent,
    Load,
    Message,
    NoPayload,
    Phases,
    Plan,
    Stop,
    Target,
    Tls,
)


class QuicGenerator(ABC):
    """One generator of load over HTTP/3."""

    name: str
    remedy: str
    """How to get it where it is missing."""

    @abstractmethod
    def binary(self) -> str | None:
        """Where it is; None: not on this machine."""

    @abstractmethod
    def asked(self, load: QuicLoad, ask: Ask, folder: Path) -> Asked:
        """What one run is told."""

    def messages(self, text: str) -> int:
        """How many replies it had; raises RunFailed or ValueError where it does not say."""
        return int(json.loads(text.strip().splitlines()[-1])["messages"])


class EngineQuic(QuicGenerator):
    """This project's engine: every byte of every reply is verified."""

    remedy = "make build"

    def __init__(self, engine: Path, name: str = "wiretrial") -> None:
        self.engine = engine
        self.name = name

    def binary(self) -> str | None:
        return str(self.engine)

    def asked(self, load: QuicLoad, ask: Ask, folder: Path) -> Asked:  # noqa: ARG002
        return Asked([str(self.engine), "run"], plan(load, ask).to_json() + "\n")

    def messages(self, text: str) -> int:
        return summary(text).counters.ok


def plan(load: QuicLoad, ask: Ask) -> Plan:
    """What the engine is asked, from the first message on, on one CPU."""
    return Plan(
        target=Target(
            url=ask.url,
            http=Http(version="3"),
            tls=Tls(ca_file=ask.authority),
            message=Message(source=NoPayload()),
            expect=Expect(content=LearnedContent()),
        ),
        load=Load(connections=load.connections, depth=load.streams),
        stop=Stop(duration_ns=ask.seconds * 1_000_000_000),
        phases=Phases(warmup_ns=0),
        generator=GeneratorSettings(threads=1, cpus=(ask.cpu,)),
    )


class FloorDatagrams(QuicGenerator):
    """The kernel alone: as many bytes in datagrams of the same lengths, with nothing in them.

    Its URL is that of `quic_servers.answering`.
    """

    name = "floor"
    remedy = FLOOR_REMEDY

    def __init__(self, shape: Shape, address: str) -> None:
        self._shape = shape
        self._address = address

    def binary(self) -> str | None:
        return str(FLOOR) if FLOOR.is_file() else None

    def asked(self, load: QuicLoad, ask: Ask, folder: Path) -> Asked:  # noqa: ARG002
        shape = self._shape
        numbers = (load.connections, load.streams, shape.sent, shape.sent_segment, shape.received)
        words = [*numbers, ask.seconds, ask.cpu]
        return Asked([str(FLOOR), "datagrams", self._address, *map(str, words)])


class _Library(QuicGenerator):
    """A client of a library, which is one of ours."""

    program: Path

    def binary(self) -> str | None:
        return str(self.program) if self.program.is_file() else None

    def asked(self, load: QuicLoad, ask: Ask, folder: Path) -> Asked:  # noqa: ARG002
        numbers = (load.connections, load.streams, ask.seconds)
        return Asked([*self._words(), ask.url, ask.authority, *map(str, numbers)])

    @abstractmethod
    def _words(self) -> list[str]:
        """The command without what is asked."""


class QuicGo(_Library):
    """quic-go's own client of HTTP/3: looks at the status, reads the content."""

    name = "quic-go"
    program = QUIC_GO
    remedy = QUIC_GO_REMEDY

    def _words(self) -> list[str]:
        return [str(self.program), "load"]


class Quinn(_Library):
    """quinn with the crate h3: looks at the status, reads the content."""

    name = "quinn"
    program = QUIC_LOAD
    remedy = QUIC_LOAD_REMEDY

    def _words(self) -> list[str]:
        return [str(self.program), self.name]


class S2nQuic(Quinn):
    """s2n-quic with a recorded request on each stream: counts what comes until its end."""

    name = "s2n-quic"


class Oha(QuicGenerator):
    """oha: looks at the status."""

    name = "oha"
    remedy = "cargo install oha --locked --features http3"

    def binary(self) -> str | None:
        return shutil.which(self.name)

    def asked(self, load: QuicLoad, ask: Ask, folder: Path) -> Asked:  # noqa: ARG002
        words = ["oha", "--http-version", "3", "--no-tui", "--output-format", "json", "--insecure"]
        words += ["-c", str(load.connections), "-p", str(load.streams), "-z", f"{ask.seconds}s"]
        return Asked([*words, ask.url])

    def messages(self, text: str) -> int:
        return int(json.loads(text)["statusCodeDistribution"]["200"])


PEERS: tuple[QuicGenerator, ...] = (Oha(), QuicGo(), Quinn(), S2nQuic())
