"""What is learned of a method's replies before it is called under load.

Knows a plan of a call and its method; must not know how a rule is found.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

from wiretrial.calls import asking, messages
from wiretrial.calls.learning import learned
from wiretrial.calls.methods import Method
from wiretrial.cli import urls
from wiretrial.cli.grpc_wanted import NUMBER, server_of
from wiretrial.plan import (
    AutoContent,
    Content,
    FixedPayload,
    LearnedContent,
    ListPayload,
    NumberedPayload,
    Plan,
)
from wiretrial.results.learned import LearnedRule
from wiretrial.studies.learned import CONNECTIONS, LIMIT_S, SESSIONS
from wiretrial.traffic.learning.rules import bound

MOST_SIGNS = 120
"""Of an excerpt."""


@dataclass(frozen=True)
class Known:
    """The plan with its rule, and what is said of it; None: replies were equal, or none came."""

    plan: Plan
    rule: LearnedRule | None = None
    first: str = ""
    """The first message that came, in JSON."""


def learns(plan: Plan) -> bool:
    """Whether nobody says what a right reply is."""
    return isinstance(plan.target.expect.content, AutoContent | LearnedContent)


def known(plan: Plan, address: urls.Target, method: Method, *, constants: bool = True) -> Known:
    """The plan with what replies have in common. Raises where the server can't be asked."""
    replies = asking.replies(
        server_of(address, plan.target.tls),
        method,
        _messages(plan, method),
        plan.target.http.headers,
        calls=min([SESSIONS, *filter(None, [plan.stop.requests])]),
        connections=CONNECTIONS,
        limit_s=LIMIT_S,
    )
    if not replies:
        # Each is an error: the load says which.
        return Known(plan)
    found = learned(replies, method, constants=constants)
    first = _excerpt(replies[0].messages[0], method) if replies[0].messages else ""
    if isinstance(found.content, LearnedContent):
        return Known(plan, first=first)
    told = found.told or "no reply has a message"
    rule = LearnedRule(samples=len(replies), told=told, bound=bound(len(replies)))
    return Known(_with(plan, found.content, found.replies), rule, first)


def _excerpt(message: bytes, method: Method) -> str:
    """Its beginning, as the engine tells that of a text."""
    document = messages.document(messages.decoded(message, method.reply))
    written = json.dumps(document, ensure_ascii=False)
    return written if len(written) <= MOST_SIGNS else f"{written[:MOST_SIGNS]}…"


def _messages(plan: Plan, method: Method) -> asking.Messages:
    """Those of each call, as the engine sends them."""
    match plan.target.message.source:
        case FixedPayload(base64=text):
            return lambda _: (base64.b64decode(text),)
        case ListPayload(base64=texts):
            several = [base64.b64decode(one) for one in texts]
            if method.is_sent_as_stream:
                return lambda _: several
            return lambda number: (several[number % len(several)],)
        case NumberedPayload(base64=text, places=places):
            return lambda number: (_numbered(base64.b64decode(text), places, number),)
        case _:
            return lambda _: (b"",)


def _numbered(message: bytes, places: tuple[int, ...], number: int) -> bytes:
    written = bytearray(message)
    for place in places:
        written[place : place + len(NUMBER)] = f"{number:0{len(NUMBER)}x}".encode()
    return bytes(written)


def _with(plan: Plan, content: Content, replies: tuple[int, int | None] | None) -> Plan:
    target = plan.target
    update = {
        "expect": target.expect.model_copy(update={"content": content}),
        "grpc": target.grpc.model_copy(update={"replies": replies}),
    }
    return plan.model_copy(update={"target": target.model_copy(update=update)})
