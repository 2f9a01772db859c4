"""Takes secrets out of what is kept or shown: of headers, of URLs, of command lines.

Pure text to text. Knows by which names secrets go; must not know who writes or prints. A secret is
the value of a header or of a URL's parameter whose name says so, a bearer token in any header, and
the user name and password in a URL. Payloads are kept as they are.
"""

from __future__ import annotations

import base64
import binascii
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

MARK = "***"
"""Stands in place of a secret."""
KEEP = "--keep-secrets"
"""The flag with which nothing is taken out of a result."""

WORDS = frozenset({"auth", "oauth", "key", "sig", "pwd", "jwt", "otp", "csrf", "xsrf", "hmac"})
"""A name with one of these words holds a secret: `X-Functions-Key`, `auth_user`, `sig`."""
PARTS = re.compile(
    r"authoriz|authentic|cookie|token|secret|passw|passphrase|apikey|accesskey|privatekey"
    r"|credential|session|signature"
)
"""So does one with these letters in a row, however it is written: `Cookie`, `accessToken`."""
WHOLE = frozenset({"code", "pass", "pin", "sid"})
"""And one that is no more than this."""
PUBLIC = frozenset({"www-authenticate", "idempotency-key", "sec-websocket-key"})
"""Names that look so, and hold none."""

HEADER = "the header "
"""How what lacks its secret is told, where it is a header."""
FEWEST = 4
"""Letters of a secret that is looked for where nothing says that it is one; fewer are anywhere."""

_BEARER = re.compile(r"\bbearer\b", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*:)?//")
_LETTER = r"(?:[^\s'\"<>]|'(?=\w))"
_ADDRESSES = re.compile(rf"{_LETTER}*(?:://|\?){_LETTER}+")
"""Where a URL stands in a text; a path with a query counts as one. A quote that ends it is none."""
_BEGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_INNER_USER = re.compile(r"(?<=://)[^/?#&\s@]+(?=@)")
"""A user name in a URL that is part of another one."""
_ENDS_SENTENCE = ".,:;!?)"
_HEADER_FLAGS = ("-H", "--header", "--publish-header")


def is_secret(name: str) -> bool:
    """Whether the value of a header, or of a URL's parameter, with this name is a secret."""
    plain = _CAMEL.sub("-", unquote(name)).lower()
    words = [word for word in re.split(r"[^a-z0-9]+", plain) if word]
    if plain in PUBLIC:
        return False
    joined = "".join(words)
    return joined in WHOLE or not WORDS.isdisjoint(words) or bool(PARTS.search(joined))


def header(name: str, value: str) -> str:
    """The header's value as it may be kept."""
    return MARK if is_secret(name) or _BEARER.search(value) else text(value)


def headers(fields: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Header fields as they may be kept."""
    return tuple((name, header(name, value)) for name, value in fields)


def url(address: str) -> str:
    """A URL, or a path with a query, without user names and without the values of secrets."""
    place, user, rest = _taken_apart(address)
    shown = "".join(part if value is None else f"{part}{MARK}" for part, value in _pieces(rest))
    shown = _INNER_USER.sub(MARK, shown)
    return f"{place}{MARK}@{shown}" if user else f"{place}{shown}"


def text(words: str) -> str:
    """A text in which each URL is as `url` makes it."""
    return _ADDRESSES.sub(lambda found: _address(found[0]), words)


def command(words: Sequence[str]) -> list[str]:
    """The words of a command line; with `--keep-secrets` they stay."""
    if KEEP in words:
        return list(words)
    shown: list[str] = []
    for word in words:
        flag, equals, value = word.partition("=")
        if shown and shown[-1] in _HEADER_FLAGS:
            shown.append(_line(word))
        elif equals and flag in _HEADER_FLAGS[1:]:
            shown.append(f"{flag}={_line(value)}")
        elif word.startswith("-H") and len(word) > len("-H"):
            shown.append(f"-H{_line(word.removeprefix('-H'))}")
        else:
            shown.append(url(word) if "?" in word or "//" in word else word)
    return shown


def command_line(line: str) -> str:
    """The same of a command line in one text."""
    try:
        words = shlex.split(line)
    except ValueError:
        return text(line)
    shown = command(words)
    return line if shown == words else shlex.join(shown)


def is_redacted(address: str, fields: Iterable[tuple[str, str]]) -> bool:
    """Whether a secret was taken out, so that this can't be sent."""
    return bool(redacted_parts(address, fields))


def redacted_parts(address: str, fields: Iterable[tuple[str, str]]) -> list[str]:
    """What lacks its secret, in words: `the header Authorization`."""
    lacking = [f"{HEADER}{name}" for name, value in fields if value == MARK]
    _, user, rest = _taken_apart(address)
    if user == MARK:
        lacking.append("the user name in the URL")
    for part, value in _pieces(rest):
        if value == MARK:
            lacking.append(f"the URL's parameter {re.split(r'[?&;#]', part)[-1].rstrip('=')}")
    return lacking


@dataclass(frozen=True)
class Secrets:
    """The secrets of one target, to be found again in what a server or an engine tells."""

    values: tuple[str, ...]

    @classmethod
    def of(cls, address: str, fields: Iterable[tuple[str, str]]) -> Secrets:
        """Those in a URL and in header fields."""
        _, user, rest = _taken_apart(address)
        found: list[str] = []
        if user:
            found += [user, *user.partition(":")[::2]]
        found += [value for _, value in _pieces(rest) if value is not None]
        for name, value in fields:
            if header(name, value) == MARK:
                found += _within(name, value)
            else:
                found += Secrets.of(value, ()).values if "//" in value or "?" in value else ()
        forms = {form for one in found if one != MARK for form in _forms(one)}
        return cls._ordered(form for form in forms if len(form) >= FEWEST)

    def __or__(self, other: Secrets) -> Secrets:
        """These and those."""
        return self._ordered({*self.values, *other.values})

    @classmethod
    def _ordered(cls, values: Iterable[str]) -> Secrets:
        """A secret that is part of another one comes behind it."""
        return cls(tuple(sorted(values, key=lambda one: (-len(one), one))))

    def text(self, words: str) -> str:
        """The text without any of them, and without what is cut off within one."""
        for value in self.values:
            words = words.replace(value, MARK)
        body, cut = words.removesuffix("…"), "…" if words.endswith("…") else ""
        if cut:
            body = self._without_the_end(body)
        return text(f"{body}{cut}")

    def _without_the_end(self, body: str) -> str:
        for value in self.values:
            for length in range(len(value) - 1, FEWEST - 1, -1):
                if body.endswith(value[:length]):
                    return f"{body[:-length]}{MARK}"
        return body


def _taken_apart(address: str) -> tuple[str, str, str]:
    """Scheme and slashes; the user name and password; the rest, from the host on."""
    found = _SCHEME.match(address)
    place = found[0] if found else ""
    body = address[len(place) :]
    authority = re.split(r"[/?#]", body, maxsplit=1)[0]
    if not place and not re.match(r"[^/?#@\s]*:[^/?#@]*@", body):
        return place, "", body
    if "@" in authority:
        user, _, _ = authority.rpartition("@")
        return place, user, body[len(user) + 1 :]
    port = authority.rpartition(":")[2]
    if ":" in authority and not authority.endswith("]") and not port.isdigit() and "@" in body:
        # A password with a slash or a question mark in it, which should have been escaped.
        user, _, _ = body.rpartition("@")
        return place, user, body[len(user) + 1 :]
    return place, "", body


def _pieces(address: str) -> Iterator[tuple[str, str | None]]:
    """The address in pieces; one that ends in a secret's name and `=` comes with the secret.

    A secret ends where the next parameter begins; a `;` may be part of it.
    """
    head, mark, query = address, "", ""
    for place, letter in enumerate(address):
        if letter in "?#":
            head, mark, query = address[:place], letter, address[place + 1 :]
            break
    yield f"{head}{mark}", None
    for piece in re.split(r"([&#?])", query):
        begin = 0
        for found in re.finditer(r"(?:^|;)([^=;]*)=", piece):
            if is_secret(found[1]):
                yield piece[: found.end()], piece[found.end() :]
                begin = len(piece)
                break
        yield piece[begin:], None


def _address(found: str) -> str:
    """A URL in a text, without what ends the sentence."""
    bare = found.rstrip(_ENDS_SENTENCE)
    begin = _BEGIN.search(bare)
    before = bare[: begin.start()] if begin else ""
    if "?" in before:
        before = ""
    return f"{before}{url(bare[len(before) :])}{found[len(bare) :]}"


def _line(line: str) -> str:
    """`Name: value` as it may be kept; of what has no colon, nothing."""
    name, colon, value = line.partition(":")
    if not colon:
        return MARK
    shown = header(name.strip(), value.strip())
    return line if shown == value.strip() else f"{name}: {shown}"


def _within(name: str, value: str) -> Iterator[str]:
    """A header's value, and what in it is a secret by itself."""
    yield value
    if "cookie" in name.lower():
        yield from (part.partition("=")[2].strip() for part in value.split(";"))
        return
    scheme, blank, credentials = value.partition(" ")
    if not blank:
        return
    yield credentials.strip()
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(credentials.strip(), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return
        yield from (pair, pair.partition(":")[2])


def _forms(secret: str) -> Iterator[str]:
    """As it is written, as it is meant, and as an excerpt in hexadecimal has it."""
    for form in {secret, unquote(secret)}:
        yield form
        if len(form) >= FEWEST:
            octets = form.encode(errors="surrogatepass")
            yield octets.hex()
            yield octets.hex(" ")
