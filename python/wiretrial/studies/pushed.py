"""Events that are published while receivers are held, in a study.

Knows how often, how long and where to; must not know who hears them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Self
from urllib.parse import urlsplit

from pydantic import Field

from wiretrial.plan import SECURE
from wiretrial.plan_publish import Publish
from wiretrial.studies.fields import Part
from wiretrial.subjects.spec import ContractName

POLLED: Final[ContractName] = "long-poll"
CONTRACTS: Final[tuple[ContractName, ...]] = ("push", POLLED)
PATH: Final = "/publish"
USUAL_BYTES: Final = 64
LEAST_BYTES: Final = 33
"""An event says its number and its instant."""
LONGEST_SETTLE_NS: Final = 1_000_000_000
SHORTEST_SETTLE_NS: Final = 50_000_000

Rate = Annotated[float, Field(gt=0, le=100_000)]
"""Events per second."""


class Publishing(Part):
    """What a case publishes."""

    rate: Rate
    bytes: int = Field(default=USUAL_BYTES, ge=LEAST_BYTES)
    long_poll: bool = False
    """Whether receivers ask for each event; else they hold what tells them."""

    @classmethod
    def of(cls, contract: ContractName, levels: Mapping[str, Any]) -> Self:
        """At these levels of a workload's factors."""
        size = levels["payload"] or USUAL_BYTES
        return cls(rate=levels["publish"], bytes=size, long_poll=contract == POLLED)

    def plan(self, url: str, warmup_ns: int) -> Publish:
        """The part of a plan whose receivers are at `url`; it begins amid the warm-up."""
        heard = urlsplit(url)
        over = "https" if heard.scheme in SECURE else "http"
        return Publish(
            url=f"{over}://{heard.netloc}{PATH}",
            rate=self.rate,
            bytes=self.bytes,
            settle_ns=max(SHORTEST_SETTLE_NS, min(LONGEST_SETTLE_NS, warmup_ns // 2)),
            long_poll=self.long_poll,
        )
