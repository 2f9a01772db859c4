"""One trial's record: everything that a report needs, in one immutable file.

Knows the form of a record; must not know where it is stored or how it was measured. Times are
nanoseconds; offsets count from the engine's own start of the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from wiretrial import redaction
from wiretrial.goals import Goal
from wiretrial.plan import Congestion, Plan
from wiretrial.results import redacted
from wiretrial.results.ceiling import Ceiling
from wiretrial.results.fleet import Fleet
from wiretrial.results.learned import LearnedRule
from wiretrial.results.observation import CpuLimit, Isolation, Observation
from wiretrial.results.watched import WatchedPlace
from wiretrial.snapshot import Interval, Start, Summary

TRIAL_SCHEMA: Final = "wiretrial-trial"
TRIAL_VERSION: Final = 2
LOAD_SCHEMA: Final = "wiretrial-load"
"""Of what `load --format json` prints: figures for scripts, and the trial in the member `trial`."""
LOAD_VERSION: Final = 1

Verdict = Literal["valid", "client-bound", "overloaded", "stalled", "invalid", "partial"]
"""`overloaded`: an open loop's rate was not reached, and the generator was not why. `stalled`: the
server stopped answering, and the trial was ended for that."""

USABLE: Final = frozenset({"valid", "client-bound", "overloaded"})
"""Verdicts of trials whose figures may enter an estimate. A client-bound rate does as a lower
bound; the times of an overloaded trial don't."""

Bottleneck = Literal[
    "server", "generator", "rate", "link", "connections", "unknown", "client", "waiting"
]
"""`connections`: they were too few for the rate. Of a driven trial: where most of a round trip
goes: the client's CPU, the server's, or none."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Scenario(_Part):
    """Subject x workload x environment. `name` identifies it within its study and is shown."""

    name: str
    subject: str
    configuration: str = "default"
    protocol: str
    workload: str
    environment: str = "loopback"
    group: str = "main"
    """Scenarios of one group are compared with each other; others only stand beside them."""
    label: str | None = None
    """What tells it from the others of its group; None: its name does."""
    levels: dict[str, int | float | str] = Field(default_factory=dict)
    """The factors of its study and where it stands on each, such as `connections`: 100."""
    twin_of: str | None = None
    """It is another scenario measured again: an A/A pair, which must come out as no difference."""
    baseline: str | None = None
    """The scenario that it was declared to be compared with, before anything was measured."""
    search: str | None = None
    """The search for the highest sustained rate that this is one step of."""
    level_of: str | None = None
    """The scenario whose capacity is predicted from this one, a lower level beside others."""
    ranked_by: str | None = None
    """Key of the figure that it is ranked by; None: what its load suggests."""
    floor_ns: float | None = None
    """What it takes at least by arithmetic; None: nothing, or its length is given in time."""
    floor_formula: str | None = None
    trials: int | None = None
    """No more than so many were wanted; None: as many as its study has."""
    file: str | None = None
    """The traffic file that says what is sent; None: one message is."""
    goals: tuple[Goal, ...] = ()
    """Bounds that it states."""
    is_soak: bool = False
    """Whether drift was asked for, however short it was."""
    learned: tuple[LearnedRule, ...] = ()
    """What was learned from replies before, where nobody said what a right one is."""
    together: int = 1
    """How many such trials ran at the same time, each of which mostly waits."""

    def redacted(self) -> Scenario:
        """The same without the secrets of a URL that it is called by."""
        shown = {"name": redaction.text(self.name), "subject": redaction.text(self.subject)}
        return self.model_copy(update=shown)


WITHIN = "subject"
"""The level that says whose levels a group compares, where it does not compare subjects."""


class Revision(_Part):
    """Which state of a repository a server was made from."""

    commit: str
    """The whole id."""
    dirty: bool = False
    """Whether tracked files had changes that are in no commit."""


class DatabaseFacts(_Part):
    """The database that was started for a subject, and where."""

    version: str
    cpus: tuple[int, ...] = ()
    connections: int
    """The most that the subject may have, all its copies together."""


class BackendFacts(_Part):
    """The server that was started behind a subject, which is a proxy, and where."""

    name: str
    threads: int
    cpus: tuple[int, ...] = ()


class SubjectFacts(_Part):
    """What ran as the subject, and where."""

    name: str
    version: str
    language: str
    digest: str | None = None
    revision: Revision | None = None
    """None: it is no server of one's own, or was made from no repository."""
    command: tuple[str, ...] = ()
    threads: int | None = None
    cpus: tuple[int, ...] = ()
    copies: int = 1
    """Starts of the same server, each on an address of its own."""
    congestion: Congestion | None = None
    """What it was told to have, or its namespace was for all of its TCP; None: its own, or the
    kernel's default."""
    isolation: Isolation | None = None
    """None: we don't know where it runs, because we didn't start it."""
    primed_ns: int = 0
    """How long it was asked before the trial, unrecorded: without pause, then maybe at a rate."""
    limit: CpuLimit | None = None
    """None: it had all of its CPUs."""
    database: DatabaseFacts | None = None
    """None: it was given none."""
    backend: BackendFacts | None = None
    """None: it answers by itself."""


class Driven(_Part):
    """A trial whose subject is a client: its driver sends, and a server of ours answers.

    The record has the form of any trial's. Each repetition is an interval, the driver is its
    generator, the round trips are its service times, and what was watched is the server.
    """

    library: str
    """Name and version, as the driver tells them."""
    server: SubjectFacts
    mode: Literal["kept", "fresh"]
    host: str | None = None
    """The name by which the server was reached; None: by its address."""
    first_error: str | None = None


class Browsed(_Part):
    """A trial in which a browser sent, and a page in it told the times: its service times.

    Between browser and subject stood a front, which adds TLS and HTTP/2.
    """

    program: str
    """Name and version."""
    front: str
    protocol: str
    """What the browser spoke, as it tells: `http/1.1`, `h2`, `websocket`."""
    under_way: int
    """The most requests that were out at once; 0: the browser does not tell."""
    connections: int
    revalidated: int = 0
    """Replies that the browser had in its cache, and asked the server about."""
    from_cache: int = 0
    """Replies for which it asked nobody."""
    first_error: str | None = None


SECOND_NS = 1_000_000_000
BY_COST = "server CPU per message"
"""What a window's rule begins with where it read this and not the throughput."""


class ProcessSample(_Part):
    """One reading of the server's process tree. CPU times count from each process's start."""

    offset_ns: int
    cpu_user_ns: int
    cpu_system_ns: int
    rss_bytes: int
    threads: int | None = None


class Window(_Part):
    """The part of the run that counts; warm-up is cut afterwards by a change-point rule."""

    start_ns: int
    end_ns: int
    steady: bool
    rule: str

    @property
    def follows(self) -> str:
        """What the rule read, so that it can be said what did not settle."""
        return BY_COST if self.rule.startswith(BY_COST) else "throughput"


class Warning(_Part):
    """Something a reader must know, with what to do about it."""

    code: str
    message: str
    advice: str


@dataclass(frozen=True)
class Use:
    """What one side did in the window, as shares of what its threads could have had."""

    busy: float
    """The server: on a CPU. The generator: its busiest loop had work."""
    queued: float = 0.0
    """Ready to run, while somebody else had the CPU."""
    limit: CpuLimit | None = None
    """What a server's time was held to, whose share `busy` is then."""


class Judgement(_Part):
    """May this trial be published as the subject's, and who limited it, from evidence."""

    verdict: Verdict
    bottleneck: Bottleneck
    evidence: str
    allowed_errors: float = 0
    """The share of messages that may fail without making it invalid, as was asked for."""
    server: Use | None = None
    """None where its CPU could not be read, or a driver or a browser sent."""
    generator: Use | None = None
    """None where a driver or a browser sent."""


class Machine(_Part):
    """Recorded facts: CPU, kernel, clock source, sysctls that matter, versions of every part."""

    facts: dict[str, Any] = Field(default_factory=dict)


class Trial(_Part):
    """One start of one subject with one workload."""

    schema_name: Literal["wiretrial-trial"] = Field(default=TRIAL_SCHEMA, alias="schema")
    version: Literal[2] = TRIAL_VERSION
    keeps_secrets: bool = False
    """Whether headers, URLs and the command stand here with their secrets, as was asked for."""
    study: str
    study_digest: str
    """Digest of the study's scenarios and settings: an edited study has another."""
    occasion: int = Field(default=1, ge=1)
    """Boots of a machine with everything rebuilt, counted from 1. Blocks count on over them."""
    block: int
    position: int
    order_seed: int
    scenario: Scenario
    started_at: str
    """Wall clock, ISO 8601, for people."""
    command: str | None = None
    """What a person types to run a load again; None: it is a study's trial, which knows its own."""
    labels: dict[str, str] = Field(default_factory=dict)
    """What its user calls what was measured, such as `commit`: 3f2a91c."""
    plan: Plan
    start: Start
    intervals: tuple[Interval, ...]
    summary: Summary
    subject: SubjectFacts | None
    driven: Driven | None = None
    """None: the subject is a server, and the engine sends."""
    browsed: Browsed | None = None
    """None: no browser sends."""
    subject_samples: tuple[ProcessSample, ...] = ()
    observation: Observation | None = None
    """None where the server is not on this machine, or may not be watched."""
    places: tuple[WatchedPlace, ...] = ()
    """Hosts of servers that somebody else runs, as far as they were named; empty: none was."""
    ceiling: Ceiling | None = None
    """None where it was not measured."""
    fleet: Fleet | None = None
    """None: one machine sent."""
    window: Window
    judgement: Judgement
    warnings: tuple[Warning, ...] = ()
    machine: Machine = Field(default_factory=Machine)

    @property
    def named(self) -> dict[str, str]:
        """Its labels; `commit` is its server's own where its user named none."""
        revision = self.subject.revision if self.subject else None
        if revision is None or revision.dirty:
            return self.labels
        return {"commit": revision.commit, **self.labels}

    @field_validator("plan")
    @classmethod
    def _plan_without_secrets(cls, plan: Plan, info: ValidationInfo) -> Plan:
        return plan if info.data.get("keeps_secrets") else redacted.plan(plan)

    @field_validator("start")
    @classmethod
    def _start_without_secrets(cls, start: Start, info: ValidationInfo) -> Start:
        if info.data.get("keeps_secrets"):
            return start
        return redacted.start(start)

    @field_validator("scenario")
    @classmethod
    def _scenario_without_secrets(cls, scenario: Scenario, info: ValidationInfo) -> Scenario:
        return scenario if info.data.get("keeps_secrets") else scenario.redacted()

    @field_validator("command")
    @classmethod
    def _command_without_secrets(cls, command: str | None, info: ValidationInfo) -> str | None:
        if command is None or info.data.get("keeps_secrets"):
            return command
        return redaction.command_line(command)

    @field_validator("labels")
    @classmethod
    def _labels_without_secrets(
        cls, labels: dict[str, str], info: ValidationInfo
    ) -> dict[str, str]:
        if info.data.get("keeps_secrets"):
            return labels
        return {key: redaction.text(value) for key, value in labels.items()}

    @property
    def server(self) -> SubjectFacts | None:
        """Who answers: the subject, or the one that a driver is measured with."""
        return self.driven.server if self.driven else self.subject

    @property
    def is_overloaded(self) -> bool:
        """Whether the offered rate was not reached, where it should: a search goes beyond it."""
        return self.judgement.verdict == "overloaded" and self.scenario.search is None

    @property
    def kept_drifting(self) -> bool:
        """Whether what its window was found by did not settle, although there was time to."""
        return self._is_unsettled and self.window.end_ns - self.window.start_ns >= SECOND_NS

    @property
    def has_unknown_settling(self) -> bool:
        """Whether it was too short to tell."""
        return self._is_unsettled and not self.kept_drifting

    @property
    def _is_unsettled(self) -> bool:
        # Of a run that was counted, and of connections that are opened, nothing is cut; a load that
        # changes over time has no level to settle at.
        stop, stages = self.plan.stop, self.plan.load.stages
        is_timed = stop.duration_ns is not None and not stop.is_counted and not stages
        return is_timed and not self.window.steady and self.summary.counters.ok > 0
