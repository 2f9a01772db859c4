"""URLs: what they name, and what was meant by `localhost:8080`, `http:/host` or `ws//host`.

Pure. Knows URLs and how they are misspelled; must not know which of them a command takes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from wiretrial import redaction, suggest
from wiretrial.cli import foreign
from wiretrial.errors import UsageProblem
from wiretrial.subjects.spec import Protocol

DEFAULT_PORTS = {"http": 80, "ws": 80, "grpc": 80, "https": 443, "wss": 443, "grpcs": 443}
"""Of a scheme, or of what it ends in behind a `+`."""
ANY_URL = "http://HOST:PORT/PATH"
HERE = "127.0.0.1"
PLAIN = "http"
"""What is meant where no scheme is named."""
_NOT_IN_A_URL = re.compile(r"[\s\"<>]")
_PORT = re.compile(r":?(\d+)(?=$|/)")
_ADDRESS = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)*|\[[0-9a-fA-F:.]+\]|):\d+(?:/.*)?")


@dataclass(frozen=True)
class Target:
    """A URL that names everything a load needs."""

    url: str
    protocol: Protocol
    host: str
    port: int


def parse(text: str, schemes: Sequence[Protocol]) -> Target:
    """The target that a URL names, with one of these schemes."""
    if "://" not in text:
        meant = corrected(text, schemes) or ANY_URL
        told = foreign.of_file(text) or f"write {meant}"
        raise UsageProblem(f"{text!r} is not a URL", told)
    if odd := _NOT_IN_A_URL.search(text):
        raise UsageProblem(
            f"a URL can't have {odd[0]!r} in it", f"write {quote(odd[0])} in its place"
        )
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise UsageProblem(f"{text!r} is not a URL: {error}", f"write {ANY_URL}") from error
    protocol = next((scheme for scheme in schemes if scheme == parts.scheme), None)
    if protocol is None:
        raise UsageProblem(
            f"{text!r}: unknown scheme {parts.scheme!r}",
            suggest.remedy(parts.scheme, schemes, f"use one of {', '.join(schemes)}"),
        )
    if not parts.hostname:
        meant = corrected(text, schemes) or f"{protocol}://HOST:PORT/"
        raise UsageProblem(f"{text!r} names no host", f"write {meant}")
    if port is None:
        port = DEFAULT_PORTS.get(protocol.rpartition("+")[2])
    if not port:
        raise UsageProblem(f"{text!r} names no port", f"write {protocol}://{parts.hostname}:PORT")
    if "@" in parts.netloc:
        raise UsageProblem(
            f"{redaction.url(text)!r} carries a user name",
            "leave it out and send it as a header: -H 'Authorization: Basic ...'",
        )
    require_sendable(text, ())
    return Target(url=text, protocol=protocol, host=parts.hostname, port=port)


def require_sendable(url: str, headers: Sequence[tuple[str, str]]) -> None:
    """Raises where a result's URL or header was copied, without its secret."""
    if lacking := redaction.redacted_parts(url, headers):
        raise UsageProblem(f"{lacking[0]} is {redaction.MARK}", "write the secret itself there")


def corrected(text: str, schemes: Sequence[str]) -> str | None:
    """The URL that `text` is meant to be; None where nothing follows the scheme."""
    known = "|".join(re.escape(scheme) for scheme in sorted(schemes, key=len, reverse=True))
    named = re.match(rf"({known})(?:[:;]+/*|//+)", text, re.IGNORECASE)
    scheme = named[1].lower() if named else PLAIN
    rest = text[named.end() :] if named else text.lstrip(":;/")
    if not rest:
        return None
    port = _PORT.match(rest)
    where = f"{HERE}:{port[1]}{rest[port.end() :]}" if port else rest
    return f"{scheme}://{where}"


def is_meant(text: str, schemes: Sequence[str]) -> bool:
    """Whether it is rather a URL, right or misspelled, than a subject's name or a folder."""
    if "://" in text:
        return True
    known = "|".join(map(re.escape, schemes))
    beginning = re.match(rf"(?:{known})(?::/|;/|//)", text, re.IGNORECASE)
    within = re.sub(rf"^(?:{known}):", "", text, flags=re.IGNORECASE)
    return bool(beginning or _ADDRESS.fullmatch(text) or _ADDRESS.fullmatch(within))
