"""Lines of access logs: the formats common and combined of nginx and Apache, and JSON lines.

Knows how a line is written; must not know what is made of the requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_COMBINED = re.compile(
    r'\S+ \S+ \S+ \[(?P<time>[^\]]+)\] "(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3}) (?:\d+|-)'
)
_REQUEST = re.compile(r"(?P<method>[A-Z]+) (?P<target>\S+)(?: HTTP/[\d.]+)?")
_TIME = "%d/%b/%Y:%H:%M:%S %z"
_METHOD = ("method", "request_method", "http_method", "verb")
_TARGET = ("request_uri", "uri", "path", "url", "target")
_STATUS = ("status", "status_code", "response_status", "http_status", "code")
_WHEN = ("time_iso8601", "time", "timestamp", "@timestamp", "time_local", "ts", "msec", "date")


@dataclass(frozen=True)
class Logged:
    """A request in a log; `at` None: nobody knows when."""

    method: str
    target: str
    status: int
    at: float | None


def read(line: str) -> Logged | None:
    """The request of a line; None where it can't be read."""
    if line.startswith("{"):
        return _json(line)
    found = _COMBINED.match(line)
    return found and _made(found["request"], found["status"], found["time"])


def _json(line: str) -> Logged | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    if not isinstance(row, dict):
        return None
    # Caddy and others have the request in an object of its own.
    inner = row.get("request")
    fields = {**inner, **row} if isinstance(inner, dict) else row
    request = fields.get("request")
    if not isinstance(request, str):
        request = f"{_first(fields, _METHOD)} {_first(fields, _TARGET)}"
    return _made(request, _first(fields, _STATUS), _first(fields, _WHEN))


def _made(request: str, status: str, when: str) -> Logged | None:
    found = _REQUEST.fullmatch(request.strip())
    if not found or not re.fullmatch(r"[1-5]\d\d", status):
        return None
    target = re.sub(r"^https?://[^/]+", "", found["target"]) or "/"
    if not target.startswith("/"):
        return None
    return Logged(found["method"], target.partition("#")[0], int(status), _seconds(when))


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((str(fields[name]) for name in names if fields.get(name) is not None), "")


def _seconds(written: str) -> float | None:
    try:
        if re.fullmatch(r"\d{9,}(\.\d+)?", written):
            number = float(written)
            # Milliseconds, where they would be far in the future as seconds.
            return number / 1000 if number > 1e11 else number
        if "/" in written:
            return datetime.strptime(written, _TIME).astimezone().timestamp()
        return datetime.fromisoformat(written).timestamp()
    except (ValueError, OverflowError):
        return None
