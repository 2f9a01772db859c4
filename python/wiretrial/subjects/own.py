"""A server of one's own: a folder, a revision, a command or a container, and how it is started.

Knows `wiretrial.toml` and what of it becomes a subject; must not know how it is built, nor what is
asked of it: that is the comparison's.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from wiretrial.documents import parse_toml, read_toml
from wiretrial.errors import UsageProblem
from wiretrial.subjects.spec import (
    PLACEHOLDERS,
    SPEC_FILE,
    Configuration,
    Protocol,
    Readiness,
    Spec,
    Subject,
    Version,
)

FILE = "wiretrial.toml"
USUAL = ("port", "host", "threads", "cpus")
"""Of the placeholders, what a server's command is told."""
EXAMPLE = "command = './server --port {port}'"
PLAIN: tuple[Protocol, ...] = ("http", "ws", "socketio+ws")
"""What such a server is asked over: its certificates would not be ours."""
_IN_FOLDER = 'cd "$0" && exec env PORT="$1" sh -c "$2"'
_ODD = re.compile(r"[^a-z0-9.-]+")
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")

_Port = Annotated[int, Field(ge=1, le=65_535)]


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Revision(_Record):
    """Which state of a repository a server was made from."""

    commit: str
    """The whole id."""
    dirty: bool = False
    """Whether tracked files had changes that are in no commit."""

    @property
    def short(self) -> str:
        """As a table shows it."""
        return f"{self.commit[:10]}{'-dirty' if self.dirty else ''}"


class Container(_Record):
    """What is started in place of a command."""

    kind: Literal["image", "compose"]
    engine: str
    """`podman` or `docker`."""
    provider: str = ""
    """The command of a compose file: `docker compose`, `podman-compose`."""
    image: str
    """Its name, or the path of the compose file."""
    service: str = ""
    """The compose file's service that answers."""
    id: str
    """Digest of the image, or of the file."""


class Own(_Record):
    """All that decides how the server is built and started; a study keeps it."""

    name: str
    """For messages and for names of files."""
    folder: str
    """Where it is built and started; of a revision, where that folder lies in the user's tree."""
    build: tuple[str, ...] = ()
    """Lines for a shell."""
    command: str = ""
    """A line for a shell; empty where a container is started."""
    port: int | None = None
    """The one on which it always listens; None: the port that it is told."""
    path: str = "/"
    readiness: Readiness = Field(default_factory=Readiness)
    protocol: Protocol = "http"
    revision: Revision | None = None
    """None: the folder is in no repository."""
    is_checked_out: bool = False
    """Whether it is built in a tree of its own, made from the revision; else where it lies."""
    container: Container | None = None

    @property
    def version(self) -> str:
        """What a record calls its version."""
        if self.container:
            return self.container.id[:12]
        return self.revision.short if self.revision else "unversioned"


class Document(_Record):
    """`wiretrial.toml`."""

    command: str
    build: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    port: _Port | None = None
    path: str = "/"
    traffic: str | None = None
    """A traffic file, relative to the folder: it is sent in place of requests for `path`."""
    readiness: Readiness = Field(default_factory=Readiness)

    @field_validator("command")
    @classmethod
    def _has_known_placeholders(cls, command: str) -> str:
        return checked(command)

    @field_validator("path")
    @classmethod
    def _is_path(cls, path: str) -> str:
        if not path.startswith("/"):
            raise ValueError(f"{path!r} does not begin with /")
        return path


def checked(command: str) -> str:
    """The command; raises `ValueError` for what no server is told."""
    if not command.strip():
        raise ValueError(f"it is empty; such as {EXAMPLE}")
    for name in _PLACEHOLDER.findall(command):
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{one}}}" for one in USUAL)
            raise ValueError(f"unknown placeholder {{{name}}}; usual ones: {known}")
    return command


def read(folder: Path) -> Document:
    """What the folder says of itself."""
    return read_toml(folder / FILE, Document, f"write {EXAMPLE} there")


def parsed(content: bytes, path: str) -> Document:
    """The same of a file that lies in a revision, and is called `path`."""
    return parse_toml(content, Document, path)


def is_one(folder: Path) -> bool:
    """Whether the folder says how its server is started, and is no subject."""
    return (folder / FILE).is_file() and not (folder / SPEC_FILE).is_file()


def called(text: str) -> str:
    """A name for messages and files, of what was typed."""
    return _ODD.sub("-", text.lower()).strip(".-") or "server"


def subject_of(own: Own, folder: Path, command: tuple[str, ...] | None = None) -> Subject:
    """The subject that it is, built in `folder`; `command`: what starts a container."""
    words = command or ("sh", "-c", _IN_FOLDER, str(folder), "{port}", own.command)
    try:
        spec = Spec(
            name=own.name,
            kind="server",
            summary="A server of one's own",
            language="unknown",
            homepage="",
            licence="",
            speaks=(own.protocol,),
            # What it answers is the comparison's to say, not a file's beside it.
            traffic="",
            port=own.port,
            version=Version(command=("true",), pattern="."),
            configurations={
                "default": Configuration(description="As its own command starts it.", command=words)
            },
            readiness=own.readiness,
        )
    except ValueError as error:
        told = str(error).partition("\n")[2].partition("[type=")[0].strip() or str(error)
        raise UsageProblem(f"{own.name}: {told}", f"correct its command in {FILE}") from error
    return Subject(spec=spec, folder=folder)
