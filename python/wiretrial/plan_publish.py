"""What is published during a load: a part of the plan, as the engine reads it.

Knows names, types and defaults; must not know who can hear it.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer


class Publish(BaseModel):
    """Events that are posted to `url` during the load, over a connection of its own.

    Each receiver of the load has to be told each of them once and in order. `rate`: events per
    second. `settle_ns`: from the begin of the load to the first event. `long_poll`: receivers ask
    for each event behind the number of the last one. `headers`: fields of each POST. Those of the
    target go beside them where `url` is of its origin, but for those of the same name.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    rate: float
    bytes: int = 64
    settle_ns: int = 1_000_000_000
    long_poll: bool = False
    headers: tuple[tuple[str, str], ...] = ()

    @model_serializer(mode="wrap")
    def _without_no_headers(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """As it was before it could have any, where it has none."""
        written: dict[str, Any] = write(self)
        if not self.headers:
            written.pop("headers", None)
        return written
