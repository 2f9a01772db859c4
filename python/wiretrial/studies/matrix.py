"""Multiplies a document out: subjects x workloads x levels, each a case with a name of its own.

Pure. Knows documents and cases; must not know whether a subject exists or how a case is run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from typing import Any, TypeVar

from wiretrial.errors import UsageProblem
from wiretrial.machine import links
from wiretrial.plan import ClosedLoop, Load, OpenLoop
from wiretrial.results.model import Scenario
from wiretrial.studies import environments, floors
from wiretrial.studies.document import COMMON, KEPT, Document, Quick, Workload
from wiretrial.studies.spec import Case, Driving, RateFrom, Study
from wiretrial.studies.workloads import FRESH_SOURCES, driver_bytes, driver_message, request

Level = int | float | str
Item = TypeVar("Item")

_TOLD = (
    *("payload", "connections", "depth", "pack"),
    *("requests_per_connection", "requests", "requests_each"),
)
"""Factors that a workload's description names."""

TWIN_GROUP = "A/A"
UNKNOWN_RATE = 1.0


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

    `only`: patterns, one of which a scenario's name or subject must match.
    """
    chosen = _quickened(document) if quick else document
    cases = [case for workload in chosen.workload for case in _cases(chosen, workload)]
    cases = [case for case in cases if _is_wanted(case.scenario, only)]
    if not cases:
        raise UsageProblem(
            f"--only {' '.join(only)}: no scenario of {name} matches",
            "see `wiretrial study show` for their names",
        )
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
        baselines=tuple(baselines),
        claims=chosen.claim,
        chart=chosen.chart,
        adoption=chosen.adoption,
    )


def _quickened(document: Document) -> Document:
    quick = document.quick
    return document.model_copy(
        update={
            "trials": quick.trials,
            "duration": min(quick.duration, document.duration),
            "warmup": min(quick.warmup, document.warmup),
            "workload": tuple(
                _fewer_iterations(_fewer_levels(workload, quick.levels), quick)
                for workload in document.workload
            ),
        }
    )


def _fewer_levels(workload: Workload, most: int) -> Workload:
    update: dict[str, Any] = {"duration": None, "warmup": None}
    for field in ("payload", "connections", "depth", "pack", "requests_per_connection", "rate"):
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


def _spread(levels: tuple[Item, ...], most: int) -> tuple[Item, ...]:
    """At most so many of them, the first and the last among them."""
    if len(levels) <= most:
        return levels
    if most == 1:
        return levels[:1]
    return tuple(levels[round(at * (len(levels) - 1) / (most - 1))] for at in range(most))


def _cases(document: Document, workload: Workload) -> Iterator[Case]:
    factors = _factors(workload)
    varied = [name for name, levels in factors.items() if len(levels) > 1]
    several = len(document.workload) > 1
    for combination in product(*factors.values()):
        levels = dict(zip(factors, combination, strict=True))
        told = [_words(name, levels[name]) for name in varied]
        title = ", ".join([*([workload.name] if several or not told else []), *told])
        for subject in workload.subjects or document.subjects:
            yield _case(workload, subject, levels, title, single=not several and not told)


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
    }


def _case(
    workload: Workload, subject: str, levels: Mapping[str, Any], title: str, *, single: bool
) -> Case:
    name, _, configuration = subject.partition(":")
    asked = request(workload.contract, levels["payload"], workload.path)
    driving = _driving(workload, levels)
    if driving:
        asked = asked._replace(message=driver_message(driving.payload))
    load = _load(workload, levels) if driving is None else driving.load()
    shown = {factor: level for factor, level in levels.items() if level is not None}
    if workload.environment == (environments.LOOPBACK,):
        del shown["environment"]
    if workload.host is None:
        shown.pop("ipv6", None)
    case = Case(
        scenario=Scenario(
            name=subject if single else f"{subject}: {title}",
            subject=name,
            configuration=configuration or "default",
            protocol=levels["protocol"],
            workload=_description(workload, levels),
            environment=levels["environment"],
            group=workload.group or title,
            label=subject,
            levels={"workload": workload.name, **shown},
        ),
        protocol=levels["protocol"],
        path=asked.path,
        contract=workload.contract,
        http=asked.http,
        message=asked.message,
        expect=asked.expect,
        load=load,
        sources=FRESH_SOURCES if load.requests_per_connection and not driving else (),
        requests=levels.get("requests") if driving is None else driving.messages,
        requests_each=levels.get("requests_each"),
        trials=workload.trials,
        duration_ns=workload.duration,
        warmup_allowance_ns=workload.warmup,
        server_threads=levels["server_threads"],
        delay_ms=levels.get("delay_ms", 0),
        # Which scenarios those are is known once all are.
        rate_from=RateFrom(scenarios=(str(workload.rate_of),), share=workload.rate_share)
        if levels.get("rate") == COMMON
        else None,
        knee=workload.knee,
        driving=driving,
    )
    return floors.told(case)


def _load(workload: Workload, levels: Mapping[str, Any]) -> Load:
    fresh_after = levels["requests_per_connection"]
    executor = (
        ClosedLoop()
        if levels["rate"] is None and not workload.knee
        else OpenLoop(
            rate=levels["rate"] if isinstance(levels["rate"], float | int) else UNKNOWN_RATE,
            pacing=workload.pacing,
        )
    )
    return Load(
        connections=levels["connections"],
        depth=levels["depth"],
        pack=levels["pack"],
        requests_per_connection=None if fresh_after == KEPT else fresh_after,
        executor=executor,
    )


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
    plain = [case for case in cases if case.stage == 1]
    chosen = next((case for case in plain if _label(case.scenario) == wanted), None)
    chosen = chosen or next(iter(plain), None)
    if chosen is None:
        return None
    scenario = chosen.scenario.model_copy(
        update={
            "name": f"{chosen.scenario.name} (again)",
            "twin_of": chosen.scenario.name,
            "group": TWIN_GROUP,
        }
    )
    return chosen.model_copy(update={"scenario": scenario})


def _is_wanted(scenario: Scenario, only: Sequence[str]) -> bool:
    names = (scenario.name, scenario.subject, _label(scenario))
    return not only or any(fnmatchcase(name, pattern) for name in names for pattern in only)


def _label(scenario: Scenario) -> str:
    return scenario.label or scenario.name


def _words(factor: str, level: Level | None) -> str:
    """A level as people say it."""
    if level is None:
        return ""
    match factor:
        case "protocol":
            return str(level)
        case "payload":
            return "64 bytes of JSON" if level == "json" else f"{level:,} bytes"
        case "connections":
            return f"{level:,} connections"
        case "depth":
            return f"depth {level:,}"
        case "pack":
            return "one at a time" if level == 1 else f"packs of {level:,}"
        case "requests_per_connection":
            return "kept connections" if level == KEPT else f"{level:,} per connection"
        case "mode":
            return "a kept connection" if level == "kept" else "a new one each"
        case "iterations":
            return f"{level:,} iterations"
        case "ipv6":
            return f"::1 {'refuses' if level == 'refused' else 'is silent'}"
        case "rate":
            return "at a common rate" if level == COMMON else f"{level:,}/s"
        case "requests":
            return f"{level:,} messages"
        case "requests_each":
            return f"{level:,} messages each"
        case "environment":
            return f"over {str(level).removeprefix(links.PREFIX)}"
        case "delay_ms":
            return f"{level} ms of work" if level else "no work"
        case _:
            return f"{level} server threads"


def _description(workload: Workload, levels: Mapping[str, Any]) -> str:
    """The workload in words, whole."""
    told = [_words(name, level) for name in _TOLD if (level := levels.get(name)) is not None]
    if workload.server:
        told += [_words("mode", levels["mode"]), f"{workload.repetitions} times"]
        told += [_words("iterations", levels["iterations"]), f"against {workload.server}"]
        told += [f"as {workload.host}"] if workload.host else []
    elif workload.knee:
        objective = workload.knee.objective / 1e6
        told.append(f"knee at p{100 * workload.knee.quantile:g} of {objective:g} ms")
    elif levels["rate"] is not None:
        told.append(f"open loop {_words('rate', levels['rate'])}")
    else:
        told.append("closed loop")
    if levels.get("delay_ms"):
        told.append(_words("delay_ms", levels["delay_ms"]))
    if levels["environment"] != environments.LOOPBACK:
        told.append(_words("environment", levels["environment"]))
    return f"{workload.name}: {', '.join(told)}"
