"""Synthetic trials of client libraries: made-up round trips, the real record's form, seeded."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hdrh.histogram import HdrHistogram

from wiretrial.plan import GeneratorSettings, Load, Plan, Stop, Target
from wiretrial.report.model import ReportModel, build
from wiretrial.results.claims import Arithmetic, Claim, Side
from wiretrial.results.model import Driven, Machine, Scenario, SubjectFacts, Trial
from wiretrial.snapshot import Start
from wiretrial.studies.observed import Origin
from wiretrial.studies.told import Told
from wiretrial.subjects.driver import HIGHEST_NS, Repetition
from wiretrial.subjects.observe import Seen
from wiretrial.subjects.spec import Mode
from wiretrial.subjects.tree import Reading

ITERATIONS = 400
REPETITIONS = 3
BEGAN = 10**12
BASE = "raw-client"


@dataclass(frozen=True)
class Library:
    """What a library takes on average, microseconds."""

    name: str
    language: str
    wall_us: float
    cpu_us: float
    protocols: tuple[str, ...] = ("http", "https")
    fresh_us: float = 90.0
    """What a new connection adds."""


LIBRARIES = (
    Library(BASE, "C++", 50, 15, ("http", "https", "ws", "wss", "tcp")),
    Library("libcurl-client", "C", 70, 33, ("http", "https", "ws", "wss"), fresh_us=200),
    Library("cpprestsdk-client", "C++", 140, 92, ("http", "https", "ws", "wss")),
    Library("websocketpp-client", "C++", 66, 31, ("ws", "wss")),
    Library("httpx-client", "Python", 700, 640),
)


def trials(blocks: int = 5, seed: int = 1, libraries: Sequence[Library] = LIBRARIES) -> list[Trial]:
    """Every library over its protocols, kept and fresh, and one scenario measured twice."""
    draw = random.Random(seed)
    made: list[Trial] = []
    for block in range(blocks):
        for library in libraries:
            for protocol in library.protocols:
                modes: tuple[Mode, ...] = ("kept",) if protocol == "tcp" else ("kept", "fresh")
                made += [_trial(library, protocol, mode, block, len(made), draw) for mode in modes]
        made.append(_trial(libraries[0], "http", "kept", block, len(made), draw, is_twin=True))
    return made


def report(
    blocks: int = 5,
    claims: Sequence[Claim] = (),
    lost: Callable[[Trial], bool] = lambda _: False,
) -> ReportModel:
    """The report over them; `lost`: trials that were not stored."""
    found = [trial for trial in trials(blocks) if not lost(trial)]
    names = dict.fromkeys(trial.scenario.name for trial in found)
    return build(
        found,
        question="What does a round trip cost?",
        title="Which client library costs least?",
        command="wiretrial study run client-libraries --seed 1",
        order=list(names),
        baselines=[name for name in names if name.startswith(f"{BASE}: ")],
        claims=claims,
    )


def claims() -> tuple[Claim, ...]:
    """One of each kind that this study has."""

    def side(subject: str, workload: str, protocol: str, mode: str) -> Side:
        return Side(subject=subject, workload=workload, levels={"protocol": protocol, "mode": mode})

    curl = side("libcurl-client", "page", "http", "kept")
    return (
        Claim(
            text="cpprestsdk takes twice as long as libcurl",
            source="there",
            metric="wall",
            published=2.0,
            of=side("cpprestsdk-client", "page", "http", "kept"),
            to=curl,
        ),
        Claim(
            text="a new handle each takes 87.9 times as long",
            source="there",
            metric="wall",
            published=87.9,
            of=side("libcurl-client", "page, reinit", "http", "fresh"),
            to=curl,
            arithmetic=Arithmetic(formula="200 ms / 2.37 ms", value=84.6),
        ),
    )


def _trial(
    library: Library,
    protocol: str,
    mode: Mode,
    block: int,
    position: int,
    draw: random.Random,
    *,
    is_twin: bool = False,
) -> Trial:
    factor = math.exp(draw.gauss(0, 0.02))
    secure = 1.15 if protocol in ("https", "wss") else 1.0
    added = 0.0 if mode == "kept" else library.fresh_us
    wall_us = (library.wall_us + added) * secure * factor
    cpu_us = (library.cpu_us + added / 2) * secure * factor
    repetitions = [
        _repetition(number, library, mode, wall_us, cpu_us, draw) for number in range(REPETITIONS)
    ]
    told, url = _told(repetitions, cpu_us), f"{protocol}://127.0.0.1:8080/"
    workload = "page" if protocol.startswith("http") else "socket" if protocol == "tcp" else "echo"
    if mode == "fresh":
        workload = f"{workload}, reinit"
    title = f"{workload}, {protocol}"
    name = f"{library.name}: {title}"
    server = SubjectFacts(name="nginx", version="1.22.1", language="C", threads=1, cpus=(0,))
    return Trial(
        study="client-libraries",
        study_digest="9f2c41d07be3",
        block=block,
        position=position,
        order_seed=1,
        scenario=Scenario(
            name=f"{name} (again)" if is_twin else name,
            subject=library.name,
            protocol=protocol,
            workload=title,
            group="A/A" if is_twin else title,
            label=library.name,
            levels={"workload": workload, "protocol": protocol, "mode": mode},
            twin_of=name if is_twin else None,
        ),
        started_at=f"2026-11-20T08:{block:02d}:{position % 60:02d}Z",
        plan=Plan(
            target=Target(url=url),
            load=Load(connections=1, requests_per_connection=1 if mode == "fresh" else None),
            stop=Stop(requests=ITERATIONS * REPETITIONS),
            generator=GeneratorSettings(cpus=(1,)),
        ),
        start=Start(
            engine="wiretrial-driver 1",
            pid=4242,
            url=url,
            addresses=("127.0.0.1:8080",),
            started_unix_ns=1_790_000_000_000_000_000,
            threads=1,
            poller="the library's own",
            request_payload_bytes=0,
            reply_payload_bytes=612,
            tls=None,
        ),
        intervals=told.intervals,
        summary=told.summary,
        subject=SubjectFacts(
            name=library.name, version="1.0", language=library.language, cpus=(1,)
        ),
        driven=Driven(library=told.library, server=server, mode=mode),
        subject_samples=told.samples,
        observation=told.observation,
        window=told.window,
        judgement=told.judgement(None),
        machine=Machine(facts={"cpu": "Example CPU @ 2.60 GHz", "cores": 2}),
    )


def _told(repetitions: Sequence[Repetition], cpu_us: float) -> Told:
    """Lines that come one after the other, and a server that takes as much CPU as the client."""
    at, instants, readings = BEGAN, [], []
    for number, one in enumerate(repetitions):
        at += one.wall_ns + 1000
        instants.append(at)
        readings.append(
            Reading(
                at_ns=at,
                cpu_user_ns=0,
                cpu_system_ns=round((number + 1) * ITERATIONS * cpu_us * 1000),
                cpu_resolution_ns=1,
                rss_bytes=9_000_000,
                threads=1,
            )
        )
    origin = Origin(begun_ns=BEGAN, alone=False, interfaces=("lo",), tells_memory=False)
    return Told.of(repetitions, instants, Seen(readings=readings), origin, 100)


def _repetition(
    number: int,
    library: Library,
    mode: Mode,
    wall_us: float,
    cpu_us: float,
    draw: random.Random,
) -> Repetition:
    histogram = HdrHistogram(1, HIGHEST_NS, 3)
    spread = [draw.lognormvariate(0, 0.15) for _ in range(ITERATIONS)]
    scale = wall_us * 1000 * ITERATIONS / sum(spread)
    for value in spread:
        histogram.record_value(round(value * scale))
    cpu_ns = round(cpu_us * 1000 * ITERATIONS)
    return Repetition.model_validate(
        {
            "schema": "wiretrial-driver",
            "version": 1,
            "library": f"{library.name} 1.0",
            "repetition": number,
            "mode": mode,
            "iterations": ITERATIONS,
            "errors": 0,
            "first_error": None,
            "connections": 1 if mode == "kept" else ITERATIONS,
            "wall_ns": round(wall_us * 1000 * ITERATIONS * 1.01),
            "cpu_user_ns": cpu_ns // 3,
            "cpu_system_ns": cpu_ns - cpu_ns // 3,
            "histogram": histogram.encode().decode(),
        }
    )
