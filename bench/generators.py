"""The generators: how each one is asked, and where it says how many messages it had back.

Knows command lines and outputs; must not know how a run is measured.
"""

from __future__ import annotations

import json
import re
import shutil
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from bench.measure import RunFailed
from bench.places import FLOOR, FLOOR_REMEDY
from bench.workloads import Workload

WARM_UP = "0s"


@dataclass(frozen=True)
class Ask:
    """What a generator is told beside the workload."""

    url: str
    authority: str
    seconds: int
    cpu: int


class Generator(ABC):
    """One generator of load."""

    name: str
    remedy: str
    """How to get it where it is missing."""

    @abstractmethod
    def binary(self) -> str | None:
        """Where it is; None: not on this machine."""

    @abstractmethod
    def does(self, load: Workload) -> bool:
        """Whether it can make this load."""

    @abstractmethod
    def command(self, load: Workload, ask: Ask) -> list[str]:
        """The command line of one run."""

    @abstractmethod
    def messages(self, text: str) -> int:
        """How many replies it had; raises RunFailed where it does not say, or had errors."""


class EngineGenerator(Generator):
    """This project's engine, with one of its pollers."""

    remedy = "make build"

    def __init__(self, engine: Path, poller: str, called: str = "engine") -> None:
        self.engine = engine
        self.poller = poller
        self.name = f"{called}/{poller}"

    def binary(self) -> str | None:
        return str(self.engine)

    def does(self, load: Workload) -> bool:  # noqa: ARG002 (it does them all)
        return True

    def command(self, load: Workload, ask: Ask) -> list[str]:
        words = [str(self.engine), "load", ask.url, "--format", "json"]
        words += ["-c", str(load.connections), "--depth", str(load.depth)]
        words += ["--pack", str(load.pack), "-d", f"{ask.seconds}s", "--warmup", WARM_UP]
        words += ["--cpus", str(ask.cpu), "--poller", self.poller, "--connect-timeout", "60s"]
        if load.message_bytes:
            words += ["--payload", str(load.message_bytes)]
        if load.is_secure:
            words += ["--cacert", ask.authority]
        return words

    def messages(self, text: str) -> int:
        summary = json.loads(text.strip().splitlines()[-1])
        counters = summary["counters"]
        if counters["errors"]:
            raise RunFailed(f"errors: {counters['errors']}")
        return int(counters["ok"])


class Floor(Generator):
    """The least there is: `bench/floor`."""

    name = "floor"
    remedy = FLOOR_REMEDY

    def binary(self) -> str | None:
        return str(FLOOR) if FLOOR.is_file() else None

    def does(self, load: Workload) -> bool:
        return not load.is_secure

    def command(self, load: Workload, ask: Ask) -> list[str]:
        address = ask.url.split("/")[2]
        kind = "ws" if load.is_websocket else "http"
        numbers = (load.connections, load.depth, load.message_bytes, ask.seconds, ask.cpu)
        return [str(FLOOR), kind, address, load.path, *map(str, numbers)]

    def messages(self, text: str) -> int:
        return int(json.loads(text)["messages"])


class _Found(Generator):
    """One that is found on the path."""

    program: str

    def binary(self) -> str | None:
        return shutil.which(self.program)

    def does(self, load: Workload) -> bool:
        return not load.is_websocket


class Wrk(_Found):
    """wrk; pipelines by a script."""

    name = program = "wrk"
    remedy = "apt-get install wrk"
    SCRIPT = Path(__file__).with_name("pipeline.lua")

    def command(self, load: Workload, ask: Ask) -> list[str]:
        words = ["wrk", "-t", "1", "-c", str(load.connections), "-d", f"{ask.seconds}s"]
        if load.depth > 1:
            words += ["-s", str(self.SCRIPT)]
        words.append(ask.url)
        return [*words, "--", str(load.depth)] if load.depth > 1 else words

    def messages(self, text: str) -> int:
        if re.search(r"Non-2xx|Socket errors", text):
            raise RunFailed("wrk counted errors")
        return _number(r"(\d+) requests in", text)


class H2load(_Found):
    """h2load, held to HTTP/1.1."""

    name = program = "h2load"
    remedy = "apt-get install nghttp2-client"

    def command(self, load: Workload, ask: Ask) -> list[str]:
        words = ["h2load", "--h1", "-t", "1", "-c", str(load.connections)]
        return [*words, "-m", str(load.depth), "-D", str(ask.seconds), ask.url]

    def messages(self, text: str) -> int:
        return _number(r"(\d+) succeeded", text)


class Oha(_Found):
    """oha; knows no pipelining."""

    name = program = "oha"
    remedy = "cargo install oha"

    def does(self, load: Workload) -> bool:
        return not load.is_websocket and load.depth == 1

    def command(self, load: Workload, ask: Ask) -> list[str]:
        words = ["oha", "--no-tui", "--output-format", "json", "--insecure"]
        return [*words, "-c", str(load.connections), "-z", f"{ask.seconds}s", ask.url]

    def messages(self, text: str) -> int:
        return int(json.loads(text)["statusCodeDistribution"]["200"])


class Autocannon(_Found):
    """autocannon."""

    name = program = "autocannon"
    remedy = "npm install --global autocannon"

    def command(self, load: Workload, ask: Ask) -> list[str]:
        words = ["autocannon", "--json", "-c", str(load.connections), "-p", str(load.depth)]
        return [*words, "-d", str(ask.seconds), ask.url]

    def messages(self, text: str) -> int:
        return int(json.loads(text[text.index("{") :])["2xx"])


class K6(_Found):
    """k6; knows no pipelining."""

    name = program = "k6"
    remedy = "go install go.k6.io/k6@latest"
    SCRIPT = Path(__file__).with_name("get.js")

    def does(self, load: Workload) -> bool:
        return not load.is_websocket and load.depth == 1

    def command(self, load: Workload, ask: Ask) -> list[str]:
        words = ["k6", "run", "--quiet", "--insecure-skip-tls-verify", "--env", f"URL={ask.url}"]
        words += ["--vus", str(load.connections), "--duration", f"{ask.seconds}s"]
        return [*words, str(self.SCRIPT)]

    def messages(self, text: str) -> int:
        return _number(r"http_reqs[.\s]*:\s*(\d+)", text)


class Loadtest(_Found):
    """loadtest; for WebSocket it sends and counts one message at a time."""

    name = program = "loadtest"
    remedy = "npm install --global loadtest"

    def does(self, load: Workload) -> bool:
        few = load.connections <= 1_000 and load.message_bytes <= 20
        return load.depth == 1 and few and not load.is_secure

    def command(self, load: Workload, ask: Ask) -> list[str]:
        words = ["loadtest", "--cores", "1", "-c", str(load.connections), "-t", str(ask.seconds)]
        return [*words, ask.url] if load.is_websocket else [*words, "-k", ask.url]

    def messages(self, text: str) -> int:
        return _number(r"Completed requests:\s*(\d+)", text)


class Artillery(_Found):
    """Artillery, for WebSocket: each virtual user sends when its last message is back."""

    name = program = "artillery"
    remedy = "npm install --global artillery"
    SCRIPT = Path(__file__).with_name("echo.yml")

    def does(self, load: Workload) -> bool:
        alone = load.depth == 1 and load.connections <= 1_000
        return load.is_websocket and alone and not load.is_secure and load.message_bytes == 20

    def command(self, load: Workload, ask: Ask) -> list[str]:
        users = {"phases": [{"duration": 1, "arrivalCount": load.connections}]}
        words = ["env", f"SECONDS={ask.seconds}", "WORKERS=1", "artillery", "run"]
        words += ["--target", ask.url, "--overrides", json.dumps({"config": users})]
        return [*words, str(self.SCRIPT)]

    def messages(self, text: str) -> int:
        # What comes now and then on the way is followed by the sum of all.
        return _number(r"websocket\.messages_received\W+(\d+)", text.partition("Summary report")[2])


def all_of(engine: Path, before: Path | None = None) -> list[Generator]:
    """Every generator, the floor first: the others are set against it.

    Where an engine of `before` is named, it is one of them.
    """
    earlier = [EngineGenerator(before, "uring", "before")] if before else []
    return [
        Floor(),
        *earlier,
        EngineGenerator(engine, "uring"),
        EngineGenerator(engine, "epoll"),
        Wrk(),
        H2load(),
        Oha(),
        Autocannon(),
        K6(),
        Loadtest(),
        Artillery(),
    ]


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    if not found:
        raise RunFailed("the output does not say how many replies came")
    return int(found[1])
