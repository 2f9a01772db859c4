"""What was learned from a server's replies before its load, where nobody said what a right one is.

Knows the words of a record; must not know how it was learned. The rule itself is in the plan.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

FEW = 1 / 300
"""Replies that first differ later, and are fewer, may as well be what 30 could not show."""


class LearnedRule(BaseModel):
    """The rule of one route, or of the one message (`route` None), in words.

    `bound`: the share of replies that may break the rule although no sample did (95 %). `of`: the
    server that alone is held to it, since others of its comparison answer differently.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    route: str | None = None
    samples: int
    told: str
    bound: float
    of: str | None = None

    @property
    def line(self) -> str:
        """`learned from 30 replies: 1 of 3 fields varies: $.id integer`."""
        of = f" to {self.route}" if self.route else ""
        replies = "reply" if self.samples == 1 else "replies"
        held = f"{self.of} is held to its own replies: " if self.of else ""
        return f"{held}learned from {self.samples} {replies}{of}: {self.told}"

    @property
    def bound_words(self) -> str:
        """What so many replies that fit can't show."""
        return f"{self.samples} that fit show only that fewer than {100 * self.bound:.2g} % do not"
