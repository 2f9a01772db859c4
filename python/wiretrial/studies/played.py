"""The kind of workload in which servers are asked what a traffic file says.

Knows the fields of such a workload; must not know how scenarios are multiplied out. The file is
compiled once, when the study is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from wiretrial.catalogues import SUBJECTS
from wiretrial.errors import UsageProblem
from wiretrial.goals import Goal
from wiretrial.plan import ClosedLoop, Expect, Http, HttpVersion, Message
from wiretrial.studies import sessions, wording
from wiretrial.studies.contracts import Request
from wiretrial.studies.decided import Common, Highest
from wiretrial.studies.fields import COMMON, Counts, Levels, Nanoseconds
from wiretrial.studies.sized import UNKNOWN_RATE, Limited, Shared, own_rate, share_of
from wiretrial.studies.workload import Factors, several
from wiretrial.subjects.spec import TRAFFIC, ContractName, Protocol
from wiretrial.traffic import loads
from wiretrial.traffic.compiler import Scenario, compile_at
from wiretrial.traffic.loads import Instead, Sending

FROM_SUBJECTS = "../../subjects/"
"""How the studies that come with wiretrial name a file of a contract."""


def _common(rate: Any) -> Any:
    """A number is no rate of sessions here: it has a name of its own."""
    if isinstance(rate, int | float | list):
        raise ValueError("sessions per second are `arrivals`: write those instead")
    return rate


class Played(Limited, Shared, Common, Highest):
    """The subjects are servers, and sessions of a traffic file go to them."""

    marks = frozenset({"traffic"})
    called = "the sessions of a file (`traffic`)"

    protocol: Levels[Protocol] = ("http",)
    contract: ContractName = TRAFFIC
    traffic: str
    """A .toml or .hurl file beside study.toml; a server's address takes the place of its `base`."""
    variables: dict[str, str] = Field(default_factory=dict)
    """Values that come before those of the file."""
    users: Counts | None = None
    """In the place of the file's `users`; each has a connection."""
    http: Levels[HttpVersion] | None = None
    """In the place of the file's `http`."""
    streams: Counts | None = None
    """Of each connection of the file's pool, over HTTP/2."""
    arrivals: Levels[float] | None = None
    """Sessions per second, in the place of the file's `arrivals`."""
    rate: Annotated[Literal["common"] | None, BeforeValidator(_common)] = None
    """`common`: as many sessions per second as all sustain."""
    duration: Nanoseconds | None = None
    """None: as long as the file's stages, where it has any; else as the study."""
    warmup: Nanoseconds | None = None

    @model_validator(mode="after")
    def _is_of_file(self) -> Self:
        if self.contract != TRAFFIC or self.path is not None or self.payload is not None:
            raise ValueError("`traffic` says what is sent: leave contract, path and payload out")
        if self.shares and self.arrivals is not None:
            raise ValueError("`shares` are of what users reach: leave `arrivals` out")
        # Shares are of the highest rate, found by a search or reached by the users.
        decided = {"rate": self.rate, "knee": self.knee or self.shares}
        names = {"rate": "rate", "knee": "knee" if self.knee else "shares"}
        said = [names[name] for name, value in decided.items() if value is not None]
        if len(said) > 1 or (said and self.arrivals is not None):
            one, other = [*said, "arrivals"][:2]
            raise ValueError(f"`{one}` and `{other}` exclude each other")
        return self

    @cached_property
    def scenario(self) -> Scenario:
        """What the file says."""
        return compile_at(Path(self.traffic), self.variables, None)

    def beside(self, folder: Path) -> Self:
        """The same with its file in the study's folder; what is wrong in the file is raised."""
        found = self.model_copy(update={"traffic": str(self._place(folder))})
        over = sessions.protocols(found.scenario)
        if "protocol" not in self.model_fields_set:
            return found.model_copy(update={"protocol": over[:1]})
        if others := [protocol for protocol in self.protocol if protocol not in over]:
            raise UsageProblem(
                f"workload {self.name}: {self.traffic} goes over {' and '.join(over)},"
                f" and not over {others[0]}",
                f'write protocol = "{over[0]}", or another base in {self.traffic}',
            )
        return found

    def _place(self, folder: Path) -> Path:
        """Where the file is. In a package the files of contracts lie elsewhere."""
        beside, root = folder / self.traffic, SUBJECTS.root()
        if beside.exists() or root is None or not self.traffic.startswith(FROM_SUBJECTS):
            return beside
        return root / self.traffic.removeprefix(FROM_SUBJECTS)

    def require_own_pace(self) -> None:
        """Raises where trials decide the rate, and the file's users would hold it back."""
        if not self.is_decided:
            return
        sending = self._sending(self._first())
        if sending.thinks:
            raise UsageProblem(
                f"workload {self.name}: users of {self.file} think, so it is their number that"
                " limits the rate",
                'leave their think times out, or write `arrivals` in place of `knee` or "common"',
            )
        # How many sessions come is known when it is too late.
        loads.require_rows(sending, math.inf)

    @property
    def is_decided(self) -> bool:
        """Whether trials decide the rate of sessions."""
        return self.is_common or self.knee is not None

    @property
    def counts(self) -> str:
        return f"sessions of {', '.join(one.name for one in self.scenario.traffic.asked)}"

    @property
    def is_closed(self) -> bool:
        sending = self._sending(self._first())
        return isinstance(sending.load.executor, ClosedLoop) and not sending.thinks

    @property
    def goals(self) -> tuple[Goal, ...]:
        return self.scenario.goals

    @property
    def file(self) -> str | None:
        return Path(self.traffic).name

    @property
    def ranked_by(self) -> str | None:
        return sessions.ranked_by(self._sending(self._first()))

    def _first(self) -> dict[str, Any]:
        """The first level of each."""
        return {name: levels[0] for name, levels in self._own_levels().items()}

    def _own_levels(self) -> Factors:
        names = ("users", "arrivals", "http", "streams")
        return {name: several(getattr(self, name)) for name in names}

    def levels(self) -> Factors:
        said = {
            name: levels
            for name, levels in self._own_levels().items()
            # What others have always had, they have; these are told where they are said.
            if name in ("users", "arrivals") or levels != (None,)
        }
        if self.is_common:
            said["rate"] = (COMMON,)
        return super().levels() | said

    def request(self, levels: Mapping[str, Any], headers: Mapping[str, str]) -> Request:
        # A request's own header follows, and a study's own counts for all of them.
        own = (*self.scenario.headers, *headers.items())
        version = self._sending(levels).http
        return Request("/", Http(version=version, headers=own), Message(), Expect())

    def asked(self, levels: Mapping[str, Any]) -> dict[str, Any]:
        sending = self._sending(levels)
        return {
            "traffic": sending.traffic,
            "load": sending.load,
            "duration_ns": self.duration or sending.stages_ns,
            "warmup_allowance_ns": self.warmup,
            **self.common_rate(),
            **(own_rate(levels) or {"knee": self.knee}),
        }

    def load_words(self, levels: Mapping[str, Any]) -> list[str]:
        sending = self._sending(levels)
        if share := share_of(levels):
            return [f"sessions of {self.file}", wording.words("share", share)]
        if self.is_common:
            return [f"sessions of {self.file}", wording.words("rate", COMMON)]
        if self.knee is not None:
            return [f"sessions of {self.file}", self.knee_words()]
        return [f"sessions of {self.file}", sessions.words(sending)]

    def description(self, levels: Mapping[str, Any]) -> str:
        told = wording.told(levels, wording.BEHIND)
        return f"{self.name}: {', '.join(self.load_words(levels) + told)}"

    def _sending(self, levels: Mapping[str, Any]) -> Sending:
        users, rate = levels["users"], levels["arrivals"]
        if share_of(levels) or self.is_decided:
            # As many users as at the top: what is known of their sessions comes later.
            users, rate = users or self.scenario.load.users or loads.USERS, UNKNOWN_RATE
        instead = Instead(
            users=users,
            rate=rate,
            http=levels.get("http"),
            streams=levels.get("streams"),
        )
        return loads.sending(self.scenario, instead)
