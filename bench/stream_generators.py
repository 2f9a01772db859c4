"""The generators of HTTP/2 and gRPC: how each is asked, and where it says how many replies it had.

Knows command lines and outputs; must not know how a run is measured.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
from abc import ABC, abstractmethod
from pathlib import Path

from bench.generators import Ask
from bench.measure import RunFailed
from bench.places import FLOOR, FLOOR_REMEDY
from bench.rounds import Asked
from bench.streams import MESSAGE_BYTES, StreamLoad
from wiretrial.engine import parse
from wiretrial.errors import EngineFailed
from wiretrial.plan import (
    EchoContent,
    Expect,
    FixedPayload,
    GeneratorSettings,
    Http,
    LearnedContent,
    Load,
    Message,
    NoPayload,
    Phases,
    Plan,
    SequencePayload,
    Stop,
    Target,
    Tls,
)
from wiretrial.snapshot import Summary

PROTO = Path(__file__).with_name("echo.proto")
K6_SCRIPT = Path(__file__).with_name("get.js")
TEXT = "a" * MESSAGE_BYTES
_TEXT_FIELD = bytes([0x0A, MESSAGE_BYTES]) + TEXT.encode()
"""The message of a call, as protobuf writes it: a text with the number 1."""


class StreamGenerator(ABC):
    """One generator of load over HTTP/2."""

    name: str
    remedy: str
    """How to get it where it is missing."""

    @abstractmethod
    def binary(self) -> str | None:
        """Where it is; None: not on this machine."""

    @abstractmethod
    def does(self, load: StreamLoad) -> bool:
        """Whether it can make this load."""

    @abstractmethod
    def asked(self, load: StreamLoad, ask: Ask, folder: Path) -> Asked:
        """What one run is told; what it reads may be put into the folder."""

    @abstractmethod
    def messages(self, text: str) -> int:
        """How many replies it had; raises RunFailed where it does not say, or had errors."""


class EngineStreams(StreamGenerator):
    """This project's engine: every byte of every reply is verified."""

    remedy = "make build"

    def __init__(self, engine: Path, name: str = "wiretrial") -> None:
        self.engine = engine
        self.name = name

    def binary(self) -> str | None:
        return str(self.engine)

    def does(self, load: StreamLoad) -> bool:  # noqa: ARG002 (it does them all)
        return True

    def asked(self, load: StreamLoad, ask: Ask, folder: Path) -> Asked:  # noqa: ARG002 (as the others)
        return Asked([str(self.engine), "run"], plan(load, ask).to_json() + "\n")

    def messages(self, text: str) -> int:
        return summary(text).counters.ok


def summary(text: str) -> Summary:
    """The last line of the engine; raises RunFailed where it is none, or tells of errors."""
    lines = text.strip().splitlines()
    try:
        last = parse(lines[-1].encode()) if lines else None
    except EngineFailed:
        last = None
    if not isinstance(last, Summary):
        raise RunFailed(f"the engine ended with: {(lines or ['nothing'])[-1][:200]}")
    if last.counters.errors:
        raise RunFailed(f"errors: {last.counters.errors}")
    return last


def plan(load: StreamLoad, ask: Ask) -> Plan:
    """What the engine is asked, from the first message on, on one CPU with io_uring.

    A GET's reply is learned from the server before the load; all others are echoes.
    """
    is_call = load.kind == "call"
    fixed = FixedPayload(base64=base64.b64encode(_TEXT_FIELD).decode())
    source = {
        "get": NoPayload(),
        "post": SequencePayload(bytes=load.message_bytes),
        "call": fixed,
    }[load.kind]
    content = LearnedContent() if load.kind == "get" else EchoContent()
    return Plan(
        target=Target(
            url=re.sub("^http", "grpc", ask.url) if is_call else ask.url,
            http=Http() if is_call else Http(version="2"),
            tls=Tls(ca_file=ask.authority) if load.is_secure else Tls(),
            message=Message(source=source),
            expect=Expect(content=content),
        ),
        load=Load(connections=load.connections, depth=load.streams),
        stop=Stop(duration_ns=ask.seconds * 1_000_000_000),
        phases=Phases(warmup_ns=0),
        generator=GeneratorSettings(threads=1, cpus=(ask.cpu,), poller="uring"),
    )


class FloorStreams(StreamGenerator):
    """The least there is: recorded requests, and a count of streams that ended."""

    name = "floor"
    remedy = FLOOR_REMEDY

    def binary(self) -> str | None:
        return str(FLOOR) if FLOOR.is_file() else None

    def does(self, load: StreamLoad) -> bool:
        return not load.is_secure

    def asked(self, load: StreamLoad, ask: Ask, folder: Path) -> Asked:  # noqa: ARG002 (as the others)
        kind = "grpc" if load.kind == "call" else "h2"
        # The text of a call has its number and its length before it.
        size = len(_TEXT_FIELD) if load.kind == "call" else load.message_bytes
        numbers = (load.connections, load.streams, size, ask.seconds, ask.cpu)
        address = ask.url.split("/")[2]
        return Asked([str(FLOOR), kind, address, load.path, *map(str, numbers)])

    def messages(self, text: str) -> int:
        return int(json.loads(text)["messages"])


class _Found(StreamGenerator):
    """One that is found on the path."""

    def binary(self) -> str | None:
        return shutil.which(self.name)

    def does(self, load: StreamLoad) -> bool:
        return load.kind != "call"


class H2load(_Found):
    """h2load: looks at the class of the status."""

    name = "h2load"
    remedy = "apt-get install nghttp2-client"

    def asked(self, load: StreamLoad, ask: Ask, folder: Path) -> Asked:
        words = ["h2load", "-t", "1", "-c", str(load.connections), "-m", str(load.streams)]
        words += ["-D", str(ask.seconds)]
        if load.message_bytes:
            content = folder / "content"
            content.write_text(TEXT, encoding="ascii")
            words += ["-d", str(content)]
        return Asked([*words, ask.url])

    def messages(self, text: str) -> int:
        return _number(r"(\d+) succeeded", text)


class Oha(_Found):
    """oha: looks at the status."""

    name = "oha"
    remedy = "cargo install oha --locked"

    def asked(self, load: StreamLoad, ask: Ask, folder: Path) -> Asked:  # noqa: ARG002 (as the others)
        words = ["oha", "--http2", "--no-tui", "--output-format", "json", "--insecure"]
        words += ["-c", str(load.connections), "-p", str(load.streams), "-z", f"{ask.seconds}s"]
        if load.message_bytes:
            words += ["-m", "POST", "-d", TEXT]
        return Asked([*words, ask.url])

    def messages(self, text: str) -> int:
        return int(json.loads(text)["statusCodeDistribution"]["200"])


class K6(_Found):
    """k6: speaks HTTP/2 inside TLS alone; each user has a connection, and waits for each reply."""

    name = "k6"
    remedy = "go install go.k6.io/k6@latest"

    def does(self, load: StreamLoad) -> bool:
        return load.kind == "get" and load.is_secure and load.streams == 1

    def asked(self, load: StreamLoad, ask: Ask, folder: Path) -> Asked:  # noqa: ARG002 (as the others)
        words = ["k6", "run", "--quiet", "--insecure-skip-tls-verify", "--env", f"URL={ask.url}"]
        words += ["--vus", str(load.connections), "--duration", f"{ask.seconds}s"]
        return Asked([*words, str(K6_SCRIPT)])

    def messages(self, text: str) -> int:
        return _number(r"http_reqs[.\s]*:\s*(\d+)", text)


class Ghz(_Found):
    """ghz, for gRPC: looks at the status."""

    name = "ghz"
    remedy = "go install github.com/bojand/ghz/cmd/ghz@latest"

    def does(self, load: StreamLoad) -> bool:
        return load.kind == "call"

    def asked(self, load: StreamLoad, ask: Ask, folder: Path) -> Asked:  # noqa: ARG002 (as the others)
        calls = str(load.connections * load.streams)
        words = ["ghz", "--insecure", "--proto", str(PROTO), "--call", load.path.strip("/")]
        words += ["--connections", str(load.connections), "-c", calls, "-z", f"{ask.seconds}s"]
        words += ["-d", json.dumps({"text": TEXT}), "-O", "json"]
        return Asked([*words, ask.url.split("/")[2]])

    def messages(self, text: str) -> int:
        # What was in flight at the end is counted by another status.
        return int(json.loads(text)["statusCodeDistribution"]["OK"])


def all_of(engine: Path, before: Path | None = None) -> list[StreamGenerator]:
    """Every generator, ours first, as the others are set against it.

    Where an engine of `before` is named, it is one of them.
    """
    earlier = [EngineStreams(before, "before")] if before else []
    return [EngineStreams(engine), *earlier, FloorStreams(), H2load(), Oha(), K6(), Ghz()]


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    if not found:
        raise RunFailed("the output does not say how many replies came")
    return int(found[1])
