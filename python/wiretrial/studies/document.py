"""`study.toml`: a question, what is measured to answer it, and what was claimed before.

Knows the document's fields and what makes sense; must not know how scenarios are multiplied out
(`matrix`) or run.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from wiretrial import quantities, suggest
from wiretrial.catalogues import STUDIES
from wiretrial.documents import read_toml, require_among
from wiretrial.errors import UsageProblem
from wiretrial.plan import RULE, SECURE, Content
from wiretrial.results.claims import Claim
from wiretrial.studies import environments
from wiretrial.subjects.spec import DRIVEN, PROTOCOLS_OF, ContractName, Mode, Protocol
from wiretrial.words import HTTP

DOCUMENT = STUDIES.document

Pacing = Literal["constant", "poisson", "phased", "after-response"]
Compared = Literal["protocol", "pacing", "lobby"]
Pattern = Literal["steady", "random-burst"]
"""Of a closed loop: each connection goes on by itself; or all wait for the slowest of a burst."""
Ranked = Literal["bandwidth", "server"]
"""What scenarios can be ranked by beside what their load suggests."""

IPv6 = Literal["refused", "silent"]
"""What a connection to `::1` meets where the server listens on 127.0.0.1 only."""

AFTER_RESPONSE: Literal["after-response"] = "after-response"

COMMON = "common"
"""A rate that every subject sustains, found from what each reached in a closed loop."""


def _duration(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return quantities.duration_ns(value, "a time of")
    except UsageProblem as problem:
        raise ValueError(problem.line()) from problem


def _rule(value: Any) -> Any:
    """`learned`, a rule such as `json:status=ok`, or a list of rules; else as in a plan."""
    if isinstance(value, str) and not re.match(RULE, value):
        return {"is": value}
    return (
        {"is": "matching", "rules": _one_or_more(value)} if not isinstance(value, dict) else value
    )


def _one_or_more(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def _not_empty(value: tuple[Any, ...]) -> tuple[Any, ...]:
    if not value:
        raise ValueError("at least one value is needed")
    return value


def _environments(value: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(environments.check(one) for one in _not_empty(value))
    except UsageProblem as problem:
        raise ValueError(problem.line()) from problem


def _share(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return quantities.share(value, "a share of")
    except UsageProblem as problem:
        raise ValueError(problem.line()) from problem


Nanoseconds = Annotated[int, BeforeValidator(_duration), Field(ge=0)]
"""Written as `5s` or `200ms`."""
Length = Annotated[int, BeforeValidator(_duration), Field(gt=0)]
"""The same, and not 0."""
Fit = Literal["fit"]
FIT: Fit = "fit"
STEADY: Pattern = "steady"
Kept = Literal["kept", "opened"]
KEPT: Literal["kept"] = "kept"
"""Connections that are used for all requests, as a level beside numbers of requests."""
OPENED: Literal["opened"] = "opened"
"""Connections for all requests of theirs too, which are opened within the measured time."""
Counts = Annotated[
    tuple[Annotated[int, Field(ge=1)], ...],
    BeforeValidator(_one_or_more),
    AfterValidator(_not_empty),
]
"""A number, or a list of levels, each of which makes a scenario."""


NUMBER_BYTES = 16
MOST_IN_BROADCAST = 1000
"""What the load generator can tell apart of a broadcast."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Knee(_Part):
    """Search for the highest rate that is sustained, instead of measuring at one."""

    quantile: float = Field(default=0.99, gt=0, lt=1)
    objective: Nanoseconds = 5_000_000
    """The response time that this quantile must keep."""
    first: float = Field(default=1000, gt=0)
    """Messages per second to begin with."""
    ceiling: float = Field(default=1_000_000, gt=0)
    tolerance: float = Field(default=0.05, gt=0, lt=1)


class QuickWorkload(_Part):
    """A workload's own part of `--quick`."""

    requests: Counts | None = None
    requests_each: Counts | None = None
    connections: Counts | None = None
    hold: Length | None = None
    duration: Length | None = None
    subjects: tuple[str, ...] | None = None
    trials: int | None = Field(default=None, ge=1)


class Workload(_Part):
    """What is asked of every subject. Where a list stands, each of its levels is a scenario."""

    name: str
    protocol: Protocol | tuple[Protocol, ...]
    contract: ContractName
    path: str | None = None
    """Where the request goes, for contracts with more than one route."""
    payload: Counts | Literal["json"] | None = None
    """Bytes per message; `json`: 64 bytes of JSON with its number; None: the contract's own."""
    method: str | None = None
    """HTTP method; None: the contract's own."""
    headers: dict[str, str] = Field(default_factory=dict)
    """HTTP headers, beside the study's."""
    expect: Annotated[Content, BeforeValidator(_rule)] | None = None
    """What a right reply carries; None: what the contract says."""
    expect_status: int | None = Field(default=None, ge=100, le=599)
    """The right HTTP status; None: 200."""
    connections: Counts = (32,)
    depth: Counts = (1,)
    pack: Counts = (1,)
    """Messages per send; no fewer are in flight on each connection."""
    pattern: Annotated[
        tuple[Pattern, ...], BeforeValidator(_one_or_more), AfterValidator(_not_empty)
    ] = ("steady",)
    hold: Length | None = None
    """Connections are opened, stand idle for so long, and are then asked one message each."""
    copies: Annotated[int, Field(ge=1, le=200)] | Fit = 1
    """Starts of the same server on addresses of their own; `fit`: as many as descriptors need."""
    deflate: Annotated[
        tuple[bool, ...], BeforeValidator(_one_or_more), AfterValidator(_not_empty)
    ] = (False,)
    """Whether messages are compressed (permessage-deflate)."""
    protocol_of: dict[str, Protocol] = Field(default_factory=dict)
    """Subjects that carry the contract over another protocol than the others."""
    rank: Ranked | None = None
    """What scenarios are ranked by; None: what their load suggests."""
    requests_per_connection: (
        Annotated[
            tuple[Annotated[int, Field(ge=1)] | Kept, ...],
            BeforeValidator(_one_or_more),
            AfterValidator(_not_empty),
        ]
        | None
    ) = None
    """Requests after which a connection is opened anew; `kept` or None: never. `opened`: never
    either, and its set-up is part of the time (with `requests_each`)."""
    rate: Annotated[tuple[float, ...], BeforeValidator(_one_or_more)] | Literal["common"] | None = (
        None
    )
    """Open loop: messages per second; `common`: what all sustain; None: closed loop."""
    rate_share: float = Field(default=0.6, gt=0, lt=1)
    """Of the slowest subject's throughput, for the common rate."""
    rate_of: str | None = None
    """The closed-loop workload from which the common rate is taken."""
    rate_each: float | None = Field(default=None, gt=0)
    """Of each connection, messages per second: the rate grows with the connections."""
    pacing: Annotated[
        tuple[Pacing, ...], BeforeValidator(_one_or_more), AfterValidator(_not_empty)
    ] = ("constant",)
    """When an open loop's messages are due. `phased`: each connection has instants of its own.
    `after-response`: it is none, and each connection's next message goes so long after a reply."""
    knee: Knee | None = None
    requests: Counts | None = None
    """Stop after so many messages, instead of after the study's duration."""
    requests_each: Counts | None = None
    """The same for each connection, which is closed then: producers that come to their end."""
    delay_ms: tuple[Annotated[int, Field(ge=0)], ...] = (0,)
    """How long the server waits in its handler (`rest`), or a table first (`table`)."""
    table_size: Counts = (1,)
    """Players at each table (`table`): so many copies has each message."""
    lobby: Annotated[
        tuple[Literal["off", "on"], ...], BeforeValidator(_one_or_more), AfterValidator(_not_empty)
    ] = ("off",)
    """Whether the players look at the lobby (`table`), and are sent snapshots of it."""
    environment: Annotated[
        tuple[str, ...], BeforeValidator(_one_or_more), AfterValidator(_environments)
    ] = (environments.LOOPBACK,)
    """Where the server runs: `loopback`, `namespace`, or a link such as `vpn`."""
    server_threads: Counts = (1,)
    together: int = Field(default=1, ge=1)
    """So many of its trials run at the same time: for those that mostly wait, and have a floor."""
    duration: Nanoseconds | None = None
    warmup: Nanoseconds | None = None
    trials: int | None = Field(default=None, ge=1)
    """No more than so many, where more would show nothing; None: as many as the study has."""
    subjects: tuple[str, ...] | None = None
    """Only these, with `:tuned` where that configuration is meant; None: all of the study."""
    compare: tuple[Compared, ...] = ()
    """Factors whose levels are compared, within each subject; none: the subjects are compared."""
    group: str | None = None
    """Scenarios of one group are compared; None: those that differ in the subject alone."""
    family: str | None = None
    """Workloads of one family are compared level by level, as if they were one; None: with none."""
    label: str | None = Field(default=None, min_length=1)
    """What tells its scenarios from others of the family; `{subject}` stands for the subject."""
    quick: QuickWorkload | None = None
    """What `--quick` makes of it beside what the study says."""
    server: str | None = None
    """Who answers, with `:tuned` where that is meant: the subjects are then client drivers."""
    mode: Annotated[tuple[Mode, ...], BeforeValidator(_one_or_more), AfterValidator(_not_empty)] = (
        "kept",
    )
    """How drivers use connections."""
    iterations: Counts = (1000,)
    """Of each repetition of a driver."""
    repetitions: int = Field(default=5, ge=1)
    """Of a driver, in each trial."""
    warmup_iterations: int = Field(default=100, ge=0)
    """Of a driver, before the first repetition."""
    host: str | None = None
    """The name by which drivers reach the server, such as `localhost`; None: its address."""
    ipv6: Annotated[tuple[IPv6, ...], BeforeValidator(_one_or_more), AfterValidator(_not_empty)] = (
        "refused",
    )
    """Of a name with an address of each kind: what the one of IPv6 does with a connection."""

    @model_validator(mode="after")
    def _consistent(self) -> Workload:
        unfit = self.model_fields_set & (_OF_SERVERS if self.server else _OF_DRIVERS)
        if unfit:
            why = "of servers" if self.server else "of client drivers, which need a `server`"
            raise ValueError(f"`{min(unfit)}` is for workloads {why}")
        if self.server and (self.contract not in DRIVEN or self.payload == "json"):
            known = ", ".join(DRIVEN)
            raise ValueError(f"a client driver can ask for {known}, with a number of bytes")
        for protocol in self._spoken():
            if protocol not in PROTOCOLS_OF[self.contract]:
                known = ", ".join(PROTOCOLS_OF[self.contract])
                raise ValueError(f"{self.contract} is not kept over {protocol}, but over {known}")
        is_http = set(HTTP) >= set(self._spoken())
        if not is_http and (self.method or self.expect_status):
            raise ValueError("`method` and `expect_status` are for http and https")
        if self.headers and {"tcp", "tls", "styx"} & set(self._spoken()):
            raise ValueError("`headers` are for protocols with a request: http, https, ws, wss")
        if self.rate == COMMON and self.rate_of is None:
            raise ValueError('rate = "common" needs `rate_of`, a closed-loop workload')
        self._check_rates()
        self._check_tables()
        self._check_broadcast()
        if self.requests_each and (self.requests or self.rate is not None or self.knee):
            raise ValueError(
                "`requests_each` is a closed loop's: leave `requests`, `rate` and `knee` out"
            )
        if OPENED in (self.requests_per_connection or ()) and not self.requests_each:
            raise ValueError('requests_per_connection = "opened" needs `requests_each`')
        if (self.family is None) != (self.label is None):
            raise ValueError("`family` and `label` go together")
        if self.knee and self.rate is not None:
            raise ValueError("a knee finds its rates by itself: leave `rate` out")
        self._check_load()
        return self

    def _check_rates(self) -> None:
        if self.rate_each and (self.rate is not None or self.knee or self.requests_each):
            raise ValueError(
                "`rate_each` is an open loop's: leave `rate`, `knee` and `requests_each` out"
            )
        if AFTER_RESPONSE in self.pacing and not self.rate_each:
            raise ValueError('pacing = "after-response" needs `rate_each`')
        if self.pacing != ("constant",) and not (self.rate_each or self.rate or self.knee):
            raise ValueError("`pacing` is an open loop's: give `rate`, `rate_each` or `knee`")

    def _check_tables(self) -> None:
        if self.contract == "table":
            if self.payload is not None or self.requests_per_connection is not None:
                raise ValueError("players carry no payload, and stay: leave both out")
        elif self.table_size != (1,) or self.lobby != ("off",):
            raise ValueError("`table_size` and `lobby` are for the contract `table`")

    def _check_broadcast(self) -> None:
        if self.contract != "ws-broadcast":
            return
        if self.requests_per_connection is not None or self.hold or self.pattern != ("steady",):
            raise ValueError(
                "who hears a broadcast stays: leave `requests_per_connection`, `hold` and `pattern`"
                " out"
            )
        if self.payload == "json" or min(self.payload or (20,)) < NUMBER_BYTES:
            raise ValueError(f"a broadcast carries numbers: give `payload` {NUMBER_BYTES} or more")
        if max(self.connections) > MOST_IN_BROADCAST:
            raise ValueError(f"a broadcast has {MOST_IN_BROADCAST} connections at most")

    def _check_load(self) -> None:
        """What excludes each other of the kinds of load."""
        paced = self.rate is not None or self.knee or self.requests_per_connection
        if self.pattern != ("steady",) and (paced or self.hold or self.depth != (1,)):
            raise ValueError(
                "a burst is one pack for each kept connection: leave `rate`, `knee`, `hold`,"
                " `depth` and `requests_per_connection` out"
            )
        if self.hold and (paced or self.requests or self.requests_each or self._is_dense()):
            raise ValueError(
                "held connections carry one message each: leave rates, `depth`, `pack` and numbers"
                " of requests out"
            )
        elsewhere = self.environment != (environments.LOOPBACK,)
        if self.copies != 1 and (elsewhere or SECURE & set(self._spoken())):
            raise ValueError("copies are on addresses of loopback, without TLS")
        if any(self.deflate) and not set(self._spoken()) <= {"ws", "wss"}:
            raise ValueError("only ws and wss compress messages")

    def _is_dense(self) -> bool:
        return self.depth != (1,) or self.pack != (1,)

    def _spoken(self) -> tuple[Protocol, ...]:
        return (*self.protocols(), *self.protocol_of.values())

    def protocols(self) -> tuple[Protocol, ...]:
        """The protocols, as a level each."""
        return (self.protocol,) if isinstance(self.protocol, str) else self.protocol


_OF_DRIVERS = {"mode", "iterations", "repetitions", "warmup_iterations", "host", "ipv6"}
_OF_SERVERS = {
    *("connections", "depth", "pack", "requests_per_connection", "requests", "requests_each"),
    *("duration", "warmup", "pattern", "hold", "copies", "deflate", "protocol_of", "rank"),
    *("rate", "rate_each", "rate_share", "rate_of", "pacing", "knee", "delay_ms"),
    *("table_size", "lobby", "together", "method", "headers", "expect", "expect_status"),
}


class Provocation(_Part):
    """An artefact that is shown on purpose: a small study of its own, run by `--provoke`."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    question: str
    subjects: tuple[str, ...] = Field(min_length=1)
    trials: int = Field(default=5, ge=1)
    workload: tuple[Workload, ...] = Field(min_length=1)


class Quick(_Part):
    """What `--quick` makes smaller: the same shape in less time."""

    trials: int = Field(default=2, ge=1)
    duration: Nanoseconds = 1_000_000_000
    warmup: Nanoseconds = 500_000_000
    levels: int = Field(default=2, ge=1)
    """Of every list of levels, so many are kept: the first, the last, and some between."""
    iterations: int = Field(default=100, ge=1)
    """Of each repetition of a driver, at most."""
    warmup_iterations: int = Field(default=100, ge=0)
    """Of a driver, at most."""


_OF_PROVOCATIONS = ("title", "question", "subjects", "trials", "workload")


class Document(_Part):
    """One study as its author wrote it."""

    title: str
    question: str
    subjects: tuple[str, ...] = Field(min_length=1)
    """Names of the catalogue or folders, with `:tuned` for that configuration."""
    trials: int = Field(default=5, ge=1)
    duration: Nanoseconds = 5_000_000_000
    warmup: Nanoseconds = 1_000_000_000
    """No warm-up is cut beyond this; it is found from the data."""
    generator_threads: int = Field(default=1, ge=1)
    headers: dict[str, str] = Field(default_factory=dict)
    """HTTP headers of each workload that has requests."""
    insecure: bool = False
    """With --target: any certificate is accepted."""
    cacert: str | None = None
    """With --target: a PEM file of authorities to trust, relative to the study's folder."""
    allow_errors: Annotated[float, BeforeValidator(_share), Field(ge=0, lt=1)] = 0
    """The share of messages that may fail in a trial, such as `0.1%`, without making it invalid."""
    budget: Nanoseconds | None = None
    """No more time than this; trials are left out evenly to keep it."""
    twin: str | None = None
    """The subject that is measured twice, as an A/A pair; None: the first."""
    baseline: str | None = None
    """The subject with which the verdict compares; None: the best."""
    adoption: bool = False
    """Whether the report shows what each subject is like to adopt: licence, age, weight."""
    chart: Literal["connections", "payload", "rate", "depth", "requests_per_connection"] | None = (
        None
    )
    """The factor that a picture shows along its axis."""
    workload: tuple[Workload, ...] = Field(min_length=1)
    quick: Quick = Field(default_factory=Quick)
    claim: tuple[Claim, ...] = ()
    provocation: tuple[Provocation, ...] = ()

    def provoking(self, name: str) -> Document:
        """The small study that shows the artefact called `name`."""
        for one in self.provocation:
            if one.name == name:
                return self.model_copy(
                    update={
                        **{field: getattr(one, field) for field in _OF_PROVOCATIONS},
                        "twin": None,
                        "baseline": None,
                        "chart": None,
                        "claim": (),
                        "adoption": False,
                    }
                )
        known = [one.name for one in self.provocation]
        raise UsageProblem(
            f"this study has no artefact {name!r} to provoke",
            suggest.remedy(name, known) if known else "leave --provoke out",
        )

    def paced(self, pacing: str) -> Document:
        """The study with this pacing in every workload that has a rate for each connection.

        The others, and what was published, are left out.
        """
        known = get_args(Pacing)
        if pacing not in known:
            raise UsageProblem(f"--pacing {pacing!r}: unknown", suggest.remedy(pacing, known))
        kept = tuple(
            workload.model_copy(update={"pacing": (pacing,)})
            for workload in self.workload
            if workload.rate_each
        )
        if not kept:
            raise UsageProblem(
                "--pacing is for studies with a rate for each connection", "leave it out"
            )
        return self.model_copy(update={"workload": kept, "claim": ()})

    @model_validator(mode="after")
    def _names(self) -> Document:
        names = [workload.name for workload in self.workload]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"two workloads are called {min(twice)!r}")
        for workload in self.workload:
            told = f"rate_of = {workload.rate_of!r}: there is no such workload"
            require_among(workload.rate_of, names, told)
        named = dict.fromkeys((*names, *(one.family for one in self.workload if one.family)))
        for claim in self.claim:
            for side in claim.sides:
                told = f"a claim speaks of {side.workload!r}: no such workload"
                require_among(side.workload, named, told)
        if self.insecure and self.cacert:
            raise ValueError("`insecure` and `cacert` exclude each other")
        told = f"twin = {self.twin!r} is not among the subjects"
        require_among(self.twin, self.subjects, told)
        return self


def read(path: Path) -> Document:
    """The document in `path`, a file or a folder with a `study.toml`."""
    file = path / DOCUMENT if path.is_dir() else path
    found = read_toml(file, Document, f"a study is a folder with a {DOCUMENT}")
    if found.cacert is None:
        return found
    return found.model_copy(update={"cacert": str((file.parent / found.cacert).resolve())})
