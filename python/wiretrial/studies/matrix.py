"""Multiplies a document out: subjects x workloads x levels, each a case with a name of its own.

Pure. Knows documents and cases; must not know whether a subject exists or how a case is run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from typing import Any, NamedTuple

from wiretrial import suggest
from wiretrial.errors import UsageProblem
from wiretrial.plan import (
    OpenLoop,
    Tls,
)
from wiretrial.results.claims import Claim
from wiretrial.results.model import WITHIN, Scenario
from wiretrial.studies import environments, floors, handshakes, wording
from wiretrial.studies.document import Document
from wiretrial.studies.sized import SHARE
from wiretrial.studies.spec import Case, Starts, Study
from wiretrial.studies.workload import SUBJECT, Workload

TWIN_GROUP = "A/A"
SERVER_CPU = "server"
"""Key of the server's CPU per message: what a twin too can be ranked by."""


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
    whole = [pair for workload in chosen.workload for pair in _declared(chosen, workload)]
    wanted = [(case, label) for case, label in whole if is_wanted(case.scenario, only)]
    if not wanted:
        known = (name for case, _ in whole for name in (case.scenario.subject, case.scenario.name))
        raise UsageProblem(
            f"--only {' '.join(only)}: no scenario of {name} matches",
            suggest.remedy(only[0], known, f"`wiretrial study show {name}` lists their names"),
        )
    cases = [case for case, _ in wanted]
    claims = [claim for claim in chosen.claim if not only or _speaks_of(claim, cases)]
    names = {(one.group, _label(one)): one.name for one in (case.scenario for case in cases)}
    bases = [names.get((case.scenario.group, label)) for case, label in wanted]
    cases = [
        _against(_with_rate(case, cases), base) for case, base in zip(cases, bases, strict=True)
    ]
    return Study(
        name=name,
        title=document.title,
        question=document.question,
        command=command,
        cases=(*cases, *_twins(chosen, cases, is_quick=quick)),
        trials=trials or chosen.trials,
        seed=seed,
        duration_ns=chosen.duration,
        warmup_allowance_ns=chosen.warmup,
        generator_threads=chosen.generator_threads,
        allow_errors=chosen.allow_errors,
        baselines=tuple(dict.fromkeys(filter(None, bases))),
        together=tuple(_called(one) for one in chosen.workload if one.look == "together"),
        claims=tuple(claims),
        chart=chosen.chart,
        adoption=chosen.adoption,
        starts=_starts(chosen, cases),
        only=tuple(only),
    )


def labels(document: Document, workload: Workload | None = None) -> list[str]:
    """What its scenarios are called within their groups: what can be compared with.

    With `workload`, of that one and its family alone.
    """
    wanted = [
        one for one in document.workload if workload is None or _called(one) == _called(workload)
    ]
    cases = (case for one in wanted for case in _cases(document, one))
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
            "starts": min(quick.trials, document.starts),
            "duration": min(quick.duration, document.duration),
            "warmup": min(quick.warmup, document.warmup),
            "workload": tuple(workload.quickened(quick) for workload in document.workload),
        }
    )


def _starts(document: Document, cases: Sequence[Case]) -> Starts | None:
    """Those of the study's own subjects that are servers and have a scenario among these."""
    servers = {
        (one.scenario.subject, one.scenario.configuration)
        for one in cases
        if one.subject_kind == "server"
    }
    named = dict.fromkeys(map(_configured, document.subjects))
    subjects = tuple(one for one in named if one in servers)
    if not document.starts or not subjects:
        return None
    return Starts(count=document.starts, subjects=subjects)


def _configured(subject: str) -> tuple[str, str]:
    """A subject and its configuration, of what a study calls it."""
    name, _, configuration = subject.partition(":")
    return name, configuration or "default"


def _cases(document: Document, workload: Workload) -> Iterator[Case]:
    factors = workload.factors()
    varied = _varied(document, workload)
    several = len(document.workload) > 1
    titled = workload.family or workload.name
    label = workload.label or "{subject}"
    said_apart = {*workload.compare, *wording.placeholders(label)}
    for combination in product(*factors.values()):
        levels = dict(zip(factors, combination, strict=True))
        words = {name: said for name in varied if (said := wording.words(name, levels[name]))}
        told = [said for name, said in words.items() if name not in said_apart]
        beside = [said for name, said in words.items() if name in workload.compare]
        head = [titled] if several or not told else []
        title = ", ".join([*head, *told])
        for subject in workload.subjects or document.subjects:
            own = wording.labelled(label, {**levels, SUBJECT: subject})
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
_REPLACED = ("depth", "pack")
"""What streams take the place of: to have neither is no level of them."""


def _varied(document: Document, workload: Workload) -> list[str]:
    """The factors that tell its scenarios apart, and from those of others in its family."""
    own = workload.factors()
    relatives = [own]
    if workload.family is not None:
        same = (other for other in document.workload if other.family == workload.family)
        relatives = [other.factors() for other in same]
    found = []
    for name, levels in own.items():
        seen = {level for factors in relatives for level in factors.get(name, ())}
        if name in _REPLACED:
            seen.discard(None)
        if len(levels) > 1 or (len(seen) > 1 and name not in LABELLED):
            found.append(name)
    return found


def _case(
    document: Document, workload: Workload, subject: str, chosen: Mapping[str, Any], names: _Names
) -> Case:
    name, configuration = _configured(subject)
    levels = workload.fitted(name, chosen)
    request = workload.request(levels, document.headers)
    shown = {factor: level for factor, level in levels.items() if level is not None}
    if workload.environment == (environments.LOOPBACK,) and workload.family is None:
        del shown["environment"]
    case = Case(
        scenario=Scenario(
            name=names.name,
            subject=name,
            configuration=configuration,
            protocol=workload.carried(levels),
            workload=workload.description(levels),
            environment=levels["environment"],
            group=workload.group or names.title,
            label=names.label,
            levels={
                "workload": _called(workload),
                **({WITHIN: names.within} if names.within else {}),
                **shown,
            },
            together=workload.at_a_time,
            ranked_by=workload.ranked_by,
            file=workload.file,
            goals=workload.goals,
        ),
        protocol=levels["protocol"],
        path=request.path,
        contract=workload.contract,
        http=request.http,
        grpc=request.grpc,
        message=request.message,
        expect=request.expect,
        tls=Tls(
            insecure=document.insecure,
            ca_file=document.cacert,
            resumption=handshakes.resumes(levels.get("handshake")),
        ),
        trials=workload.trials,
        occasions=workload.occasions,
        server_threads=max(levels["server_threads"], math.ceil(levels.get("cpus") or 0)),
        cpus=levels.get("cpus"),
        idle_states=levels.get("idle_states") or "on",
        **workload.asked(levels),
    )
    told = floors.told(case)
    if workload.at_a_time > 1 and told.scenario.floor_ns is None:
        raise UsageProblem(
            f"together = {workload.at_a_time}: {told.scenario.name} has no known waiting time",
            "leave it out of workloads without requests_each, and without delay_ms or a link",
        )
    return told


def _with_rate(case: Case, cases: Sequence[Case]) -> Case:
    """The case, its common rate taken from the scenarios of the workload that it names."""
    if case.rate_from is None:
        return case
    if SHARE in case.scenario.levels:
        return _below(case, cases)
    workload = case.rate_from.scenarios[0]
    sources = tuple(
        other.scenario.name
        for other in cases
        if other.scenario.levels["workload"] == workload
        and other.scenario.protocol == case.scenario.protocol
        and other.stage == 1
    )
    if not sources:
        raise UsageProblem(
            f"{case.scenario.name} takes its rate from {workload!r}, which is left out",
            "take that workload in, or leave this one out",
        )
    return case.model_copy(
        update={"rate_from": case.rate_from.model_copy(update={"scenarios": sources})}
    )


def _below(case: Case, cases: Sequence[Case]) -> Case:
    """The case, its rate a share of what the same server reaches by itself in the same place."""
    own = case.scenario
    alike = {name: level for name, level in own.levels.items() if name != SHARE}
    top = next(
        (
            other.scenario.name
            for other in cases
            if other.scenario.levels == alike
            and (other.scenario.subject, other.scenario.configuration)
            == (own.subject, own.configuration)
        ),
        None,
    )
    if top is None or case.rate_from is None:
        raise UsageProblem(
            f"{own.name} takes its rate from what {own.subject} reaches, which is left out",
            "take that in, or leave this out: a pattern such as 'NAME*' has both",
        )
    return case.model_copy(
        update={
            "rate_from": case.rate_from.model_copy(update={"scenarios": (top,)}),
            "scenario": own.model_copy(update={"level_of": top}),
        }
    )


def _twins(document: Document, cases: Sequence[Case], *, is_quick: bool) -> list[Case]:
    """One case of each workload again: what it shows where there is no difference.

    Of a quick run only one of all.
    """
    workloads = dict.fromkeys(map(_called, document.workload))
    own = [[c for c in cases if c.scenario.levels["workload"] == name] for name in workloads]
    found = [twin for one in own if (twin := _twin(document, one))]
    its_own = [twin for twin in found if _is_of(twin.scenario, document.twin)]
    return (its_own or found)[:1] if is_quick else found


def _twin(document: Document, cases: Sequence[Case]) -> Case | None:
    """None where nothing is measured often enough to tell."""
    # What is measured once tells nothing by a second time.
    plain = [
        case
        for case in cases
        if case.stage < 3
        and not case.scenario.level_of
        and case.scenario.ranked_by in (None, SERVER_CPU)
        and case.trials != 1
    ]
    wanted = document.twin or document.subjects[0]
    candidates = [case for case in plain if _is_of(case.scenario, wanted)] or plain
    if not candidates:
        return None
    # Where the rate grows with the levels, the highest has the most messages and tells the most.
    chosen = max(candidates, key=_rate_of)
    scenario = chosen.scenario.model_copy(
        update={
            "name": f"{chosen.scenario.name} (again)",
            "twin_of": chosen.scenario.name,
            "group": TWIN_GROUP,
            "baseline": None,
        }
    )
    return chosen.model_copy(update={"scenario": scenario})


def _is_of(scenario: Scenario, wanted: str | None) -> bool:
    return wanted in (_label(scenario), scenario.levels.get(WITHIN, ""))


def _declared(document: Document, workload: Workload) -> Iterator[tuple[Case, str]]:
    """The cases of this workload, each with what the baseline of its group is called there.

    Empty: none is declared.
    """
    wanted = workload.baseline or document.baseline or ""
    for case in _cases(document, workload):
        yield case, wanted.replace("{subject}", _subject(case.scenario))


def _against(case: Case, base: str | None) -> Case:
    """The case, declared to be compared with its baseline, unless it is that."""
    known = None if base == case.scenario.name else base
    scenario = case.scenario.model_copy(update={"baseline": known})
    return case.model_copy(update={"scenario": scenario})


def _subject(scenario: Scenario) -> str:
    """As a study names it: `ws:tuned`."""
    is_default = scenario.configuration == "default"
    return scenario.subject if is_default else f"{scenario.subject}:{scenario.configuration}"


def _called(workload: Workload) -> str:
    """What the levels call it: workloads of a family are one."""
    return workload.family or workload.name


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
