"""A study: the question, its scenarios, and the settings that all of them share.

Knows names and what makes two studies the same; must not know how a trial is run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, Self

from pydantic import Field, ValidationError, model_validator

from wiretrial import redaction, redaction_traffic
from wiretrial.browser.jobs import CacheMode, Pattern, Transport, Urls
from wiretrial.browser.jobs import Http as HttpVersion
from wiretrial.errors import StoreError
from wiretrial.plan import Expect, Hold, Http, Load, Message, Styx, Target, Tls, WebSocket
from wiretrial.plan_grpc import Grpc
from wiretrial.plan_traffic import Traffic
from wiretrial.results import redacted
from wiretrial.results.claims import Claim
from wiretrial.results.model import Scenario
from wiretrial.studies.fields import Fit, IdleStates, IPv6, Knee, Part
from wiretrial.studies.pushed import Publishing
from wiretrial.subjects.own import Own
from wiretrial.subjects.spec import TRAFFIC, ConfigurationName, ContractName, Mode, Protocol, over

STUDY_SCHEMA: Final = "wiretrial-study"
STUDY_VERSION: Final = 1

OUTSIDE = "extra"
"""The group of scenarios that are shown beside the others and take no part in the verdict."""


_WORDING = (
    *("title", "question", "command", "trials", "baselines", "together", "claims", "chart"),
    *("adoption", "starts", "only", "allow_errors", "keeps_secrets", "labels", "learning"),
)
"""What a study says, allows and keeps, and how often it measures: more trials are the same."""


_CALL: Final = {"grpc": True}
_PUBLISHED: Final = {"publishing": True}
_IDLE: Final = {"idle_states": True}
_PRIMED: Final = {"priming_connections": True}
_PACED: Final = {"priming_at_rate_ns": True}
_FULL: Final = {"priming_at_full_speed_ns": True}
_TOLD = ("trials", "file", "goals", "baseline", "learned", "level_of")
"""The same of a scenario."""


class Learning(Part):
    """How servers that are started are asked what is right, where nobody says it."""

    constants: bool = True
    """Whether what never varied is part of a rule; else the shape of JSON alone counts."""


class RateFrom(Part):
    """A rate that all sustain: a share of what the slowest of these scenarios reached."""

    scenarios: tuple[str, ...] = Field(min_length=1)
    share: float = Field(gt=0, lt=1)


class Driving(Part):
    """What a client driver is asked to do, and of whom."""

    server: str
    configuration: ConfigurationName = "default"
    """The server's."""
    mode: Mode
    payload: int = Field(ge=0)
    """Bytes of each message; 0: a GET."""
    iterations: int = Field(ge=1)
    repetitions: int = Field(ge=1)
    warmup: int = Field(ge=0)
    """Iterations before the first repetition."""
    host: str | None = None
    """The name to reach the server by; None: its address."""
    ipv6: IPv6 = "refused"
    """What becomes of a connection to the server's port at `::1`, where no server listens."""

    @property
    def messages(self) -> int:
        """Round trips that are recorded, as far as they succeed."""
        return self.iterations * self.repetitions

    def load(self) -> Load:
        """What that comes to: a closed loop with one message in flight."""
        return Load(connections=1, requests_per_connection=1 if self.mode == "fresh" else None)


class Browsing(Part):
    """How a browser is to ask; how often, the case says."""

    program: Literal["chromium", "firefox"]
    transport: Transport
    http: HttpVersion = "1.1"
    urls: Urls = "same"
    cache: CacheMode = "default"
    pattern: Pattern = "parallel"


class Starts(Part):
    """How often servers are started to time their first right reply, and which ones."""

    count: int = Field(ge=1)
    """Recorded starts of each on an occasion."""
    subjects: tuple[tuple[str, ConfigurationName], ...] = Field(min_length=1)
    """Each in one configuration."""


class Case(Part):
    """One scenario and how its load is made."""

    scenario: Scenario
    url: str | None = None
    """An own server's URL, which is not started here; None: the scenario's subject is."""
    own: Own | None = None
    """A server of one's own, built and started here; None: the subject is of the catalogue, or a
    folder with a `subject.toml`."""
    protocol: Protocol
    path: str = ""
    contract: ContractName | None = None
    """What the subject must keep for this scenario; None for an own URL."""
    http: Http = Field(default_factory=Http)
    grpc: Grpc = Field(default_factory=Grpc)
    """Of grpc and grpcs: the call, whose method is the path."""
    fields: dict[str, str] = Field(default_factory=dict)
    """The names of a reply's fields by their numbers, as `maker.since` by `9.2`."""
    tls: Tls = Field(default_factory=Tls)
    websocket: WebSocket = Field(default_factory=WebSocket)
    message: Message = Field(default_factory=Message)
    expect: Expect = Field(default_factory=Expect)
    traffic: Traffic | None = None
    """Requests to many routes in sessions, in the place of one message; `load` is of sessions."""
    load: Load
    sources: tuple[str, ...] = ()
    requests: int | None = None
    """Stop after so many messages; None: after the study's duration."""
    requests_each: int | None = None
    """The same for each connection."""
    trials: int | None = None
    """No more than so many; None: as many as the study has."""
    occasions: int | None = None
    """Measured on the first so many occasions only; None: on each."""
    duration_ns: int | None = None
    """Instead of the study's."""
    warmup_allowance_ns: int | None = None
    """Instead of the study's."""
    priming_ns: int = 0
    """How long its server is asked without pause before each trial, unrecorded."""
    priming_connections: int | None = None
    """On so few connections, with every CPU; None: as in the trial."""
    priming_at_rate_ns: int = 0
    """How long it is asked at a rate after that, unrecorded, on as many connections as in the
    trial."""
    priming_at_full_speed_ns: int = 0
    """How long it is asked without pause on as many, where few came before."""
    server_threads: int | None = None
    """Instead of the study's."""
    cpus: float | None = None
    """The server has no more CPU time than so many CPUs; None: all that it is pinned to."""
    idle_states: IdleStates = "on"
    """Whether the CPUs of this machine may sleep meanwhile."""
    copies: int | Fit = 1
    """Starts of the server on addresses of their own; `fit`: as many as descriptors ask for."""
    delay_ms: int = 0
    """How long the server waits in its handler."""
    backend: tuple[str, ...] = ()
    """Flags of the server behind a proxy, for what it does wrong; none: it does nothing wrong."""
    allow_errors: float | None = Field(default=None, ge=0, lt=1)
    """Instead of the study's."""
    styx: Styx = Field(default_factory=Styx)
    """Players and tables, where the contract is `table`."""
    publishing: Publishing | None = None
    """What is published while its connections are held, and each of them is told."""
    rate_from: RateFrom | None = None
    """The rate of its open loop comes from what others reached; until then it stands at 1."""
    knee: Knee | None = None
    """It is not measured at one rate: the highest that is sustained is searched for."""
    driving: Driving | None = None
    """The subject is a client driver, and does this; the load above is what that comes to."""
    browsing: Browsing | None = None
    """A browser sends, so many `requests`, through a front before the subject."""

    @property
    def spoken(self) -> Protocol:
        """The protocol, by the name under which subjects are verified: HTTP/2 and 3 have their own.

        Traffic is verified by its rehearsal, whatever it goes over.
        """
        return self.protocol if self.contract == TRAFFIC else over(self.protocol, self.http.version)

    @property
    def sending(self) -> Driving | Browsing | None:
        """What sends in place of our own engine, which is the usual; None: the engine does."""
        return self.driving or self.browsing

    @property
    def subject_kind(self) -> Literal["client", "server"]:
        """What the subject must be."""
        return "client" if self.driving else "server"

    @property
    def answering(self) -> tuple[str, ConfigurationName]:
        """Who answers, and in which configuration: the subject, where that is no client."""
        if self.driving:
            return self.driving.server, self.driving.configuration
        return self.scenario.subject, self.scenario.configuration

    @property
    def is_counted(self) -> bool:
        """Whether its length is given in messages."""
        return self.requests is not None or self.requests_each is not None

    @property
    def is_held(self) -> bool:
        """Whether its connections are opened and held, so that the opening is what is timed."""
        return isinstance(self.load.executor, Hold)

    @property
    def messages(self) -> int | None:
        """How many in all; None: as many as fit into its time."""
        if self.requests_each is not None:
            return self.requests_each * self.load.connections
        return self.requests

    def is_of(self, occasion: int) -> bool:
        """Whether it is measured on that occasion."""
        return self.occasions is None or occasion <= self.occasions

    @property
    def stage(self) -> int:
        """When it can be measured; see `Study.stage`."""
        if self.knee:
            return 3
        return 2 if self.rate_from else 1

    @property
    def primed_ns(self) -> int:
        """How long its server is asked before each trial, unrecorded."""
        return self.priming_ns + self.priming_at_rate_ns + self.priming_at_full_speed_ns

    def target(self, url: str, **here: Any) -> Target:
        """Where it goes, and what is sent there; `here`: what only its place tells."""
        return Target(
            url=url,
            http=self.http,
            grpc=self.grpc,
            tls=self.tls,
            styx=self.styx,
            websocket=self.websocket,
            message=self.message,
            expect=self.expect,
            **here,
        )

    def redacted(self) -> Case:
        """The same without secrets, as it is kept."""
        shown = {
            "scenario": self.scenario.redacted(),
            "url": None if self.url is None else redaction.url(self.url),
            "path": redaction.url(self.path),
            "http": redacted.http(self.http),
            "traffic": self.traffic and redaction_traffic.redacted(self.traffic),
        }
        return self.model_copy(update=shown)

    def given_again(self, headers: Mapping[str, str]) -> Case:
        """The same with these headers, by small name, where their values were taken out."""
        fields = tuple(
            (name, headers.get(name.lower(), value) if value == redaction.MARK else value)
            for name, value in self.http.headers
        )
        return self.model_copy(update={"http": self.http.model_copy(update={"headers": fields})})


class Study(Part):
    """A question with its matrix. Everything that decides what is measured is in here."""

    schema_name: Literal["wiretrial-study"] = Field(default=STUDY_SCHEMA, alias="schema")
    version: Literal[1] = STUDY_VERSION
    name: str
    title: str
    question: str
    command: str
    """What a person types to run it again."""
    cases: tuple[Case, ...] = Field(min_length=1)
    trials: int = Field(default=5, ge=1)
    seed: int
    duration_ns: int = Field(gt=0)
    warmup_allowance_ns: int = Field(ge=0)
    server_threads: int = Field(default=1, ge=1)
    generator_threads: int = Field(default=1, ge=1)
    allow_errors: float = Field(default=0, ge=0, lt=1)
    """The share of messages that may fail in a trial without making it invalid."""
    baselines: tuple[str, ...] = ()
    """Scenarios that the verdict compares the others of their group with; none: the best."""
    together: tuple[str, ...] = ()
    """Workloads in which that is done over all levels at once, and not level by level."""
    claims: tuple[Claim, ...] = ()
    """What others published, to be held against what is found here."""
    chart: str | None = None
    """The factor along which a picture shows the scenarios."""
    adoption: bool = False
    """Whether what each subject is like to adopt is shown beside what it does."""
    starts: Starts | None = None
    """Starts that are timed beside the trials. None: none is."""
    only: tuple[str, ...] = ()
    """Patterns that chose these scenarios among those of its document; none: all were wanted."""
    keeps_secrets: bool = False
    """Whether its secrets are kept with its results: without them it can't be gone on with."""
    labels: dict[str, str] = Field(default_factory=dict)
    """What its user calls what is measured, such as `commit`: 3f2a91c."""
    learning: Learning | None = None
    """What its servers are asked before the first trial. None: nothing, or it was learned."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [case.scenario.name for case in self.cases]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"two scenarios are called {min(twice)!r}")
        return self

    def digest(self) -> str:
        """SHA-256 of all that decides what is measured; wording does not."""
        decisive = self.redacted().model_dump_json(
            by_alias=True,
            exclude={
                **dict.fromkeys(_WORDING, True),
                "cases": {
                    "__all__": {
                        "trials": True,
                        "occasions": True,
                        # Where there is none, studies are what they were before there was any.
                        **({} if any(case.own for case in self.cases) else {"own": True}),
                        **({} if any(case.cpus for case in self.cases) else {"cpus": True}),
                        **(_IDLE if all(c.idle_states == "on" for c in self.cases) else {}),
                        **({} if any(case.backend for case in self.cases) else {"backend": True}),
                        **({} if any(c.priming_connections for c in self.cases) else _PRIMED),
                        **({} if any(c.priming_at_rate_ns for c in self.cases) else _PACED),
                        **({} if any(c.priming_at_full_speed_ns for c in self.cases) else _FULL),
                        "allow_errors": True,
                        **({} if any(case.grpc != Grpc() for case in self.cases) else _CALL),
                        **({} if any(case.publishing for case in self.cases) else _PUBLISHED),
                        "fields": True,
                        "scenario": dict.fromkeys(_TOLD, True),
                    }
                },
            },
        )
        return hashlib.sha256(decisive.encode()).hexdigest()

    def redacted(self) -> Study:
        """The same without secrets, unless it keeps them."""
        if self.keeps_secrets:
            return self
        shown = {
            "title": redaction.text(self.title),
            "question": redaction.text(self.question),
            "command": redaction.command_line(self.command),
            "labels": {key: redaction.text(value) for key, value in self.labels.items()},
            "cases": tuple(case.redacted() for case in self.cases),
        }
        return self.model_copy(update=shown)

    def keeping_secrets(self) -> Study:
        """The same, kept with its secrets."""
        command = f"{self.command} {redaction.KEEP}"
        return self.model_copy(update={"keeps_secrets": True, "command": command})

    def document(self, indent: int | None = None) -> str:
        """The study as it is kept with its results, JSON."""
        return self.redacted().model_dump_json(by_alias=True, indent=indent)

    def lacking(self) -> tuple[str, ...]:
        """Which secrets were taken out, in words; with any it can't be measured."""
        found: dict[str, None] = {}
        for case in self.cases:
            address = case.path if case.url is None else case.url
            found |= dict.fromkeys(redaction.redacted_parts(address, case.http.headers))
            if case.traffic:
                found |= dict.fromkeys(redaction_traffic.lacking(case.traffic))
        return tuple(found)

    def with_trials(self, trials: int) -> Study:
        """The same study with so many trials of each scenario, as its command then says."""
        asked = f"--trials {trials}"
        command, said = re.subn(r"--trials \d+", asked, self.command)
        return self.model_copy(
            update={"trials": trials, "command": command if said else f"{command} {asked}"}
        )

    def stage(self, number: int) -> tuple[Case, ...]:
        """Cases whose load is known from the start (1), from stage 1 (2), or searched for (3).

        In stage 4 those whose rate is a share of what a search found.
        """
        searched = {case.scenario.name for case in self.cases if case.knee}

        def stage_of(case: Case) -> int:
            sources = case.rate_from.scenarios if case.rate_from else ()
            return 4 if searched.intersection(sources) else case.stage

        return tuple(case for case in self.cases if stage_of(case) == number)

    def duration_of(self, case: Case) -> int:
        """How long the case is measured, nanoseconds."""
        return self.duration_ns if case.duration_ns is None else case.duration_ns

    def warmup_of(self, case: Case) -> int:
        """How much warm-up may be cut from the case, nanoseconds."""
        allowance = case.warmup_allowance_ns
        return self.warmup_allowance_ns if allowance is None else allowance

    def trials_of(self, case: Case, occasion: int = 1) -> int:
        """How many trials the case gets on an occasion."""
        if not case.is_of(occasion):
            return 0
        return self.trials if case.trials is None else min(case.trials, self.trials)

    def allowed_errors_of(self, case: Case) -> float:
        """The share of the case's messages that may fail."""
        return self.allow_errors if case.allow_errors is None else case.allow_errors

    def threads_of(self, case: Case) -> int:
        """The threads of the case's server."""
        return self.server_threads if case.server_threads is None else case.server_threads

    def case(self, name: str) -> Case:
        """The case of the scenario called `name`."""
        return next(case for case in self.cases if case.scenario.name == name)


def parse(document: str) -> Study:
    """The study that a results folder was begun with."""
    try:
        return Study.model_validate_json(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "document"
        raise StoreError(
            f"the study of these results can't be read ({where}: {first['msg']})",
            "use the wiretrial that wrote it",
        ) from error
