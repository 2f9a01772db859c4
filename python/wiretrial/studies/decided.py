"""What a workload says of rates that trials decide: one that all sustain, and the highest of each.

Pure. Knows these fields, and what they come to in a case; must not know how such a rate is found
(`rates`), nor what is sent at it.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from wiretrial.studies.fields import COMMON, Knee, Levels
from wiretrial.studies.spec import RateFrom
from wiretrial.studies.workload import Quick, Workload

QUICK_TOLERANCE = 0.25
"""A quick search for the highest rate looks no closer."""


class Common(Workload):
    """What may be asked at a rate that every subject sustains."""

    rate: Levels[float] | Literal["common"] | None = None
    """Per second; `common`: what all sustain."""
    rate_share: float = Field(default=0.6, gt=0, lt=1)
    """Of the slowest subject's throughput, for the common rate."""
    rate_of: str | None = None
    """The closed-loop workload from which the common rate is taken."""

    @model_validator(mode="after")
    def _has_a_source(self) -> Self:
        if self.is_common and self.rate_of is None:
            raise ValueError('rate = "common" needs `rate_of`, a closed-loop workload')
        if not self.is_common and {"rate_of", "rate_share"} & self.model_fields_set:
            raise ValueError('`rate_of` and `rate_share` are for rate = "common"')
        return self

    @property
    def is_common(self) -> bool:
        """Whether others decide its rate."""
        return self.rate == COMMON

    def common_rate(self) -> dict[str, Any]:
        """The field of a case whose rate others decide; which scenarios those are follows later."""
        if not self.is_common:
            return {}
        return {"rate_from": RateFrom(scenarios=(str(self.rate_of),), share=self.rate_share)}

    def unlike(self, source: Workload) -> str | None:
        """Why what subjects reach in `source` decides no rate of these; None: it does."""
        if source.counts != self.counts:
            return f"it counts {source.counts}, and this one {self.counts}"
        return None if source.is_closed else "it is no closed loop"


class Highest(Workload):
    """What may be asked at one rate after the other, in search of the highest that is sustained."""

    knee: Knee | None = None
    """The search; None: there is none."""

    def knee_words(self) -> str:
        """What is searched for."""
        assert self.knee is not None
        return f"knee at p{100 * self.knee.quantile:g} of {self.knee.objective / 1e6:g} ms"

    def quickened(self, quick: Quick) -> Self:
        found = super().quickened(quick)
        if self.knee is None:
            return found
        tolerance = max(self.knee.tolerance, QUICK_TOLERANCE)
        return found.model_copy(
            update={"knee": self.knee.model_copy(update={"tolerance": tolerance})}
        )
