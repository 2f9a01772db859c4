"""Names of servers that somebody else runs: `pid:4711`, `db=podman:postgres`, `ssh://host/pid/7`.

Knows how an address is written, and what is wrong with one that is not; must not know whether
anything is there. A name before the first `=` is what the part is called in tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal, NoReturn
from urllib.parse import urlsplit

from wiretrial import redaction, suggest
from wiretrial.errors import UsageProblem
from wiretrial.observers import selectors

OPTION: Final = "--server"
EXAMPLES: Final = (
    "pid:4711, cgroup:/system.slice/app.service, docker:NAME, podman:NAME or ssh://host/unit/NAME"
)
MOST_PID: Final = 2**31 - 1
LONGEST_NAME: Final = 60

ContainerTool = Literal["docker", "podman"]
RemoteKind = Literal["pid", "unit", "container"]
REMOTE_KINDS: Final[tuple[RemoteKind, ...]] = ("pid", "unit", "container")


@dataclass(frozen=True)
class Address:
    """A part of an application. `text`: its address as it was typed, without name and secrets."""

    name: str
    text: str


@dataclass(frozen=True)
class Process(Address):
    """A process of this machine, with all that descend from it."""

    pid: int


@dataclass(frozen=True)
class ControlGroup(Address):
    """A control group of this machine: its folder, or its path as in /proc/PID/cgroup."""

    path: str


@dataclass(frozen=True)
class Container(Address):
    """A container of this machine, by its name or id."""

    tool: ContainerTool
    container: str


@dataclass(frozen=True)
class Remote(Address):
    """What runs on a host that is reached by ssh. `what` None: the host alone.

    `host` may be an alias of ssh's own configuration. `value` is the process id, the unit or the
    container's name.
    """

    host: str
    user: str | None = None
    port: int | None = None
    what: RemoteKind | None = None
    value: str | None = None


@dataclass(frozen=True)
class Scraped(Address):
    """What a Prometheus server knows. `url` may hold secrets; `text` has none."""

    url: str


def parse_all(texts: Iterable[str]) -> tuple[Address, ...]:
    """The addresses of all parts, in order. Refuses two with the same name."""
    found = tuple(parse(text) for text in texts)
    names: set[str] = set()
    for one in found:
        if one.name in names:
            raise UsageProblem(
                f"{OPTION}: two servers are called {one.name}",
                f"give one of them a name: {OPTION} app={one.text}",
            )
        names.add(one.name)
    return found


def parse(text: str) -> Address:
    """One address. Raises `UsageProblem` with the remedy."""
    named = _NAMED.fullmatch(text)
    name, rest = (named["name"], named["rest"]) if named else (None, text)
    if name is not None and len(name) > LONGEST_NAME:
        raise UsageProblem(
            f"{OPTION}: the name {name[:12]}… is longer than {LONGEST_NAME} characters",
            "give a shorter one",
        )
    kind, colon, value = rest.partition(":")
    if not colon or kind not in _KINDS:
        _refuse(
            text,
            "is no address of a server",
            suggest.remedy(kind, _KINDS, f"write {EXAMPLES}"),
        )
    found = _KINDS[kind](value, text)
    return found if name is None else replace(found, name=name)


def _process(value: str, text: str) -> Address:
    number = int(value) if value.isascii() and value.isdigit() and len(value) <= 10 else 0
    if not 0 < number <= MOST_PID:
        _refuse(text, f"'{value}' is no process id", "write a number, such as pid:4711")
    plain = f"pid:{number}"
    return Process(plain, plain, number)


def _group(value: str, text: str) -> Address:
    if not value.startswith("/") or ".." in value.split("/") or _is_odd(value):
        _refuse(
            text,
            f"'{value}' is no path of a control group",
            "write its folder below /sys/fs/cgroup, or its path as in /proc/PID/cgroup",
        )
    plain = f"cgroup:{value}"
    return ControlGroup(plain, plain, value)


def _container(tool: ContainerTool) -> Callable[[str, str], Address]:
    def container(value: str, text: str) -> Address:
        if not _CONTAINER.fullmatch(value):
            _refuse(
                text,
                f"'{value}' is no name of a container",
                f"write one of those that `{tool} ps` lists, such as {tool}:db",
            )
        return Container(value, f"{tool}:{value}", tool, value)

    return container


def _remote(value: str, text: str) -> Address:
    """`//[user@]host[:port][/pid/N|/unit/NAME|/container/NAME]`."""
    remedy = "write ssh://host, ssh://user@host:2222/pid/4711, ssh://host/unit/NAME or"
    remedy += " ssh://host/container/NAME"
    if not value.startswith("//"):
        _refuse(text, "two slashes are missing", remedy)
    try:
        parts = urlsplit(f"ssh:{value}")
        host, port = parts.hostname, parts.port
    except ValueError:
        _refuse(text, "its host or port can't be understood", remedy)
    if parts.password is not None:
        _refuse(text, "it holds a password", "use a key: ssh-copy-id HOST")
    # An alias of ssh's configuration may have capitals, which a URL's host has not.
    host = _HOST_AS_TYPED.sub("", parts.netloc) if host and "[" not in parts.netloc else host
    if not host or not _HOST.fullmatch(host):
        _refuse(text, "its host can't be understood", remedy)
    # ssh's own configuration may hand both to a shell.
    if parts.username and not _USER.fullmatch(parts.username):
        _refuse(text, "its user can't be understood", remedy)
    if parts.query or parts.fragment or port == 0 or _is_odd(value):
        _refuse(text, "what follows the host can't be understood", remedy)
    what, target = _remote_target(parts.path, text, remedy)
    path = f"/{what}/{target}" if what else ""
    # Whose name is used there is nobody's business.
    plain = f"ssh://{parts.netloc.rpartition('@')[2]}{path}"
    named = f"{target} on {host}" if target else host
    return Remote(
        f"pid {named}" if what == "pid" else named,
        plain,
        host,
        parts.username or None,
        port,
        what,
        target,
    )


def _remote_target(path: str, text: str, remedy: str) -> tuple[RemoteKind | None, str | None]:
    words = path.strip("/").split("/")
    if words == [""]:
        return None, None
    what = next((kind for kind in REMOTE_KINDS if kind == words[0]), None)
    if what is None or len(words) != 2:
        _refuse(text, f"'{path}' is not understood", remedy)
    value = words[1]
    if what == "pid":
        _process(value, text)
    elif not _CONTAINER.fullmatch(value):
        # A unit's name has all that a container's has, and `@`, `:` and a backslash.
        is_unit = what == "unit" and _UNIT.fullmatch(value)
        if not is_unit:
            _refuse(text, f"'{value}' is no name of a {what}", remedy)
    return what, value


def _scraped(value: str, text: str) -> Address:
    selection = selectors.parse(value, f"{OPTION} {redaction.text(text)}")
    return Scraped(selection.name, f"prometheus:{redaction.url(value)}", value)


_KINDS: Final[dict[str, Callable[[str, str], Address]]] = {
    "pid": _process,
    "cgroup": _group,
    "docker": _container("docker"),
    "podman": _container("podman"),
    "ssh": _remote,
    "prometheus": _scraped,
}

_NAMED: Final = re.compile(r"(?P<name>[A-Za-z0-9][\w .-]*)=(?P<rest>.*)", re.DOTALL)
_CONTAINER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}")
_UNIT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@:\\-]{0,254}")
_HOST: Final = re.compile(r"[A-Za-z0-9_:][A-Za-z0-9_.:%-]{0,252}")
_USER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}")
_HOST_AS_TYPED: Final = re.compile(r"^.*@|:\d*$")


def _is_odd(value: str) -> bool:
    """Whether it has something that no address needs, and that breaks a line or a command."""
    return any(character.isspace() or not character.isprintable() for character in value)


def _refuse(text: str, problem: str, remedy: str) -> NoReturn:
    raise UsageProblem(f"{OPTION} {redaction.text(text)}: {problem}", remedy)
