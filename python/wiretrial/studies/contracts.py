"""How each contract is asked: the route, the message, and what a right reply is.

Knows contracts and the plan's parts; must not know subjects.
"""

from __future__ import annotations

import base64
import json
from ipaddress import IPv4Address
from typing import Literal, NamedTuple

from wiretrial.plan import (
    BroadcastContent,
    EchoContent,
    Expect,
    FixedContent,
    FixedPayload,
    Http,
    LearnedContent,
    Load,
    Message,
    NoPayload,
    Payload,
    SequencePayload,
    TemplatePayload,
)
from wiretrial.plan_grpc import Grpc
from wiretrial.results.model import Scenario
from wiretrial.studies.spec import Case
from wiretrial.subjects.spec import ConfigurationName, ContractName, Protocol
from wiretrial.words import CALLS, HTTP

PATHS: dict[ContractName, str] = {
    "http-echo": "/echo",
    "static": "/message",
    "ws-echo": "/",
    "ws-broadcast": "/broadcast",
    "push": "/subscribe",
    "long-poll": "/next",
    "raw-echo": "",
    "rest": "/test",
    "rpc": "/messages/testing",
    "table": "",
    "traffic": "/",
}
"""Where each contract is asked for, unless a study says otherwise."""

COMPARED: tuple[ContractName, ...] = ("http-echo", "static", "ws-echo", "raw-echo", "grpc-echo")
"""Contracts in which messages of any length may be sent, or none."""

JSON_MESSAGE = TemplatePayload(text='{"seq":"{seq}","text":"one message of 64 bytes....."}')
"""64 bytes of JSON, each with its own sequence number: a swapped or repeated reply is caught."""

DEFAULT_BYTES: dict[ContractName, int] = {
    "http-echo": 64,
    "ws-echo": 20,
    "ws-broadcast": 20,
    "raw-echo": 20,
    "rest": 64,
    "grpc-echo": 64,
}

REST_PREFIX = b"received: "
REST_JSON = b'{"producer":"one of ten","text":"a message of 64 bytes as JSON"}'
STATUS_PATH = "/test/status"
LABELS_PATH = "/test/labels/"
MESSAGES_PATH = "/messages/"
SUBSCRIBE_CALL = "/wiretrial.Push/Subscribe"
"""The method of gRPC that is told what is published."""

HELD_PER_SOURCE = 12_000
"""Connections from one local address to one server: the kernel soon finds such a port."""
FIRST_SOURCE = IPv4Address("127.0.1.1")
MOST_SOURCES = 254

FRESH_SOURCES = tuple(f"127.0.1.{last}" for last in range(1, 17))
"""Local addresses of loads that open a connection per request: one alone runs out of ports."""


class Request(NamedTuple):
    """What is sent where, and what a right reply is."""

    path: str
    http: Http
    message: Message
    expect: Expect
    grpc: Grpc = Grpc()


def request(
    contract: ContractName,
    size: int | Literal["json"] | None = None,
    path: str | None = None,
    protocol: Protocol = "http",
) -> Request:
    """How a contract is asked; `size` is the message's bytes, None the contract's own.

    Over Socket.IO the message is the one argument of an event, and comes back acknowledged.
    """
    if contract == "rpc" and protocol.startswith("socketio"):
        return _emitted(path or PATHS["rpc"])
    if contract == "push":
        return _heard(path, protocol)
    path = PATHS[contract] if path is None else path
    match contract:
        case "static":
            return Request(path, Http(), Message(), Expect(content=LearnedContent()))
        case "rest" if path != PATHS["rest"]:
            label = path.removeprefix(LABELS_PATH)
            return _get(path, b"OK" if path == STATUS_PATH else label.encode())
        case "rest":
            is_json = size == "json"
            sent = REST_JSON if is_json else _text(int(size or DEFAULT_BYTES["rest"]))
            kind = "application/json" if is_json else "text/plain"
            return Request(
                path,
                Http(headers=(("Content-Type", kind),)),
                Message(is_json=is_json, source=FixedPayload(base64=_base64(sent))),
                Expect(content=FixedContent(base64=_base64(REST_PREFIX + sent))),
            )
        case "ws-broadcast":
            message = Message(source=SequencePayload(bytes=int(size or DEFAULT_BYTES[contract])))
            return Request(path, Http(), message, Expect(content=BroadcastContent()))
        case "table" | "long-poll":
            return Request(path, Http(), Message(), Expect())
        case "rpc":
            return _get(path, b'{"id":"%b"}' % path.removeprefix(MESSAGES_PATH).encode())
        case "ws-echo" if protocol in ("socketio+ws", "socketio+wss"):
            text = _text(DEFAULT_BYTES[contract] if size is None or size == "json" else size)
            event = b'["message","%b"]' % text
            return Request(
                path,
                Http(),
                Message(kind="text", source=FixedPayload(base64=_base64(event))),
                Expect(content=FixedContent(base64=_base64(b'["%b"]' % text))),
            )
        case _:
            message = Message(
                kind="text" if contract == "ws-echo" and size == "json" else "binary",
                is_json=size == "json",
                source=_echoed(contract, size),
            )
            return Request(path, Http(), message, Expect(content=EchoContent()))


def held_sources(connections: int) -> tuple[str, ...]:
    """Local addresses that have ports for so many connections; none where one has."""
    wanted = -(-connections // HELD_PER_SOURCE)
    if wanted == 1:
        return ()
    return tuple(str(FIRST_SOURCE + place) for place in range(min(wanted, MOST_SOURCES)))


def driver_bytes(contract: ContractName, size: int | None) -> int:
    """How long a client driver's message is; a GET has none."""
    if contract == "static":
        return 0
    return DEFAULT_BYTES[contract] if size is None else size


def driver_message(size: int) -> Message:
    """What a client driver sends each time: so many bytes, none for a GET."""
    if not size:
        return Message()
    return Message(source=FixedPayload(base64=_base64(driver_content(size))))


def driver_content(size: int) -> bytes:
    """The bytes of a client driver's message, as the drivers' contract says."""
    return bytes(33 + index % 90 for index in range(size))


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
    asked = request(contract)
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
        path=asked.path,
        contract=contract,
        message=asked.message
        if contract == "static"
        else Message(
            kind="text" if contract == "ws-echo" else "binary",
            is_json=payload == JSON_MESSAGE,
            source=payload,
        ),
        expect=asked.expect,
        load=load,
        sources=FRESH_SOURCES if load.requests_per_connection is not None else (),
    )


def _echoed(contract: ContractName, size: int | Literal["json"] | None) -> Payload:
    if size == "json":
        return JSON_MESSAGE
    return SequencePayload(bytes=DEFAULT_BYTES[contract] if size is None else size)


def _get(path: str, content: bytes) -> Request:
    return Request(
        path,
        Http(method="GET"),
        Message(source=NoPayload()),
        Expect(content=FixedContent(base64=_base64(content))),
    )


def _emitted(path: str) -> Request:
    """The same call as an event of Socket.IO; its acknowledgement has no error and the message."""
    name = path.removeprefix(MESSAGES_PATH)
    event = json.dumps(["get", "messages", name], separators=(",", ":"))
    right = json.dumps([None, {"id": name}], separators=(",", ":"))
    return Request(
        "",
        Http(),
        Message(kind="text", source=FixedPayload(base64=_base64(event.encode()))),
        Expect(content=FixedContent(base64=_base64(right.encode()))),
    )


def _heard(path: str | None, protocol: Protocol) -> Request:
    """How it is asked for what is published: by a stream, a socket, an event or a call."""
    if protocol in CALLS:
        path = SUBSCRIBE_CALL if path is None else path
        return Request(path, Http(), Message(), Expect(), Grpc(kind="server"))
    if protocol.startswith("socketio"):
        return Request(path or "", Http(), Message(), Expect())
    path = PATHS["push"] if path is None else path
    return Request(path, Http(sse=protocol in HTTP), Message(), Expect())


def _text(size: int) -> bytes:
    """`size` printable bytes."""
    return bytes(97 + index % 26 for index in range(size))


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
