"""Traffic without its secrets, as it is shown and kept, and what it lacks then.

Knows which parts of traffic can hold a secret; must not know who shows or keeps them. Names of
values and bodies stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiretrial import redaction
from wiretrial.plan_traffic import Feed, Line, Route, Text, Traffic, Words


def redacted(traffic: Traffic) -> Traffic:
    """The same without the secrets in URLs, header fields and columns of data."""
    return traffic.model_copy(
        update={
            "routes": tuple(map(_route, traffic.routes)),
            "lines": tuple(map(_line, traffic.lines)),
            "feeds": tuple(map(_feed, traffic.feeds)),
        }
    )


def lacking(traffic: Traffic) -> Iterator[str]:
    """What was taken out, in words; with any it can't be sent."""
    for feed in traffic.feeds:
        for index, name in enumerate(feed.columns):
            if any(row[index] == redaction.MARK for row in feed.rows):
                yield f"the column {name} of {feed.name}"
    for route in traffic.asked:
        for name, value in route.headers:
            if value == (Words(text=redaction.MARK),):
                yield f"a header of {route.name} ({name})"
        for part in route.target:
            if isinstance(part, Words) and redaction.is_redacted(part.text, ()):
                yield f"a parameter in the URL of {route.name}"


def _route(route: Route) -> Route:
    return route.model_copy(update=_hidden(route))


def _line(line: Line) -> Line:
    return line.model_copy(update=_hidden(line))


def _hidden(of: Route | Line) -> dict[str, object]:
    return {
        "name": redaction.url(of.name),
        "target": tuple(
            Words(text=redaction.url(part.text)) if isinstance(part, Words) else part
            for part in of.target
        ),
        "headers": tuple(_header(*field) for field in of.headers),
    }


def _header(name: str, value: Text) -> tuple[str, Text]:
    if not all(isinstance(part, Words) for part in value):
        return name, value
    whole = "".join(part.text for part in value if isinstance(part, Words))
    return name, (Words(text=redaction.header(name, whole)),)


def _feed(feed: Feed) -> Feed:
    hidden = [redaction.is_secret(name) for name in feed.columns]
    if not any(hidden):
        return feed
    rows = (
        tuple(redaction.MARK if hide else cell for hide, cell in zip(hidden, row, strict=True))
        for row in feed.rows
    )
    return feed.model_copy(update={"rows": tuple(rows)})
