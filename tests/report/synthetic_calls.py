"""A synthetic study of two servers of gRPC: unary calls, and streams both ways of ten messages."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from tests.report.synthetic import Shape, demo_trials
from wiretrial.plan_grpc import CallKind, Grpc
from wiretrial.report.model import ReportModel, build
from wiretrial.results.model import Trial
from wiretrial.snapshot import Counters

SERVERS = (("grpc-go", "Go", 1.0), ("grpcio", "C++ and Python", 0.2))
KINDS: tuple[tuple[CallKind, str, float], ...] = (
    ("unary", "unary calls", 60e3),
    ("bidi", "streams both ways", 15e3),
)
MESSAGES = 10
"""Of each stream."""

_USUAL = Shape(
    name="",
    group="",
    protocol="grpc",
    subject="",
    language="",
    rate=0,
    server_us=0,
    system_share=0.4,
    generator_us=5.0,
    sent_bytes=110,
    received_bytes=130,
    connections=10,
)


def shapes() -> tuple[Shape, ...]:
    """A scenario of each server and kind of call."""
    return tuple(
        replace(
            _USUAL,
            name=f"{server}: echo, {told}",
            group=f"echo, {told}",
            subject=server,
            label=server,
            language=language,
            rate=rate * speed,
            server_us=0.95e6 / (rate * speed),
            levels={
                "workload": "echo",
                "protocol": "grpc",
                "call": kind,
                "payload": 64,
                "connections": 10,
                "streams": 10,
            },
        )
        for (server, language, speed), (kind, told, rate) in product(SERVERS, KINDS)
    )


def report() -> ReportModel:
    """What a study shows of them."""
    trials = [_of_calls(trial) for trial in demo_trials(shapes=shapes())]
    return build(
        trials,
        question="Which server of gRPC answers most calls?",
        title="Which server of gRPC?",
        command="wiretrial study run calls --seed 1",
        order=[shape.name for shape in shapes()],
    )


def _of_calls(trial: Trial) -> Trial:
    """The trial with its calls: their method, streams in flight, messages and statuses."""
    kind: CallKind = "bidi" if trial.scenario.levels["call"] == "bidi" else "unary"
    url = f"grpc://127.0.0.1:9001/wiretrial.Echo/{kind.capitalize()}"
    target = trial.plan.target.model_copy(update={"url": url, "grpc": Grpc(kind=kind)})
    load = trial.plan.load.model_copy(update={"depth": 10})
    intervals = tuple(
        one.model_copy(update={"counters": _counted(one.counters, kind)}) for one in trial.intervals
    )
    counters = _counted(trial.summary.counters, kind)
    return trial.model_copy(
        update={
            "plan": trial.plan.model_copy(update={"target": target, "load": load}),
            "intervals": intervals,
            "summary": trial.summary.model_copy(update={"counters": counters}),
        }
    )


def _counted(counters: Counters, kind: CallKind) -> Counters:
    messages = counters.ok * MESSAGES if kind == "bidi" else 0
    statuses = {"OK": counters.ok}
    return counters.model_copy(update={"statuses": statuses, "messages": messages})
