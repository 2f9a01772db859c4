"""HAR recordings of browsers: one session.

Knows the format (HAR 1.2); what becomes a capture is decided in `recording`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from wiretrial.errors import UsageProblem
from wiretrial.traffic.importing import parts, recording
from wiretrial.traffic.importing.draft import Draft, DraftFlow
from wiretrial.traffic.importing.parts import Sent
from wiretrial.traffic.importing.recording import Exchange

_SCHEMES = ("http://", "https://")


def draft(source: str, name: str) -> Draft:
    """The draft of a recording; `name` is the file's."""
    try:
        recorded = parts.loads(source)["log"]["entries"]
        read = [_Entry(entry) for entry in recorded]
    except (ValueError, KeyError, TypeError) as error:
        raise UsageProblem(
            f"{name} is no HAR file: {_told(error)}", "save the recording as HAR in the browser"
        ) from error
    sent = [entry for entry in read if entry.is_http]
    if not sent:
        raise UsageProblem(f"{name} has no request with http or https", "record a page again")
    exchanges = [*_paused([entry for entry in sent if entry.is_answered])]
    if not exchanges:
        raise UsageProblem(f"{name} has no reply from a server", "record without the cache")
    origin, others = recording.most_common_origin(exchanges)
    kept = [exchange for exchange in exchanges if exchange.sent.origin == origin]
    headers, kept = _shared("Accept-Language", kept)
    entries = recording.entries(kept)
    notes = list(_notes(others, unanswered=len(sent) - len(exchanges), odd=len(read) - len(sent)))
    notes.append("passwords and tokens that were recorded stand in the .hurl file")
    if count := sum(len(e.response.captures) for e in entries if e.response):
        values = "1 value of a reply comes" if count == 1 else f"{count} values of replies come"
        notes.append(f"{values} back in later requests: see [Captures]")
    return Draft(origin, (DraftFlow("session", entries),), tuple(notes), headers=headers)


def _shared(name: str, exchanges: list[Exchange]) -> tuple[dict[str, str], list[Exchange]]:
    """A header field that the browser sends with each request, told once; and the rest of each."""
    fields = [(one, value) for each in exchanges for one, value in each.sent.headers]
    values = {value for one, value in fields if one.lower() == name.lower()}
    if len(values) != 1:
        return {}, exchanges

    def without(exchange: Exchange) -> Exchange:
        rest = tuple(pair for pair in exchange.sent.headers if pair[0].lower() != name.lower())
        return replace(exchange, sent=replace(exchange.sent, headers=rest))

    return {name: values.pop()}, [without(exchange) for exchange in exchanges]


class _Entry:
    """An entry of the recording."""

    def __init__(self, entry: Any) -> None:
        request, response = entry["request"], entry["response"]
        self.is_http = (
            str(request["url"]).startswith(_SCHEMES)
            and entry.get("_resourceType") != "websocket"
            and str(request["method"]).isalpha()
        )
        status, content = int(response["status"]), response.get("content") or {}
        # 304: the browser had it, and a load has no cache.
        self.is_answered = status >= 100 and status != 304 and not entry.get("_fromCache")
        self.begin = _seconds(str(entry.get("startedDateTime", "")))
        self.end = self.begin + max(float(entry.get("time") or 0), 0) / 1000
        posted = request.get("postData") or {}
        self.exchange = Exchange(
            sent=Sent(
                method=str(request["method"]).upper(),
                url=str(request["url"]).partition("#")[0],
                headers=_fields(request.get("headers")),
                body=_posted(posted),
                media_type=str(posted.get("mimeType") or ""),
            ),
            status=status,
            reply_headers=_fields(response.get("headers")),
            reply_type=str(content.get("mimeType") or ""),
            reply=_text(content),
        )


def _paused(entries: list[_Entry]) -> Iterator[Exchange]:
    """The exchanges in the order in which they began, with the pauses between them."""
    last = None
    for entry in sorted(entries, key=lambda one: one.begin):
        pause = 0.0 if last is None else entry.begin - last
        yield replace(entry.exchange, pause_s=max(pause, 0.0))
        last = entry.end if last is None else max(last, entry.end)


def _notes(others: Any, *, unanswered: int, odd: int) -> Iterator[str]:
    if others:
        named = ", ".join(f"{origin} ({count})" for origin, count in list(others.items())[:5])
        yield f"left out, sent to other servers: {named}"
    if unanswered:
        yield f"left out, answered by the browser's cache or not at all: {unanswered}"
    if odd:
        yield f"left out, neither http nor https: {odd}"


def _posted(posted: Any) -> str | None:
    if posted.get("text"):
        return str(posted["text"])
    if fields := posted.get("params"):
        return urlencode([(str(one["name"]), str(one.get("value") or "")) for one in fields])
    return None


def _fields(headers: Any) -> tuple[tuple[str, str], ...]:
    return tuple((str(one["name"]), str(one["value"])) for one in headers or ())


def _text(content: Any) -> str | None:
    text = content.get("text")
    if text is None or content.get("encoding") != "base64":
        return None if text is None else str(text)
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except binascii.Error:
        return None


def _seconds(written: str) -> float:
    try:
        return datetime.fromisoformat(written).timestamp()
    except ValueError:
        return 0.0


def _told(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)
