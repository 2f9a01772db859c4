"""The generator's own ceiling for each load of a study, measured before its first trial.

Knows which loads differ, and how they are put to the reference server; must not know what is
concluded from it. It is kept beside the trials, so that a study that is resumed has the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wiretrial.engine import Engine
from wiretrial.errors import EngineFailed, SubjectFailed
from wiretrial.machine import pinning
from wiretrial.plan import (
    SECURE,
    ClosedLoop,
    EchoContent,
    Expect,
    GeneratorSettings,
    LearnedContent,
    Load,
    NoPayload,
    OpenLoop,
    Phases,
    Plan,
    RandomBurst,
    Stop,
    Target,
)
from wiretrial.results import hdr, quantiles
from wiretrial.results.ceiling import Ceiling, Pacing
from wiretrial.results.store import ResultsFolder
from wiretrial.snapshot import Interval, Snapshot, Summary
from wiretrial.studies import calls, environments
from wiretrial.studies.contracts import PATHS
from wiretrial.studies.events import Event, Preparing
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import build, registry
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import ContractName

FILE = "calibration.json"
SHARE = 0.1
"""Of the study's time, at most."""
MOST_LOADS = 16
LONGEST_NS = 1_000_000_000
SHORTEST_NS = 300_000_000
"""Below this, a load is not calibrated."""
WARMUP_NS = 200_000_000
AROUND_NS = 150_000_000
"""What starting an engine and its drain take."""
START_NS = 500_000_000
"""What starting and ending a server takes."""
PACING_RATE = 1000.0
PACING_NS = 500_000_000
UPPER = 0.75
"""The quantile of the intervals that counts: a disturbance can only make them slower."""

REFERENCE = "reference"
OFFERING = "reference-http3"
"""The same where it offers HTTP/2 inside TLS, and HTTP/3."""


class Calibration(BaseModel):
    """What was found, by load."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_name: Literal["wiretrial-calibration"] = Field(
        default="wiretrial-calibration", alias="schema"
    )
    version: Literal[1] = 1
    ceilings: dict[str, Ceiling] = Field(default_factory=dict)
    pacing: Pacing | None = None

    def ceiling(self, study: Study, case: Case) -> Ceiling | None:
        """The ceiling of a case's load; None where it was not measured."""
        return self.ceilings.get(load_of(study, case))


NOTHING: Final = Calibration()


def ensure(
    study: Study,
    cases: Iterable[Case],
    results: ResultsFolder,
    engine: Engine,
    budget_ns: int,
    occasion: int = 1,
) -> Generator[Event, None, Calibration]:
    """What was kept of the occasion, and in the time that is left, what is missing of it."""
    file = _file(occasion)
    kept = _read(results, file)
    missing = [
        case
        for case in _distinct(study, cases)
        # How many copies come is decided by who publishes: there is no ceiling to be found so.
        if case.publishing is None and kept.ceiling(study, case) is None
    ]
    paced = kept.pacing is None and any(isinstance(c.load.executor, OpenLoop) for c in study.cases)
    chosen, length_ns = _fitting(missing[:MOST_LOADS], budget_ns)
    if not chosen:
        return kept
    yield Preparing(REFERENCE, "calibrate against")
    found, pacing = dict(kept.ceilings), kept.pacing
    for place in dict.fromkeys(map(_stand, chosen)):
        here = [case for case in chosen if _stand(case) == place]
        try:
            with _reference(study, engine, *place) as ask:
                for case in here:
                    if ceiling := _ceiling(ask(_closed(case), length_ns)):
                        found[load_of(study, case)] = ceiling
                if paced and pacing is None:
                    pacing = _pacing(ask, here[0])
        except (SubjectFailed, EngineFailed):
            # Trials go without: what can't be measured here they will say themselves.
            continue
    made = Calibration(ceilings=found, pacing=pacing)
    results.write(file, made.model_dump_json(by_alias=True, indent=1).encode())
    return made


def load_of(study: Study, case: Case) -> str:
    """Names a load: cases with the same name are alike to the generator."""
    decisive = [
        case.protocol,
        case.contract,
        _asked(case.redacted()).model_dump(mode="json", by_alias=True),
        _closed(case).load.model_dump(mode="json"),
        _place(case),
        study.generator_threads,
        # Nothing is added where it is as usual, so that what was kept has its name still.
        *([] if case.tls.resumption else ["whole handshakes"]),
    ]
    return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()[:16]


def _place(case: Case) -> str:
    """Where the generator is measured: over a link, it would be the link that is."""
    return environments.without_link(case.scenario.environment)


def _stand(case: Case) -> tuple[str, str]:
    """The same, and which reference server answers there."""
    is_offered = case.protocol in SECURE and case.http.version != "1.1"
    return _place(case), OFFERING if is_offered else REFERENCE


def _distinct(study: Study, cases: Iterable[Case]) -> list[Case]:
    """One case for each load that the reference server can answer; closed loops come first."""
    first = sorted(cases, key=lambda case: not isinstance(case.load.executor, ClosedLoop))
    speaks = registry.find(REFERENCE).spec.speaks
    spoken = [
        case
        for case in first
        if (case.protocol in speaks or case.contract == calls.CONTRACT) and _is_plain(case)
    ]
    found: dict[str, Case] = {}
    for case in spoken:
        found.setdefault(load_of(study, case), case)
    return list(found.values())


def _is_plain(case: Case) -> bool:
    """Whether there is a throughput to reach, and the reference server does without being told."""
    # Calls say no version of HTTP, and the server for those offers none but 1.1 inside TLS.
    is_offered = case.contract != calls.CONTRACT or case.protocol not in SECURE
    is_kept = not case.is_held and case.websocket.deflate is None and not case.http.early_data
    return is_kept and is_offered and case.traffic is None


def _fitting(cases: Sequence[Case], budget_ns: int) -> tuple[Sequence[Case], int]:
    """As many as the time allows, and how long each may take."""
    around = WARMUP_NS + AROUND_NS
    servers = START_NS * len(set(map(_stand, cases)))
    left = budget_ns - servers
    many = min(len(cases), max(0, left // (SHORTEST_NS + around)))
    return (cases[:many], min(LONGEST_NS, left // many - around)) if many else ((), 0)


_Asks = Callable[[Case, int], list[Snapshot]]
"""Puts a case's load to the reference server for so long."""


@contextlib.contextmanager
def _reference(study: Study, engine: Engine, environment: str, name: str) -> Iterator[_Asks]:
    """A reference server, and the generator on the CPUs of the trials."""
    subject = registry.find(name)
    cpus = pinning.choose(study.server_threads, study.generator_threads)
    with (
        environments.make(environment, engine.binary, cpus=cpus) as isolation,
        Server(
            subject,
            build.install(subject, engine.binary),
            "default",
            engine=engine.binary,
            threads=max(1, len(cpus.server)),
            cpus=cpus.server,
            isolation=isolation,
            host=engine.server_host,
        ) as server,
    ):
        server.wait_ports()

        def ask(case: Case, length_ns: int) -> list[Snapshot]:
            endpoint, target = server.endpoint(case.spoken), _asked(case)
            here: dict[str, object] = {"url": endpoint.url(target.url), "sources": case.sources}
            if endpoint.tls():
                trusted = {"ca_file": str(endpoint.authority), "server_name": None}
                here["tls"] = case.tls.model_copy(update=trusted)
            if isolation and case.sources:
                here["sources"] = isolation.sources
            plan = Plan(
                target=target.model_copy(update=here),
                load=case.load,
                stop=Stop(duration_ns=length_ns),
                phases=Phases(warmup_ns=WARMUP_NS, drain_ns=WARMUP_NS),
                generator=GeneratorSettings(threads=study.generator_threads, cpus=cpus.generator),
            )
            with engine.run(plan) as run:
                return list(run)

        yield ask


def _ceiling(seen: Sequence[Snapshot]) -> Ceiling | None:
    """What the generator reached; None where that is not clean."""
    if any(isinstance(one, Summary) and any(one.counters.errors.values()) for one in seen):
        return None
    measured = [one for one in seen if isinstance(one, Interval) and one.phase == "measure"]
    return upper([one for one in measured if not one.disturbed] or measured)


def _pacing(ask: _Asks, case: Case) -> Pacing | None:
    """How late the generator sends what is due, where it has hardly anything to do."""
    load = Load(connections=case.load.connections, executor=OpenLoop(rate=PACING_RATE))
    seen = ask(case.model_copy(update={"load": load, "sources": ()}), PACING_NS)
    (summary,) = (one for one in seen if isinstance(one, Summary))
    lag = hdr.merge(filter(None, [summary.histograms.get("pacing_lag")]))
    if not lag.count:
        return None
    return Pacing(
        rate=PACING_RATE,
        messages=lag.count,
        lag_p50_ns=quantiles.told(lag, 0.5),
        lag_p99_ns=quantiles.told(lag, 0.99),
    )


def upper(intervals: Sequence[Interval]) -> Ceiling | None:
    """The ceiling that these intervals show; None where there was no reply."""
    rates = [one.counters.ok * 1e9 / (one.end_ns - one.start_ns) for one in intervals]
    if not rates:
        return None
    at = sorted(range(len(rates)), key=rates.__getitem__)[math.ceil(UPPER * len(rates)) - 1]
    used = intervals[at].generator.loop_utilisation
    return (
        Ceiling(reached=rates[at], loop_utilisation=min(used, 1.0)) if rates[at] and used else None
    )


def _asked(case: Case) -> Target:
    """What is sent and expected; the URL is only its path yet."""
    contract = _contract(case)
    if case.contract is not None or contract is None:
        return Target(
            url=case.path,
            http=case.http,
            grpc=case.grpc,
            styx=case.styx,
            message=case.message,
            # What was learned from a server is nothing that the reference server has to keep.
            expect=Expect(content=LearnedContent()) if case.scenario.learned else case.expect,
        )
    # An own server may answer what it likes; the reference server answers as its contract says.
    content = LearnedContent() if contract == "static" else EchoContent()
    return Target(
        url=PATHS[contract], http=case.http, message=case.message, expect=Expect(content=content)
    )


def _contract(case: Case) -> ContractName | None:
    """The case's own, or the one that is most like what an own URL is asked for."""
    if case.contract is not None:
        return case.contract
    match case.protocol:
        case "http" | "https":
            return "static" if isinstance(case.message.source, NoPayload) else "http-echo"
        case "ws" | "wss":
            return "ws-echo"
        case "tcp" | "tls":
            return "raw-echo"
        case _:
            return None


def _closed(case: Case) -> Case:
    """The case with a load that is as fast as it gets."""
    if isinstance(case.load.executor, RandomBurst):
        return case
    load = case.load.model_copy(update={"executor": ClosedLoop()})
    return case.model_copy(update={"load": load})


def _file(occasion: int) -> str:
    """Another machine has another ceiling."""
    return FILE if occasion == 1 else f"calibration-{occasion}.json"


def _read(results: ResultsFolder, file: str) -> Calibration:
    """What is there already. What can't be read is measured again: nothing depends on it yet."""
    try:
        return Calibration.model_validate_json((results.folder / file).read_bytes())
    except (OSError, ValidationError):
        return NOTHING
