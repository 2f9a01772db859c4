"""Multiplies a document out: subjects x workloads x levels, each a case with a name of its own.

Pure. Knows documents and cases; must not know whether a subject exists or how a case is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from typing import Any, NamedTuple, TypeVar

from wiretrial import suggest
from wiretrial.errors import UsageProblem
from wiretrial.plan import (
    AfterResponse,
    ClosedLoop,
    Deflate,
    Hold,
    Load,
    OpenLoop,
    RandomBurst,
    Styx,
    Tls,
    WebSocket,
)
from wiretrial.results.claims import Claim
from wiretrial.results.model import WITHIN, Scenario
from wiretrial.studies import environments, floors, wording
from wiretrial.studies.document import (
    AFTER_RESPONSE,
    COMMON,
    KEPT,
    OPENED,
    STEADY,
    Document,
    Quick,
    Workload,
)
from wiretrial.studies.spec import Case, Driving, RateFrom, Study
from wiretrial.studies.wording import Level
from wiretrial.studies.workloads import (
    FRESH_SOURCES,
    adapted,
    driver_bytes,
    driver_message,
    held_sources,
    request,
)

Item = TypeVar("Item")

TWIN_GROUP = "A/A"
CONNECT_RATE = "connect_rate"
"""Key of the figure that held connections are ranked by."""
SERVER_CPU = "server"
"""Key of the server's CPU per message: what a twin too can be ranked by."""
UNKNOWN_RATE = 1.0
QUICK_TOLERANCE = 0.25
"""A quick search for the highest rate looks no closer."""


def expand(
    name: str,
    document: Document,
    *,
    command: str,
    seed: int,
    trials: int | None = None,
    quick: bool = False,
    only: Sequence[str] = (),
) -> Study:
    """The document as a study that can be run.

    `only`: patterns, one of which a scenario's name or subject must match. Claims that speak of
    others are left out with them.
    """
    chosen = _quickened(document) if quick else document
    whole = [case for workload in chosen.workload for case in _cases(chosen, workload)]
    cases = [case for case in whole if is_wanted(case.scenario, only)]
    if not cases:
        known = (name for case in whole for name in (case.scenario.subject, case.scenario.name))
        raise UsageProblem(
            f"--only {' '.join(only)}: no scenario of {name} matches",
            suggest.remedy(only[0], known, f"`wiretrial study show {name}` lists their names"),
        )
    claims = [claim for claim in chosen.claim if not only or _speaks_of(claim, cases)]
    cases = [_with_rate(case, cases) for case in cases]
    twin = _twin(chosen, cases)
    baselines = [
        case.scenario.name
        for case in cases
        if document.baseline is not None and _label(case.scenario) == document.baseline
    ]
    return Study(
        name=name,
        title=document.title,
        question=document.question,
        command=command,
        cases=(*cases, *([twin] if twin else [])),
        trials=trials or chosen.trials,
        seed=seed,
        duration_ns=chosen.duration,
        warmup_allowance_ns=chosen.warmup,
        generator_threads=chosen.generator_threads,
        allow_errors=chosen.allow_errors,
        baselines=tuple(baselines),
        claims=tuple(claims),
        chart=chosen.chart,
        adoption=chosen.adoption,
        only=tuple(only),
    )


def labels(document: Document) -> list[str]:
    """What its scenarios are called within their groups: what can be compared with."""
    cases = (case for workload in document.workload for case in _cases(document, workload))
    return list(dict.fromkeys(_label(case.scenario) for case in cases))


def is_wanted(scenario: Scenario, only: Sequence[str]) -> bool:
    """Whether one of the patterns names it or its subject; no pattern: all are wanted."""
    names = (scenario.name, scenario.subject, _label(scenario))
    return not only or any(fnmatchcase(name, pattern) for name in names for pattern in only)


def _quickened(document: Document) -> Document:
    quick = document.quick
    return document.model_copy(
        update={
            "trials": quick.trials,
            "duration": min(quick.duration, document.duration),
            "warmup": min(quick.warmup, document.warmup),
            "workload": tuple(
                _fewer_steps(_fewer_iterations(_fewer_levels(workload, quick.levels), quick))
                for workload in document.workload
            ),
        }
    )


def _fewer_levels(workload: Workload, most: int) -> Workload:
    update: dict[str, Any] = {"duration": None, "warmup": None}
    for field in (
        *("payload", "connections", "depth", "pack", "requests_per_connection", "rate"),
        "table_size",
    ):
        levels = getattr(workload, field)
        if isinstance(levels, tuple):
            update[field] = _spread(levels, most)
    if workload.quick:
        update |= workload.quick.model_dump(exclude_none=True)
    return workload.model_copy(update=update)


def _fewer_iterations(workload: Workload, quick: Quick) -> Workload:
    """A driver's repetitions, shorter."""
    return workload.model_copy(
        update={
            "iterations": tuple(
                dict.fromkeys(min(levels, quick.iterations) for levels in workload.iterations)
            ),
            "warmup_iterations": min(workload.warmup_iterations, quick.warmup_iterations),
        }
    )


def _fewer_steps(workload: Workload) -> Workload:
    """A search that ends sooner, with a coarser answer."""
    if workload.knee is None:
        return workload
    tolerance = max(workload.knee.tolerance, QUICK_TOLERANCE)
    return workload.model_copy(
        update={"knee": workload.knee.model_copy(update={"tolerance": tolerance})}
    )


def _spread(levels: tuple[Item, ...], most: int) -> tuple[Item, ...]:
    """At most so many of them, the first and the last among them."""
    if len(levels) <= most:
        return levels
    if most == 1:
        return levels[:1]
    return tuple(levels[round(at * (len(levels) - 1) / (most - 1))] for at in range(most))


def _cases(document: Document, workload: Workload) -> Iterator[Case]:
    factors = _factors(workload)
    varied = _varied(document, workload)
    several = len(document.workload) > 1
    titled = workload.family or workload.name
    for combination in product(*factors.values()):
        levels = dict(zip(factors, combination, strict=True))
        words = {name: said for name in varied if (said := wording.words(name, levels[name]))}
        told = [said for name, said in words.items() if name not in workload.compare]
        beside = [said for name, said in words.items() if name in workload.compare]
        head = [titled] if several or not told else []
        title = ", ".join([*head, *told])
        for subject in workload.subjects or document.subjects:
            own = (workload.label or "{subject}").replace("{subject}", subject)
            whole = ", ".join([own, *beside])
            called = whole if not several and not told else f"{whole}: {title}"
            names = _Names(called, own, title, None)
            if workload.compare:
                # What differs is those factors then, and a group holds nothing else that does.
                names = _Names(called, ", ".join(beside), ", ".join([*head, own, *told]), own)
            yield _case(document, workload, subject, levels, names)


class _Names(NamedTuple):
    """What a scenario is called, within its study and within its group, and the group."""

    name: str
    label: str
    title: str
    within: str | None
    """Whose levels the group compares; None: it compares subjects."""


LABELLED = ("protocol", "payload")
"""In a family, labels tell workloads of other protocols apart, and say what those send."""


def _varied(document: Document, workload: Workload) -> list[str]:
    """The factors that tell its scenarios apart, and from those of others in its family."""
    own = _factors(workload)
    relatives = [own]
    if workload.family is not None:
        same = (other for other in document.workload if other.family == workload.family)
        relatives = [_factors(other) for other in same]
    found = []
    for name, levels in own.items():
        seen = {level for factors in relatives for level in factors.get(name, ())}
        if len(levels) > 1 or (len(seen) > 1 and name not in LABELLED):
            found.append(name)
    return found


def _factors(workload: Workload) -> dict[str, Sequence[Level | None]]:
    common: dict[str, Sequence[Level | None]] = {
        "protocol": workload.protocols(),
        "payload": workload.payload if isinstance(workload.payload, tuple) else (workload.payload,),
    }
    if workload.server:
        return {
            **common,
            "mode": workload.mode,
            "iterations": workload.iterations,
            "ipv6": workload.ipv6,
            "environment": workload.environment,
            "server_threads": workload.server_threads,
        }
    if workload.pattern != (STEADY,):
        common["pattern"] = workload.pattern
    if any(workload.deflate):
        common["deflate"] = tuple("on" if on else "off" for on in workload.deflate)
    return {
        **common,
        "connections": workload.connections,
        "depth": workload.depth,
        "pack": workload.pack,
        "requests_per_connection": workload.requests_per_connection or (None,),
        "requests_each": workload.requests_each or (None,),
        "rate": workload.rate if isinstance(workload.rate, tuple) else (workload.rate,),
        "requests": workload.requests or (None,),
        "delay_ms": workload.delay_ms,
        "environment": workload.environment,
        "server_threads": workload.server_threads,
        **({"pacing": workload.pacing} if len(workload.pacing) > 1 else {}),
        **(
            {"table_size": workload.table_size, "lobby": workload.lobby}
            if workload.contract == "table"
            else {}
        ),
    }


def _case(
    document: Document, workload: Workload, subject: str, chosen: Mapping[str, Any], names: _Names
) -> Case:
    name, _, configuration = subject.partition(":")
    levels = _fitted(workload, name, chosen)
    asked = request(workload.contract, levels["payload"], workload.path, levels["protocol"])
    asked = adapted(asked, document, workload, levels["protocol"])
    driving = _driving(workload, levels)
    if driving:
        asked = asked._replace(message=driver_message(driving.payload))
    load = _load(workload, levels) if driving is None else driving.load()
    opened = levels.get("requests_per_connection") == OPENED
    shown = {factor: level for factor, level in levels.items() if level is not None}
    if workload.environment == (environments.LOOPBACK,) and workload.family is None:
        del shown["environment"]
    if workload.host is None:
        shown.pop("ipv6", None)
    case = Case(
        scenario=Scenario(
            name=names.name,
            subject=name,
            configuration=configuration or "default",
            protocol=levels["protocol"],
            workload=wording.description(workload, levels),
            environment=levels["environment"],
            group=workload.group or names.title,
            label=names.label,
            levels={
                "workload": workload.family or workload.name,
                **({WITHIN: names.within} if names.within else {}),
                **shown,
            },
            together=workload.together,
            ranked_by=CONNECT_RATE if workload.hold else workload.rank,
        ),
        protocol=levels["protocol"],
        path=asked.path,
        contract=workload.contract,
        http=asked.http,
        message=asked.message,
        expect=asked.expect,
        tls=Tls(insecure=document.insecure, ca_file=document.cacert),
        load=load,
        # Connections that are opened once need no more ports than there are of them.
        sources=() if driving or opened else _sources(load),
        copies=workload.copies,
        websocket=WebSocket(deflate=Deflate() if levels.get("deflate") == "on" else None),
        requests=levels.get("requests") if driving is None else driving.messages,
        requests_each=levels.get("requests_each"),
        trials=workload.trials,
        duration_ns=workload.duration,
        warmup_allowance_ns=workload.warmup,
        server_threads=levels["server_threads"],
        delay_ms=0 if workload.contract == "table" else levels.get("delay_ms", 0),
        styx=_tables(levels) if workload.contract == "table" else Styx(),
        # Which scenarios those are is known once all are.
        rate_from=RateFrom(scenarios=(str(workload.rate_of),), share=workload.rate_share)
        if levels.get("rate") == COMMON
        else None,
        knee=workload.knee,
        driving=driving,
    )
    told = floors.told(case)
    if workload.together > 1 and told.scenario.floor_ns is None:
        raise UsageProblem(
            f"together = {workload.together}: {told.scenario.name} has no known waiting time",
            "leave it out of workloads without requests_each, and without delay_ms or a link",
        )
    return told


def _fitted(workload: Workload, subject: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The levels, as the subject speaks and as a pack needs them."""
    levels = dict(chosen)
    levels["protocol"] = workload.protocol_of.get(subject, levels["protocol"])
    if "pack" in levels:
        levels["depth"] = max(levels["depth"], levels["pack"])
    return levels


def _load(workload: Workload, levels: Mapping[str, Any]) -> Load:
    fresh_after = levels["requests_per_connection"]
    if fresh_after == OPENED:
        # So it is opened when the load begins, and closed with its last message.
        fresh_after = levels["requests_each"]
    return Load(
        connections=levels["connections"],
        depth=levels["depth"],
        pack=levels["pack"],
        requests_per_connection=None if fresh_after == KEPT else fresh_after,
        executor=_executor(workload, levels),
    )


def _executor(
    workload: Workload, levels: Mapping[str, Any]
) -> ClosedLoop | OpenLoop | AfterResponse | Hold | RandomBurst:
    if workload.hold:
        return Hold(idle_ns=workload.hold)
    if levels.get("pattern", STEADY) != STEADY:
        return RandomBurst()
    pacing = levels.get("pacing", workload.pacing[0])
    if workload.rate_each:
        if pacing == AFTER_RESPONSE:
            return AfterResponse(pause_ns=round(1e9 / workload.rate_each))
        return OpenLoop(rate=levels["connections"] * workload.rate_each, pacing=pacing)
    if levels["rate"] is None and not workload.knee:
        return ClosedLoop()
    rate = levels["rate"] if isinstance(levels["rate"], float | int) else UNKNOWN_RATE
    return OpenLoop(rate=rate, pacing=pacing)


def _tables(levels: Mapping[str, Any]) -> Styx:
    """Where its players sit, and what they see."""
    return Styx(
        table_size=levels["table_size"],
        lobby=levels["lobby"] == "on",
        delay_ms=levels["delay_ms"],
    )


def _sources(load: Load) -> tuple[str, ...]:
    """Local addresses to connect from; none: one is enough."""
    if isinstance(load.executor, Hold):
        return held_sources(load.connections)
    return FRESH_SOURCES if load.requests_per_connection else ()


def _driving(workload: Workload, levels: Mapping[str, Any]) -> Driving | None:
    """What a client driver is to do; None where the subject is a server."""
    if workload.server is None:
        return None
    server, _, configuration = workload.server.partition(":")
    return Driving(
        server=server,
        configuration=configuration or "default",
        mode=levels["mode"],
        payload=driver_bytes(workload.contract, levels["payload"]),
        iterations=levels["iterations"],
        repetitions=workload.repetitions,
        warmup=workload.warmup_iterations,
        host=workload.host,
        ipv6=levels["ipv6"],
    )


def _with_rate(case: Case, cases: Sequence[Case]) -> Case:
    """The case, its common rate taken from the scenarios of the workload that it names."""
    if case.rate_from is None:
        return case
    workload = case.rate_from.scenarios[0]
    sources = tuple(
        other.scenario.name
        for other in cases
        if other.scenario.levels["workload"] == workload
        and other.scenario.protocol == case.scenario.protocol
    )
    if not sources:
        raise UsageProblem(
            f"{case.scenario.name} takes its rate from {workload!r}, which is left out",
            "take that workload in, or leave this one out",
        )
    return case.model_copy(
        update={"rate_from": case.rate_from.model_copy(update={"scenarios": sources})}
    )


def _twin(document: Document, cases: Sequence[Case]) -> Case | None:
    """One case again under another name: what the suite shows where there is no difference."""
    wanted = document.twin or document.subjects[0]
    plain = [c for c in cases if c.stage == 1 and c.scenario.ranked_by in (None, SERVER_CPU)]
    its_own = [
        c for c in plain if wanted in (_label(c.scenario), c.scenario.levels.get(WITHIN, ""))
    ]
    candidates = its_own or plain
    if not candidates:
        return None
    workload = candidates[0].scenario.levels["workload"]
    # Where the rate grows with the levels, the highest has the most messages and tells the most.
    chosen = max(
        (case for case in candidates if case.scenario.levels["workload"] == workload), key=_rate_of
    )
    scenario = chosen.scenario.model_copy(
        update={
            "name": f"{chosen.scenario.name} (again)",
            "twin_of": chosen.scenario.name,
            "group": TWIN_GROUP,
        }
    )
    return chosen.model_copy(update={"scenario": scenario})


def _rate_of(case: Case) -> float:
    """Of an open loop in which each connection has a rate; of all others 0."""
    executor = case.load.executor
    if isinstance(executor, OpenLoop) and executor.pacing == "phased":
        return executor.rate
    return 0.0


def _speaks_of(claim: Claim, cases: Sequence[Case]) -> bool:
    """Whether all that it compares is among these cases."""
    return all(any(side.means(case.scenario) for case in cases) for side in claim.sides)


def _label(scenario: Scenario) -> str:
    return scenario.label or scenario.name
