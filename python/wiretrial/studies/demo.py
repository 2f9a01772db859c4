"""The main job: what does HTTP cost next to WebSocket for a 64-byte request, here, and why?

One message is asked for in four ways of the reference server, which does next to nothing beside
speaking the protocol, and in two ways of one Node process. nginx stands beside, outside the
verdict.
"""

from __future__ import annotations

from wiretrial.plan import Load
from wiretrial.studies.spec import OUTSIDE, Case, Study
from wiretrial.studies.workloads import JSON_MESSAGE, case

NAME = "demo"
CONNECTIONS = 32
MEASURE_NS = 2_200_000_000
WARMUP_ALLOWANCE_NS = 600_000_000

REFERENCE_HTTP = "reference: HTTP keep-alive"
REFERENCE_FRESH = "reference: HTTP, a connection each"
REFERENCE_WS = "reference: WebSocket"
REFERENCE_TCP = "reference: TCP"
NODE_HTTP = "Node: HTTP keep-alive"
NODE_WS = "Node: WebSocket"
NGINX_STATIC = "nginx: static file"


def study(trials: int, seed: int) -> Study:
    """The demo as a study. 7 scenarios x 5 trials x 2.8 s is 98 s of measuring."""
    return Study(
        name=NAME,
        title="HTTP or WebSocket for a 64-byte request?",
        question=(
            "What does one 64-byte request and reply cost over HTTP, next to WebSocket and a bare"
            " TCP socket, on this machine?"
        ),
        command=f"wiretrial demo --trials {trials} --seed {seed}",
        cases=_cases(),
        trials=trials,
        seed=seed,
        duration_ns=MEASURE_NS,
        warmup_allowance_ns=WARMUP_ALLOWANCE_NS,
        baselines=(REFERENCE_WS, NODE_WS),
    )


def _cases() -> tuple[Case, ...]:
    kept = Load(connections=CONNECTIONS)
    fresh = Load(connections=CONNECTIONS, requests_per_connection=1)
    workload = f"64-byte JSON, {CONNECTIONS} connections, closed loop, depth 1"
    reference = "reference server"
    return (
        case(
            name=REFERENCE_HTTP,
            subject="reference",
            configuration="default",
            protocol="http",
            contract="http-echo",
            payload=JSON_MESSAGE,
            load=kept,
            workload=workload,
            group=reference,
        ),
        case(
            name=REFERENCE_FRESH,
            subject="reference",
            configuration="default",
            protocol="http",
            contract="http-echo",
            payload=JSON_MESSAGE,
            load=fresh,
            workload=f"{workload}, one request per connection",
            group=reference,
        ),
        case(
            name=REFERENCE_WS,
            subject="reference",
            configuration="default",
            protocol="ws",
            contract="ws-echo",
            payload=JSON_MESSAGE,
            load=kept,
            workload=workload,
            group=reference,
        ),
        case(
            name=REFERENCE_TCP,
            subject="reference",
            configuration="default",
            protocol="tcp",
            contract="raw-echo",
            payload=JSON_MESSAGE,
            load=kept,
            workload=workload,
            group=reference,
        ),
        case(
            name=NODE_HTTP,
            subject="node",
            configuration="default",
            protocol="http",
            contract="http-echo",
            payload=JSON_MESSAGE,
            load=kept,
            workload=workload,
            group="Node",
        ),
        case(
            name=NODE_WS,
            subject="node",
            configuration="default",
            protocol="ws",
            contract="ws-echo",
            payload=JSON_MESSAGE,
            load=kept,
            workload=workload,
            group="Node",
        ),
        case(
            name=NGINX_STATIC,
            subject="nginx",
            configuration="default",
            protocol="http",
            contract="static",
            payload=JSON_MESSAGE,
            load=kept,
            workload=f"64-byte static JSON, {CONNECTIONS} connections, closed loop, depth 1",
            group=OUTSIDE,
        ),
    )
