"""Whether a subject may be measured for a scenario: only where it was verified to do what is asked.

Knows scenarios, and what verification found; must not know how either comes about.
"""

from __future__ import annotations

import binascii
from collections.abc import Sequence

from wiretrial.plan import (
    FixedPayload,
    ListPayload,
    NoPayload,
    NumberedPayload,
    Payload,
    SequencePayload,
    TemplatePayload,
)
from wiretrial.studies import pushed, stall
from wiretrial.studies.spec import Case
from wiretrial.subjects.needs import CROWD, LARGE_BYTES, Workload, needed_parts
from wiretrial.subjects.spec import TRAFFIC, Part, Spec
from wiretrial.subjects.verification import Verification

SEQUENCE_FIELD = "{seq}"
SEQUENCE_DIGITS = 16


def refusal(case: Case, found: Verification) -> str | None:
    """Why the scenario's server is not measured for it, in one line; None: it may be."""
    if case.contract == TRAFFIC:
        return _traffic_refusal(case, found)
    needed = needed_parts(workload_of(case))
    lacking = found.missing(case.contract, case.spoken, needed, _forgiven(case))
    if not lacking:
        return None
    who, configuration = case.answering
    if not found.covers(case.contract, case.spoken):
        return (
            f"{case.scenario.name} is not measured: {who} does not claim {case.contract} over"
            f" {case.spoken}"
        )
    reasons = "; ".join(f"{part}: {why}" for part, why in lacking.items())
    return (
        f"{case.scenario.name} is not measured: it needs parts of {case.contract} over"
        f" {case.spoken} that {who} ({configuration}) does not keep ({reasons})"
    )


def claims(case: Case, spec: Spec) -> bool:
    """Whether a server says that it keeps what is asked for; requests of a file need no claim."""
    if case.contract is None or case.contract == TRAFFIC:
        return True
    return (case.contract, case.spoken) in spec.claims()


def unclaimed(case: Case, spec: Spec) -> str | None:
    """Why a server that keeps a traffic file is not asked for a contract of ours; None: it is.

    Of one without such a file, verification found nothing where it claims nothing.
    """
    if spec.traffic is None or claims(case, spec):
        return None
    return (
        f"{case.scenario.name} is not measured: {spec.name} does not claim {case.contract} over"
        f" {case.spoken}: name a traffic file in the workload, such as its own (traffic ="
        f' "{spec.traffic}"), in place of the contract'
    )


def without_backend(case: Case, spec: Spec) -> str | None:
    """Why what stands behind it can't be told to do wrong: nothing does. None: it can."""
    if not case.backend or spec.backend:
        return None
    return f"{case.scenario.name} is not measured: no backend stands behind {spec.name}"


def _traffic_refusal(case: Case, found: Verification) -> str | None:
    """Why its entries are not asked. A subject that names no traffic is verified by the rehearsal.

    That is a session of each flow before each trial. A server of `web` has to keep that, too: only
    its checks look into the database.
    """
    looked_at = (TRAFFIC, "web")
    wrong = [one for one in found.failed() if one.contract in looked_at and not one.known]
    if not wrong:
        return None
    who, configuration = case.answering
    reasons = "; ".join(f"{one.check}: {one.problem}" for one in wrong)
    return (
        f"{case.scenario.name} is not measured: {who} ({configuration}) answers"
        f" {'its own traffic' if wrong[0].contract == TRAFFIC else wrong[0].contract} wrongly"
        f" ({reasons})"
    )


def _forgiven(case: Case) -> frozenset[Part]:
    """What may be known not to hold. What is not known, nobody has looked into."""
    if stall.is_watched(case):
        # A stall is a result here: how a crowd is served is what the case asks.
        return CROWD
    has_thread_each = (case.server_threads or 0) >= case.load.connections
    return frozenset({"half-open", "concurrency"}) if has_thread_each else frozenset()


def driver_refusal(case: Case, found: Verification) -> str | None:
    """The same for a client driver, which claims no contract but keeps the drivers'.

    None: there is none, or it may be.
    """
    if case.driving is None:
        return None
    needed: set[Part] = {"exchange", "connections"}
    if case.driving.mode == "kept":
        needed.add("many")
    if case.driving.payload >= LARGE_BYTES:
        needed.add("large")
    lacking = found.missing(None, case.protocol, needed)
    if not lacking:
        return None
    reasons = "; ".join(f"{part}: {why}" for part, why in lacking.items())
    return f"{case.scenario.name} is not measured: its driver does not keep {reasons}"


def workload_of(case: Case) -> Workload:
    """What the case asks of its subject."""
    return Workload(
        protocol=case.spoken,
        connections=case.load.connections,
        depth=case.load.depth,
        pack=case.load.pack,
        message_bytes=case.publishing.bytes if case.publishing else _bytes(case.message.source),
        requests_per_connection=case.load.requests_per_connection,
        delay_ms=case.delay_ms or case.styx.delay_ms,
        table_size=case.styx.table_size,
        lobby=case.styx.lobby,
        held=case.is_held,
        broadcast=case.contract in ("ws-broadcast", *pushed.CONTRACTS),
        # Of a call that is told what is published, other parts speak.
        streams=case.grpc.kind != "unary" and case.publishing is None,
        copies=case.copies != 1,
    )


def _bytes(payload: Payload) -> int:
    """The size of the largest message."""
    match payload:
        case NoPayload():
            return 0
        case SequencePayload(bytes=size):
            return size
        case FixedPayload(base64=content) | NumberedPayload(base64=content):
            return _longest([content])
        case ListPayload(base64=contents):
            return _longest(contents)
        case TemplatePayload(text=text):
            fields = text.count(SEQUENCE_FIELD)
            return len(text.encode()) + fields * (SEQUENCE_DIGITS - len(SEQUENCE_FIELD))


def _longest(contents: Sequence[str]) -> int:
    return max((len(binascii.a2b_base64(content)) for content in contents), default=0)
