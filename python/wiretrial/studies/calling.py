"""What a workload says of calls of gRPC, where servers are asked for the contract `grpc-echo`.

Pure. Knows which levels make sense together; must not know what a call sends (`calls`).
"""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from wiretrial.plan_grpc import CallKind
from wiretrial.studies import calls
from wiretrial.studies.contracts import DEFAULT_BYTES
from wiretrial.studies.fields import Counts, Levels
from wiretrial.studies.workload import Factors, Workload

USUAL_BYTES = (DEFAULT_BYTES[calls.CONTRACT],)
"""Of each message, where a study says nothing."""


class Calling(Workload):
    """Requests, messages, or calls."""

    call: Levels[CallKind] | None = None
    """Which method is called, by the sides that send several messages; None: `unary`."""
    messages_per_call: Counts | None = None
    """Messages of a stream from the client, all of which are sent at once; None: ten."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if not self.makes_calls:
            if self.call is not None or self.messages_per_call is not None:
                raise ValueError(
                    f"`call` and `messages_per_call` are for the contract {calls.CONTRACT}"
                )
            return self
        if isinstance(self.payload, str):
            raise ValueError("a call carries bytes: write `payload` as a number of them")
        if self.messages_per_call is not None and not self._streams_from_client:
            raise ValueError(
                "`messages_per_call` is of streams from the client: write"
                ' call = "client" or "bidi", or leave it out'
            )
        sizes, counts = self.payload or USUAL_BYTES, self.messages_per_call
        most = max(calls.count(kind, max(counts) if counts else None) for kind in self.kinds)
        if max(sizes) * most > calls.MOST_BYTES:
            raise ValueError(
                f"a call carries {calls.MOST_BYTES:,} bytes at most, and {max(sizes):,} x {most:,}"
                " are more: make `payload` or `messages_per_call` smaller"
            )
        return self

    @property
    def makes_calls(self) -> bool:
        """Whether what is sent are calls."""
        return self.contract == calls.CONTRACT

    @property
    def kinds(self) -> tuple[CallKind, ...]:
        """Which calls are made."""
        return self.call or ("unary",)

    @property
    def _streams_from_client(self) -> bool:
        return calls.FROM_CLIENT.issuperset(self.kinds)

    def levels(self) -> Factors:
        found = super().levels()
        if not self.makes_calls:
            return found
        found |= {"call": self.kinds, "payload": self.payload or USUAL_BYTES}
        if self._streams_from_client:
            found["messages_per_call"] = self.messages_per_call or (calls.MESSAGES,)
        return found
