"""What `wiretrial-engine ask` prints, a JSON object a line: `wiretrial-engine schema exchange`.

Knows names and types; must not know what is done with them.
"""

from __future__ import annotations

import base64
from typing import Final

from pydantic import BaseModel, ConfigDict, TypeAdapter

OK: Final = "ok"
"""Outcome of an exchange in which nothing was wrong."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Verdict(_Part):
    """What became of a check. `came`: what was looked at, in words."""

    holds: bool
    came: str
    fault: str | None


class Exchange(_Part):
    """A request and its reply, or a step of a conversation and the message that it waited for.

    `flow`: None where the plan has one message. `session`: from 0, over all flows. `method`: of a
    step of a conversation OPEN, SEND, AWAIT or CLOSE. `checks`: of a reply that came whole its
    status, its exact body, and those of the plan in their order; the status alone where it is
    wrong. `body`: content codings undone, base64;
    `body_bytes`: length of the whole; `is_cut`: `body` is not all of it. `outcome`: `ok`, or the
    class of the failure as a load counts it; `fault` says it in words.
    """

    flow: str | None
    session: int
    connection: int
    route: str
    method: str
    url: str
    request_headers: tuple[tuple[str, str], ...]
    request_body: str
    status: int | None
    headers: tuple[tuple[str, str], ...]
    body: str
    body_bytes: int
    is_cut: bool
    service_ns: int | None
    captures: dict[str, str]
    checks: tuple[Verdict, ...] = ()
    outcome: str
    fault: str | None

    @property
    def is_right(self) -> bool:
        """Nothing was wrong."""
        return self.outcome == OK

    @property
    def sent(self) -> bytes:
        """Content of the request."""
        return base64.b64decode(self.request_body)

    @property
    def content(self) -> bytes:
        """Content of the reply, as far as it is told."""
        return base64.b64decode(self.body)

    def header(self, name: str) -> str | None:
        """Value of the reply's first field of this name."""
        wanted = name.lower()
        return next((value for field, value in self.headers if field.lower() == wanted), None)


class End(_Part):
    """What came of all. `left`: sessions that did not begin or end before the time limit."""

    asked: int
    failed: int
    left: int


class Ended(_Part):
    """The last line."""

    end: End


Told = Exchange | Ended
TOLD: TypeAdapter[Told] = TypeAdapter(Told)
