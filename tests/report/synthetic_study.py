"""A synthetic study in the shape of real ones: subjects x levels, a twin, a knee, claims, cases."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from tests.report.synthetic import Shape, demo_trials, one_trial
from wiretrial.report.knees import Objective
from wiretrial.report.model import ReportModel, build
from wiretrial.results.absent import Absent
from wiretrial.results.claims import Arithmetic, Claim, Side
from wiretrial.results.model import Judgement, Trial

SUBJECTS = ("uwebsockets", "gorilla", "ws")
CONNECTIONS = (10, 100, 1000)
RATES = {
    "uwebsockets": (212e3, 231e3, 188e3),
    "gorilla": (96e3, 103e3, 81e3),
    "ws": (33.1e3, 34.8e3, 29.7e3),
}
SERVER_US = {"uwebsockets": 4.1, "gorilla": 9.6, "ws": 28.4}
USER_KB = {"uwebsockets": 0.31, "gorilla": 9.2, "ws": 4.4}
KNEES = {"uwebsockets": 160e3, "gorilla": 80e3, "ws": 20e3}
OBJECTIVE = Objective(
    quantile=0.99, response_ns=5e6, first=10_000, ceiling=1e6, tolerance=0.05
)  # fmt: skip
MESSAGES = 50_000
LANGUAGES = {"uwebsockets": "C++", "gorilla": "Go", "ws": "JavaScript"}


def echo(subjects: Sequence[str] = SUBJECTS) -> tuple[Shape, ...]:
    """A workload over three numbers of connections."""
    return tuple(
        _shape(subject, "echo", f"echo, {connections:,} connections", connections, rate)
        for index, connections in enumerate(CONNECTIONS)
        for subject in subjects
        for rate in [RATES[subject][index]]
    )


def at_one_rate() -> tuple[Shape, ...]:
    """The same subjects at a rate that all of them sustain."""
    shapes = (_shape(s, "at one rate", "at one rate", 100, RATES[s][1]) for s in SUBJECTS)
    return tuple(
        replace(shape, offered=17_000.0, slow=0.1, levels={**shape.levels, "rate": 17_000.0})
        for shape in shapes
    )


def twin() -> Shape:
    """The first scenario again."""
    first = echo()[0]
    return replace(first, name=f"{first.name} (again)", twin_of=first.name, group="A/A")


def searches() -> list[Trial]:
    """For each subject: double until refused, bisect, confirm twice."""
    return [trial for subject in SUBJECTS for trial in _search(subject)]


def claims() -> tuple[Claim, ...]:
    """One that holds, one that doesn't, one by arithmetic, one of what was not measured."""
    many = {"connections": 1000}
    return (
        _claim("six times as many messages as ws", 6.0, "uwebsockets", "ws", **many),
        _claim("twice as slow as gorilla", 0.5, "uwebsockets", "gorilla", **many),
        _claim("ten times as many", 10.0, "gorilla", "ws", **many).model_copy(
            update={"arithmetic": Arithmetic(formula="10 connections / 1 connection", value=10.0)}
        ),
        _claim("faster than all", 2.0, "crow", "ws", **many),
    )


def cases(count: int = 6) -> tuple[Shape, ...]:
    """A time per case, from runs of a given number of messages."""
    shapes = []
    for number in range(count):
        title = f"GET {1 + number % 3} kB, {10 ** (1 + number // 3):,} messages"
        for subject in SUBJECTS:
            rate = RATES[subject][number % 3] * (0.2 if number == 4 and subject == "gorilla" else 1)
            shape = _shape(subject, f"case {number + 1}", title, 100, rate)
            levels = {**shape.levels, "requests": MESSAGES}
            shapes.append(replace(shape, requests=MESSAGES, levels=levels))
    return tuple(shapes)


def cases_trials(blocks: int = 5, shapes: tuple[Shape, ...] = ()) -> list[Trial]:
    """Runs whose replies have all come when they end."""
    return [_whole(trial) for trial in demo_trials(blocks=blocks, shapes=shapes or cases())]


def report(blocks: int = 6, **options: object) -> ReportModel:
    """The whole study's report."""
    shapes = (*echo(), *at_one_rate(), twin())
    trials = [*demo_trials(blocks=blocks, shapes=shapes), *searches()]
    settings: dict[str, object] = {
        "chart": "connections",
        "common_rate": [shape.name for shape in at_one_rate()],
        "objectives": {f"{subject}: knee": OBJECTIVE for subject in SUBJECTS},
        "claims": claims(),
        "absent": [Absent(subject="crow", reason="crow can't be built: no compiler is here")],
        "order": [shape.name for shape in shapes],
    }
    return build(
        trials,
        question="Which echoes most, which costs least, and how high a rate does each sustain?",
        title="Which WebSocket server for short messages, on one core?",
        command="wiretrial study run echo --seed 1",
        **{**settings, **options},  # type: ignore[arg-type]
    )


def _shape(subject: str, workload: str, title: str, connections: int, rate: float) -> Shape:
    return Shape(
        name=f"{subject}: {title}",
        group=title,
        protocol="ws",
        subject=subject,
        language=LANGUAGES[subject],
        rate=rate,
        server_us=SERVER_US[subject],
        system_share=0.6,
        generator_us=5.1,
        sent_bytes=26,
        received_bytes=22,
        connections=connections,
        label=subject,
        levels={"workload": workload, "connections": connections},
        user_kb=USER_KB[subject],
    )


def _search(subject: str) -> list[Trial]:
    """What `stats.knee.Search` asks for, answered by a server with a knee at `KNEES`."""
    draw = random.Random(subject)
    search = OBJECTIVE.search()
    made: list[Trial] = []
    while (rate := search.next_rate()) is not None:
        knee = KNEES[subject]
        sustained = rate <= knee
        base = _shape(subject, "knee", "knee", 100, RATES[subject][1])
        usual = 0.95 * base.connections / base.rate
        shape = replace(
            base,
            name=f"{base.name} at {rate:,.0f}/s",
            offered=rate,
            search=base.name,
            levels={**base.levels, "rate": rate},
            slow=(1.2e-4 / (1.15 - rate / knee) if sustained else 0.03) / usual,
        )
        judgement = Judgement(verdict="valid", bottleneck="rate", evidence="the rate was kept")
        made.append(one_trial(shape, len(made), 0, 1, judgement, 1.0, draw))
        search.see(rate, sustained)
    return made


def _claim(text: str, published: float, of: str, to: str, **levels: int) -> Claim:
    return Claim(
        text=f"{of} is {text}",
        source="An article, 2016",
        metric="throughput",
        of=Side(subject=of, workload="echo", levels=dict(levels)),
        to=Side(subject=to, workload="echo", levels=dict(levels)),
        published=published,
    )


def _whole(trial: Trial) -> Trial:
    counters = trial.summary.counters.model_copy(update={"in_flight": 0})
    requests = trial.plan.stop.requests or 0
    rate = trial.summary.counters.ok / trial.summary.end_ns
    end = trial.summary.first_send_ns + round(requests / rate)
    return trial.model_copy(
        update={"summary": trial.summary.model_copy(update={"counters": counters, "end_ns": end})}
    )
