"""A call of gRPC as it was typed, turned into the parts of a plan.

Knows the command line's words for a call, and whom to ask what a method is; must not know how a
call is sent.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import JsonValue

from wiretrial import quantities
from wiretrial.calls import compiling, fields, messages, reflection, statuses
from wiretrial.calls import metadata as names
from wiretrial.calls.channel import Server
from wiretrial.calls.methods import Method, Methods
from wiretrial.cli import spoken, urls, workload
from wiretrial.cli.content import PLACEHOLDER
from wiretrial.cli.options import Asked, HttpVersions
from wiretrial.cli.options_grpc import HTTP_STATUS, Calls
from wiretrial.errors import UsageProblem
from wiretrial.plan import (
    SECURE,
    AnyHttpVersion,
    AutoContent,
    Content,
    EchoContent,
    Expect,
    FieldsContent,
    FixedPayload,
    Http,
    LearnedContent,
    ListPayload,
    Message,
    MessagesContent,
    NoPayload,
    NumberedPayload,
    Payload,
    StatusContent,
    Tls,
)
from wiretrial.plan_grpc import Grpc

NUMBER = b"0" * 16
"""Of a call, in a message."""
INTERVAL_FLAG = "--message-interval"
TURNS_FLAG = "--turns"


@dataclass(frozen=True)
class Call:
    """What is called, and the parts of the target that say so."""

    method: Method
    grpc: Grpc
    http: Http
    message: Message
    expect: Expect

    @property
    def parts(self) -> dict[str, Any]:
        """Those of a target, by their names."""
        return {
            "grpc": self.grpc,
            "http": self.http,
            "message": self.message,
            "expect": self.expect,
        }


def call(
    target: urls.Target, asked: Asked, calls: Calls, tls: Tls, method: Method | None = None
) -> Call:
    """The call of a URL. `method`: it, where it is known; else the files or the server tell."""
    require_fitting(asked)
    version = _version(target, asked)
    method = method or _methods(target, calls, tls).find(urlsplit(target.url).path)
    status = 0
    if asked.expect_status != HTTP_STATUS:
        status = statuses.number(asked.expect_status, "--expect-status")
    deadline = calls.deadline
    message = Message(source=_payload(asked, method))
    _require_paced(calls, method, message.source)
    return Call(
        method=method,
        grpc=Grpc(
            kind=method.kind,
            message_interval_ns=_interval(calls, method),
            turns=calls.turns,
            deadline_ns=quantities.duration_ns(deadline, "--deadline", 1) if deadline else None,
            status=status,
            gzip=calls.gzip,
        ),
        http=Http(
            version=version,
            congestion=asked.congestion,
            headers=metadata(asked.header),
        ),
        message=message,
        expect=Expect(content=_content(asked.expect, method, status)),
    )


def _version(target: urls.Target, asked: Asked) -> AnyHttpVersion:
    """3 where it is asked for; else it is HTTP/2 that a call goes over, and none need be said."""
    return spoken.version_of(target.protocol, asked) if asked.http is HttpVersions.THREE else "1.1"


def require_fitting(asked: Asked) -> None:
    """Refuses what other protocols have."""
    if asked.method:
        raise UsageProblem("--method is for http and https", "leave it out")
    if asked.early_data:
        raise UsageProblem("--early-data is for https://, not for calls of gRPC", "leave it out")
    if asked.header_profile:
        raise UsageProblem("--header-profile is for http and https", "leave it out")
    if asked.text:
        raise UsageProblem("--text is for ws and wss", "leave it out")
    if asked.learn_to is not None:
        raise UsageProblem("--learn-to is for http and https", "leave it out")


def _interval(calls: Calls, method: Method) -> int | None:
    """From one message of a call to the next, nanoseconds; None: they go at once."""
    if calls.message_interval is None:
        return None
    if not method.is_sent_as_stream:
        raise UsageProblem(
            f"{INTERVAL_FLAG} needs a client stream, but {method.path} takes one message",
            "leave it out",
        )
    return quantities.duration_ns(calls.message_interval, INTERVAL_FLAG, 1)


def _require_paced(calls: Calls, method: Method, payload: Payload) -> None:
    """Refuses a pace where a call has no messages that it could be of."""
    if calls.message_interval is not None and calls.turns:
        raise UsageProblem(f"{INTERVAL_FLAG} and {TURNS_FLAG} exclude each other", "keep one")
    if calls.turns and method.kind != "bidi":
        raise UsageProblem(
            f"{TURNS_FLAG} needs a bidirectional stream, which {method.path} is not",
            "leave it out",
        )
    flag = TURNS_FLAG if calls.turns else calls.message_interval and INTERVAL_FLAG
    if not flag or not method.is_sent_as_stream:
        return
    if not (isinstance(payload, ListPayload) and len(payload.base64) > 1):
        raise UsageProblem(
            f"{flag}: the call has one message", "give it several: --json '[{...}, {...}]'"
        )


def metadata(lines: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Metadata from `name: value` lines; of a name that ends with -bin, the value is base64."""
    found = []
    for name, value in workload.headers_of(lines, None):
        lower = names.name_of(name, "--header")
        if lower.endswith(names.BINARY):
            _require_base64(name, value)
        found.append((lower, value))
    return tuple(found)


def _require_base64(name: str, value: str) -> None:
    try:
        names.binary(value)
    except ValueError as error:
        raise UsageProblem(f"--header {name} is no base64", "write its bytes in base64") from error


def server_of(target: urls.Target, tls: Tls) -> Server:
    """Whom a target means."""
    return Server(
        *(target.host, target.port, target.protocol in SECURE),
        *(Path(tls.ca_file) if tls.ca_file else None, tls.insecure, tls.server_name),
    )


def _methods(target: urls.Target, calls: Calls, tls: Tls) -> Methods:
    if calls.proto:
        return Methods(compiling.compiled(calls.proto, calls.proto_path))
    if calls.proto_path:
        raise UsageProblem(f"{compiling.FOLDER_FLAG} is of {compiling.FLAG}", "name a file, too")
    return Methods(reflection.told(server_of(target, tls)))


def _payload(asked: Asked, method: Method) -> Payload:
    """The messages of a call: of one that sends a stream all of them, of others one in turn."""
    if asked.payload is not None and asked.json is not None:
        raise UsageProblem("--payload and --json exclude each other", "keep one")
    if asked.payload is not None:
        if not asked.payload.startswith("@"):
            raise UsageProblem(
                f"--payload {asked.payload}: a message of gRPC has fields, and no size of its own",
                "write them with --json, or its bytes with --payload @FILE",
            )
        content = workload.content_of_file(asked.payload, "--payload")
        return FixedPayload(base64=workload.in_base64(content))
    if asked.json is None:
        return NoPayload()
    text = _text(asked.json)
    if PLACEHOLDER in text:
        return _numbered(text, method)
    document = messages.read_json(text, "--json")
    several = document if isinstance(document, list) else [document]
    encoded = tuple(
        workload.in_base64(messages.encoded(one, method.request, "--json")) for one in several
    )
    if not encoded:
        raise UsageProblem("--json is an empty list", "give at least one message")
    if len(encoded) == 1 and not method.is_sent_as_stream:
        return FixedPayload(base64=encoded[0])
    return ListPayload(base64=encoded)


def _numbered(text: str, method: Method) -> Payload:
    """A message with the call's number in its texts: where they stand does not change with it."""
    if method.is_sent_as_stream:
        raise UsageProblem(
            f"--json: {PLACEHOLDER} is of methods to which one message is sent",
            "write the messages of a call as a list",
        )
    mark = secrets.token_hex(len(NUMBER) // 2)
    document = messages.read_json(text.replace(PLACEHOLDER, mark), "--json")
    message = messages.encoded(document, method.request, "--json")
    places = tuple(found.start() for found in re.finditer(mark.encode(), message))
    if len(places) != text.count(PLACEHOLDER):
        raise UsageProblem(f"--json: {PLACEHOLDER} has to stand in texts", "write it in one")
    return NumberedPayload(
        base64=workload.in_base64(message.replace(mark.encode(), NUMBER)), places=places
    )


def _content(rules: Sequence[str], method: Method, status: int) -> Content:
    """What a right reply carries."""
    if len(rules) > 1:
        raise UsageProblem("gRPC has one --expect", "name all fields in one: --expect '{...}'")
    rule = next(iter(rules), "auto")
    match rule:
        case "auto" | "shape":
            # Without OK there is nothing to learn from.
            return StatusContent() if status else AutoContent()
        case "learned":
            return LearnedContent()
        case "echo":
            return EchoContent()
        case "status":
            return StatusContent()
    if rule.startswith(("json:", "regex:")) or rule == "broadcast":
        raise UsageProblem(
            f"--expect {rule}: messages of gRPC have fields", "write --expect '{\"field\": value}'"
        )
    document = _expected(rule)
    if isinstance(document, list):
        exact = tuple(
            workload.in_base64(messages.encoded(one, method.reply, "--expect")) for one in document
        )
        return MessagesContent(base64=exact)
    return FieldsContent(shape=fields.of_expected(document, method.reply, "--expect"))


def _expected(rule: str) -> JsonValue:
    if not rule.lstrip().startswith(("{", "[", "@")):
        raise UsageProblem(
            f"--expect {rule!r} is no rule of gRPC",
            "use learned, shape, echo, status, or JSON: --expect '{\"field\": value}'",
        )
    return messages.read_json(_text(rule), "--expect")


def _text(typed: str) -> str:
    """JSON, or that of a file."""
    if not typed.startswith("@"):
        return typed
    try:
        return workload.content_of_file(typed, "JSON").decode()
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{typed} is no text", "name a file of JSON") from error
