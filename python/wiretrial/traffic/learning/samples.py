"""A reply as it came before the load, and what can be read from it.

Knows status, header fields and bodies; must not know what is learned from them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from pydantic import JsonValue

from wiretrial.traffic.learning.values import Source

DEEPEST = 24
"""Levels of JSON that are looked into: a plan's own JSON is several times as deep as a shape."""


@dataclass(frozen=True)
class Sample:
    """One reply. `sent`: the body of its request; `at`: when it came, seconds since 1970.

    `values`: with which the request was sent.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    sent: bytes = b""
    at: float | None = None
    values: Mapping[Source, str] = field(default_factory=dict)

    @property
    def media_type(self) -> str:
        """In lower case and without parameters; empty where the reply has none."""
        return self.header("Content-Type").partition(";")[0].strip().lower()

    def header(self, name: str) -> str:
        """Value of the first field of this name; empty where there is none."""
        wanted = name.lower()
        return next((value for field, value in self.headers if field.lower() == wanted), "")

    @property
    def says_json(self) -> bool:
        """Whether its media type is JSON."""
        return self.media_type == "application/json" or self.media_type.endswith("+json")


class NotJson(ValueError):
    """A body that the engine would not read as JSON either."""


def read_json(body: bytes) -> JsonValue:
    """The document in a body; raises `NotJson`."""
    try:
        found: JsonValue = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
        # A half of a surrogate pair, which no UTF-8 can hold.
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
