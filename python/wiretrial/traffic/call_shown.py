"""Exchanges of calls as people read them: messages as JSON, fields by their names.

Knows descriptors and how messages are framed; must not know where they are shown.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

from google.protobuf.descriptor import Descriptor

from wiretrial.calls import messages
from wiretrial.calls.methods import Method
from wiretrial.exchange import Exchange

_PREFIX = 5
"""Bytes before each message: whether it is compressed, and its length."""


def readable(exchange: Exchange, method: Method) -> Exchange:
    """The same, with JSON in place of messages; bytes that are none stay."""
    return exchange.model_copy(
        update={
            "request_body": _as_json(exchange.sent, method.request),
            "body": _as_json(exchange.content, method.reply),
            "fault": exchange.fault and method.named(exchange.fault),
        }
    )


def _as_json(content: bytes, of: Descriptor) -> str:
    """A line for each message, base64."""
    try:
        lines = [
            json.dumps(messages.document(messages.decoded(one, of)), ensure_ascii=False)
            for one in _framed(content)
        ]
    except messages.NotAMessage:
        return base64.b64encode(content).decode()
    return base64.b64encode("\n".join(lines).encode()).decode()


def _framed(content: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        end = at + _PREFIX + int.from_bytes(content[at + 1 : at + _PREFIX])
        if end > len(content):
            raise messages.NotAMessage("it breaks off")
        yield content[at + _PREFIX : end]
        at = end
