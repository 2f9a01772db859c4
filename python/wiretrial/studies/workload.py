"""What a study asks of its subjects: what all kinds of workload have, and client drivers.

Pure. A kind knows its factors, and what one level of each comes to in a case; it must not know how
scenarios are multiplied out (`matrix`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from wiretrial.goals import Goal
from wiretrial.studies import calls, environments, wording
from wiretrial.studies.contracts import Request, driver_bytes, driver_message, request
from wiretrial.studies.fields import (
    Count,
    Counts,
    Environment,
    IPv6,
    Item,
    Length,
    Levels,
    Nanoseconds,
    Part,
)
from wiretrial.studies.spec import Driving
from wiretrial.studies.ways import Label
from wiretrial.studies.wording import Level
from wiretrial.subjects.spec import (
    DRIVEN,
    PROTOCOLS_OF,
    PROXY,
    TRAFFIC,
    ContractName,
    Mode,
    Protocol,
    scheme,
    version_of,
)

Factors = dict[str, Sequence[Level | None]]

_ORDER = (
    *("users", "arrivals"),
    *("browser", "protocol", "call", "http", "way", "payload", "messages_per_call"),
    *("mode", "iterations", "ipv6", "pattern"),
    *("deflate", "connections", "layout"),
    *("header_profile", "handshake", "congestion", "streams"),
    *("depth", "pack", "requests_per_connection", "requests_each", "rate", "requests", "delay_ms"),
    *("environment", "server_threads", "cpus", "idle_states", "pacing", "table_size", "lobby"),
    *("share", "backend", "publish"),
)
_SPREAD = (
    *("payload", "connections", "depth", "pack", "requests_per_connection", "rate", "table_size"),
    *("users", "arrivals", "layout", "streams", "messages_per_call", "publish"),
)
"""Factors of which `--quick` keeps some levels."""


Compared = Literal[
    "protocol",
    "http",
    "header_profile",
    "handshake",
    "congestion",
    "layout",
    "pacing",
    "lobby",
    "way",
]
"""Factors whose levels may be compared, in the place of subjects."""
SUBJECT = "subject"
"""In a label, who is asked; all else there are factors."""
SIZE = "{payload}"
"""In a path, the bytes that are asked for."""


class QuickWorkload(Part):
    """A workload's own part of `--quick`."""

    requests: Counts | None = None
    requests_each: Counts | None = None
    connections: Counts | None = None
    hold: Length | None = None
    cpus: Levels[float] | None = None
    environment: Levels[Environment] | None = None
    duration: Length | None = None
    way: Levels[Label] | None = None
    subjects: tuple[str, ...] | None = None
    trials: Count | None = None


class Quick(Part):
    """What `--quick` makes smaller: the same shape in less time."""

    trials: Count = 2
    duration: Nanoseconds = 1_000_000_000
    warmup: Nanoseconds = 500_000_000
    levels: Count = 2
    """Of every list of levels, so many are kept: the first, the last, and some between."""
    iterations: Count = 100
    """Of each repetition of a driver, at most."""
    warmup_iterations: int = Field(default=100, ge=0)
    """Of a driver, at most."""


class Workload(Part):
    """What is asked of every subject. Where a list stands, each of its levels is a scenario."""

    marks: ClassVar[frozenset[str]] = frozenset()
    """Fields that tell that a workload is of this kind."""
    called: ClassVar[str]

    name: str
    protocol: Levels[Protocol]
    contract: ContractName
    path: str | None = None
    """Where the request goes, for contracts with more than one route; `{payload}` in it stands for
    the number of bytes."""
    payload: Counts | Literal["json"] | None = None
    """Bytes per message; `json`: 64 bytes of JSON with its number; None: the contract's own."""
    environment: Levels[Environment] = (environments.LOOPBACK,)
    """Where the server runs: `loopback`, `namespace`, or a link such as `vpn`."""
    server_threads: Counts = (1,)
    trials: Count | None = None
    """No more than so many, where more would show nothing; None: as many as the study has."""
    occasions: Count | None = None
    """On the first so many occasions only, where another day would show nothing; None: on each."""
    subjects: tuple[str, ...] | None = None
    """Only these, with `:tuned` where that configuration is meant; None: all of the study."""
    compare: tuple[Compared, ...] = ()
    """Factors whose levels are compared, within each subject; none: the subjects are compared."""
    group: str | None = None
    """Scenarios of one group are compared; None: those that differ in the subject alone."""
    family: str | None = None
    """Workloads of one family are compared level by level, as if they were one; None: with none."""
    label: str | None = Field(default=None, min_length=1)
    """What tells its scenarios from others of the family; `{subject}` stands for the subject, and
    `{streams}`, like any factor, for its level, by which nothing else tells them apart then."""
    baseline: str | None = None
    """What its others are compared with, declared before; None: what the study says."""
    look: Literal["levels", "together"] = "levels"
    """Whether they are compared with it level by level, or over all levels at once."""
    quick: QuickWorkload | None = None
    """What `--quick` makes of it beside what the study says."""

    @model_validator(mode="after")
    def _common(self) -> Self:
        if self.contract == TRAFFIC and "traffic" not in self.marks:
            raise ValueError('name a file instead of the contract: traffic = "shop.toml"')
        if self.contract == PROXY:
            raise ValueError(
                "a proxy is asked for what stands behind it: name one of its other contracts"
            )
        for protocol in self.spoken:
            if protocol not in PROTOCOLS_OF[self.contract]:
                known = ", ".join(PROTOCOLS_OF[self.contract])
                raise ValueError(f"{self.contract} is not kept over {protocol}, but over {known}")
            if (version := version_of(protocol)) != "1.1":
                said = f'protocol = "{scheme(protocol)}" and http = "{version}"'
                raise ValueError(f"{protocol} is said as: {said}")
        if self.contract == calls.CONTRACT and self.path is not None:
            raise ValueError("`call` says which method is called: leave `path` out")
        if (self.family is None) != (self.label is None):
            raise ValueError("`family` and `label` go together")
        if SIZE in (self.path or "") and not isinstance(self.payload, tuple):
            raise ValueError(f"`{SIZE}` in `path` is a number of bytes: write `payload`, too")
        return self

    @model_validator(mode="after")
    def _is_told_by_factors(self) -> Self:
        named = [name for name in wording.placeholders(self.label) if name != SUBJECT]
        known = self.levels() if named else {}
        for name in named:
            if None in known.get(name, (None,)):
                raise ValueError(f"`{{{name}}}` in `label` is no factor that this workload has")
        return self

    @property
    def spoken(self) -> tuple[Protocol, ...]:
        """Every protocol that a subject may speak."""
        return self.protocol

    @property
    def ranked_by(self) -> str | None:
        """What its scenarios are ranked by; None: what their load suggests."""
        return None

    @property
    def goals(self) -> tuple[Goal, ...]:
        """Bounds that are stated where the workload is."""
        return ()

    @property
    def file(self) -> str | None:
        """The traffic file that says what is sent."""
        return None

    @property
    def counts(self) -> str:
        """What a rate of it is of."""
        return "messages"

    @property
    def is_closed(self) -> bool:
        """Whether servers are asked as fast as they answer, so that it shows what they reach."""
        return False

    @property
    def at_a_time(self) -> int:
        """How many of its trials run side by side."""
        return 1

    def factors(self) -> Factors:
        """What is varied, and its levels, in the order of the scenarios' names."""
        found = self.levels()
        return {name: found[name] for name in _ORDER if name in found}

    def levels(self) -> Factors:
        """The same in any order."""
        found: Factors = {"protocol": self.protocol, "payload": several(self.payload)}
        return found | {"environment": self.environment, "server_threads": self.server_threads}

    def fitted(self, _subject: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """The levels, as the subject and each other need them."""
        return dict(chosen)

    def carried(self, levels: Mapping[str, Any]) -> str:
        """What the messages are carried by, as a scenario tells it."""
        return str(levels["protocol"])

    def request(self, levels: Mapping[str, Any], _headers: Mapping[str, str]) -> Request:
        """What is sent where, and what a right reply is; the study has headers for it."""
        size = levels["payload"]
        if self.contract == calls.CONTRACT:
            kind, messages = levels.get("call", "unary"), levels.get("messages_per_call")
            return calls.request(kind, size, messages)
        path = self.path and self.path.replace(SIZE, str(size))
        return request(self.contract, size, path, levels["protocol"])

    def asked(self, levels: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a case that are this kind's."""
        raise NotImplementedError

    def load_words(self, levels: Mapping[str, Any]) -> list[str]:
        """How it is sent, as people say it."""
        raise NotImplementedError

    def description(self, levels: Mapping[str, Any]) -> str:
        """The workload in words, whole."""
        told = wording.told(levels, wording.BEFORE) + self.load_words(levels)
        return f"{self.name}: {', '.join(told + wording.told(levels, wording.BEHIND))}"

    def quickened(self, quick: Quick) -> Self:
        """The same in less time."""
        fields = type(self).model_fields
        update: dict[str, Any] = {name: None for name in ("duration", "warmup") if name in fields}
        for name in _SPREAD:
            levels = getattr(self, name, None)
            if isinstance(levels, tuple):
                update[name] = _spread(levels, quick.levels)
        if self.quick:
            update |= self.quick.model_dump(exclude_none=True)
        return self.model_copy(update=update)


class Driven(Workload):
    """A server of ours is asked, and the subjects are client drivers that ask it."""

    marks = frozenset({"server"})
    called = "client drivers (`server`)"

    server: str
    """Who answers, with `:tuned` where that is meant."""
    mode: Levels[Mode] = ("kept",)
    """How drivers use connections."""
    iterations: Counts = (1000,)
    """Of each repetition of a driver."""
    repetitions: Count = 5
    """Of a driver, in each trial."""
    warmup_iterations: int = Field(default=100, ge=0)
    """Of a driver, before the first repetition."""
    host: str | None = None
    """The name by which drivers reach the server, such as `localhost`; None: its address."""
    ipv6: Levels[IPv6] = ("refused",)
    """Of a name with an address of each kind: what the one of IPv6 does with a connection."""

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if self.contract not in DRIVEN or self.payload == "json":
            known = ", ".join(DRIVEN)
            raise ValueError(f"a client driver can ask for {known}, with a number of bytes")
        if "ipv6" in self.model_fields_set and self.host is None:
            raise ValueError("`ipv6` is about a name: give `host`")
        return self

    def levels(self) -> Factors:
        found = super().levels() | {"mode": self.mode, "iterations": self.iterations}
        return found | {"ipv6": self.ipv6} if self.host else found

    def request(self, levels: Mapping[str, Any], headers: Mapping[str, str]) -> Request:
        usual, size = super().request(levels, headers), levels["payload"]
        if self.contract == calls.CONTRACT:
            return usual._replace(message=calls.driver_message(size))
        return usual._replace(message=driver_message(driver_bytes(self.contract, size)))

    def asked(self, levels: Mapping[str, Any]) -> dict[str, Any]:
        server, _, configuration = self.server.partition(":")
        driving = Driving(
            server=server,
            configuration=configuration or "default",
            mode=levels["mode"],
            payload=driver_bytes(self.contract, levels["payload"]),
            iterations=levels["iterations"],
            repetitions=self.repetitions,
            warmup=self.warmup_iterations,
            host=self.host,
            ipv6=levels.get("ipv6", self.ipv6[0]),
        )
        return {"driving": driving, "load": driving.load(), "requests": driving.messages}

    def load_words(self, levels: Mapping[str, Any]) -> list[str]:
        told = [wording.words("mode", levels["mode"]), f"{self.repetitions} times"]
        told += [wording.words("iterations", levels["iterations"]), f"against {self.server}"]
        return [*told, f"as {self.host}"] if self.host else told

    def quickened(self, quick: Quick) -> Self:
        update = {
            "iterations": tuple(dict.fromkeys(min(n, quick.iterations) for n in self.iterations)),
            "warmup_iterations": min(self.warmup_iterations, quick.warmup_iterations),
        }
        return super().quickened(quick).model_copy(update=update)


def several(levels: Any) -> tuple[Any, ...]:
    """A level is a tuple of one."""
    return levels if isinstance(levels, tuple) else (levels,)


def _spread(levels: tuple[Item, ...], most: int) -> tuple[Item, ...]:
    """At most so many of them, the first and the last among them."""
    if len(levels) <= most:
        return levels
    if most == 1:
        return levels[:1]
    return tuple(levels[round(at * (len(levels) - 1) / (most - 1))] for at in range(most))
