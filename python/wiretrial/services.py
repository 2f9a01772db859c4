"""HTTP to services that keep metrics, with the credentials of the user's own environment.

Knows URLs, credentials and time limits; must not know what is asked or sent. Credentials come from
an environment variable, a file that one names, or the user's netrc. A command line is shown to
every user of a machine, so that they are refused there.
"""

from __future__ import annotations

import base64
import http.client
import netrc
import os
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from wiretrial import redaction
from wiretrial.errors import ServiceFailed, UsageProblem

SCHEMES: Final = ("http", "https")
TIMEOUT_S: Final = 10.0
MOST_BYTES: Final = 64 << 20
"""Of an answer; more is not read."""
MOST_WORDS: Final = 200
"""Characters of what a service says of a mistake."""

_Reply = http.client.HTTPResponse | urllib.error.HTTPError


@dataclass(frozen=True)
class Answer:
    """What a service answered, right or wrong."""

    status: int
    body: bytes

    @property
    def is_good(self) -> bool:
        """Whether it did what it was asked."""
        return 200 <= self.status < 300

    @property
    def words(self) -> str:
        """The first line of what it says."""
        lines = self.body.decode(errors="replace").strip().splitlines()
        return lines[0].strip()[:MOST_WORDS] if lines else ""


@dataclass(frozen=True)
class Service:
    """A service at a URL. `name`: what it is, for errors: `the Prometheus server`."""

    name: str
    url: str
    authorization: str | None = field(default=None, repr=False)
    """The header's value; it is never shown."""

    @classmethod
    def of(cls, name: str, url: str, variable: str) -> Service:
        """The service with what the environment says of credentials for it.

        `variable` is the name of the environment variable that may hold a bearer token; with
        `_FILE` behind it, it names a file with one. Without either, netrc may know the host.
        Raises `UsageProblem`.
        """
        return cls(name, url, _authorization(url, variable))

    @property
    def shown(self) -> str:
        """Its URL without secrets."""
        return redaction.url(self.url)

    def ask(
        self,
        url: str,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> Answer:
        """Asks for `url`, a part of the service; POST where there are `data`.

        Whatever it answers is an answer. Raises `ServiceFailed` where there is none in time.
        """
        request = urllib.request.Request(url, data=data, headers=dict(headers or {}))
        if self.authorization is not None:
            # Not to wherever it may redirect.
            request.add_unredirected_header("Authorization", self.authorization)
        ends = time.monotonic() + timeout_s
        try:
            with _opened(request, timeout_s) as reply:
                return Answer(reply.status or 0, _read(reply, ends))
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ServiceFailed(
                f"{self.name} at {self.shown} {_reason(error, timeout_s)}",
                "check the URL, and that it can be reached from here",
            ) from error

    def refused(self, answer: Answer, variable: str) -> ServiceFailed:
        """The error of an answer that is not good, in one line."""
        said = f": {redaction.text(answer.words)}" if answer.words else ""
        remedy = "check the URL"
        if answer.status in (401, 403):
            host = urlsplit(self.url).hostname
            remedy = f"set {variable} to a bearer token, or {variable}_FILE to a file with one,"
            remedy += f" or give {host} a line in ~/.netrc"
        return ServiceFailed(
            f"{self.name} at {self.shown} answered with status {answer.status}{said}", remedy
        )


def checked(url: str, typed: str, example: str) -> str:
    """The URL of a service, without a slash at its end.

    Raises `UsageProblem` that begins with `typed`, the option with its value, where it is none.
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or any(one.isspace() or not one.isprintable() for one in url):
        raise UsageProblem(f"{typed}: it has no URL of a server", f"write {example}")
    if "@" in parts.netloc:
        raise UsageProblem(
            f"{typed}: it holds a user name or a password, which other users of this machine can"
            " see",
            f"give {parts.hostname} a line in ~/.netrc",
        )
    return url.rstrip("/")


def _authorization(url: str, variable: str) -> str | None:
    token = os.environ.get(variable)
    where = variable
    if not token and (file := os.environ.get(f"{variable}_FILE")):
        where = file
        try:
            token = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            raise UsageProblem(
                f"{variable}_FILE names {file}, which can't be read: {reason}", "correct it"
            ) from error
    if token:
        if not token.isascii() or not token.isprintable() or " " in token:
            raise UsageProblem(f"{where} holds no bearer token", "put the token alone there")
        return f"Bearer {token}"
    return _of_netrc(urlsplit(url).hostname or "")


def _of_netrc(host: str) -> str | None:
    """What the user's netrc says of the host; None: nothing, or there is no such file."""
    named = os.environ.get("NETRC")
    path = Path(named) if named else Path("~/.netrc").expanduser()
    if not path.is_file():
        return None
    try:
        found = netrc.netrc(str(path)).authenticators(host)
    except (OSError, UnicodeDecodeError, netrc.NetrcParseError) as error:
        reason = getattr(error, "msg", None) or getattr(error, "strerror", None) or "it is no text"
        raise UsageProblem(f"{path} can't be read: {reason}", "correct it") from error
    if found is None:
        return None
    user, _, password = found
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def _reason(error: Exception, timeout_s: float) -> str:
    """What went wrong, as the end of a sentence."""
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        return f"did not answer within {timeout_s:g} s"
    if isinstance(cause, socket.gaierror):
        return "can't be found: its name is unknown"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"shows a certificate that is not trusted ({cause.verify_message})"
    if isinstance(cause, OSError) and cause.strerror:
        return f"can't be reached: {cause.strerror}"
    if isinstance(cause, ValueError) and cause.args:
        return str(cause)
    return f"gave no proper answer ({cause})" if str(cause) else "gave no proper answer"


def _opened(request: urllib.request.Request, timeout_s: float) -> _Reply:
    """The reply, whatever its status."""
    try:
        return urllib.request.urlopen(request, timeout=timeout_s)  # type: ignore[no-any-return]
    except urllib.error.HTTPError as error:
        return error


def _read(reply: _Reply, ends: float) -> bytes:
    """The body. A service that sends a byte now and then is not waited for."""
    parts: list[bytes] = []
    left = MOST_BYTES
    while left > 0 and (part := reply.read1(min(left, 1 << 16))):
        parts.append(part)
        left -= len(part)
        if time.monotonic() > ends:
            raise TimeoutError
    if left <= 0:
        raise ValueError(f"answers with more than {MOST_BYTES >> 20} MiB")
    return b"".join(parts)
