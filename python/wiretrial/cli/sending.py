"""What a command is about to send, in words: told before anything is measured.

Knows the parts of a request; must not know how it is sent. Values of headers and of a URL's query
are left out: they hold secrets.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from wiretrial.plan import (
    SECURE,
    FixedPayload,
    ListPayload,
    MatchingContent,
    NumberedPayload,
    SequencePayload,
    TemplatePayload,
)
from wiretrial.plan_grpc import STATUSES
from wiretrial.report import sent, units
from wiretrial.studies.spec import Case
from wiretrial.words import CALLS, HTTP

DIGITS = 16
"""Of a message's number in a text."""


def lines(cases: Sequence[Case]) -> Iterator[str]:
    """A line for each different request, with those that it goes to."""
    told: dict[str, list[str]] = {}
    for case in cases:
        told.setdefault(_request(case), []).append(case.scenario.name)
    for words, names in told.items():
        yield f"sends to {', '.join(names)}: {words}" if len(told) > 1 else f"sends {words}"


def _request(case: Case) -> str:
    if case.traffic:
        parts = [f"{case.scenario.workload}: {sent.sessions(case.traffic)}"]
        if case.http.headers:
            parts.append(f"headers {', '.join(name for name, _ in case.http.headers)}")
        return "; ".join([*parts, "every reply is checked", *_trusted(case)])
    parts = [f"{_opening(case)}{_payload(case)}"]
    if case.http.headers:
        called = "metadata" if case.protocol in CALLS else "headers"
        parts.append(f"{called} {', '.join(name for name, _ in case.http.headers)}")
    if case.http.header_profile:
        parts.append(f"header profile {case.http.header_profile}")
    if case.grpc.deadline_ns:
        parts.append(f"deadline {units.length(case.grpc.deadline_ns)}")
    if case.grpc.gzip:
        parts.append("in gzip")
    if case.grpc.message_interval_ns:
        parts.append(f"a message every {units.length(case.grpc.message_interval_ns)}")
    if case.grpc.turns:
        parts.append("messages in turns")
    expected = _expected(case)
    if expected:
        parts.append(f"expects {expected}")
    return "; ".join([*parts, *_trusted(case)])


def _trusted(case: Case) -> Iterator[str]:
    """Which certificates are accepted, where that is not as usual."""
    if case.protocol not in SECURE:
        return
    if case.tls.insecure:
        yield "accepts any certificate"
    elif case.tls.ca_file:
        yield f"trusts {case.tls.ca_file}"


def _opening(case: Case) -> str:
    """`POST /echo with `."""
    if case.protocol in ("tcp", "tls"):
        return f"{case.protocol}: "
    parts = urlsplit(case.url) if case.url else urlsplit(case.path)
    path = f"{parts.path or '/'}{'?...' if parts.query else ''}"
    if case.protocol in HTTP:
        default = "GET" if case.message.source.source == "none" else "POST"
        return f"{case.http.method or default} {path} with "
    if case.protocol in CALLS:
        return f"{case.protocol} {path}, {_KINDS[case.grpc.kind]} with "
    return f"{case.protocol} {path}, {case.message.kind} messages of "


def _payload(case: Case) -> str:
    match case.message.source:
        case SequencePayload(bytes=size):
            return _bytes(size)
        case FixedPayload(base64=text) | NumberedPayload(base64=text):
            return _bytes(len(base64.b64decode(text)))
        case TemplatePayload(text=text):
            return _bytes(len(text.replace("{seq}", "0" * DIGITS).encode()))
        case ListPayload(base64=texts):
            is_stream = case.grpc.kind in ("client", "bidi")
            return f"{len(texts)} {'messages' if is_stream else 'payloads in turn'}"
        case _:
            return "no payload"


def _bytes(size: int) -> str:
    return f"{size:,} {'byte' if size == 1 else 'bytes'}"


def _expected(case: Case) -> str:
    """The status, and what the content must be."""
    status = _status(case)
    if case.scenario.learned:
        samples = case.scenario.learned[0].samples
        return f"{status}what {samples} replies have in common"
    rule = case.expect.content.rule
    if rule == "auto":
        rule = "learned" if case.protocol in (*HTTP, *CALLS) else "echo"
    if isinstance(case.expect.content, MatchingContent):
        content = " and ".join(case.expect.content.rules)
    else:
        content = _CONTENTS.get(rule, rule)
    return f"{status}{content}"


def _status(case: Case) -> str:
    """`status 200, `; of what has no status nothing."""
    if case.protocol in CALLS:
        return f"status {STATUSES[case.grpc.status]}, "
    return f"status {case.expect.status}, " if case.protocol in HTTP else ""


_KINDS = {
    "unary": "calls",
    "server": "calls that the server streams,",
    "client": "calls that the client streams,",
    "bidi": "calls that both sides stream,",
}
_CONTENTS = {
    "echo": "the message back",
    "learned": "the content of the first reply",
    "broadcast": "each message at all connections",
    "fixed": "the content of a file",
    "status": "any content",
    "shaped": "JSON of a schema",
    "fields": "messages with these fields",
    "messages": "these messages",
}
