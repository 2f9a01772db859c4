"""Interleaved trials of own URLs and subjects, and a verdict.

Knows what was typed; must not know how it was spelled.
"""

from __future__ import annotations

import secrets
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wiretrial import quantities, redaction, suggest
from wiretrial.cli import comparing_own, labels, output, progress, sending, urls, workload
from wiretrial.cli.comparing_calls import Called, is_called
from wiretrial.cli.comparing_own import Side
from wiretrial.cli.comparing_traffic import Played, spoken
from wiretrial.cli.comparing_verdict import Verdict
from wiretrial.cli.learning import Learning
from wiretrial.cli.options import COMPARED_CONNECTIONS, Asked, Loop, Security
from wiretrial.cli.options_grpc import Calls
from wiretrial.cli.spoken import fixed
from wiretrial.engine import Engine
from wiretrial.errors import UsageProblem
from wiretrial.machine import namespaces
from wiretrial.plan import (
    AnyHttpVersion,
    AutoContent,
    Content,
    EchoContent,
    Expect,
    LearnedContent,
    Load,
    Message,
    NoPayload,
    Payload,
    SequencePayload,
    Tls,
)
from wiretrial.report import units
from wiretrial.results.model import Scenario
from wiretrial.studies import priming, wording
from wiretrial.studies.contracts import COMPARED, FRESH_SOURCES, PATHS
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import own_build, registry
from wiretrial.subjects.spec import (
    PROTOCOLS_OF,
    ConfigurationName,
    ContractName,
    Protocol,
    Spec,
    over,
)
from wiretrial.words import CALLS, carrier

NAME = "compare"
DEFAULT_DURATION = "5s"


@dataclass(frozen=True)
class Trials:
    """How often and how long each server is measured, and on what."""

    number: int | None
    duration: str | None
    warmup: str
    threads: str
    server_threads: str
    seed: int | None
    isolate: bool
    allow_errors: str
    keeps_secrets: bool
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class File:
    """The traffic file that is put to each server, with its variables; None: one message is."""

    path: Path | None
    variables: tuple[str, ...]


def resume(
    folder: Path,
    trials: int | None,
    header: Sequence[str],
    verdict: Verdict,
    *,
    details: bool,
) -> int:
    """Goes on with a comparison; `header` brings back the secrets, which its document lacks."""
    verdict.require()
    given = workload.headers_of(header, None)
    study, results = progress.resume(folder, NAME, trials, given)
    verdict.require_two(len(study.cases))
    return verdict.judged(results, progress.run(study, results, details=details))


def compare(
    contestants: Sequence[str],
    protocol: str | None,
    file: File,
    loop: Loop,
    asked: Asked,
    calls: Calls,
    security: Security,
    trials: Trials,
    own: comparing_own.Typed,
    verdict: Verdict,
    results: Path,
    *,
    details: bool,
) -> int:
    """Measures them in turn, reports, and judges where that is asked for."""
    verdict.require()
    seed = secrets.randbits(32) if trials.seed is None else trials.seed
    if file.path is None and file.variables:
        raise UsageProblem("--variable is of traffic files", "leave it out, or name --traffic FILE")
    sides = comparing_own.sides(contestants, own)
    verdict.require_two(len(sides))
    if (security.insecure or security.cacert) and not any(map(_is_url, sides)):
        raise UsageProblem(
            "--insecure and --cacert are for URLs",
            "leave them out: subjects get certificates that are trusted",
        )
    shown = [side.shown if trials.keeps_secrets else redaction.text(side.shown) for side in sides]
    named = tuple(zip(_named(shown), sides, strict=True))
    tls = workload.tls_of(security)
    if file.path is not None and own.path is not None:
        raise UsageProblem("--path and --traffic exclude each other", "keep one")
    path = file.path or _own_traffic(sides, own)
    called = Called(calls)
    if path is not None:
        calls.refuse()
    if path is None:
        cases = _of_one_message(named, protocol, loop, _Sent(asked, tls, called))
    else:
        timed = trials.duration is not None
        played = Played(path, file.variables, loop, asked, COMPARED_CONNECTIONS, is_timed=timed)
        cases = _of_traffic(named, protocol, played, tls)
    study = Study(
        name=NAME,
        title=" or ".join(shown) + "?" if len(shown) > 1 else shown[0],
        question=f"Which of {', '.join(shown)} is faster for this load, on this machine?"
        if len(shown) > 1
        else f"How fast is {shown[0]} for this load, on this machine?",
        command=_command(seed, given=trials.seed is not None),
        cases=_isolated(cases) if trials.isolate else cases,
        trials=trials.number or 5,
        seed=seed,
        duration_ns=workload.length_ns(trials.duration or DEFAULT_DURATION),
        warmup_allowance_ns=quantities.duration_ns(trials.warmup, "--warmup"),
        server_threads=quantities.count(trials.server_threads, "--server-threads", most=1024),
        generator_threads=quantities.count(trials.threads, "--threads", most=1024),
        allow_errors=quantities.share(trials.allow_errors, "--allow-errors"),
        keeps_secrets=trials.keeps_secrets,
        labels=labels.wanted(trials.labels),
    )
    then_ns = min(study.duration_ns, priming.LONG_NS)
    study = priming.primed(
        study, connections=priming.FEW, at_rate_ns=then_ns, at_full_speed_ns=then_ns
    )
    study = Learning.of(asked).learnt_of_study(study, called)
    for case in study.cases:
        if case.own:
            own_build.require_start(case.own, Engine.find(), output.say)
    folder = progress.begin(study, results)
    for line in sending.lines(study.cases):
        output.say(line)
    return verdict.judged(folder, progress.run(study, folder, details=details))


@dataclass(frozen=True)
class _Sent:
    """One message and what a right reply is, as it was typed."""

    asked: Asked
    tls: Tls
    called: Called


_Named = Sequence[tuple[str, Side]]
"""What each contestant is called, and what was typed."""


def _of_one_message(
    named: _Named, protocol: str | None, loop: Loop, sent: _Sent
) -> tuple[Case, ...]:
    load = workload.load_of(loop)
    sides = [side for _, side in named]
    version = fixed(sent.asked)
    if version == "3" and any(side.own for side in sides):
        raise UsageProblem(
            "--http 3 is always encrypted, and a server of your own is started without TLS",
            "start it yourself and name its https:// URL, or use --http 2 or 1.1",
        )
    common = _common(sides, protocol, version)
    if not (common and common.protocol in CALLS) and not any(is_called(one.shown) for one in sides):
        sent.called.calls.refuse()
    return tuple(_case(*one, common, load, sent) for one in named)


def _of_traffic(named: _Named, protocol: str | None, played: Played, tls: Tls) -> tuple[Case, ...]:
    over = played.require()
    subjects = [one.shown.partition(":")[0] for _, one in named if _is_subject(one)]
    if protocol and not subjects:
        raise UsageProblem("--protocol is for subjects", "the URLs' schemes say it already")
    shared = spoken(subjects, protocol, over)
    cases = []
    for name, side in named:
        if side.own:
            cases.append(played.of_own(name, side.shown, side.own, over))
        elif shared is None or _is_url(side):
            cases.append(played.of_url(name, side.shown, tls, over))
        else:
            configuration = _subject(side.shown)[1]
            subject = side.shown.partition(":")[0]
            cases.append(played.of_subject(name, subject, configuration, shared))
    return tuple(cases)


@dataclass(frozen=True)
class _Common:
    """What all subjects of one comparison are asked for."""

    protocol: Protocol
    contract: ContractName


def _expected(asked: Asked, usual: Content) -> Expect:
    """What a right reply is, where `usual` is what it has without --expect."""
    found = workload.expect_of(asked.expect, asked.expect_status)
    return found if asked.expect else found.model_copy(update={"content": usual})


def _command(seed: int, *, given: bool) -> str:
    words = ["wiretrial", *sys.argv[1:]]
    return shlex.join(words if given else [*words, "--seed", str(seed)])


def _named(contestants: Sequence[str]) -> Iterator[str]:
    """A name of its own for each contestant: comparing one with itself is the A/A test."""
    for place, contestant in enumerate(contestants):
        before = contestants[:place].count(contestant)
        yield f"{contestant} ({before + 1})" if before else contestant


def _own_traffic(sides: Sequence[Side], typed: comparing_own.Typed) -> Path | None:
    """The first file that a server of one's own names: all are sent the same."""
    if typed.path is not None:
        return None
    return next((side.traffic for side in sides if side.traffic), None)


def _is_url(side: Side) -> bool:
    return side.own is None and urls.is_meant(side.shown, workload.COMPARED)


def _is_subject(side: Side) -> bool:
    return side.own is None and not _is_url(side)


def _common(sides: Sequence[Side], wanted: str | None, version: AnyHttpVersion) -> _Common | None:
    """A protocol and contract that all subjects keep; None where there are only URLs."""
    specs = [_subject(side.shown)[0] for side in sides if _is_subject(side)]
    if specs and any(side.own for side in sides):
        raise UsageProblem(
            "servers of your own are asked for a path, and subjects keep contracts",
            "name the requests: --traffic FILE",
        )
    if not specs:
        if wanted:
            raise UsageProblem("--protocol is for subjects", "the URLs' schemes say it already")
        return None
    if wanted is not None and wanted not in workload.COMPARED:
        raise UsageProblem(
            f"--protocol {wanted}: unknown", suggest.remedy(wanted, workload.COMPARED)
        )
    for contract, protocols in PROTOCOLS_OF.items():
        for protocol in protocols:
            if contract not in COMPARED or protocol not in workload.COMPARED:
                continue
            spoken = over(protocol, version)
            # What is not HTTP has no other version.
            if spoken == protocol and version != "1.1":
                continue
            if wanted in (None, protocol) and all((contract, spoken) in s.claims() for s in specs):
                return _Common(protocol=protocol, contract=contract)
    names = " and ".join(dict.fromkeys(spec.name for spec in specs))
    raise UsageProblem(
        f"{names} {'have' if len(specs) > 1 else 'has'} no contract"
        f"{' in common' if len(specs) > 1 else ''}{f' over {wanted}' if wanted else ''}"
        f"{f' in HTTP/{version}' if version != '1.1' else ''}",
        "name the requests: --traffic FILE"
        if any(spec.traffic for spec in specs)
        else "see `wiretrial subject list` for what each speaks",
    )


def _subject(contestant: str) -> tuple[Spec, ConfigurationName]:
    name, _, configuration = contestant.partition(":")
    subject = registry.find(name)
    chosen = configuration or "default"
    subject.configuration(chosen)
    return subject.spec, chosen


def _case(name: str, side: Side, common: _Common | None, load: Load, sent: _Sent) -> Case:
    fresh, contestant = load.requests_per_connection is not None, side.shown
    asked = sent.asked
    if side.own:
        spoken_here = side.own.protocol
        return Case(
            scenario=_scenario(name, contestant, "default", spoken_here, load, asked),
            own=side.own,
            protocol=spoken_here,
            path=side.own.path,
            http=workload.http_of(spoken_here, asked),
            message=workload.message_of(spoken_here, asked),
            expect=_expected(asked, AutoContent()),
            load=load,
            sources=FRESH_SOURCES if fresh else (),
        )
    if _is_url(side):
        target = urls.parse(contestant, workload.COMPARED)
        return Case(
            scenario=_scenario(
                name, redaction.text(contestant), "default", target.protocol, load, asked
            ),
            url=target.url,
            protocol=target.protocol,
            tls=sent.tls,
            **_parts(target, sent),
            load=load,
            sources=FRESH_SOURCES if fresh and workload.is_loopback(target.host) else (),
        )
    assert common is not None
    _, configuration = _subject(contestant)
    return Case(
        scenario=_scenario(
            name,
            contestant.partition(":")[0],
            configuration,
            common.protocol,
            load,
            asked,
        ),
        protocol=common.protocol,
        contract=common.contract,
        **_parts_of_contract(common, sent),
        load=load,
        sources=FRESH_SOURCES if fresh else (),
    )


def _parts(target: urls.Target, sent: _Sent) -> dict[str, Any]:
    """What is sent to a URL and what is right, by the names of a case's fields."""
    if target.protocol in CALLS:
        return sent.called.parts(target, sent.asked, sent.tls)
    return {
        "http": workload.http_of(target.protocol, sent.asked),
        "message": workload.message_of(target.protocol, sent.asked),
        "expect": _expected(sent.asked, AutoContent()),
    }


def _parts_of_contract(common: _Common, sent: _Sent) -> dict[str, Any]:
    """What is sent to a subject and what is right, by the names of a case's fields."""
    asked = sent.asked
    if common.protocol in CALLS:
        return sent.called.parts_of_contract(asked)
    is_text = common.contract == "ws-echo" and (asked.text or asked.json is not None)
    usual = LearnedContent() if common.contract == "static" else EchoContent()
    return {
        "path": PATHS[common.contract],
        "http": workload.http_of(common.protocol, asked),
        "message": Message(
            kind="text" if is_text else "binary",
            is_json=asked.json is not None,
            source=_payload(common, asked.payload, asked.json),
        ),
        "expect": _expected(asked, usual),
    }


def _isolated(cases: tuple[Case, ...]) -> tuple[Case, ...]:
    """The same cases, over a link to a namespace; refused here rather than in the first trial."""
    if any(case.url is not None for case in cases):
        raise UsageProblem(
            "--isolate is for subjects, which are started here", "leave the URLs or --isolate out"
        )
    with namespaces.Namespace():
        pass
    return tuple(
        case.model_copy(
            update={
                "scenario": case.scenario.model_copy(update={"environment": namespaces.ENVIRONMENT})
            }
        )
        for case in cases
    )


def _payload(common: _Common, size: str | None, json_text: str | None) -> Payload:
    if common.contract == "static":
        if size is not None or json_text is not None:
            raise UsageProblem(
                "a payload can't be compared: not all of these subjects echo",
                "leave --payload and --json out",
            )
        return NoPayload()
    if size is None and json_text is None:
        return SequencePayload(bytes=workload.DEFAULT_MESSAGE_BYTES)
    return workload.payload_of(common.protocol, size, json_text)


def _scenario(
    name: str,
    subject: str,
    configuration: ConfigurationName,
    protocol: Protocol,
    load: Load,
    asked: Asked,
) -> Scenario:
    in_flight = f"depth {load.depth}"
    if protocol in CALLS:
        in_flight = wording.words("streams", load.depth)
        if fixed(asked) == "3":
            in_flight = f"HTTP/3, {in_flight}"
    elif (version := fixed(asked)) != "1.1":
        carriers = units.plural(load.depth, carrier(f"{protocol}://"))
        in_flight = f"HTTP/{version}, {carriers} on each"
    if asked.header_profile:
        in_flight += f", {wording.words('header_profile', asked.header_profile)}"
    title = f"{load.connections} connections, {load.executor.kind} loop, {in_flight}"
    return Scenario(
        name=name,
        group=title,
        subject=subject,
        configuration=configuration,
        protocol=protocol,
        workload=title,
    )
