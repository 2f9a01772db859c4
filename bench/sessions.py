"""Generators of sessions: how each is asked for that of `bench/session`, and what it counted.

Knows command lines and outputs; must not know how a run is measured.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.measure import RunFailed
from wiretrial.engine import Engine, parse
from wiretrial.plan import GeneratorSettings, Phases, Plan, Stop, Target
from wiretrial.results import hdr
from wiretrial.snapshot import Start, Summary
from wiretrial.traffic import loads
from wiretrial.traffic.compiler import compile_file

ARRIVAL_S = 4
"""In which the users of a large crowd come, where a generator can be told so."""


HYPERFOIL_ENDING_S = 2
"""In which its users may end their sessions."""
CONNECT_S = 60
"""In which all connections of a crowd have to stand."""


@dataclass(frozen=True)
class Ask:
    """What a generator is told. `think_s`: mean time between requests, 0.5 to 1.5 times it."""

    url: str
    users: int
    seconds: int
    think_s: float
    folder: Path
    cpu: int


@dataclass(frozen=True)
class Started:
    """How it is started."""

    command: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    told: str = ""


@dataclass(frozen=True)
class Counted:
    """Right replies, wrong ones by route and check, and the p99 of the list's time."""

    right: int
    wrong: Mapping[str, int]
    list_p99_ms: float

    @classmethod
    def last_line(cls, text: str) -> Counted:
        """Of a script of ours, which ends with it.

        Raises RunFailed where it does not.
        """
        lines = [line for line in text.splitlines() if line.startswith("{")]
        if not lines:
            raise RunFailed("the output does not say how many replies came")
        said = json.loads(lines[-1])
        return cls(int(said["right"]), said["wrong"], float(said["list_p99_ms"]))


class Sessions(ABC):
    """One generator of sessions."""

    name: str
    remedy: str
    """How to get it where it is missing."""
    names: Mapping[str, str]
    """By fault: the word of its output that names it; of a slow list there is none."""

    @abstractmethod
    def is_here(self) -> bool:
        """Whether it is on this machine."""

    @abstractmethod
    def start(self, ask: Ask) -> Started:
        """The command line of one run; what it reads is written into the folder."""

    @abstractmethod
    def counted(self, text: str, folder: Path) -> Counted:
        """What came of a run; raises RunFailed where it does not say."""


BY_MEMBER = {"total": "create total_cents", "leak": "item user", "overload": "create status"}
BY_TEST = {"total": "create mismatch", "leak": "item mismatch", "overload": "create status"}
BY_EXPECTATION = {"total": "create equals", "leak": "item equals", "overload": "create statusCode"}
BY_STATUS = {**BY_MEMBER, "overload": "create 500 Internal Server Error: create"}
BY_ROUTE = {"total": "create invalid", "leak": "item invalid", "overload": "create status"}


class EngineSessions(Sessions):
    """This project's engine: a plan of the session as `wiretrial load` makes it."""

    remedy = "make build"
    names = BY_TEST

    def __init__(self, engine: Path, poller: str, file: str = "traffic.toml") -> None:
        self.engine = engine
        self.poller = poller
        self.file = file
        self.name = f"engine/{poller}"

    def is_here(self) -> bool:
        return True

    def start(self, ask: Ask) -> Started:
        file = _thoughtful(ask, self.file)
        scenario = compile_file(file, {"base": ask.url})
        sending = loads.sending(scenario, loads.Instead(users=ask.users))
        plan = Plan(
            target=Target(url=scenario.origin),
            traffic=sending.traffic,
            load=sending.load,
            stop=Stop(duration_ns=ask.seconds * 1_000_000_000),
            phases=Phases(warmup_ns=0, connect_ns=CONNECT_S * 1_000_000_000),
            generator=GeneratorSettings.model_validate(
                {"threads": 1, "cpus": (ask.cpu,), "poller": self.poller}
            ),
        )
        return Started([str(self.engine), "run"], told=plan.to_json() + "\n")

    def counted(self, text: str, folder: Path) -> Counted:  # noqa: ARG002 (it writes no file)
        lines = text.strip().splitlines()
        start, summary = parse(lines[0].encode()), parse(lines[-1].encode())
        if not isinstance(start, Start) or not isinstance(summary, Summary):
            raise RunFailed(f"the engine ended with: {lines[-1][:200]}")
        return _counted(start, summary)


class PlainGet(EngineSessions):
    """One GET after the other, no session: what sessions are set against."""

    def __init__(self, engine: Path, poller: str) -> None:
        super().__init__(engine, poller)
        self.name = "plain GET"

    def start(self, ask: Ask) -> Started:
        words = [
            str(self.engine),
            "load",
            f"{ask.url}/plain/a",
            "--format",
            "json",
            "--warmup",
            "0s",
        ]
        words += ["-c", str(ask.users), "-d", f"{ask.seconds}s", "--cpus", str(ask.cpu)]
        return Started([*words, "--poller", self.poller])


class Whole(Sessions):
    """`wiretrial load`: the laboratory's process and the engine's."""

    name = "wiretrial load"
    remedy = "make build"
    names = EngineSessions.names
    OUTPUT = "load.json"

    def is_here(self) -> bool:
        return Engine.find().binary.is_file()

    def start(self, ask: Ask) -> Started:
        file = _thoughtful(ask, "traffic.toml")
        words = [
            sys.executable,
            "-c",
            "from wiretrial.cli.app import main; raise SystemExit(main())",
        ]
        words += ["load", str(file), "--variable", f"base={ask.url}", "-c", str(ask.users)]
        words += ["-d", f"{ask.seconds}s", "--warmup", "0s", "--allow-errors", "50%"]
        words += ["--connect-timeout", f"{CONNECT_S}s"]
        words += ["--format", "json", "-o", self.OUTPUT]
        # Goals that are missed and verdicts are exit codes, and no failures of the run.
        script = '"$@"; code=$?; case $code in 0|3|4) exit 0;; *) exit $code;; esac'
        return Started(["sh", "-c", script, "sh", *words])

    def counted(self, text: str, folder: Path) -> Counted:  # noqa: ARG002 (it is in the file)
        trial = json.loads((folder / self.OUTPUT).read_text(encoding="utf-8"))["trial"]
        return _counted(
            Start.model_validate(trial["start"]), Summary.model_validate(trial["summary"])
        )


class Locust(Sessions):
    """Locust with its quicker client."""

    name = "Locust"
    remedy = "pip install locust"
    names = BY_MEMBER

    def is_here(self) -> bool:
        return shutil.which("locust") is not None

    def start(self, ask: Ask) -> Started:
        words = ["locust", "-f", "locustfile.py", "--headless", "--only-summary", "-L", "ERROR"]
        words += ["-u", str(ask.users), "-r", str(_per_second(ask)), "-t", f"{ask.seconds}s"]
        words += ["-H", ask.url, "--exit-code-on-error", "0"]
        return Started(words, {"THINK": str(ask.think_s)})

    def counted(self, text: str, folder: Path) -> Counted:  # noqa: ARG002 (it writes no file)
        return Counted.last_line(text)


class Goose(Sessions):
    """goose, which is a library: the program is `bench/session/goose`."""

    name = "goose"
    remedy = "cargo install --path bench/session/goose"
    names = BY_STATUS
    PROGRAM = "wiretrial-goose"

    def is_here(self) -> bool:
        return shutil.which(self.PROGRAM) is not None

    def start(self, ask: Ask) -> Started:
        words = [self.PROGRAM, "--host", ask.url, "--users", str(ask.users), "-q"]
        words += ["--increase-rate", str(_per_second(ask)), "--run-time", str(ask.seconds)]
        return Started(
            [*words, "--no-print-metrics", "--no-reset-metrics"], {"THINK": str(ask.think_s)}
        )

    def counted(self, text: str, folder: Path) -> Counted:  # noqa: ARG002 (it writes no file)
        return Counted.last_line(text)


class Artillery(Sessions):
    """Artillery with its plugins `expect` and `metrics-by-endpoint`."""

    name = "Artillery"
    remedy = "npm install --global artillery"
    names = BY_EXPECTATION
    OUTPUT = "artillery.json"

    def is_here(self) -> bool:
        return shutil.which("artillery") is not None

    def start(self, ask: Ask) -> Started:
        arrival = ARRIVAL_S if ask.think_s else 1
        users = {"phases": [{"duration": arrival, "arrivalCount": ask.users}]}
        words = ["artillery", "run", "--target", ask.url, "--output", self.OUTPUT]
        words += ["--overrides", json.dumps({"config": users}), "artillery.yml"]
        told = {"SECONDS": str(ask.seconds), "THINK": str(ask.think_s), "WORKERS": "1"}
        # A check that fails makes its exit code.
        script = '"$@"; code=$?; test $code = 21 && exit 0; exit $code'
        quiet = {"ARTILLERY_DISABLE_TELEMETRY": "true"}
        return Started(["sh", "-c", script, "sh", *words], told | quiet)

    def counted(self, text: str, folder: Path) -> Counted:
        found = json.loads((folder / self.OUTPUT).read_text(encoding="utf-8"))["aggregate"]
        wrong = _of_console(text)
        listed = found["summaries"].get("plugins.metrics-by-endpoint.response_time.list", {})
        right = int(found["counters"].get("http.responses", 0)) - sum(wrong.values())
        return Counted(right, wrong, float(listed.get("p99", 0)))


class Hyperfoil(Sessions):
    """Hyperfoil's own local runner, started by a few lines of Java."""

    name = "Hyperfoil"
    remedy = "HYPERFOIL_LIB=FOLDER, which has its jars (bench/README.md)"
    names = BY_ROUTE

    def is_here(self) -> bool:
        return bool(os.environ.get("HYPERFOIL_LIB")) and shutil.which("javac") is not None

    def start(self, ask: Ask) -> Started:
        jars = f"{os.environ['HYPERFOIL_LIB']}/*"
        if not (ask.folder / "Hyperfoil.class").exists():
            words = ["javac", "-cp", jars, "-d", ".", "Hyperfoil.java"]
            subprocess.run(words, cwd=ask.folder, check=True, timeout=120)
        written = (ask.folder / "hyperfoil.hf.yaml").read_text(encoding="utf-8")
        (ask.folder / "asked.hf.yaml").write_text(filled(written, ask), encoding="utf-8")
        return Started(
            ["java", "-XX:+UseSerialGC", "-cp", f"{jars}:.", "Hyperfoil", "asked.hf.yaml"]
        )

    def counted(self, text: str, folder: Path) -> Counted:  # noqa: ARG002 (it writes no file)
        return Counted.last_line(text)


def filled(benchmark: str, ask: Ask) -> str:
    """Hyperfoil's benchmark with what is asked in the places for it."""
    think = ""
    if ask.think_s:
        mean_ms = round(1000 * ask.think_s)
        think = f"""        - thinkTime:
            random: LINEAR
            min: {mean_ms // 2}ms
            max: {mean_ms * 3 // 2}ms
"""
    text = re.sub(r"(?m)^ *THINK\n", think, benchmark)
    for word, value in (
        ("HOST", ask.url),
        ("USERS", ask.users),
        ("SECONDS", ask.seconds),
        ("MOST", ask.seconds + HYPERFOIL_ENDING_S),
    ):
        text = text.replace(word, str(value))
    return text


def peers() -> list[Sessions]:
    """Those that others wrote."""
    return [Locust(), Artillery(), Goose(), Hyperfoil()]


def _thoughtful(ask: Ask, file: str) -> Path:
    """The traffic file, with think times where they are asked for."""
    if not ask.think_s:
        return ask.folder / file
    think = f'think = "uniform {ask.think_s / 2:g}s {ask.think_s * 1.5:g}s"'
    written = (ask.folder / file).read_text(encoding="utf-8")
    changed = ask.folder / f"thoughtful-{file}"
    changed.write_text(written.replace("[[flow]]\n", f"[[flow]]\n{think}\n"), encoding="utf-8")
    return changed


def _counted(start: Start, summary: Summary) -> Counted:
    if summary.traffic is None or start.traffic is None:
        return Counted(summary.counters.ok, {}, 0)
    wrong: dict[str, int] = {}
    p99_ms = 0.0
    for name, figures in zip(start.traffic.routes, summary.traffic.routes, strict=True):
        wrong |= {f"{name} {kind}": count for kind, count in figures.errors.items()}
        if name == "list" and "service_time" in figures.histograms:
            p99_ms = hdr.decode(figures.histograms["service_time"]).quantile(0.99) / 1e6
    return Counted(summary.counters.ok, wrong, p99_ms)


def _of_console(text: str) -> dict[str, int]:
    """The requests that Artillery shows as wrong, each under the first check that failed."""
    wrong: Counter[str] = Counter()
    name = ""
    for line in text.splitlines():
        if shown := re.match(r"\* [A-Z]+ \S+ - (\w+)", line):
            name = shown[1]
        elif name and (failed := re.match(r"  not ok (\w+)", line)):
            wrong[f"{name} {failed[1]}"] += 1
            name = ""
    return dict(wrong)


def _per_second(ask: Ask) -> int:
    return -(-ask.users // ARRIVAL_S) if ask.think_s else ask.users
