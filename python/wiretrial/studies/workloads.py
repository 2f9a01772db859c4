"""Workloads that more than one study uses: the message, and how each protocol asks for it.

Knows contracts' routes and the plan's parts; must not know subjects.
"""

from __future__ import annotations

from wiretrial.plan import (
    AutoContent,
    EchoContent,
    Expect,
    LearnedContent,
    Load,
    Message,
    NoPayload,
    Payload,
    TemplatePayload,
)
from wiretrial.results.model import Scenario
from wiretrial.studies.spec import Case
from wiretrial.subjects.spec import ConfigurationName, ContractName, Protocol

PATHS: dict[ContractName, str] = {
    "http-echo": "/echo",
    "static": "/message",
    "ws-echo": "/",
    "raw-echo": "",
}
"""Where each contract is kept."""

JSON_MESSAGE = TemplatePayload(text='{"seq":"{seq}","text":"one message of 64 bytes....."}')
"""64 bytes of JSON, each with its own sequence number: a swapped or repeated reply is caught."""

FRESH_SOURCES = tuple(f"127.0.1.{last}" for last in range(1, 17))
"""Local addresses of loads that open a connection per request: one alone runs out of ports."""


def case(
    *,
    name: str,
    subject: str,
    configuration: ConfigurationName,
    protocol: Protocol,
    contract: ContractName,
    payload: Payload,
    load: Load,
    workload: str,
    group: str = "main",
) -> Case:
    """The scenario in which `subject` is asked for `payload` as `contract` says."""
    echoes = contract != "static"
    return Case(
        scenario=Scenario(
            name=name,
            subject=subject,
            configuration=configuration,
            protocol=protocol,
            workload=workload,
            group=group,
        ),
        protocol=protocol,
        path=PATHS[contract],
        contract=contract,
        message=Message(
            kind="text" if contract == "ws-echo" else "binary",
            source=payload if echoes else NoPayload(),
        ),
        expect=Expect(content=_content(contract)),
        load=load,
        sources=FRESH_SOURCES if load.requests_per_connection is not None else (),
    )


def _content(contract: ContractName) -> AutoContent | EchoContent | LearnedContent:
    if contract == "static":
        return LearnedContent()
    return EchoContent()
