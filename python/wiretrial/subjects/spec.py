"""`subject.toml`: what a subject says about itself.

Knows the fields and which combinations make sense; must not know how they are carried out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from wiretrial import suggest
from wiretrial.catalogues import SUBJECTS
from wiretrial.documents import read_toml
from wiretrial.errors import UsageProblem
from wiretrial.plan import AnyHttpVersion
from wiretrial.words import CALLS, HTTP, MULTIPLEXED, QUIC

SPEC_FILE = SUBJECTS.document
SHARED = "_shared"
"""The catalogue's folder of sources that several subjects use."""
WATCHED = "watched"
"""The file of a run folder in which a command tells which processes to watch."""
LEFTOVERS = frozenset({"node_modules", "__pycache__", "target", "build"})
"""Folders that tools leave beside sources."""

Protocol = Literal[
    "http",
    "https",
    "h2c",
    "h2",
    "h3",
    "ws",
    "wss",
    "tcp",
    "tls",
    "grpc",
    "grpcs",
    "socketio+ws",
    "socketio+wss",
    "styx",
    "styx+json",
    "styx+ws",
    "styx+wss",
    "styx+json+ws",
    "styx+json+wss",
]
ContractName = Literal[
    "rest",
    "http-echo",
    "static",
    "ws-echo",
    "ws-broadcast",
    "push",
    "long-poll",
    "rpc",
    "raw-echo",
    "grpc-echo",
    "table",
    "web",
    "proxy",
    "traffic",
]
PROXY: ContractName = "proxy"
"""Of what stands before another server and hands requests on to it."""
TRAFFIC: ContractName = "traffic"
"""What a traffic file says: no contract of ours, but requests with their right replies."""
ConfigurationName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
"""`default` and `tuned` are compared; any other shows an artefact on purpose."""
Mode = Literal["kept", "fresh"]

HTTP2: dict[Protocol, Protocol] = dict(zip(MULTIPLEXED, HTTP, strict=True))
"""HTTP/2 by prior knowledge and inside TLS, named as ALPN names them; the schemes of their URLs."""

OVER_HTTP2: frozenset[Protocol] = frozenset((*HTTP2, *CALLS))
"""All that is spoken on streams of HTTP/2."""
ON_STREAMS: frozenset[Protocol] = frozenset((*OVER_HTTP2, QUIC))
"""All that is spoken on streams, those of QUIC too."""
_REQUESTS: tuple[Protocol, ...] = (*HTTP, *HTTP2, QUIC)
"""Requests in each version of HTTP."""
PROTOCOLS_OF: dict[ContractName, tuple[Protocol, ...]] = {
    "http-echo": _REQUESTS,
    "static": _REQUESTS,
    "ws-echo": ("ws", "wss", "socketio+ws", "socketio+wss"),
    "ws-broadcast": ("ws", "wss"),
    "push": (*_REQUESTS, "ws", "wss", "socketio+ws", "socketio+wss", *CALLS),
    "long-poll": HTTP,
    "rest": _REQUESTS,
    "rpc": (*_REQUESTS, "socketio+ws", "socketio+wss"),
    "raw-echo": ("tcp", "tls"),
    "grpc-echo": CALLS,
    "web": HTTP,
    "proxy": (*HTTP, *HTTP2),
    "traffic": (*HTTP, "ws", "wss", "socketio+ws", "socketio+wss"),
    "table": (*("styx", "styx+json", "styx+ws", "styx+wss", "styx+json+ws", "styx+json+wss"),),
}
"""Which protocols carry a contract: each plain one before the same inside TLS."""

DRIVEN: tuple[ContractName, ...] = ("http-echo", "static", "ws-echo", "raw-echo", "grpc-echo")
"""What client drivers ask of a server."""

QUIC_PORT = "quic_port"
"""The placeholder of a port of UDP; that of TCP with the same number is free, too."""

PORT_OF: dict[Protocol, str] = {
    "http": "port",
    "h2c": "port",
    "ws": "port",
    "socketio+ws": "port",
    "grpc": "port",
    "https": "tls_port",
    "h2": "tls_port",
    QUIC: QUIC_PORT,
    "wss": "tls_port",
    "socketio+wss": "tls_port",
    "grpcs": "tls_port",
    "tcp": "raw_port",
    "tls": "raw_tls_port",
    "styx": "styx_port",
    "styx+json": "styx_port",
    "styx+ws": "port",
    "styx+json+ws": "port",
    "styx+wss": "tls_port",
    "styx+json+wss": "tls_port",
}
"""The placeholder of the port on which a subject speaks a protocol."""

PLACEHOLDERS = frozenset(
    {"host", "threads", "delay_ms", "cert", "key", "source", "build", "prefix", "run", "engine"}
    | {"cpus", "backend_host", "backend_port", "congestion", *PORT_OF.values()}
)
"""What `{name}` may stand in a command and in a file that is rendered for a run."""

Part = Literal[
    "entry",
    "exchange",
    "address",
    "many",
    "in-flight",
    "pipelining",
    "streaming",
    "routes",
    "methods",
    "large",
    "pieces",
    "fragments",
    "empty",
    "head",
    "ping",
    "close",
    "bad-frame",
    "half-open",
    "concurrency",
    "delay",
    "pool",
    "vectors",
    "seats",
    "fan-out",
    "sequence",
    "oversize",
    "bad-packet",
    "lobby",
    "wrong-reply",
    "authority",
    "version",
    "refused",
    "silence",
    "connections",
    "data",
    "clamping",
    "escaping",
    "updates",
    "cached",
    "session",
    "kept",
    "once",
    "cut",
]
"""What a check of a contract, or of a client driver, is about."""

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Version(_Record):
    """How the version is learned: the first group of `pattern` in the command's output."""

    command: tuple[str, ...]
    pattern: str
    released: date | None = None
    """The day on which the pinned version was published; None where it follows the platform's."""


class NpmPack(_Record):
    """A package of the npm registry whose sources are wanted, not what it would run."""

    name: str
    version: str
    integrity: str = Field(pattern=r"^sha512-[A-Za-z0-9+/]+=*$")
    """The registry's digest of the archive, checked after the download."""


class Install(_Record):
    """What must be there before a build. Each member is one package manager."""

    apt: tuple[str, ...] = ()
    """Debian packages to install on the system, as `name` or `name=version` (`*` at its end)."""
    deb: tuple[str, ...] = ()
    """Debian packages to unpack into the build folder only: no root, no service started."""
    deb_source: tuple[str, ...] = ()
    """Debian source packages to unpack into the build folder, named as for `apt`."""
    npm: bool = False
    """`npm ci`; versions come from package-lock.json."""
    npm_pack: tuple[NpmPack, ...] = ()
    """Archives unpacked into `{build}/NAME`."""
    pip: bool = False
    """A virtual environment at `{build}/venv` with requirements.txt, every pin with its hash."""
    cargo: bool = False
    """`cargo build --release --locked`; binaries are at `{build}/target/release`."""
    crates: bool = False
    """`cargo vendor --locked` into `{build}/vendor`: the sources of crates, not their build."""
    go: bool = False
    """`go build` of every command of the module into `{build}/bin`; versions come from go.sum."""
    maven: bool = False
    """`mvn package`; what it makes is at `{build}/target`."""
    java: int | None = None
    """The least version of Java that it needs: a JDK of that or a later one is at `{build}/jdk`."""
    needs: tuple[str, ...] = ()
    """Programs that the build calls and no package manager above brings, such as `g++`."""
    remedy: str | None = None
    """What to do where it can't be had; None: what the failed step suggests."""


class Footprint(_Record):
    """What weighs, beside the packages that `install` names."""

    artefact: str | None = None
    """The program or library that is deployed; its stripped size is told."""
    service: tuple[str, ...] = ()
    """Files of the folder that make up our service; their lines are counted."""


class Limit(_Record):
    """A part of a contract that this subject is known not to keep."""

    part: Part
    contracts: tuple[ContractName, ...] = ()
    """Of which contracts; none named: of all."""
    protocols: tuple[Protocol, ...] = ()
    """On which protocols; none named: on all."""
    configurations: tuple[ConfigurationName, ...] = ()
    """In which configurations; none named: in all."""
    why: str
    """What happens instead, and where the subject's documentation or tracker says so."""


class Configuration(_Record):
    """One way to run a subject."""

    description: str
    """What was chosen, and where the subject's own documentation says so."""
    command: tuple[str, ...] = Field(min_length=1)
    congestion: tuple[str, ...] = ()
    """Words behind the command where a study says `congestion`; none: it can't be told."""
    files: dict[str, str] = Field(default_factory=dict)
    """Name in the run folder -> source file whose placeholders are filled in."""


class Readiness(_Record):
    """When a subject counts as started: its ports answer and its contract holds."""

    deadline_s: float = Field(default=10.0, gt=0, le=600)
    path: str | None = None
    """It answers a GET of this with a status of 2xx before, where it speaks HTTP."""
    watched: bool = False
    """Its command writes `{run}/watched` before: the ids of the processes to watch, where they are
    not its own, as those of a container."""


class Spec(_Record):
    """One subject."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    kind: Literal["server", "client"]
    summary: str
    language: str
    homepage: str
    licence: str
    speaks: tuple[Protocol, ...] = Field(min_length=1)
    contracts: tuple[ContractName, ...] = ()
    """What a server answers; a client driver claims none."""
    traffic: str | None = None
    """A traffic file, relative to the folder: what a server of one's own answers, in place of
    contracts or beside them."""
    modes: tuple[Mode, ...] = ()
    """How a client driver can use connections; a server has none."""
    least_threads: int = Field(default=1, ge=1)
    """With fewer not even one exchange is answered; it is verified with so many."""
    port: int | None = Field(default=None, ge=1, le=65_535)
    """The `{port}` on which it listens in any case; None: it is told a free one."""
    max_threads: int | None = Field(default=None, ge=1)
    """Threads that it can use at most; None: as many as it is told."""
    priming_s: float = Field(default=0, ge=0, le=60)
    """Seconds for which a server that compiles itself as it runs is asked before each trial."""
    database: Literal["postgresql"] | None = None
    """What it keeps its data in: started for each of its starts, and named in its environment."""
    backend: Literal["reference"] | None = None
    """The server of the catalogue before which it stands: started before each of its starts, where
    `{backend_host}` and `{backend_port}` say."""
    version: Version
    shared: tuple[str, ...] = ()
    """Folders of the catalogue's `_shared` that the build finds at `{build}/shared/NAME`."""
    install: Install = Field(default_factory=Install)
    build: tuple[tuple[str, ...], ...] = ()
    """Commands, in order, run in `{build}`, where a copy of the folder lies."""
    footprint: Footprint = Field(default_factory=Footprint)
    limits: tuple[Limit, ...] = ()
    configurations: dict[ConfigurationName, Configuration]
    readiness: Readiness = Field(default_factory=Readiness)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if "default" not in self.configurations:
            raise ValueError("configurations: a `default` is needed")
        if self.kind == "server":
            self._check_contracts()
        else:
            self._check_driver()
        commands = [self.version.command, *self.build]
        commands += [(*one.command, *one.congestion) for one in self.configurations.values()]
        for word in (word for command in commands for word in command):
            for name in _PLACEHOLDER.findall(word):
                if name not in PLACEHOLDERS:
                    known = ", ".join(sorted(PLACEHOLDERS))
                    raise ValueError(f"unknown placeholder {{{name}}} in {word!r}; known: {known}")
        return self

    def _check_contracts(self) -> None:
        if TRAFFIC in self.contracts:
            raise ValueError('name a file instead of the contract: traffic = "shop.toml"')
        kept = self._kept()
        if not kept or self.modes:
            raise ValueError(
                "a server claims `contracts`, or names a file that says what it answers (traffic ="
                ' "shop.toml"), and has no `modes`'
            )
        if ("web" in self.contracts) != (self.database is not None):
            raise ValueError(
                'a server of the contract web has database = "postgresql", no other has'
            )
        if (PROXY in self.contracts) != (self.backend is not None):
            raise ValueError('a server of the contract proxy has backend = "reference", no other')
        carried = {protocol for name in kept for protocol in PROTOCOLS_OF[name]}
        for protocol in self.speaks:
            if protocol not in carried:
                raise ValueError(f"speaks {protocol}, but no contract that it claims uses it")
        for contract in kept:
            if not set(PROTOCOLS_OF[contract]) & set(self.speaks):
                *others, last = PROTOCOLS_OF[contract]
                wanted = f"{', '.join(others)} nor {last}"
                raise ValueError(f"claims {contract}, but speaks neither {wanted}")

    def _check_driver(self) -> None:
        if self._kept() or not self.modes:
            raise ValueError("a client has `modes` (kept, fresh), and no `contracts` or `traffic`")
        if QUIC in self.speaks:
            raise ValueError(f"speaks {QUIC}: client drivers are not measured over HTTP/3")
        if self.database or self.backend:
            raise ValueError("a client has no `database` and no `backend`")
        if self.priming_s:
            raise ValueError("priming_s: a client has iterations before its first repetition")

    def _kept(self) -> tuple[ContractName, ...]:
        """The contracts that are claimed, and what a traffic file says."""
        return self.contracts if self.traffic is None else (*self.contracts, TRAFFIC)

    def claims(self) -> list[tuple[ContractName, Protocol]]:
        """Every contract, a traffic file too, with every protocol in which it must hold."""
        return [
            (contract, protocol)
            for contract in self._kept()
            for protocol in PROTOCOLS_OF[contract]
            if protocol in self.speaks
        ]

    def known_limit(
        self,
        part: Part,
        contract: ContractName | None,
        protocol: Protocol,
        configuration: ConfigurationName,
    ) -> Limit | None:
        """The limit that says that this part is not kept, if there is one."""
        for limit in self.limits:
            if (
                limit.part == part
                and (not limit.contracts or contract in limit.contracts)
                and (not limit.protocols or protocol in limit.protocols)
                and (not limit.configurations or configuration in limit.configurations)
            ):
                return limit
        return None

    def port_names(self) -> list[str]:
        """The ports that a run needs, by placeholder."""
        return sorted({PORT_OF[protocol] for protocol in self.speaks})


class Subject(_Record):
    """A spec and the folder that it came from."""

    spec: Spec
    folder: Path

    def shared_folders(self) -> list[Path]:
        """Where the shared sources lie that it names: beside it, in `_shared`."""
        return [self.folder.parent / SHARED / name for name in self.spec.shared]

    def traffic_file(self) -> Path | None:
        """The file that says what it answers; None: contracts alone do."""
        return None if self.spec.traffic is None else (self.folder / self.spec.traffic).resolve()

    def digest(self) -> str:
        """SHA-256 over every file of the folder and of what it shares: recipe, sources, locks."""
        total = hashlib.sha256()
        for folder in (self.folder, *self.shared_folders()):
            for path in sources(folder):
                content = path.read_bytes()
                name = path.relative_to(folder.parent).as_posix()
                total.update(f"{name}\0{len(content)}\0".encode() + content)
        return total.hexdigest()

    def with_flags(self, flags: Sequence[str]) -> Subject:
        """The same, started with these words behind its own in each configuration."""
        changed = {
            name: one.model_copy(update={"command": (*one.command, *flags)})
            for name, one in self.spec.configurations.items()
        }
        spec = self.spec.model_copy(update={"configurations": changed})
        return self.model_copy(update={"spec": spec})

    def configuration(self, name: ConfigurationName) -> Configuration:
        """The named configuration."""
        found = self.spec.configurations.get(name)
        if found is None:
            had = ", ".join(self.spec.configurations)
            raise UsageProblem(
                f"{self.spec.name} has no configuration {name!r}",
                suggest.remedy(name, self.spec.configurations, f"it has: {had}"),
            )
        return found


def sources(folder: Path) -> list[Path]:
    """Every file of a subject's folder but what tools leave there, in a stable order."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not set(path.relative_to(folder).parts) & LEFTOVERS
    ]


def load(folder: Path) -> Subject:
    """Reads the subject in `folder`."""
    spec = read_toml(folder / SPEC_FILE, Spec, f"a subject is a folder with a {SPEC_FILE}")
    return Subject(spec=spec, folder=folder.resolve())


def scheme(protocol: Protocol) -> str:
    """The scheme of its URLs: not a name of its own for HTTP/2 and HTTP/3."""
    return "https" if protocol == QUIC else HTTP2.get(protocol, protocol)


def version_of(protocol: Protocol) -> Literal["1.1", "2", "3"]:
    """The version of HTTP, which is the usual one for all that has no names of its own for it."""
    if protocol == QUIC:
        return "3"
    return "2" if protocol in HTTP2 else "1.1"


def over(protocol: Protocol, version: AnyHttpVersion) -> Protocol:
    """The protocol that a URL with the scheme `protocol` is spoken to in, in a version of HTTP."""
    if version == "1.1":
        return protocol
    if version == "3":
        return QUIC if protocol == "https" else protocol
    return next((name for name, of in HTTP2.items() if of == protocol), protocol)


def fill(text: str, values: dict[str, str]) -> str:
    """`text` with each known `{name}` replaced; other braces stay as they are."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)
