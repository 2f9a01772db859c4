"""Where replies redirect to: one address, or a pattern of several.

Knows the header field Location; must not know the content beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.plan_traffic import Check, Compared, HeaderOf, JsonOperand, Matches
from wiretrial.traffic.learning import holes
from wiretrial.traffic.learning.samples import Sample

_FIELD = "Location"


@dataclass(frozen=True)
class Location:
    """The address in words, with its holes. `pattern`: None where it is always the same one."""

    shown: str
    pattern: str | None = None

    @property
    def check(self) -> Check:
        """What holds of each reply."""
        of = HeaderOf(header=_FIELD)
        if self.pattern is not None:
            return Check(of=of, test=Matches(pattern=self.pattern))
        operand = JsonOperand.model_validate({"json": self.shown})
        return Check(of=of, test=Compared.model_validate({"how": "==", "with": operand}))


def of_replies(samples: Sequence[Sample], *, constants: bool) -> Location | None:
    """Where all of these redirect to; None: not all do."""
    found = [sample.header(_FIELD) for sample in samples]
    addresses = [address for address in found if address]
    if len(addresses) < len(samples):
        return None
    if constants and len(set(addresses)) == 1:
        return Location(addresses[0])
    template = holes.template(addresses)
    if template is None:
        return Location("addresses that vary", ".")
    return Location(_shown(addresses[0], template), template.pattern)


def _shown(first: str, template: holes.Template) -> str:
    """The address with words in the place of what varies: `/notes/[UUID]`."""
    shown, at = "", 0
    for hole in template.holes:
        begin = first.index(hole.values[0], at)
        shown += f"{first[at:begin]}[{hole.words}]"
        at = begin + len(hole.values[0])
    return shown + first[at:]
