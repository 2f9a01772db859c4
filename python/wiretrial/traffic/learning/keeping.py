"""A `.hurl` file with what was learned as response parts, for a person to read, change and keep.

Knows requests and traffic files; must not know how replies were asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from wiretrial import redaction
from wiretrial.traffic.compiler import Scenario
from wiretrial.traffic.hurl.reading import read_hurl
from wiretrial.traffic.hurl.syntax import Entry
from wiretrial.traffic.hurl.writing import write
from wiretrial.traffic.importing.parts import Sent, request
from wiretrial.traffic.learning.asserts import response
from wiretrial.traffic.learning.rules import Learned


def of_request(sent: Sent, found: Learned) -> str:
    """The file of one request. Secrets of its header and URL become variables."""
    secrets = {value: name.lower().replace("-", "_") for name, value in _secrets(sent)}
    part, left = response(found)
    needed = [f"--variable base={sent.origin}"]
    needed += [f"--variable {name}=..." for name in dict.fromkeys(secrets.values())]
    comment = [_heading([found]), f"Load it with {' '.join(needed)}", *_left(found, left)]
    return write([Entry(request(sent, secrets), part)], "\n".join(comment))


def of_scenario(path: Path, scenario: Scenario, found: Sequence[Learned]) -> str:
    """The file of the entries that had no response part; of one `.hurl` file, of all."""
    learned = {one.route: one for one in found}
    places = {one.place: learned.get(one.route.name) for one in scenario.routes}
    entries: list[Entry] = []
    comment = [_heading(found)]
    for file in dict.fromkeys(one.place.file for one in scenario.routes):
        for entry in read_hurl(file).entries:
            rule = None if entry.response else places.get(entry.place)
            if rule is not None:
                part, left = response(rule)
                entries.append(replace(entry, response=part))
                comment += _left(rule, left)
            elif path.suffix == ".hurl":
                entries.append(entry)
    return write(entries, "\n".join(comment))


def _heading(found: Sequence[Learned]) -> str:
    samples = max((one.samples for one in found), default=0)
    return f"What {samples} replies had in common. Read it, and change what is not always so."


def _left(found: Learned, left: Sequence[str]) -> Iterator[str]:
    """What the lines can't say."""
    if left:
        yield f"{found.route}: the rule that was learned has more:"
        yield from (f"  {one}" for one in left)


def _secrets(sent: Sent) -> Iterator[tuple[str, str]]:
    fields = (*sent.headers, *parse_qsl(urlsplit(sent.url).query))
    return ((name, value) for name, value in fields if value and redaction.is_secret(name))
