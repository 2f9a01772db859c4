"""Runs a study: verified subjects, trials in random order, each stored before the next begins.

Knows the order of things; must not know how progress is shown. It is a generator of events: leaving
it at any moment ends every process and loses the trial in progress at most.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from wiretrial.engine import Engine
from wiretrial.errors import EngineFailed, SubjectFailed, SubjectUnavailable, UsageProblem
from wiretrial.machine import facts, pinning, preflight
from wiretrial.plan import GeneratorSettings, Phases, Plan, Stop, Target
from wiretrial.results.model import SubjectFacts, Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.snapshot import Snapshot
from wiretrial.studies import order
from wiretrial.studies.recording import Recording
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import build, registry, verify
from wiretrial.subjects.build import Build
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import ConfigurationName, Subject

LARGEST_CONNECT_RATE = 20_000
"""New connections per second that a fresh-connection load may reach on one machine."""


@dataclass(frozen=True)
class Preparing:
    """A subject is being installed or verified."""

    subject: str
    step: str


@dataclass(frozen=True)
class Unavailable:
    """A subject can't be measured here; its scenarios are left out."""

    subject: str
    reason: str


@dataclass(frozen=True)
class TrialBegun:
    """A trial starts. `number` counts from 1 over all trials of the study."""

    slot: order.Slot
    number: int
    total: int


@dataclass(frozen=True)
class Seen:
    """The engine told something about the trial in progress."""

    snapshot: Snapshot


@dataclass(frozen=True)
class TrialDone:
    """A trial is measured, judged and stored."""

    trial: Trial
    number: int
    total: int


@dataclass(frozen=True)
class TrialFailed:
    """A trial could not be measured; the study goes on, and a resumed one tries it again."""

    slot: order.Slot
    reason: str


Event = Preparing | Unavailable | TrialBegun | Seen | TrialDone | TrialFailed


@dataclass(frozen=True)
class _Ready:
    subject: Subject
    build: Build


def run(study: Study, results: ResultsFolder, engine: Engine) -> Iterator[Event]:
    """Measures whatever of `study` is not in `results` yet."""
    cpus = pinning.choose(study.server_threads, study.generator_threads)
    _require(study, results)
    done = _done(study, results)
    slots = list(
        order.slots([case.scenario.name for case in study.cases], study.trials, study.seed)
    )
    if all((slot.block, slot.scenario) in done for slot in slots):
        return
    ready = yield from _prepare(study, engine)
    machine = {**facts.collect(), "cpus_apart": cpus.problem is None}
    for number, slot in enumerate(slots, start=1):
        case = study.case(slot.scenario)
        key = (case.scenario.subject, case.scenario.configuration)
        if (slot.block, slot.scenario) in done or (case.url is None and key not in ready):
            continue
        yield TrialBegun(slot=slot, number=number, total=len(slots))
        try:
            trial = yield from _trial(study, case, slot, engine, cpus, machine, ready.get(key))
        except (SubjectFailed, EngineFailed) as error:
            yield TrialFailed(slot=slot, reason=error.line())
            continue
        results.add(trial)
        yield TrialDone(trial=trial, number=number, total=len(slots))


def plan_of(study: Study, case: Case, url: str, cpus: pinning.Pinning) -> Plan:
    """The load plan of one trial."""
    return Plan(
        target=Target(
            url=url,
            sources=case.sources,
            http=case.http,
            tls=case.tls,
            message=case.message,
            expect=case.expect,
        ),
        load=case.load,
        stop=Stop(duration_ns=study.duration_ns),
        phases=Phases(warmup_ns=study.warmup_allowance_ns),
        generator=GeneratorSettings(threads=study.generator_threads, cpus=cpus.generator),
    )


def _require(study: Study, results: ResultsFolder) -> None:
    """Refuses a study that this machine can't carry."""
    seconds = (study.duration_ns + study.warmup_allowance_ns) / 1e9
    for case in study.cases:
        # Without addresses of ours, the far end and the kernel decide how many ports are enough.
        fresh = case.load.requests_per_connection is not None and bool(case.sources)
        preflight.require(
            preflight.Demand(
                connections=case.load.connections,
                source_addresses=max(1, len(case.sources)),
                fresh_connections=round(LARGEST_CONNECT_RATE * min(seconds, 60)) if fresh else 0,
                trials=study.trials * len(study.cases),
                folder=results.folder,
            )
        )


def _done(study: Study, results: ResultsFolder) -> set[tuple[int, str]]:
    digest = study.digest()
    stored = results.trials()
    for trial in stored:
        if trial.study_digest != digest:
            raise UsageProblem(
                f"{results.folder} holds trials of another study than it says",
                "begin a new folder",
            )
    return {(trial.block, trial.scenario.name) for trial in stored}


def _prepare(study: Study, engine: Engine) -> Generator[Event, None, dict[tuple[str, str], _Ready]]:
    """Installs every subject and verifies each configuration that the study uses."""
    ready: dict[tuple[str, str], _Ready] = {}
    wanted = {
        (case.scenario.subject, case.scenario.configuration): None
        for case in study.cases
        if case.url is None
    }
    for name, configuration in wanted:
        try:
            subject = registry.find(name)
            yield Preparing(name, "install")
            built = build.install(subject, engine.binary)
            yield Preparing(name, "verify")
            _verify(study, subject, built, configuration, engine)
        except (SubjectUnavailable, SubjectFailed) as error:
            yield Unavailable(name, error.line())
            continue
        ready[name, configuration] = _Ready(subject, built)
    return ready


def _verify(
    study: Study, subject: Subject, built: Build, configuration: ConfigurationName, engine: Engine
) -> None:
    with Server(
        subject, built, configuration, engine=engine.binary, threads=study.server_threads
    ) as server:
        server.wait_ready()
        for outcome in verify.verify(subject.spec, server.endpoint):
            if outcome.problem:
                raise SubjectFailed(
                    f"{subject.spec.name} ({configuration}) breaks {outcome.contract} over"
                    f" {outcome.protocol} ({outcome.check}): {outcome.problem}",
                    f"see `wiretrial subject verify {subject.spec.name}`",
                )


def _trial(
    study: Study,
    case: Case,
    slot: order.Slot,
    engine: Engine,
    cpus: pinning.Pinning,
    machine: dict[str, Any],
    ready: _Ready | None,
) -> Generator[Event, None, Trial]:
    if ready is None:
        assert case.url is not None
        plan = plan_of(study, case, case.url, cpus)
        return (yield from _record(study, case, slot, engine, plan, machine, None, None))
    with Server(
        ready.subject,
        ready.build,
        case.scenario.configuration,
        engine=engine.binary,
        threads=study.server_threads,
        cpus=cpus.server,
    ) as server:
        server.wait_ready()
        endpoint = server.endpoint(case.protocol)
        tls = case.tls.model_copy(update={"ca_file": str(server.certificate.authority)})
        secure = endpoint.tls() is not None
        plan = plan_of(
            study,
            case.model_copy(update={"tls": tls}) if secure else case,
            endpoint.url(case.path),
            cpus,
        )
        subject = SubjectFacts(
            name=ready.subject.spec.name,
            version=ready.build.version,
            language=ready.subject.spec.language,
            digest=ready.build.digest,
            # As the recipe gives it: ports and folders change from trial to trial.
            command=ready.subject.configuration(case.scenario.configuration).command,
            threads=study.server_threads,
            cpus=cpus.server,
        )
        return (yield from _record(study, case, slot, engine, plan, machine, subject, server))


def _record(
    study: Study,
    case: Case,
    slot: order.Slot,
    engine: Engine,
    plan: Plan,
    machine: dict[str, Any],
    subject: SubjectFacts | None,
    server: Server | None,
) -> Generator[Event, None, Trial]:
    with Recording(engine, plan, server.pid if server else None) as recording:
        for snapshot in recording:
            yield Seen(snapshot)
    return recording.trial(
        study=study.name,
        study_digest=study.digest(),
        block=slot.block,
        position=slot.position,
        order_seed=slot.order_seed,
        scenario=case.scenario,
        subject=subject,
        machine=machine,
        server_end=server.ended() if server else None,
    )
