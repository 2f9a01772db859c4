"""The ways in which a browser can make the same requests, side by side: what tells them apart.

Knows how the ways become scenarios; must not know how one is measured. Any two ways that are
compared differ in one thing: the URL, the cache, the version of HTTP, the transport, the link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from wiretrial import redaction, suggest
from wiretrial.browser.jobs import CacheMode, Http, Transport, Urls
from wiretrial.catalogues import STUDIES
from wiretrial.documents import read_toml
from wiretrial.errors import UsageProblem
from wiretrial.machine import links
from wiretrial.plan import Load
from wiretrial.results.claims import Claim
from wiretrial.results.model import Scenario
from wiretrial.studies import environments, floors
from wiretrial.studies.contracts import PATHS
from wiretrial.studies.spec import Browsing, Case, Study
from wiretrial.subjects import registry
from wiretrial.subjects.spec import ContractName, Protocol

NAME: Final = "browser"
ONE_BY_ONE = 20
"""Requests of the sequence that tells what one takes."""
DURATION_NS = 1_000_000_000
"""Not used: each trial's length is given in requests."""


@dataclass(frozen=True)
class Way:
    """One way to make requests."""

    label: str
    transport: Transport
    http: Http = "1.1"
    urls: Urls = "same"
    cache: CacheMode = "default"


SAME = Way("HTTP/1.1, one URL", "fetch")
UNIQUE = Way("HTTP/1.1, a URL each", "fetch", urls="unique")
NO_STORE = Way("HTTP/1.1, one URL, no-store", "fetch", cache="no-store")
TLS_UNIQUE = Way("HTTP/1.1 over TLS, a URL each", "fetch", "1.1 over TLS", urls="unique")
SAME_2 = Way("HTTP/2, one URL", "fetch", "2")
UNIQUE_2 = Way("HTTP/2, a URL each", "fetch", "2", urls="unique")
NO_STORE_2 = Way("HTTP/2, one URL, no-store", "fetch", "2", cache="no-store")
SOCKET_IO = Way("Socket.IO", "socket.io")
WEBSOCKET = Way("WebSocket", "websocket")

FETCHED = (SAME, UNIQUE, NO_STORE, TLS_UNIQUE, SAME_2, UNIQUE_2, NO_STORE_2)
"""The ways over HTTP."""
ALONE = (UNIQUE, UNIQUE_2)
"""Of them those that are asked one by one: the cache plays no part."""
BY_LABEL: Mapping[str, Way] = {way.label: way for way in (*FETCHED, WEBSOCKET, SOCKET_IO)}


def _known(label: str) -> str:
    if label not in BY_LABEL:
        remedy = suggest.remedy(label, BY_LABEL, f"use one of {', '.join(map(repr, BY_LABEL))}")
        raise ValueError(f"a browser has no way {label!r} to ask: {remedy}")
    return label


Label = Annotated[str, AfterValidator(_known)]
"""A way by its name."""

Pattern = Literal["parallel", "sequential"]
How = Literal["at once", "one by one"]
PATTERNS: Mapping[How, Pattern] = {"at once": "parallel", "one by one": "sequential"}
"""How requests follow each other, as people say it."""


@dataclass(frozen=True)
class Target:
    """Who is asked: a subject of the catalogue, or a server of the user's own."""

    name: str
    configuration: str
    url: str | None
    path: str
    contract: ContractName | None
    transports: tuple[Transport, ...]

    @classmethod
    def of_subject(cls, text: str) -> Target:
        """A subject, with `:tuned` for that configuration. Raises `UsageProblem`."""
        name, _, configuration = text.partition(":")
        spec = registry.find(name).spec
        wanted: tuple[ContractName, ...] = ("rpc", "static")
        contract = next((one for one in wanted if one in spec.contracts), None)
        if contract is None or "http" not in spec.speaks:
            raise UsageProblem(
                f"{text} does not answer a GET from a browser",
                "use one that keeps rpc or static over http, such as feathers or reference",
            )
        transports: list[Transport] = ["fetch"]
        if "ws" in spec.speaks and "ws-echo" in spec.contracts:
            transports.append("websocket")
        if "socketio+ws" in spec.speaks and "rpc" in spec.contracts:
            transports.append("socket.io")
        return cls(
            name, configuration or "default", None, PATHS[contract], contract, tuple(transports)
        )

    @classmethod
    def of_url(cls, url: str, path: str, transports: tuple[Transport, ...] = ("fetch",)) -> Target:
        """A server that is there already."""
        return cls(redaction.url(url), "default", url, path or "/", None, transports)

    @property
    def ways(self) -> tuple[Way, ...]:
        """The ways in which it can be asked."""
        sockets = (WEBSOCKET, SOCKET_IO)
        return (*FETCHED, *(way for way in sockets if way.transport in self.transports))


def study(
    target: Target,
    program: Literal["chromium", "firefox"],
    *,
    requests: int,
    over: Sequence[str],
    trials: int,
    seed: int,
    command: str,
    ways: Sequence[Way] | None = None,
) -> Study:
    """Each way in each environment: so many at once, and some one by one."""
    chosen = target.ways if ways is None else ways
    alone = [way for way in chosen if _is_alone(way)]
    patterns: tuple[tuple[Pattern, int, Sequence[Way]], ...] = (
        ("sequential", ONE_BY_ONE, alone),
        ("parallel", requests, chosen),
    )
    cases = [
        case(target, program, way, pattern, count, where)
        for where in over
        for pattern, count, those in patterns
        for way in those
    ]
    return Study(
        name=NAME,
        title=f"What does a browser make of {requests} requests at once?",
        question=(
            f"How long do {requests} requests to {target.name} take in {program}, and what holds"
            " them up: the browser's limit of connections, its lock of the cache, or the link?"
        ),
        command=command,
        cases=tuple(cases),
        trials=trials,
        seed=seed,
        duration_ns=DURATION_NS,
        warmup_allowance_ns=0,
        claims=_claims(requests, over),
    )


FAR = "broadband-far"
PUBLISHED = 50
"""Requests at once in the article whose page this reproduces."""
ARTICLE = "http-vs-websocket"
"""The study that has the claims of that article."""


class _Article(BaseModel):
    model_config = ConfigDict(extra="ignore")

    claim: tuple[Claim, ...]


def _claims(requests: int, over: Sequence[str]) -> tuple[Claim, ...]:
    """What the article found with its page, where the same is asked here."""
    root = STUDIES.root()
    if requests != PUBLISHED or FAR not in over or root is None:
        return ()
    file = root / ARTICLE / STUDIES.document
    claims = read_toml(file, _Article, "it comes with wiretrial").claim if file.is_file() else ()
    return tuple(claim for claim in claims if all(side.workload == NAME for side in claim.sides))


def case(
    target: Target,
    program: Literal["chromium", "firefox"],
    way: Way,
    pattern: Pattern,
    requests: int,
    where: str,
) -> Case:
    """One way in one environment."""
    how = next(words for words, one in PATTERNS.items() if one == pattern)
    over = "" if where == environments.LOOPBACK else f", over {where.removeprefix(links.PREFIX)}"
    group = f"{requests} {how}{over}"
    protocol, contract = _asked(target, way)
    asked: dict[str, Any] = asdict(way)
    del asked["label"]
    made = Case(
        scenario=Scenario(
            name=f"{way.label}: {group}",
            subject=target.name,
            configuration=target.configuration,
            protocol=spoken(way),
            workload=f"{requests} requests {how} in {program}, {way.label}",
            environment=where,
            group=group,
            label=way.label,
            levels={
                "workload": NAME,
                "pattern": how,
                "requests": requests,
                "environment": where,
                **asked,
            },
        ),
        url=target.url,
        protocol=protocol,
        path=target.path,
        contract=contract,
        load=Load(connections=1),
        requests=requests,
        browsing=Browsing(program=program, pattern=pattern, **asked),
    )
    return floors.told(made)


def _is_alone(way: Way) -> bool:
    return way in ALONE or way.transport != "fetch"


def _asked(target: Target, way: Way) -> tuple[Protocol, ContractName | None]:
    """What the front asks the subject for: it speaks without TLS there."""
    if target.contract is None:
        return "http", None
    if way.transport == "websocket":
        return "ws", "ws-echo"
    if way.transport == "socket.io":
        return "socketio+ws", "rpc"
    return "http", target.contract


def spoken(way: Way) -> str:
    """What the browser speaks."""
    if way.transport == "fetch":
        return {"1.1": "http", "1.1 over TLS": "https", "2": "http/2"}[way.http]
    return "ws" if way.transport == "websocket" else "socketio+ws"
