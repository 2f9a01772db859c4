"""Synthetic trials in the demo's shape: made-up figures, the real record's form, seeded."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from hdrh.histogram import HdrHistogram

from wiretrial.plan import GeneratorSettings, Load, OpenLoop, Phases, Plan, Stop, Target
from wiretrial.results.model import (
    Judgement,
    Machine,
    ProcessSample,
    Scenario,
    SubjectFacts,
    Trial,
    Window,
)
from wiretrial.results.observation import CpuUse, Observation, PerConnection
from wiretrial.snapshot import (
    Blocked,
    Bytes,
    Connections,
    Counters,
    Generator,
    Interval,
    Start,
    Summary,
)

TENTH = 100_000_000
HOUR = 3_600_000_000_000
REFERENCE = "protocol, reference server"
NODE = "protocol, Node"


@dataclass(frozen=True)
class Shape:
    """What a synthetic scenario looks like on average."""

    name: str
    group: str
    protocol: str
    subject: str
    language: str
    rate: float
    server_us: float
    system_share: float
    generator_us: float
    sent_bytes: int
    received_bytes: int
    connects_each: bool = False
    offered: float | None = None
    connections: int = 100
    label: str | None = None
    levels: Mapping[str, int | float | str] = field(default_factory=dict)
    twin_of: str | None = None
    search: str | None = None
    ranked_by: str | None = None
    requests: int | None = None
    slow: float = 1.0
    """Times as slow to answer as the rate says: what a server beyond its knee is."""
    user_kb: float | None = None
    """Memory per connection."""


DEMO = (
    Shape("HTTP keep-alive", REFERENCE, "http", "reference", "Rust", 118e3, 8.3, 0.62, 6.9,
          178, 166),
    Shape("HTTP, new connection", REFERENCE, "http", "reference", "Rust", 17.2e3, 57.0, 0.91, 41.0,
          197, 185, connects_each=True),
    Shape("WebSocket", REFERENCE, "ws", "reference", "Rust", 171e3, 5.7, 0.71, 5.2, 70, 66),
    Shape("Raw TCP", REFERENCE, "tcp", "reference", "Rust", 178e3, 5.5, 0.75, 5.1, 64, 64),
    Shape("HTTP keep-alive on Node", NODE, "http", "ws", "JavaScript", 21.5e3, 46.1, 0.24, 7.9,
          178, 231),
    Shape("WebSocket on Node", NODE, "ws", "ws", "JavaScript", 44.3e3, 22.4, 0.33, 6.1, 70, 66),
    Shape("HTTP keep-alive on nginx", "extra", "http", "nginx", "C", 71.2e3, 13.9, 0.66, 7.2,
          178, 297),
)  # fmt: skip

ORDER = tuple(shape.name for shape in DEMO)

Marks = frozenset[tuple[str, int]]
"""Scenarios and their blocks."""


def demo_trials(
    *,
    blocks: int = 5,
    seed: int = 1,
    shapes: tuple[Shape, ...] = DEMO,
    client_bound: Marks = frozenset(),
    invalid: Marks = frozenset(),
    noise: float = 0.02,
) -> list[Trial]:
    """Interleaved trials of all shapes; the named (scenario, block) are marked."""
    if shapes is DEMO:
        # Asked for again and again, and never changed: records are frozen.
        return [*_of_demo(blocks, seed, client_bound, invalid, noise)]
    return _interleaved(blocks, seed, shapes, client_bound, invalid, noise)


@cache
def _of_demo(
    blocks: int, seed: int, client_bound: Marks, invalid: Marks, noise: float
) -> tuple[Trial, ...]:
    return tuple(_interleaved(blocks, seed, DEMO, client_bound, invalid, noise))


def _interleaved(
    blocks: int,
    seed: int,
    shapes: tuple[Shape, ...],
    client_bound: Marks,
    invalid: Marks,
    noise: float,
) -> list[Trial]:
    draw = random.Random(seed)
    trials: list[Trial] = []
    for block in range(blocks):
        order = list(shapes)
        draw.shuffle(order)
        drift = draw.gauss(0, noise)
        for position, shape in enumerate(order):
            mark = (shape.name, block)
            judgement = _judgement(
                shape, bound=mark in client_bound, invalid=mark in invalid, draw=draw
            )
            factor = math.exp(drift + draw.gauss(0, noise))
            trials.append(one_trial(shape, block, position, seed, judgement, factor, draw))
    return trials


def one_trial(
    shape: Shape,
    block: int,
    position: int,
    seed: int,
    judgement: Judgement,
    factor: float,
    draw: random.Random,
    warmup: int = 4,
    measured: int = 20,
) -> Trial:
    """One record: a ramp of `warmup` intervals, then `measured` ones of 100 ms, then the drain."""
    rate = shape.offered or shape.rate * factor
    intervals: list[Interval] = []
    total = _histogram()
    often = max(100, int(rate * 0.2) if shape.connects_each else 100)
    connects = _recorded([int(draw.lognormvariate(math.log(38e3), 0.35)) for _ in range(often)])
    for index in range(warmup + measured):
        share = 0.6 + 0.4 * index / warmup if index < warmup else 1.0
        completed = round(rate * share * 0.1 * math.exp(draw.gauss(0, 0.008)))
        histogram = _service(shape, completed, factor, draw)
        total.add(histogram)
        intervals.append(
            _interval(
                shape, index, completed, histogram, "warm-up" if index < warmup else "measure"
            )
        )
    ok = sum(i.counters.ok for i in intervals)
    end = (warmup + measured) * TENTH
    plan = _plan(shape, seed)
    return Trial(
        study="demo",
        study_digest="9f2c41d07be3",
        block=block,
        position=position,
        order_seed=seed,
        scenario=Scenario(
            name=shape.name,
            subject=shape.subject,
            protocol=shape.protocol,
            workload="64-byte JSON, 100 connections, closed loop",
            group=shape.group,
            label=shape.label,
            levels=dict(shape.levels),
            twin_of=shape.twin_of,
            search=shape.search,
            ranked_by=shape.ranked_by,
        ),
        started_at=f"2026-11-20T08:{block:02d}:{position % 15 * 4:02d}Z",
        plan=plan,
        start=Start(
            engine="0.1.0",
            pid=4242,
            url=plan.target.url,
            addresses=("127.0.0.1:9001",),
            started_unix_ns=1_790_000_000_000_000_000,
            threads=1,
            poller="epoll",
            request_payload_bytes=64,
            reply_payload_bytes=64,
            tls=None,
        ),
        intervals=tuple(intervals),
        summary=_summary(shape, intervals, ok, end, total, connects),
        subject=SubjectFacts(
            name=shape.subject,
            version={"ws": "8.23.0", "nginx": "1.22.1"}.get(shape.subject, "0.1.0"),
            language=shape.language,
            digest="sha256:5be1f0a2c9",
            command=(shape.subject, "--port", "9001"),
            threads=1,
            cpus=(0,),
        ),
        subject_samples=_samples(shape, intervals, factor),
        observation=_observation(shape, draw),
        window=Window(
            start_ns=warmup * TENTH,
            end_ns=end,
            steady=True,
            rule="mean shift, cut at 5 %, steady within 10 %",
        ),
        judgement=judgement,
        machine=Machine(
            facts={
                "cpu": "Example CPU @ 2.60 GHz",
                "cores": 2,
                "kernel": "6.1.0-18-amd64",
                "clock source": "tsc",
                "governor": "performance",
                "sysctl": {"net.core.somaxconn": 4096, "net.ipv4.tcp_tw_reuse": 2},
            }
        ),
    )


def _judgement(shape: Shape, *, bound: bool, invalid: bool, draw: random.Random) -> Judgement:
    if invalid:
        return Judgement(
            verdict="invalid", bottleneck="unknown", evidence="12 of 24 intervals disturbed"
        )
    if bound:
        return Judgement(
            verdict="client-bound",
            bottleneck="generator",
            evidence=f"our loop {draw.uniform(0, 1):.1f} % idle, its core 81 % busy",
        )
    return Judgement(
        verdict="valid",
        bottleneck="rate" if shape.offered else "server",
        evidence=f"its core {draw.uniform(97, 100):.0f} % busy, "
        f"our loop {draw.uniform(6, 40):.0f} % idle",
    )


def _plan(shape: Shape, seed: int) -> Plan:
    load = (
        Load(connections=shape.connections, executor=OpenLoop(rate=shape.offered), seed=seed)
        if shape.offered
        else Load(
            connections=shape.connections,
            requests_per_connection=1 if shape.connects_each else None,
            seed=seed,
        )
    )
    return Plan(
        target=Target(url=f"{shape.protocol}://127.0.0.1:9001/"),
        load=load,
        stop=Stop(requests=shape.requests) if shape.requests else Stop(duration_ns=20 * TENTH),
        phases=Phases(warmup_ns=4 * TENTH),
        generator=GeneratorSettings(cpus=(1,)),
    )


def _histogram() -> HdrHistogram:
    return HdrHistogram(1, HOUR, 3)


def _text(histogram: HdrHistogram) -> str:
    return str(histogram.encode().decode("ascii"))


def _service(shape: Shape, completed: int, factor: float, draw: random.Random) -> HdrHistogram:
    """Log-normal around connections / rate, with a thin tail of slow replies."""
    busy = 0.95 * shape.connections / (shape.rate * factor) * 1e9
    centre = math.log(busy * shape.slow)
    times = []
    for _ in range(300):
        slow = draw.random() < 0.02
        value = draw.lognormvariate(centre + (0.9 if slow else 0), 0.5 if slow else 0.12)
        times.append(int(value))
    rare = [int(draw.lognormvariate(centre + 1.7, 0.4)) for _ in range(2)]
    return _recorded([*times, *rare], [max(1, completed // 300)] * len(times) + [1] * len(rare))


def _recorded(times: list[int], counts: list[int] | None = None) -> HdrHistogram:
    """Of these times, each so often, or once.

    All at once: one call after the other was a tenth of what the tests of reports compute.
    """
    histogram, values = _histogram(), np.array(times)
    # The first 11 bits of a value tell its place.
    beyond = np.maximum(np.frexp(values)[1] - 11, 0)
    places = (beyond << 10) + (values >> beyond)
    often = np.array(counts or [1] * len(times), dtype=np.uint64)
    np.add.at(np.frombuffer(histogram.counts, dtype=np.uint64), places, often)
    first, last = int(places.min()), int(places.max())
    histogram.set_internal_tacking_values(first, last, int(often.sum()))
    return histogram


def _interval(
    shape: Shape, index: int, completed: int, histogram: HdrHistogram, phase: str
) -> Interval:
    name, told = "response_time" if shape.offered else "service_time", _text(histogram)
    return Interval.model_validate(
        {
            "index": index,
            "start_ns": index * TENTH,
            "end_ns": (index + 1) * TENTH,
            "phase": phase,
            "counters": Counters(sent=completed, ok=completed, in_flight=100),
            "connections": Connections(open=100),
            "bytes": Bytes(
                sent=completed * shape.sent_bytes,
                received=completed * shape.received_bytes,
                application_sent=completed * shape.sent_bytes,
                application_received=completed * shape.received_bytes,
            ),
            "generator": Generator(
                cpu_user_ns=round(completed * shape.generator_us * 350),
                cpu_system_ns=round(completed * shape.generator_us * 650),
                peak_rss_bytes=9_400_000,
                loop_utilisation=0.82,
            ),
            "disturbed": False,
            "histograms": {name: told, "service_time": told},
        }
    )


def _summary(
    shape: Shape,
    intervals: list[Interval],
    ok: int,
    end: int,
    total: HdrHistogram,
    connects: HdrHistogram,
) -> Summary:
    connections = ok if shape.connects_each else 100
    return Summary(
        end="complete",
        signal=None,
        first_send_ns=0,
        measure_start_ns=4 * TENTH,
        measure_end_ns=end,
        end_ns=end,
        counters=Counters(sent=ok + 100, ok=ok, in_flight=100),
        connections=Connections(
            attempted=connections, opened=connections, closed={"plan": connections}
        ),
        bytes=Bytes(
            sent=sum(i.bytes.sent for i in intervals),
            received=sum(i.bytes.received for i in intervals),
            application_sent=sum(i.bytes.application_sent for i in intervals),
            application_received=sum(i.bytes.application_received for i in intervals),
        ),
        generator=Generator(
            cpu_user_ns=sum(i.generator.cpu_user_ns for i in intervals),
            cpu_system_ns=sum(i.generator.cpu_system_ns for i in intervals),
            peak_rss_bytes=9_400_000,
            loop_utilisation=0.82,
        ),
        blocked=Blocked(threshold_ns=10_000_000),
        disturbed_intervals=0,
        histograms={"service_time": _text(total), "connect_time": _text(connects)},
    )


def _observation(shape: Shape, draw: random.Random) -> Observation | None:
    if shape.user_kb is None:
        return None
    grown = shape.user_kb * 1e3 * draw.uniform(0.97, 1.03)
    return Observation(
        cpu_resolution_ns=1,
        tick_ns=10_000_000,
        cost_ns=1,
        watched_ns=24 * TENTH,
        start_ns=4 * TENTH,
        end_ns=24 * TENTH,
        alone=False,
        cpus=(CpuUse(cpu=0, idle_ns=0, softirq_ns=4 * TENTH),),
        per_connection=PerConnection(
            pss_bytes=grown, anonymous_bytes=grown, tcp_memory_bytes=900.0, socket_slab_bytes=4100.0
        ),
    )


def _samples(shape: Shape, intervals: list[Interval], factor: float) -> tuple[ProcessSample, ...]:
    """Cumulative readings at each interval's edge."""
    samples = [ProcessSample(offset_ns=0, cpu_user_ns=0, cpu_system_ns=0, rss_bytes=20_000_000)]
    replies = 0
    for interval in intervals:
        replies += interval.counters.ok
        cpu = replies * shape.server_us * 1000 / factor
        samples.append(
            ProcessSample(
                offset_ns=interval.end_ns,
                cpu_user_ns=round(cpu * (1 - shape.system_share)),
                cpu_system_ns=round(cpu * shape.system_share),
                rss_bytes=20_000_000,
            )
        )
    return tuple(samples)
