"""Which message is awaited: from a matcher in TOML to checks of the engine.

Knows `json`, `ack`, `text`, `contains` and `matches`; must not know steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from wiretrial.plan_traffic import (
    Capture,
    Check,
    Compared,
    Contains,
    JsonAt,
    JsonOperand,
    Matches,
    Operand,
    TextOperand,
)
from wiretrial.traffic import jsonpath
from wiretrial.traffic.checks import rust_pattern
from wiretrial.traffic.document import MatchPart, ReplyPart, TrafficFile
from wiretrial.traffic.filling import Scope, fill
from wiretrial.traffic.places import Place, TrafficProblem
from wiretrial.traffic.tables import Location
from wiretrial.traffic.variables import text_at


def checks(part: MatchPart, file: TrafficFile, here: Location, scope: Scope) -> tuple[Check, ...]:
    """What must hold of a message."""
    found = tuple(_checks(part, file, here, scope))
    if not found and not is_acknowledgement(part):
        raise TrafficProblem(
            file.place(*here),
            "it says nothing of the message",
            'write {json = {"$.type" = "ack"}}, or one of text, contains and matches',
        )
    return found


def is_acknowledgement(part: MatchPart | None) -> bool:
    """Whether it is of the acknowledgement of an event, not of a message."""
    return isinstance(part, ReplyPart) and part.ack is not None


def captures(written: Mapping[str, str], file: TrafficFile, here: Location) -> tuple[Capture, ...]:
    """What is kept of a message: names, with paths into its JSON."""
    return tuple(
        Capture(name=name, of=JsonAt(path=_path(path, file.place(*here, name))))
        for name, path in written.items()
    )


def _checks(part: MatchPart, file: TrafficFile, here: Location, scope: Scope) -> Iterator[Check]:
    acknowledged = part.ack if isinstance(part, ReplyPart) else None
    if acknowledged is not None and part.json_ is not None:
        raise TrafficProblem(
            file.place(*here, "json"),
            "json beside ack",
            "write its paths in ack, which is the list of the acknowledgement's arguments",
        )
    word = "json" if acknowledged is None else "ack"
    for path, value in (part.json_ or acknowledged or {}).items():
        place = file.place(*here, word, path)
        yield Check(
            of=JsonAt(path=_path(path, place)),
            test=Compared(how="==", operand=_operand(value, place, scope)),
        )
    if part.text is not None:
        yield Check(
            of="body",
            test=Compared(how="==", operand=_text(part.text, file.place(*here, "text"), scope)),
        )
    if part.contains is not None:
        place = file.place(*here, "contains")
        yield Check(of="body", test=Contains(operand=_text(part.contains, place, scope)))
    if part.matches is not None:
        pattern = rust_pattern(part.matches, file.place(*here, "matches"))
        yield Check(of="body", test=Matches(pattern=pattern))


def _operand(value: JsonValue, place: Place, scope: Scope) -> Operand:
    if isinstance(value, str) and "{{" in value:
        return _text(value, place, scope)
    return JsonOperand(value=value)


def _text(value: str, place: Place, scope: Scope) -> TextOperand:
    return TextOperand(text=fill(text_at(value, place), scope))


def _path(path: str, place: Place) -> str:
    try:
        return jsonpath.canonical(path)
    except jsonpath.PathFault as fault:
        raise TrafficProblem(place, fault.message, fault.remedy) from fault
