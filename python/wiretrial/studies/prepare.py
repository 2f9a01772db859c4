"""Before the first trial: every subject installed, verified, and admitted to what it can do.

Knows installation and verification; must not know in what order trials run.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from wiretrial.engine import Engine
from wiretrial.errors import SubjectFailed, SubjectUnavailable
from wiretrial.machine import preflight
from wiretrial.results.adoption import Adopted
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import admission, environments
from wiretrial.studies.events import Event, Preparing, Unavailable, Weighed
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import build, registry, verification
from wiretrial.subjects.build import Build
from wiretrial.subjects.spec import ConfigurationName, Subject

LARGEST_CONNECT_RATE = 20_000
"""New connections per second that a fresh-connection load may reach on one machine."""


@dataclass(frozen=True)
class Ready:
    """A subject that may be measured for a scenario."""

    subject: Subject
    build: Build


def require(study: Study, results: ResultsFolder) -> None:
    """Refuses a study that this machine can't carry."""
    for case in study.cases:
        seconds = (study.duration_of(case) + study.warmup_of(case)) / 1e9
        most = LARGEST_CONNECT_RATE * min(seconds, 60)
        # Without addresses of ours, the far end and the kernel decide how many ports are enough.
        fresh = case.load.requests_per_connection is not None and bool(case.sources)
        preflight.require(
            preflight.Demand(
                connections=case.load.connections,
                source_addresses=max(1, len(case.sources)),
                fresh_connections=round(min(case.messages or most, most)) if fresh else 0,
                trials=sum(map(study.trials_of, study.cases)),
                folder=results.folder,
            )
        )


def prepare(study: Study, engine: Engine) -> Generator[Event, None, dict[str, Ready]]:
    """The scenarios whose subject is here, verified, and able to do what they ask."""
    ready: dict[str, Ready] = {}
    places = (case.scenario.environment for case in study.cases if case.url is None)
    no_place = environments.refusals(places, engine.binary)
    wanted: dict[tuple[str, ConfigurationName], list[Case]] = {}
    for case in study.cases:
        if case.url is None:
            key = (case.scenario.subject, case.scenario.configuration)
            wanted.setdefault(key, []).append(case)
    for (name, configuration), cases in wanted.items():
        try:
            subject = registry.find(name)
            subject.configuration(configuration)
            yield Weighed(adopted(subject, None))
            yield Preparing(name, "install")
            built = build.install(subject, engine.binary)
            yield Weighed(adopted(subject, built))
            yield Preparing(name, "verify")
            found = verification.ensure(subject, built, configuration, engine.binary)
        except (SubjectUnavailable, SubjectFailed) as error:
            yield Unavailable(name, error.line())
            continue
        for case in cases:
            place = case.scenario.environment
            refused = no_place.get(place) or admission.refusal(case, found)
            if refused:
                yield Unavailable(name, refused)
            else:
                ready[case.scenario.name] = Ready(subject, built)
    return ready


def adopted(subject: Subject, built: Build | None) -> Adopted:
    """What the subject is like to adopt, as far as its installation tells."""
    spec = subject.spec
    known = {"subject": spec.name, "language": spec.language, "licence": spec.licence}
    if built is None:
        return Adopted.model_validate(known)
    weight = built.weight
    return Adopted.model_validate(
        {
            **known,
            "version": built.version,
            "released": spec.version.released,
            "dependencies": weight.dependencies,
            "dependency_bytes": weight.dependency_bytes,
            "program_bytes": weight.stripped_bytes or weight.artefact_bytes,
            "build_wall_ns": weight.build_wall_ns,
            "build_cpu_ns": weight.build_cpu_ns,
            "service_lines": weight.service_lines,
        }
    )
