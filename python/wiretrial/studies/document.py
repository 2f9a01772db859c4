"""`study.toml`: a question, what is measured to answer it, and what was claimed before.

Knows the document's fields and what makes sense; must not know how scenarios are multiplied out
(`matrix`) or run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from pydantic import Field, model_validator

from wiretrial import suggest
from wiretrial.catalogues import STUDIES
from wiretrial.documents import read_toml, require_among
from wiretrial.errors import UsageProblem
from wiretrial.results.claims import Claim
from wiretrial.studies.decided import Common
from wiretrial.studies.fields import Count, Nanoseconds, Pacing, Part, Share
from wiretrial.studies.kinds import AnyWorkload, Open
from wiretrial.studies.played import Played
from wiretrial.studies.sized import Limited
from wiretrial.studies.workload import Quick, Workload

DOCUMENT = STUDIES.document


class Provocation(Part):
    """An artefact that is shown on purpose: a small study of its own, run by `--provoke`."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    question: str
    subjects: tuple[str, ...] = Field(min_length=1)
    trials: Count = 5
    workload: tuple[AnyWorkload, ...] = Field(min_length=1)


_OF_PROVOCATIONS = ("title", "question", "subjects", "trials", "workload")


class Document(Part):
    """One study as its author wrote it."""

    title: str
    question: str
    subjects: tuple[str, ...] = Field(min_length=1)
    """Names of the catalogue or folders, with `:tuned` for that configuration."""
    trials: Count = 5
    duration: Nanoseconds = 5_000_000_000
    warmup: Nanoseconds = 1_000_000_000
    """No warm-up is cut beyond this; it is found from the data."""
    priming: Nanoseconds | None = None
    """The longest that a server which compiles itself is asked before a trial; None: as long as the
    trial lasts."""
    priming_connections: Count | None = None
    """So few connections ask it then, and it may use every CPU; None: as many as in the trial, on
    its own CPUs. A load that takes all CPU time leaves none to what compiles the server."""
    priming_at_rate: Nanoseconds = 0
    """How long it is asked after that as in the trial, where that has a rate: at up to eight times
    that, but at half of what it answered without pause at most. What was compiled for a load
    without pause is compiled anew when the server begins to wait between requests."""
    priming_at_full_speed: Nanoseconds = 0
    """How long it is asked after few connections on as many as in the trial, where that has no
    rate."""
    generator_threads: Count = 1
    headers: dict[str, str] = Field(default_factory=dict)
    """HTTP headers of each workload that has requests."""
    insecure: bool = False
    """With --target: any certificate is accepted."""
    cacert: str | None = None
    """With --target: a PEM file of authorities to trust, relative to the study's folder."""
    allow_errors: Share = 0
    """The share of messages that may fail in a trial, such as `0.1%`, without making it invalid."""
    budget: Nanoseconds | None = None
    """No more time than this; trials are left out evenly to keep it."""
    twin: str | None = None
    """The subject that is measured twice, as an A/A pair; None: the first."""
    baseline: str | None = None
    """The subject with which the verdict compares; None: the best."""
    adoption: bool = False
    """Whether the report shows what each subject is like to adopt: licence, age, weight."""
    starts: int = Field(default=0, ge=0)
    """How often each of `subjects` that is a server is started, on each occasion, to time its first
    right reply."""
    chart: (
        Literal[
            "connections",
            "payload",
            "rate",
            "depth",
            "streams",
            "requests_per_connection",
            "messages_per_call",
        ]
        | None
    ) = None
    """The factor that a picture shows along its axis."""
    pictures: dict[str, str] = Field(default_factory=dict)
    """Files of the study's `results/`, each with the report's picture that it is."""
    workload: tuple[AnyWorkload, ...] = Field(min_length=1)
    quick: Quick = Field(default_factory=Quick)
    claim: tuple[Claim, ...] = ()
    provocation: tuple[Provocation, ...] = ()

    def provoking(self, name: str) -> Document:
        """The small study that shows the artefact called `name`."""
        for one in self.provocation:
            if one.name == name:
                return self.model_copy(
                    update={
                        **{field: getattr(one, field) for field in _OF_PROVOCATIONS},
                        "twin": None,
                        "baseline": None,
                        "chart": None,
                        "claim": (),
                        "adoption": False,
                        "starts": 0,
                    }
                )
        known = [one.name for one in self.provocation]
        raise UsageProblem(
            f"this study has no artefact {name!r} to provoke",
            suggest.remedy(name, known) if known else "leave --provoke out",
        )

    def paced(self, pacing: str) -> Document:
        """The study with this pacing in every workload that has a rate for each connection.

        The others, and what was published, are left out.
        """
        known = get_args(Pacing)
        if pacing not in known:
            raise UsageProblem(f"--pacing {pacing!r}: unknown", suggest.remedy(pacing, known))
        kept = tuple(
            workload.model_copy(update={"pacing": (pacing,)})
            for workload in self.workload
            if isinstance(workload, Open) and workload.rate_each
        )
        if not kept:
            raise UsageProblem(
                "--pacing is for studies with a rate for each connection", "leave it out"
            )
        return self.model_copy(update={"workload": kept, "claim": ()})

    @property
    def is_rather_awake(self) -> bool:
        """Whether a workload asks for CPUs that are kept awake where they can be."""
        return any(isinstance(one, Limited) and one.is_rather_awake for one in self.workload)

    def asleep(self, why: str) -> Document:
        """The study on a machine where they can't be; its question ends with the reason."""
        told = f"{self.question.rstrip()} CPUs are left as they are: {why}."
        workloads = (one.asleep() if isinstance(one, Limited) else one for one in self.workload)
        return self.model_copy(update={"question": told, "workload": tuple(workloads)})

    @model_validator(mode="after")
    def _names(self) -> Document:
        names = [workload.name for workload in self.workload]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"two workloads are called {min(twice)!r}")
        for workload in self.workload:
            if isinstance(workload, Common):
                told = f"rate_of = {workload.rate_of!r}: there is no such workload"
                require_among(workload.rate_of, names, told)
        named = dict.fromkeys((*names, *(one.family for one in self.workload if one.family)))
        for claim in self.claim:
            for side in claim.sides:
                told = f"a claim speaks of {side.workload!r}: no such workload"
                require_among(side.workload, named, told)
        if self.insecure and self.cacert:
            raise ValueError("`insecure` and `cacert` exclude each other")
        told = f"twin = {self.twin!r} is not among the subjects"
        require_among(self.twin, self.subjects, told)
        return self


def read(path: Path) -> Document:
    """The document in `path`, a file or a folder with a `study.toml`."""
    file = path / DOCUMENT if path.is_dir() else path
    found = read_toml(file, Document, f"a study is a folder with a {DOCUMENT}")
    provoked = (
        one.model_copy(update={"workload": _beside(one.workload, file)})
        for one in found.provocation
    )
    found = found.model_copy(
        update={
            "workload": _beside(found.workload, file),
            "provocation": tuple(provoked),
        }
    )
    if found.cacert is None:
        return found
    return found.model_copy(update={"cacert": str((file.parent / found.cacert).resolve())})


def _beside(workloads: tuple[Workload, ...], file: Path) -> tuple[Workload, ...]:
    """The workloads with their traffic files in the study's folder."""
    found = tuple(one.beside(file.parent) if isinstance(one, Played) else one for one in workloads)
    named = {one.name: one for one in found}
    for one in found:
        if isinstance(one, Played):
            one.require_own_pace()
        if isinstance(one, Common) and (source := named.get(one.rate_of or "")):
            _require_like(one, source, file)
    return found


def _require_like(workload: Common, source: Workload, file: Path) -> None:
    """Raises where what subjects reach in `source` is no rate of this workload."""
    if why := workload.unlike(source):
        raise UsageProblem(
            f"{file}: workload {workload.name}: rate_of = {workload.rate_of!r}: {why}",
            "name a closed-loop workload that asks the same",
        )
