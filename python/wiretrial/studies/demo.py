"""The demo: what does HTTP cost next to WebSocket for a 64-byte request, here, and why?

One message is asked for in four ways of the reference server, which does next to nothing beside
speaking the protocol, and in two ways of one Node process. nginx stands beside, outside the
verdict.
"""

from __future__ import annotations

from wiretrial.plan import Load
from wiretrial.studies.contracts import JSON_MESSAGE, case
from wiretrial.studies.spec import OUTSIDE, Case, Study
from wiretrial.subjects.spec import ContractName, Protocol

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
    reference, node = ("reference", "reference server"), ("ws", "Node")
    return (
        _case(REFERENCE_HTTP, *reference, "http", "http-echo"),
        _case(REFERENCE_FRESH, *reference, "http", "http-echo", requests_per_connection=1),
        _case(REFERENCE_WS, *reference, "ws", "ws-echo"),
        _case(REFERENCE_TCP, *reference, "tcp", "raw-echo"),
        _case(NODE_HTTP, *node, "http", "http-echo"),
        _case(NODE_WS, *node, "ws", "ws-echo"),
        _case(NGINX_STATIC, "nginx", OUTSIDE, "http", "static", what="64-byte static JSON"),
    )


def _case(
    name: str,
    subject: str,
    group: str,
    protocol: Protocol,
    contract: ContractName,
    *,
    requests_per_connection: int | None = None,
    what: str = "64-byte JSON",
) -> Case:
    workload = f"{what}, {CONNECTIONS} connections, closed loop, depth 1"
    if requests_per_connection:
        workload += ", one request per connection"
    return case(
        name=name,
        subject=subject,
        configuration="default",
        protocol=protocol,
        contract=contract,
        payload=JSON_MESSAGE,
        load=Load(connections=CONNECTIONS, requests_per_connection=requests_per_connection),
        workload=workload,
        group=group,
    )
