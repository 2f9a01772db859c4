"""The kind of workload in which a browser asks the subjects, in each of its ways.

Pure. Knows the fields of such a workload and what a way comes to in a case; must not know how a
browser is started (`browsed`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from wiretrial.browser.jobs import MOST_REQUESTS
from wiretrial.plan import Load
from wiretrial.studies import ways, wording
from wiretrial.studies.contracts import Request, request
from wiretrial.studies.fields import Levels
from wiretrial.studies.spec import Browsing
from wiretrial.studies.ways import PATTERNS, How, Label, Way
from wiretrial.studies.workload import Factors, Workload
from wiretrial.subjects.spec import Protocol

ASKED: Mapping[str, Protocol] = {
    "fetch": "http",
    "websocket": "ws",
    "socket.io": "socketio+ws",
}
"""What the front before a subject asks it for, by the page's transport."""


class ByBrowser(Workload):
    """The subjects are servers, and a page in a browser asks them through a front."""

    marks = frozenset({"browser"})
    called = "a browser (`browser`)"

    protocol: Levels[Protocol] = ("http",)
    """Not given: the ways tell."""
    browser: Literal["chromium", "firefox"]
    way: Levels[Label]
    """URL, cache, version of HTTP or socket, by the names that `wiretrial browser` reports."""
    pattern: Levels[How] = ("at once",)
    requests: Levels[Annotated[int, Field(ge=1, le=MOST_REQUESTS)]] = (ways.PUBLISHED,)

    @model_validator(mode="after")
    def _is_of_ways(self) -> Self:
        given = {"protocol", "payload", "server_threads"} & self.model_fields_set
        if given:
            raise ValueError(f"a browser's ways say how it asks: leave `{min(given)}` out")
        return self

    @property
    def spoken(self) -> tuple[Protocol, ...]:
        return tuple(dict.fromkeys(ASKED[_of(label).transport] for label in self.way))

    def levels(self) -> Factors:
        found = super().levels() | {"browser": (self.browser,), "way": self.way}
        return found | {"pattern": self.pattern, "requests": self.requests}

    def fitted(self, subject: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
        protocol = ASKED[_of(chosen["way"]).transport]
        return super().fitted(subject, chosen) | {"protocol": protocol}

    def carried(self, levels: Mapping[str, Any]) -> str:
        return ways.spoken(_of(levels["way"]))

    def request(self, _levels: Mapping[str, Any], _headers: Mapping[str, str]) -> Request:
        # The page makes its own messages, of the path that a GET has.
        return request(self.contract, None, self.path)

    def asked(self, levels: Mapping[str, Any]) -> dict[str, Any]:
        asked = asdict(_of(levels["way"]))
        del asked["label"]
        pattern = PATTERNS[levels["pattern"]]
        return {
            "browsing": Browsing(program=self.browser, pattern=pattern, **asked),
            "load": Load(connections=1),
            "requests": levels["requests"],
        }

    def load_words(self, levels: Mapping[str, Any]) -> list[str]:
        how = wording.words("pattern", levels["pattern"])
        return [f"{levels['requests']} requests {how} in {self.browser}", levels["way"]]

    def description(self, levels: Mapping[str, Any]) -> str:
        told = wording.told(levels, ("environment",))
        return f"{self.name}: {', '.join(self.load_words(levels) + told)}"


def _of(label: str) -> Way:
    return ways.BY_LABEL[label]
