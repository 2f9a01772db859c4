"""From recorded exchanges to the entries of a session: values that come back become captures.

Knows requests with their replies; must not know in which format they were recorded. Which values
are captured is a guess from one recording: a person should look at it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from urllib.parse import quote, unquote, urlsplit

from wiretrial.traffic.hurl.syntax import Assertion, Capture, Entry, Response
from wiretrial.traffic.importing import parts
from wiretrial.traffic.importing.parts import Sent

_SHORTEST, _LEAST_BITS = 8, 28.0
_LEAST_DIGITS = 4
_MOST_CHECKED = 6
_COMMON = ("id", "uuid", "key", "value", "href", "url")
"""Members whose name says little without that of the object."""
_PAUSE_S = 0.5
_WORD = re.compile(r"[\w.~+/=-]+")
_HIDDEN = re.compile(
    r"""<(?:input|meta)\b[^>]*?\bname=["'](?P<name>[\w.:-]+)["'][^>]*?"""
    r"""\b(?:value|content)=["'](?P<value>[^"'<>]+)["']""",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Exchange:
    """A request and its reply; `status` None: no reply was recorded."""

    sent: Sent
    status: int | None = None
    reply_headers: tuple[tuple[str, str], ...] = ()
    reply_type: str = ""
    reply: str | None = None
    pause_s: float = 0.0
    """From the end of the exchange before to the request."""


@dataclass(frozen=True)
class _Found:
    """A value in a reply, and how it is captured."""

    value: str
    capture: Capture


def entries(exchanges: Sequence[Exchange]) -> tuple[Entry, ...]:
    """The entries of a session."""
    captures = _captures(exchanges)
    values: dict[str, str] = {}
    made = []
    for index, exchange in enumerate(exchanges):
        request = parts.request(exchange.sent, values)
        if exchange.pause_s >= _PAUSE_S:
            delay = f"{round(exchange.pause_s * 1000)}ms"
            options = parts.pairs([("delay", delay)])
            request = replace(request, sections={"Options": options, **request.sections})
        own = captures.get(index, [])
        made.append(Entry(request, _response(exchange, [found.capture for found in own])))
        for found in own:
            values |= dict.fromkeys((found.value, quote(found.value, "")), found.capture.name)
    return tuple(made)


def _response(exchange: Exchange, captures: Sequence[Capture]) -> Response | None:
    if exchange.status is None or not 100 <= exchange.status <= 599:
        return None
    return Response(
        status=exchange.status,
        place=parts.NOWHERE,
        captures=tuple(captures),
        assertions=tuple(_assertions(exchange)),
    )


def _assertions(exchange: Exchange) -> Iterator[Assertion]:
    if check := parts.media_check(exchange.reply_type):
        yield check
    content = _json(exchange)
    if isinstance(content, dict):
        members = list(content.items())[:_MOST_CHECKED]
        yield from parts.lines(
            parts.type_check(parts.member_path("$", name), value) for name, value in members
        )
    elif isinstance(content, list):
        yield parts.counted("$", ">=", 0)


def _captures(exchanges: Sequence[Exchange]) -> dict[int, list[_Found]]:
    """What to capture in each reply: what a later request sends, and no earlier one did."""
    sent_later = _sent_later([exchange.sent for exchange in exchanges])
    found: dict[int, list[_Found]] = {}
    names, known = Counter[str](), set[str]()
    for index, exchange in enumerate(exchanges):
        known |= _words(exchange.sent)
        for name, one in _candidates(exchange):
            if one.value in known or one.value not in sent_later[index]:
                continue
            if one.value[0] == "/" and known.issuperset(_made_segments(one.value)):
                continue
            known.add(one.value)
            names[name] += 1
            unique = name if names[name] == 1 else f"{name}_{names[name]}"
            found.setdefault(index, []).append(
                replace(one, capture=replace(one.capture, name=unique))
            )
    return found


def _sent_later(sent: Sequence[Sent]) -> list[set[str]]:
    """Of each exchange, the words of the requests behind it."""
    later: list[set[str]] = []
    words: set[str] = set()
    for one in reversed(sent):
        later.append(set(words))
        words |= _words(one)
    return later[::-1]


def _words(sent: Sent) -> set[str]:
    """What stands alone in a request: in the URL, the header fields, the body."""
    texts = [sent.url, unquote(sent.url), sent.body or "", unquote(sent.body or "")]
    texts += [value for name, value in sent.headers if parts.is_kept(name)]
    found = {*accumulate(re.findall("/[^/]*", urlsplit(sent.url).path))}
    for text in texts:
        for word in _WORD.findall(text):
            found |= {word, *re.split(r"[/=+.]", word)}
    return found


def _candidates(exchange: Exchange) -> Iterator[tuple[str, _Found]]:
    """Values of a reply that look as if they were made for it, each with a name."""
    if exchange.status is None:
        return
    yield from _of_json(_json(exchange), "$", "item")
    for name, value in exchange.reply_headers:
        if name.lower().startswith("x-") and _looks_made(value):
            yield _named(name), _Found(value, parts.capture("", "header", name))
        elif name.lower() == "set-cookie":
            cookie, _, rest = value.partition("=")
            token = unquote(rest.partition(";")[0].strip())
            if _looks_made(token):
                yield _named(cookie), _Found(token, parts.capture("", "cookie", cookie.strip()))
        elif name.lower() == "location" and value[:1] == "/" and _made_segments(value):
            yield "location", _Found(value, parts.capture("", "header", "Location"))
    if "html" in exchange.reply_type:
        for field in _HIDDEN.finditer(exchange.reply or ""):
            if _looks_made(field["value"]):
                pattern = _literal(field[0]).replace(_literal(field["value"]), "([^\"']+)")
                yield (
                    _named(field["name"]),
                    _Found(field["value"], parts.capture("", "regex", pattern, is_pattern=True)),
                )


def _of_json(content: object, path: str, name: str) -> Iterator[tuple[str, _Found]]:
    match content:
        case dict():
            for key, value in content.items():
                own = f"{name}_{key}" if key in _COMMON and path != "$" else str(key)
                yield from _of_json(value, parts.member_path(path, str(key)), own)
        case list():
            for index, value in enumerate(content):
                yield from _of_json(value, f"{path}[{index}]", name)
        case bool() | None:
            return
        case str() | int():
            if _looks_made(str(content)):
                yield _named(name), _Found(str(content), parts.capture("", "jsonpath", path))


def _looks_made(value: str) -> bool:
    """Whether a value is one of its own: a long number, or a text of high entropy."""
    if not _WORD.fullmatch(value):
        return False
    if value.isdigit():
        is_year = len(value) == 4 and value[:2] in ("19", "20")
        return len(value) >= _LEAST_DIGITS and not is_year
    has_digit = any(sign.isdigit() for sign in value)
    if len(value) < _SHORTEST or not (has_digit or re.search(r"[a-z][A-Z]", value)):
        return False
    counts = Counter(value)
    bits = -sum(n * math.log2(n / len(value)) for n in counts.values())
    return bits >= _LEAST_BITS


def _made_segments(path: str) -> set[str]:
    """What was made for a reply, of the segments of a path."""
    return {segment for segment in path.split("/") if _looks_made(segment)}


def _literal(text: str) -> str:
    return re.escape(text).replace("\\ ", " ")


def _named(name: str) -> str:
    """A name for a capture."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower()
    return plain if plain and plain not in ("base",) else "value"


def _json(exchange: Exchange) -> object:
    if "json" not in exchange.reply_type or not exchange.reply:
        return None
    try:
        return parts.loads(exchange.reply)
    except ValueError:
        return None


def most_common_origin(exchanges: Sequence[Exchange]) -> tuple[str, Mapping[str, int]]:
    """The origin with the most requests, and how many the others have."""
    counts = Counter(exchange.sent.origin for exchange in exchanges)
    first, *rest = counts.most_common()
    return first[0], dict(rest)
