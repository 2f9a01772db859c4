"""What a running study tells, for whoever shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wiretrial.results.adoption import Adopted
from wiretrial.results.learned import LearnedRule
from wiretrial.results.model import Trial
from wiretrial.results.starts import Start
from wiretrial.snapshot import Interval, Snapshot
from wiretrial.studies.order import Slot
from wiretrial.studies.spec import Study


@dataclass(frozen=True)
class Preparing:
    """A subject is being installed or verified, or started to be timed."""

    subject: str
    step: str


@dataclass(frozen=True)
class Weighed:
    """What a subject is like to adopt is known, whether or not it can be measured."""

    adopted: Adopted


@dataclass(frozen=True)
class Unavailable:
    """A subject can't be measured here; these scenarios are left out."""

    subject: str
    reason: str
    scenarios: tuple[str, ...]


@dataclass(frozen=True)
class TrialBegun:
    """A trial starts. `number` counts from 1 over all trials of the study, as far as is known."""

    slot: Slot
    number: int
    total: int
    left_ns: int = 0
    """What was estimated, before anything ran, for what has not been measured yet."""


@dataclass(frozen=True)
class Used:
    """CPU time of the server's processes up to an instant of our monotonic clock."""

    at_ns: int
    cpu_ns: int


@dataclass(frozen=True)
class Seen:
    """The engine told something about the trial in progress."""

    snapshot: Snapshot
    server: Used | None = None
    """None where it is not watched."""
    agents: Mapping[str, Interval] = field(default_factory=dict)
    """What each machine of a fleet told last."""


@dataclass(frozen=True)
class TrialDone:
    """A trial is measured, judged and stored."""

    trial: Trial
    number: int
    total: int


@dataclass(frozen=True)
class TrialFailed:
    """A trial could not be measured; the study goes on, and a resumed one tries it again."""

    slot: Slot
    reason: str
    scenario: str
    """As the study calls it: of a search's step, the search."""


@dataclass(frozen=True)
class StartDone:
    """A start was timed and stored, one of so many of its server's."""

    start: Start
    total: int


@dataclass(frozen=True)
class StartFailed:
    """A server whose starts are timed gave no right reply; its trials are not touched by that."""

    subject: str
    reason: str


@dataclass(frozen=True)
class Taught:
    """It is learned what is right. `rules`: in words; `unknown`: routes without a rule."""

    study: Study
    rules: tuple[LearnedRule, ...]
    unknown: tuple[str, ...]


Event = (
    Preparing
    | Weighed
    | Unavailable
    | Taught
    | TrialBegun
    | Seen
    | TrialDone
    | TrialFailed
    | StartDone
    | StartFailed
)
