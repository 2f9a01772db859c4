"""`subject.toml`: what a subject says about itself.

Knows the fields and which combinations make sense; must not know how they are carried out.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from wiretrial.errors import UsageProblem

SPEC_FILE = "subject.toml"

Protocol = Literal["http", "https", "ws", "wss", "tcp", "tls"]
ContractName = Literal["http-echo", "static", "ws-echo", "raw-echo"]
ConfigurationName = Literal["default", "tuned"]

PROTOCOLS_OF: dict[ContractName, tuple[Protocol, Protocol]] = {
    "http-echo": ("http", "https"),
    "static": ("http", "https"),
    "ws-echo": ("ws", "wss"),
    "raw-echo": ("tcp", "tls"),
}
"""Which protocols carry a contract: plain first, then inside TLS."""

PORT_OF: dict[Protocol, str] = {
    "http": "port",
    "ws": "port",
    "https": "tls_port",
    "wss": "tls_port",
    "tcp": "raw_port",
    "tls": "raw_tls_port",
}
"""The placeholder of the port on which a subject speaks a protocol."""

PLACEHOLDERS = frozenset(
    {"host", "threads", "delay_ms", "cert", "key", "source", "build", "run", "engine", "cpus"}
    | set(PORT_OF.values())
)
"""What `{name}` may stand in a command and in a file that is rendered for a run."""

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Version(_Part):
    """How the version is learned: the first group of `pattern` in the command's output."""

    command: tuple[str, ...]
    pattern: str


class Install(_Part):
    """What must be there before a build. Each member is one package manager."""

    apt: tuple[str, ...] = ()
    """Debian packages to install on the system, as `name` or `name=version`."""
    deb: tuple[str, ...] = ()
    """Debian packages to unpack into the build folder only: no root, no service started."""
    npm: bool = False
    """`npm ci` beside a copy of the sources; versions come from package-lock.json."""


class Configuration(_Part):
    """One way to run a subject."""

    description: str
    """What was chosen, and where the subject's own documentation says so."""
    command: tuple[str, ...] = Field(min_length=1)
    files: dict[str, str] = Field(default_factory=dict)
    """Name in the run folder -> source file whose placeholders are filled in."""


class Readiness(_Part):
    """When a subject counts as started: its ports answer and its contract holds."""

    deadline_s: float = Field(default=10.0, gt=0, le=600)


class Spec(_Part):
    """One subject."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    kind: Literal["server"]
    summary: str
    language: str
    homepage: str
    licence: str
    speaks: tuple[Protocol, ...] = Field(min_length=1)
    contracts: tuple[ContractName, ...] = Field(min_length=1)
    max_threads: int | None = Field(default=None, ge=1)
    """Threads that it can use at most; None: as many as it is told."""
    version: Version
    install: Install = Field(default_factory=Install)
    build: tuple[str, ...] = ()
    configurations: dict[ConfigurationName, Configuration]
    readiness: Readiness = Field(default_factory=Readiness)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if "default" not in self.configurations:
            raise ValueError("configurations: a `default` is needed")
        carried = {protocol for name in self.contracts for protocol in PROTOCOLS_OF[name]}
        for protocol in self.speaks:
            if protocol not in carried:
                raise ValueError(f"speaks {protocol}, but no contract that it claims uses it")
        for contract in self.contracts:
            if not set(PROTOCOLS_OF[contract]) & set(self.speaks):
                wanted = " or ".join(PROTOCOLS_OF[contract])
                raise ValueError(f"claims {contract}, but speaks neither {wanted}")
        commands = [self.version.command, self.build]
        commands += [configuration.command for configuration in self.configurations.values()]
        for word in (word for command in commands for word in command):
            for name in _PLACEHOLDER.findall(word):
                if name not in PLACEHOLDERS:
                    known = ", ".join(sorted(PLACEHOLDERS))
                    raise ValueError(f"unknown placeholder {{{name}}} in {word!r}; known: {known}")
        return self

    def claims(self) -> list[tuple[ContractName, Protocol]]:
        """Every contract with every protocol in which it must hold."""
        return [
            (contract, protocol)
            for contract in self.contracts
            for protocol in PROTOCOLS_OF[contract]
            if protocol in self.speaks
        ]

    def port_names(self) -> list[str]:
        """The ports that a run needs, by placeholder."""
        return sorted({PORT_OF[protocol] for protocol in self.speaks})


class Subject(_Part):
    """A spec and the folder that it came from."""

    spec: Spec
    folder: Path

    def digest(self) -> str:
        """SHA-256 over every file of the folder: recipe, sources and lock files."""
        total = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")):
            relative = path.relative_to(self.folder)
            if path.is_file() and not set(relative.parts) & {"node_modules", "__pycache__"}:
                content = path.read_bytes()
                total.update(f"{relative.as_posix()}\0{len(content)}\0".encode())
                total.update(content)
        return total.hexdigest()

    def configuration(self, name: ConfigurationName) -> Configuration:
        """The named configuration."""
        found = self.spec.configurations.get(name)
        if found is None:
            had = ", ".join(self.spec.configurations)
            raise UsageProblem(f"{self.spec.name} has no configuration {name!r}", f"it has: {had}")
        return found


def load(folder: Path) -> Subject:
    """Reads the subject in `folder`."""
    path = folder / SPEC_FILE
    try:
        with path.open("rb") as file:
            return Subject(spec=Spec.model_validate(tomllib.load(file)), folder=folder.resolve())
    except OSError as error:
        raise UsageProblem(
            f"{path}: {error.strerror}", f"a subject is a folder with a {SPEC_FILE}"
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise UsageProblem(f"{path}: {error}", "correct the TOML") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        raise UsageProblem(
            f"{path}: {where + ': ' if where else ''}{what}", "correct it"
        ) from error


def fill(text: str, values: dict[str, str]) -> str:
    """`text` with each known `{name}` replaced; other braces stay as they are."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)
