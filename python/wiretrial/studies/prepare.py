"""Before the first trial: every subject installed, verified, and admitted to what it can do.

Knows installation and verification; must not know in what order trials run.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wiretrial.browser import front, programs
from wiretrial.engine import Engine
from wiretrial.errors import SubjectFailed, SubjectUnavailable, UsageProblem
from wiretrial.machine import cpu_limits, idle_states, pinning, preflight
from wiretrial.results.adoption import Adopted
from wiretrial.results.model import Revision, SubjectFacts
from wiretrial.studies import admission, controls, environments
from wiretrial.studies.events import Event, Preparing, Unavailable, Weighed
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import build, own_build, registry, verification
from wiretrial.subjects.build import Build
from wiretrial.subjects.own import Own
from wiretrial.subjects.spec import ConfigurationName, Subject
from wiretrial.subjects.verification import Verification

LARGEST_CONNECT_RATE = 20_000
"""New connections per second that a fresh-connection load may reach on one machine."""


@dataclass(frozen=True)
class Ready:
    """A subject that may be measured for a scenario."""

    subject: Subject
    build: Build
    server: Ready | None = None
    """Who answers, where the subject is a client driver."""
    own: Own | None = None
    """What it was made from, where it is a server of one's own."""

    @property
    def answering(self) -> Ready:
        """Who answers."""
        return self.server or self

    def facts(self, configuration: ConfigurationName, **more: Any) -> SubjectFacts:
        """What a record says of it; `more`: how it ran."""
        return SubjectFacts(
            name=self.subject.spec.name,
            version=self.build.version,
            language=self.subject.spec.language,
            digest=self.build.digest,
            # As the recipe gives it: ports and folders change from trial to trial.
            command=self.subject.configuration(configuration).command,
            revision=_revision(self.own),
            **more,
        )


def require_named(study: Study) -> None:
    """Refuses a study of subjects, or of configurations, that do not exist."""
    named = (name for case in study.cases if not (case.url or case.own) for name in _names(case))
    for subject, configuration in dict.fromkeys(named):
        registry.find(subject).configuration(configuration)


def require(study: Study, folder: Path) -> None:
    """Refuses a study that this machine can't carry. `folder`: where its results go."""
    for case in study.cases:
        if case.is_held:
            # By themselves: where one is too large here, the others are measured all the same.
            continue
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
                folder=folder,
            )
        )


def prepare(
    study: Study, engine: Engine, since: float | None = None
) -> Generator[Event, None, dict[str, Ready]]:
    """The scenarios whose subject is here, verified, and able to do what they ask.

    What was built before `since` (seconds of the epoch) is built again.
    """
    ready: dict[str, Ready] = {}
    cases = [case for case in study.cases if case.url is None]
    no_place = environments.refusals((case.scenario.environment for case in cases), engine.binary)
    sizes = {case.cpus for case in cases if case.cpus is not None}
    unlimited = cpu_limits.refusal(min(sizes)) if sizes else None
    kept_awake = any(case.idle_states == "off" for case in cases)
    asleep = idle_states.refusal() if kept_awake else None
    found: dict[_Name, _Found] = {}
    subjects = {case.scenario.subject for case in cases}
    owned = {name: case.own for case in cases if case.own for name in _names(case)}
    for name, own in owned.items():
        found[name] = yield from _build(name[0], own)
    others = (name for case in cases if not case.own for name in _names(case))
    for name in dict.fromkeys(others):
        found[name] = yield from _look(
            name,
            engine,
            since,
            is_subject=name[0] in subjects,
            scenarios=tuple(c.scenario.name for c in cases if next(_names(c)) == name),
        )
    unseen = no_browser(cases, engine)
    for case in cases:
        subject, *servers = (found[name] for name in _names(case))
        if subject.reason:
            # Told already, for all of its scenarios.
            continue
        refused = (
            no_place.get(case.scenario.environment)
            or _too_few_cpus(study, case, subject, unlimited)
            or _asleep(case, asleep)
            or _too_large(case)
            or unseen.get(case.scenario.name)
            or _refusal(case, subject, servers)
        )
        if refused:
            yield Unavailable(case.scenario.subject, refused, (case.scenario.name,))
        else:
            server = servers[0].ready() if servers else None
            ready[case.scenario.name] = subject.ready(server)
    return ready


def no_browser(cases: Sequence[Case], engine: Engine) -> dict[str, str]:
    """Why cases in which a browser sends are not measured, by scenario; the others can be."""
    refused: dict[str, str] = {}
    for program in {case.browsing.program for case in cases if case.browsing}:
        problem, trusts = None, False
        try:
            trusts = programs.find(program).trusts
            front.installed(engine.binary)
        except (UsageProblem, SubjectUnavailable) as error:
            problem = error.line()
        for case in cases:
            browsing = case.browsing
            if browsing is None or browsing.program != program:
                continue
            untrusted = browsing.http != "1.1" and not trusts
            why = problem or (f"{program} needs certutil for TLS" if untrusted else None)
            if why:
                refused[case.scenario.name] = f"{case.scenario.name} is not measured: {why}"
    return refused


def _too_few_cpus(study: Study, case: Case, subject: _Found, unlimited: str | None) -> str | None:
    """Why its server can't have as many CPUs as it should, and no more; None: it can.

    `unlimited`: why CPU time can't be limited here, which less than pinning needs.
    """
    if case.cpus is None:
        return None
    name, threads = case.scenario.name, study.threads_of(case)
    most = subject.subject.spec.max_threads if subject.subject else None
    if most is not None and threads > most:
        what = "thread" if most == 1 else "threads"
        return f"{name} is not measured: {case.scenario.subject} has {most} {what} at most"
    cpus = pinning.choose(threads, study.generator_threads)
    if cpus.problem:
        return f"{name} is not measured: {cpus.problem}"
    if unlimited and case.cpus < len(cpus.server):
        return f"{name} is not measured: {unlimited}"
    return None


def _asleep(case: Case, why: UsageProblem | None) -> str | None:
    """Why it is not measured with CPUs that are kept awake; None: it is."""
    if why is None or case.idle_states == "on":
        return None
    return f"{case.scenario.name} is not measured: {why.line()}"


def _too_large(case: Case) -> str | None:
    """Why so many connections can't be held on this machine, and how many can; None: they can."""
    if not case.is_held:
        return None
    wanted = case.load.connections
    demand = preflight.Demand(
        connections=wanted,
        threads=preflight.threads_for(wanted),
        source_addresses=max(1, len(case.sources)),
    )
    for finding in preflight.check(demand):
        if not finding.enough:
            most = wanted * finding.available // finding.needed
            return (
                f"{case.scenario.name} is not measured: {finding.line()}; about {most:,}"
                " connections would fit"
            )
    return None


def adopted(subject: Subject, built: Build | None) -> Adopted:
    """What the subject is like to adopt, as far as its installation tells."""
    spec = subject.spec
    known = Adopted(subject=spec.name, language=spec.language, licence=spec.licence)
    if built is None:
        return known
    weight = built.weight
    return known.model_copy(
        update={
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


def _revision(own: Own | None) -> Revision | None:
    found = own.revision if own else None
    return Revision(commit=found.commit, dirty=found.dirty) if found else None


_Name = tuple[str, ConfigurationName]


@dataclass(frozen=True)
class _Found:
    """A subject in one configuration, or why there is none."""

    subject: Subject | None = None
    build: Build | None = None
    verified: Verification | None = None
    reason: str | None = None
    own: Own | None = None

    def ready(self, server: Ready | None = None) -> Ready:
        """The same for a scenario that it may be measured for."""
        assert self.subject is not None
        assert self.build is not None
        return Ready(self.subject, self.build, server, self.own)


def _names(case: Case) -> Iterator[_Name]:
    """Whom the case needs: its subject, and whoever answers it where that is not the subject."""
    subject = (case.scenario.subject, case.scenario.configuration)
    yield from dict.fromkeys((subject, case.answering))


def _look(
    name: _Name,
    engine: Engine,
    since: float | None,
    *,
    is_subject: bool,
    scenarios: tuple[str, ...],
) -> Generator[Event, None, _Found]:
    """Installs and verifies, as far as that was not done before. `scenarios`: those it is for."""
    called, configuration = name
    try:
        subject = registry.find(called)
        subject.configuration(configuration)
        if is_subject:
            yield Weighed(adopted(subject, None))
        yield Preparing(called, "install")
        built = build.install(subject, engine.binary, since=since)
        if is_subject:
            yield Weighed(adopted(subject, built))
        yield Preparing(called, "verify")
        verified = verification.ensure(subject, built, configuration, engine.binary)
    except (SubjectUnavailable, SubjectFailed) as error:
        yield Unavailable(called, error.line(), scenarios)
        return _Found(reason=error.line())
    return _Found(subject, built, verified)


def _build(called: str, own: Own) -> Generator[Event, None, _Found]:
    """The server of one's own, built."""
    yield Preparing(called, "build")
    built = own_build.built(own)
    return _Found(built.subject, built.build, own=own)


def _refusal(case: Case, subject: _Found, servers: Sequence[_Found]) -> str | None:
    """Why those who are there can't be measured for it; None: they can."""
    name = case.scenario.name
    assert subject.subject is not None
    if subject.subject.spec.kind != case.subject_kind:
        return f"{name} is not measured: {case.scenario.subject} is no {case.subject_kind}"
    if case.own:
        # Its first trial learns its replies, or rehearses its traffic.
        return controls.refusal(case, subject.subject.configuration(case.answering[1]))
    for answering in servers or (subject,):
        if answering.verified is None:
            return f"{name} is not measured: {answering.reason}"
        assert answering.subject is not None
        spec = answering.subject.spec
        refused = admission.unclaimed(case, spec) or admission.without_backend(case, spec)
        chosen = answering.subject.configuration(case.answering[1])
        refused = refused or controls.refusal(case, chosen)
        if refused := refused or admission.refusal(case, answering.verified):
            return refused
    assert subject.verified is not None
    return admission.driver_refusal(case, subject.verified)
