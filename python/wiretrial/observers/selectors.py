"""Which series of a Prometheus server are meant: the label matchers in the URL that was typed.

Pure. Knows PromQL's matchers and which labels are whose; must not know how a server is asked.
`http://host:9090?container=api&namespace=shop` means `{container="api",namespace="shop"}`; a value
that begins with `~` is a regular expression.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from wiretrial import services
from wiretrial.errors import UsageProblem

EXAMPLE: Final = "prometheus:http://HOST:9090"
CONTAINER: Final = "container"
OF_CONTAINERS: Final = frozenset({CONTAINER, "id", "image", "name", "namespace", "pod"})
"""Labels that cAdvisor puts on its series. With one of them, containers are meant, else a host."""
_LABEL: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPED: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


@dataclass(frozen=True)
class Matcher:
    """One label, and what its value must be. `operator`: one of PromQL's."""

    label: str
    value: str
    operator: str = "="

    def __str__(self) -> str:
        return f'{self.label}{self.operator}"{self.value.translate(_ESCAPED)}"'


@dataclass(frozen=True)
class Selection:
    """A Prometheus server, and which of its series are those of the server under load."""

    url: str
    """Without a query."""
    matchers: tuple[Matcher, ...] = ()

    @property
    def is_of_containers(self) -> bool:
        """Whether the counters of containers are meant; else those of a whole host."""
        return any(one.label in OF_CONTAINERS for one in self.matchers)

    @property
    def name(self) -> str:
        """What the part is called where nobody named it."""
        for label in (CONTAINER, "name", "pod", "instance"):
            for one in self.matchers:
                if one.label == label:
                    return one.value.removeprefix("~")
        return urlsplit(self.url).hostname or ""


def parse(url: str, typed: str) -> Selection:
    """The selection in a URL. Raises `UsageProblem` that begins with `typed`."""
    whole = services.checked(url, typed, f"{EXAMPLE} or {EXAMPLE}?container=NAME")
    place, _, query = whole.partition("?")
    if "#" in whole:
        raise UsageProblem(f"{typed}: a fragment has no meaning there", "leave out what follows #")
    matchers = tuple(_matcher(word, typed) for word in query.split("&") if word)
    labels = [one.label for one in matchers]
    for label in labels:
        if labels.count(label) > 1:
            raise UsageProblem(
                f"{typed}: {label} is given twice", f"write {label}=~A|B for one of both"
            )
    return Selection(place.rstrip("/"), matchers)


def select(metric: str, *matchers: Matcher) -> str:
    """A selector of PromQL."""
    return f"{metric}{{{','.join(map(str, matchers))}}}" if matchers else metric


def _matcher(word: str, typed: str) -> Matcher:
    """One of `LABEL=VALUE` in a URL's query. A plus is a plus: it stands in regular expressions."""
    label, equals, value = (unquote(part) for part in word.partition("="))
    if not equals or not value or not _LABEL.fullmatch(label):
        raise UsageProblem(
            f"{typed}: {word!r} selects nothing by a label",
            f"write {EXAMPLE}?LABEL=VALUE, such as ?container=api or ?instance=web1:9100",
        )
    if value.startswith("~"):
        return Matcher(label, value[1:], "=~")
    return Matcher(label, value)
