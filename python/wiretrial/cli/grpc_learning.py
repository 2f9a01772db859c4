"""What is learned of a method's replies before it is called under load.

Knows a plan of a call and its method; must not know how a rule is found.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from wiretrial.calls import asking, messages
from wiretrial.calls.asking import Reply
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
from wiretrial.studies.learned import CONNECTIONS, LIMIT_S, SESSIONS, question
from wiretrial.studies.spec import Case, Study
from wiretrial.traffic.learning.calls import Learned, learned
from wiretrial.traffic.learning.rules import bound
from wiretrial.words import CALLS

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
    replies = _replies(plan, address, method)
    if not replies:
        # Each is an error: the load says which.
        return Known(plan)
    found = learned(replies, method, constants=constants)
    first = _excerpt(replies[0].messages[0], method) if replies[0].messages else ""
    if isinstance(found.content, LearnedContent):
        return Known(plan, first=first)
    return Known(_with(plan, found.content, found.replies), _rule(found, len(replies)), first)


def in_study(
    study: Study, methods: Mapping[str, Method], *, constants: bool = True
) -> tuple[Study, tuple[LearnedRule, ...]]:
    """The study with one rule for all servers of a method; `methods`: by the path of the URL.

    Where each server's own replies are equal, each load goes by its first one.
    """
    taught: dict[str, Case] = {}
    rules = []
    for method, cases in _groups(study, methods):
        each = [_replies(*_question(case), method) for case in cases]
        came = [replies for replies in each if replies]
        apart = [learned(replies, method, constants=constants) for replies in came]
        if all(isinstance(one.content, LearnedContent) for one in apart):
            continue
        every = [reply for replies in came for reply in replies]
        found = learned(every, method, constants=constants)
        rule = _rule(found, len(every))
        rules.append(rule)
        taught |= {case.scenario.name: _taught(case, found, rule) for case in cases}
    every_case = tuple(taught.get(case.scenario.name, case) for case in study.cases)
    return study.model_copy(update={"cases": every_case}), tuple(rules)


def _groups(study: Study, methods: Mapping[str, Method]) -> list[tuple[Method, list[Case]]]:
    """The scenarios that call a method in the same way, of those that nobody gave a rule."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in study.cases:
        if case.url and case.protocol in CALLS and learns(question(case, case.url)):
            sent = case.target("grpc://server/").model_dump_json(exclude={"tls"})
            groups.setdefault((urlsplit(case.url).path, sent), []).append(case)
    return [(methods[path], cases) for (path, _), cases in groups.items()]


def _question(case: Case) -> tuple[Plan, urls.Target]:
    assert case.url is not None
    return question(case, case.url), urls.parse(case.url, CALLS)


def _taught(case: Case, found: Learned, rule: LearnedRule) -> Case:
    return case.model_copy(
        update={
            "scenario": case.scenario.model_copy(update={"learned": (rule,)}),
            "expect": case.expect.model_copy(update={"content": found.content}),
            "grpc": case.grpc.model_copy(update={"replies": found.replies}),
        }
    )


def _rule(found: Learned, samples: int) -> LearnedRule:
    """What was learned, as it is kept."""
    told = found.told or "no reply has a message"
    return LearnedRule(samples=samples, told=told, bound=bound(samples))


def _replies(plan: Plan, address: urls.Target, method: Method) -> Sequence[Reply]:
    """Replies to the plan's calls, before its load."""
    return asking.replies(
        server_of(address, plan.target.tls),
        method,
        _messages(plan, method),
        plan.target.http.headers,
        calls=min([SESSIONS, *filter(None, [plan.stop.requests])]),
        connections=CONNECTIONS,
        limit_s=LIMIT_S,
    )


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
