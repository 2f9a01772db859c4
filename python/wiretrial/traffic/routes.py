"""From an entry of a `.hurl` file to a route of the engine.

Knows requests and right replies; must not know flows or other entries.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from wiretrial.goals import Goal
from wiretrial.plan_traffic import Route, RouteExpect, StatusIn, Text, Words
from wiretrial.traffic import checks, goals
from wiretrial.traffic.filling import Form, Part, Scope, fill, known, merged, percent
from wiretrial.traffic.hurl import syntax
from wiretrial.traffic.hurl.syntax import Body, Entry, Pair, Request, Response
from wiretrial.traffic.places import Place, TrafficProblem

if TYPE_CHECKING:
    from wiretrial.calls.methods import Method

_ORIGIN = re.compile(r"(?P<origin>[A-Za-z][A-Za-z0-9+.-]*://[^/?]*)(?P<rest>.*)", re.DOTALL)
_OWN_HEADERS = {
    "host": "leave it out: it is the URL's",
    "content-length": "leave it out: the length of the body is counted",
    "transfer-encoding": "leave it out: bodies are sent with their length",
    "connection": "leave it out: connections are kept",
    "cookie": "have an earlier entry set it: a session sends the cookies of its replies",
}
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CODINGS = "gzip, deflate, br"
"""What `compressed` accepts."""
HTTP = ("http", "https")
MOST_REDIRECTS = 50
"""Where `location: true` stands without a number, as in Hurl."""
FARTHEST = 1000
"""Redirects of one request."""
MOST_NAME, _MOST_MADE = 200, 190
"""Bytes in a route's name, and in one that is made of a URL."""


@dataclass(frozen=True)
class Compiled:
    """A route, where it is sent to, and what else its entry asks for."""

    route: Route
    origin: str
    goals: tuple[Goal, ...]
    is_unchecked: bool
    place: Place
    method: Method | None = None
    """Of a call, what its messages are."""


def compile_entry(entry: Entry, name: str, scope: Scope) -> Compiled:
    """The route of an entry."""
    origin, target = _target(entry.request, scope)
    response = entry.response
    route = Route(
        name=name,
        method=entry.request.method,
        target=target,
        headers=tuple(_headers(entry.request, scope)),
        body=_body(entry.request, scope),
        expect=_expect(response, scope) if response else RouteExpect(),
        follow=_follow(entry.request, scope),
        captures=tuple(checks.capture(line, scope) for line in response.captures)
        if response
        else (),
    )
    limits = tuple(_goals(response, name)) if response else ()
    return Compiled(route, origin, limits, is_unchecked=response is None, place=entry.place)


def _follow(request: Request, scope: Scope) -> int:
    """How many redirects are followed."""
    follows, most = False, MOST_REDIRECTS
    for option in request.section("Options"):
        word, place = str(option.key), option.value.place
        if word not in ("location", "max-redirs"):
            continue
        value = known(option.value, scope, f"option {word}")
        if word == "location" and value not in ("true", "false"):
            raise TrafficProblem(place, f"location: {value}", "write true or false")
        if word == "location":
            follows = value == "true"
        elif not value.isdecimal() or not 0 < int(value) <= FARTHEST:
            raise TrafficProblem(
                place, f"max-redirs: {value}", f"write a number from 1 to {FARTHEST}"
            )
        else:
            most = int(value)
    return most if follows else 0


def name_of(entry: Entry) -> str:
    """By what a route is counted: its `@name`, or method and URL with the names of its values."""
    if entry.name is None:
        return _shortened(f"{entry.request.method} {path_of(entry.request.url)}")
    if len(entry.name.encode()) > MOST_NAME:
        raise TrafficProblem(
            entry.place, f"@name is longer than {MOST_NAME} bytes", "write a shorter one"
        )
    return entry.name


def path_of(url: syntax.Text) -> str:
    """Path and query as they are written, behind the server's name or `{{base}}`."""
    found = _ORIGIN.match(str(url))
    return (found["rest"] if found else str(url).removeprefix("{{base}}")) or "/"


def _shortened(name: str) -> str:
    """A name with room for a number behind it."""
    if len(name.encode()) > _MOST_MADE and "?" in name:
        name = f"{name.partition('?')[0]}?..."
    if len(name.encode()) > _MOST_MADE:
        name = f"{name.encode()[: _MOST_MADE - 3].decode(errors='ignore')}..."
    return name


def _target(request: Request, scope: Scope) -> tuple[str, Text]:
    """The origin, and path and query."""
    url = request.url
    if not url.parts:
        raise TrafficProblem(url.place, "no URL", "write GET http://...")
    server, path, rest = _parts(url, scope, HTTP)
    if not path and (pairs := request.section("Query")):
        raise TrafficProblem(
            pairs[0].key.place, "[Query] behind a whole path", "write &name=value behind the URL"
        )
    parts = [Words(text=percent(path, Form.TARGET)), *rest, *_query(request, path, rest, scope)]
    return server, merged(iter(parts))


def split_url(url: syntax.Text, scope: Scope, schemes: tuple[str, ...]) -> tuple[str, Text]:
    """The origin of a URL, and its path and query."""
    server, path, rest = _parts(url, scope, schemes)
    return server, merged(iter([Words(text=percent(path, Form.TARGET)), *rest]))


def _parts(url: syntax.Text, scope: Scope, schemes: tuple[str, ...]) -> tuple[str, str, Text]:
    """The origin, the beginning of the path, and what is known only in the run."""
    begin, rest = _beginning(url, scope)
    found = _ORIGIN.match(begin)
    if found is None:
        raise TrafficProblem(
            url.place, f"{url} is no URL", f"begin it with {schemes[0]}:// or {{{{base}}}}"
        )
    if rest and found["origin"].endswith("://"):
        raise TrafficProblem(
            url.place, "the host is known only in the run", "write the host as a text"
        )
    path = found["rest"]
    # A value right behind the host has to begin with the path's slash, as Location does.
    if not path.startswith("/") and (path or not rest):
        path = f"/{path}"
    if " " in str(url):
        raise TrafficProblem(url.place, "a space in a URL", "write %20")
    return origin(found["origin"], url.place, schemes), path, rest


def _beginning(url: syntax.Text, scope: Scope) -> tuple[str, Text]:
    """The part of the URL that is known before the run, and what is behind it."""
    begin = ""
    for index, part in enumerate(url.parts):
        if isinstance(part, str):
            begin += part
            continue
        scope.require(part)
        if _ORIGIN.match(begin) or part.name not in scope.variables:
            behind = syntax.Text(url.parts[index:], url.place)
            return begin, fill(behind, scope, Form.TARGET)
        begin += scope.variables[part.name]
    return begin, ()


def origin(written: str, place: Place, schemes: tuple[str, ...]) -> str:
    """Scheme, host and port, as they are compared."""
    try:
        parts = urlsplit(written)
        port = parts.port
    except ValueError as error:
        raise TrafficProblem(place, f"{written}: {error}", "correct the URL") from error
    if parts.scheme not in schemes:
        told = " or ".join(f"{scheme}://" for scheme in schemes)
        raise TrafficProblem(place, f"{parts.scheme} is not sent", f"use {told}")
    if not parts.hostname:
        raise TrafficProblem(place, f"{written} names no host", f"write {schemes[0]}://HOST/")
    if parts.username is not None:
        raise TrafficProblem(place, "a user name in a URL", "write a section [BasicAuth]")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port is not None else "")


def _query(request: Request, path: str, rest: Text, scope: Scope) -> Iterator[Part]:
    pairs = request.section("Query")
    if not pairs:
        return
    is_begun = "?" in path or any(isinstance(part, Words) and "?" in part.text for part in rest)
    yield Words(text="&" if is_begun else "?")
    yield from _encoded(pairs, scope)


def _encoded(pairs: tuple[Pair, ...], scope: Scope) -> Iterator[Part]:
    """`a=b&c=d`"""
    for index, pair in enumerate(pairs):
        if index:
            yield Words(text="&")
        yield from fill(pair.key, scope, Form.URL)
        yield Words(text="=")
        yield from fill(pair.value, scope, Form.URL)


def _headers(request: Request, scope: Scope) -> Iterator[tuple[str, Text]]:
    named = set()
    for pair in (*request.headers, *_header_options(request)):
        name = known(pair.key, scope, "a header's name")
        _require_header(name, pair.key.place)
        named.add(name.lower())
        yield name, fill(pair.value, scope)
    if "accept-encoding" not in named and _is_compressed(request, scope):
        yield "Accept-Encoding", (Words(text=_CODINGS),)
    if (credentials := _credentials(request, scope)) is not None:
        if "authorization" in named:
            raise TrafficProblem(
                request.place, "Authorization is given twice", "keep the header or [BasicAuth]"
            )
        encoded = base64.b64encode(credentials.encode()).decode()
        yield "Authorization", (Words(text=f"Basic {encoded}"),)
    implied = "application/x-www-form-urlencoded" if request.section("Form") else None
    if request.body is not None:
        implied = request.body.media_type
    if implied and "content-type" not in named:
        yield "Content-Type", (Words(text=implied),)


def _require_header(name: str, place: Place) -> None:
    if remedy := _OWN_HEADERS.get(name.lower()):
        raise TrafficProblem(place, f"the header {name} is the load generator's own", remedy)
    if not _TOKEN.fullmatch(name):
        raise TrafficProblem(place, f"{name} is no name of a header", "write letters and -")


def _header_options(request: Request) -> Iterator[Pair]:
    for option in request.section("Options"):
        if str(option.key) == "header":
            yield split_pair(option, ":", "Name: value")


def _is_compressed(request: Request, scope: Scope) -> bool:
    for option in request.section("Options"):
        if (word := str(option.key)) == "compressed":
            return truth(word, known(option.value, scope, f"option {word}"), option.value.place)
    return False


def truth(word: str, value: str, place: Place) -> bool:
    """The value of an option that is true or false."""
    if value not in ("true", "false"):
        raise TrafficProblem(place, f"{word}: {value}", "write true or false")
    return value == "true"


def split_pair(option: Pair, mark: str, form: str) -> Pair:
    """An option whose value is a pair, such as `header: Name: value`."""
    text = option.value
    first = text.parts[0] if text.parts else ""
    if not isinstance(first, str) or mark not in first:
        raise TrafficProblem(
            option.key.place, f"{option.key} without {mark}", f"write {option.key}: {form}"
        )
    key, _, begin = first.partition(mark)
    place = text.place.along(key + mark)
    value = syntax.Text(tuple(p for p in (begin.lstrip(), *text.parts[1:]) if p != ""), place)
    return Pair(syntax.Text((key.strip(),), text.place), value)


def _credentials(request: Request, scope: Scope) -> str | None:
    """`name:password`"""
    pairs = [
        *request.section("BasicAuth"),
        *(
            split_pair(option, ":", "name:password")
            for option in request.section("Options")
            if str(option.key) == "user"
        ),
    ]
    if len(pairs) > 1:
        raise TrafficProblem(pairs[1].key.place, "a second user", "keep one of them")
    for pair in pairs:
        name, password = (known(text, scope, "[BasicAuth]") for text in (pair.key, pair.value))
        return f"{name}:{password}"
    return None


def _body(request: Request, scope: Scope) -> Text:
    if form := request.section("Form"):
        if request.body is not None:
            raise TrafficProblem(request.body.place, "a body beside [Form]", "keep one of them")
        return merged(_encoded(form, scope))
    return _content(request.body, scope) if request.body else ()


def _content(body: Body, scope: Scope) -> Text:
    if isinstance(body.content, bytes):
        text = checks.utf8(body.content, body.place)
        return (Words(text=text),) if text else ()
    return fill(body.content, scope, Form.JSON if body.is_json else Form.PLAIN)


def _expect(response: Response, scope: Scope) -> RouteExpect:
    names: set[str] = set()
    found = []
    for pair in response.headers:
        name = known(pair.key, scope, "a header's name")
        if name.lower() in names:
            raise TrafficProblem(
                pair.key.place, f"{name} is given twice", "keep one: the first field is compared"
            )
        names.add(name.lower())
        found.append(checks.header_equals(name, pair.value, scope))
    for line in response.assertions:
        if line.query.word != "duration":
            found += checks.of_line(line, scope)
    return RouteExpect(
        status="any" if response.status is None else StatusIn(statuses=(response.status,)),
        body=_content(response.body, scope) if response.body else None,
        checks=tuple(found),
    )


def _goals(response: Response, route: str) -> Iterator[Goal]:
    for line in response.assertions:
        if line.query.word == "duration":
            yield goals.longest(route, checks.longest_ns(line))
