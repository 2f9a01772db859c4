"""What `load` was asked for, as far as a URL and a traffic file differ.

Knows parts of a plan; must not know how they were spelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wiretrial.cli import urls
from wiretrial.goals import Goal
from wiretrial.plan import Load, Stop, Target
from wiretrial.plan_traffic import Traffic
from wiretrial.results.learned import LearnedRule

if TYPE_CHECKING:
    from wiretrial.calls.methods import Method


@dataclass(frozen=True)
class Wanted:
    """What is sent where, who sends it, how long; `goals` are bounds on what it may take."""

    address: urls.Target
    target: Target
    load: Load
    stop: Stop
    workload: str
    traffic: Traffic | None = None
    file: str | None = None
    """The traffic file."""
    goals: tuple[Goal, ...] = ()
    learned: tuple[LearnedRule, ...] = ()
    """What was learned from replies before the load."""
    method: Method | None = None
    """What is called, of gRPC: a plan has no descriptors."""
    first: str = ""
    """The first message of a reply of gRPC, in JSON."""
