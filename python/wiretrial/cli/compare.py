"""`wiretrial compare A B …`: interleaved trials of own URLs and subjects, and a verdict."""

from __future__ import annotations

import secrets
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wiretrial import quantities, redaction, suggest
from wiretrial.cli import output, progress, sending, urls, workload
from wiretrial.cli.demo import Results, Resume
from wiretrial.errors import UsageProblem
from wiretrial.machine import namespaces
from wiretrial.plan import (
    AutoContent,
    Content,
    EchoContent,
    Expect,
    Http,
    LearnedContent,
    Load,
    Message,
    NoPayload,
    Payload,
    SequencePayload,
    Tls,
)
from wiretrial.results.model import Scenario
from wiretrial.studies import priming
from wiretrial.studies.spec import Case, Study
from wiretrial.studies.workloads import COMPARED, FRESH_SOURCES, PATHS
from wiretrial.subjects import registry
from wiretrial.subjects.spec import (
    PROTOCOLS_OF,
    ConfigurationName,
    ContractName,
    Protocol,
    Spec,
)

EXAMPLES = """\b
Examples:
  wiretrial compare reference ws --protocol ws
  wiretrial compare ws ws:tuned ./mine --protocol http -c 64 --trials 10
  wiretrial compare http://127.0.0.1:8080/ http://127.0.0.1:8081/ -d 5s
  wiretrial compare --resume results/compare-20260101-120000

A subject is a name of `wiretrial subject list` or a folder, with `:tuned` for its tuned
configuration. A URL is a server of your own; it is not started or stopped.
"""

NAME = "compare"
DEFAULT_DURATION = "5s"


def compare(
    contestants: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL|SUBJECT[:tuned]...",
            help="Servers to measure, one or more.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            metavar="NAME",
            help="Protocol of the subjects: http, https, ws, wss, tcp or tls.",
        ),
    ] = None,
    trials: Annotated[
        str | None, typer.Option("--trials", metavar="N", help="Trials of each server. [5]")
    ] = None,
    connections: workload.Connections = "32",
    duration: workload.Duration = None,
    warmup: Annotated[
        str,
        typer.Option("--warmup", metavar="TIME", help="Longest warm-up before the measured time."),
    ] = "1s",
    rate: workload.Rate = None,
    depth: workload.Depth = "1",
    pack: workload.Pack = "1",
    requests_per_connection: workload.PerConnection = None,
    payload: workload.PayloadSize = None,
    json_text: workload.JsonText = None,
    text: workload.Text = False,
    method: workload.Method = None,
    header: workload.Headers = None,
    expect: workload.Expected = None,
    expect_status: workload.ExpectedStatus = "200",
    allow_errors: workload.AllowedErrors = "0",
    insecure: workload.Insecure = False,
    cacert: workload.Authorities = None,
    threads: workload.Threads = "1",
    server_threads: Annotated[
        str, typer.Option("--server-threads", metavar="T", help="Threads of each subject.")
    ] = "1",
    isolate: Annotated[
        bool,
        typer.Option(
            "--isolate", help="Run each subject in a network namespace of its own (root)."
        ),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Seed of the order of trials. [random, recorded]"),
    ] = None,
    keep_secrets: workload.KeepSecrets = False,
    results: Results = Path("results"),
    resume: Resume = None,
) -> int:
    """Measure servers in interleaved trials, and say which is faster if the data show it.

    A single server is measured with its interval, without a rank.
    """
    wanted = None if trials is None else quantities.count(trials, "--trials", most=1000)
    if resume:
        if contestants:
            raise UsageProblem("--resume takes its contestants from DIR", "leave them out")
        given = workload.headers_of(header or [], None)
        return progress.run(*progress.resume(resume, NAME, wanted, given))
    if not contestants:
        raise UsageProblem("nothing to measure", "name URLs or subjects, such as ws nginx")
    load = workload.load_of(
        connections=connections,
        depth=depth,
        pack=pack,
        rate=rate,
        pacing="constant",
        overflow="wait",
        requests_per_connection=requests_per_connection,
    )
    order_seed = secrets.randbits(32) if seed is None else seed
    common = _common(contestants, protocol)
    asked = _Asked(
        size=payload,
        json_text=json_text,
        text=text,
        method=method,
        header=tuple(header or ()),
        expect=tuple(rule for rule in expect or () if rule != "auto"),
        status=expect_status,
        tls=workload.tls_of(insecure, cacert),
    )
    if (insecure or cacert) and not any(map(_is_url, contestants)):
        raise UsageProblem(
            "--insecure and --cacert are for URLs",
            "leave them out: subjects get certificates that are trusted",
        )
    shown = [name if keep_secrets else redaction.text(name) for name in contestants]
    cases = tuple(
        _case(name, contestant, common, load, asked)
        for name, contestant in zip(_named(shown), contestants, strict=True)
    )
    study = Study(
        name=NAME,
        title=" or ".join(shown) + "?" if len(shown) > 1 else shown[0],
        question=f"Which of {', '.join(shown)} is faster for this load, on this machine?"
        if len(shown) > 1
        else f"How fast is {shown[0]} for this load, on this machine?",
        command=_command(order_seed, given=seed is not None),
        cases=_isolated(cases) if isolate else cases,
        trials=wanted or 5,
        seed=order_seed,
        duration_ns=workload.length_ns(duration or DEFAULT_DURATION),
        warmup_allowance_ns=quantities.duration_ns(warmup, "--warmup"),
        server_threads=quantities.count(server_threads, "--server-threads", most=1024),
        generator_threads=quantities.count(threads, "--threads", most=1024),
        allow_errors=quantities.share(allow_errors, "--allow-errors"),
        keeps_secrets=keep_secrets,
    )
    study = priming.primed(study)
    folder = progress.begin(study, results)
    for line in sending.lines(study.cases):
        output.say(line)
    return progress.run(study, folder)


@dataclass(frozen=True)
class _Common:
    """What all subjects of one comparison are asked for."""

    protocol: Protocol
    contract: ContractName


@dataclass(frozen=True)
class _Asked:
    """What is sent to each, and what a right reply is, as the command line says it."""

    size: str | None
    json_text: str | None
    text: bool
    method: str | None
    header: tuple[str, ...]
    expect: tuple[str, ...]
    """None: as the contract or the protocol has it."""
    status: str
    tls: Tls

    def http(self, protocol: Protocol) -> Http:
        """Method and headers."""
        json_text = self.json_text
        return workload.http_of(protocol, self.method, list(self.header), json_text)

    def expected(self, usual: Content) -> Expect:
        """What a right reply is, where `usual` is what it has without --expect."""
        found = workload.expect_of(self.expect, self.status)
        return found if self.expect else found.model_copy(update={"content": usual})


def _command(seed: int, *, given: bool) -> str:
    words = ["wiretrial", *sys.argv[1:]]
    return shlex.join(words if given else [*words, "--seed", str(seed)])


def _named(contestants: list[str]) -> Iterator[str]:
    """A name of its own for each contestant: comparing one with itself is the A/A test."""
    for place, contestant in enumerate(contestants):
        before = contestants[:place].count(contestant)
        yield f"{contestant} ({before + 1})" if before else contestant


def _is_url(contestant: str) -> bool:
    return urls.is_meant(contestant, workload.SCHEMES)


def _common(contestants: list[str], wanted: str | None) -> _Common | None:
    """A protocol and contract that all subjects keep; None where there are only URLs."""
    specs = [_subject(contestant)[0] for contestant in contestants if not _is_url(contestant)]
    if not specs:
        if wanted:
            raise UsageProblem("--protocol is for subjects", "the URLs' schemes say it already")
        return None
    if wanted is not None and wanted not in workload.SCHEMES:
        raise UsageProblem(
            f"--protocol {wanted}: unknown", suggest.remedy(wanted, workload.SCHEMES)
        )
    for contract, protocols in PROTOCOLS_OF.items():
        for protocol in protocols:
            if contract not in COMPARED or protocol not in workload.SCHEMES:
                continue
            if wanted in (None, protocol) and all(
                (contract, protocol) in s.claims() for s in specs
            ):
                return _Common(protocol=protocol, contract=contract)
    names = " and ".join(dict.fromkeys(spec.name for spec in specs))
    raise UsageProblem(
        f"{names} have no contract in common{f' over {wanted}' if wanted else ''}",
        "see `wiretrial subject list` for what each speaks",
    )


def _subject(contestant: str) -> tuple[Spec, ConfigurationName]:
    name, _, configuration = contestant.partition(":")
    subject = registry.find(name)
    chosen = configuration or "default"
    subject.configuration(chosen)
    return subject.spec, chosen


def _case(name: str, contestant: str, common: _Common | None, load: Load, asked: _Asked) -> Case:
    fresh = load.requests_per_connection is not None
    if _is_url(contestant):
        target = urls.parse(contestant, workload.SCHEMES)
        payload = workload.payload_of(target.protocol, asked.size, asked.json_text)
        return Case(
            scenario=_scenario(name, redaction.text(contestant), "default", target.protocol, load),
            url=target.url,
            protocol=target.protocol,
            http=asked.http(target.protocol),
            tls=asked.tls,
            message=workload.message_of(payload, asked.json_text, asked.text),
            expect=asked.expected(AutoContent()),
            load=load,
            sources=FRESH_SOURCES if fresh and workload.is_loopback(target.host) else (),
        )
    assert common is not None
    _, configuration = _subject(contestant)
    is_text = common.contract == "ws-echo" and (asked.text or asked.json_text is not None)
    return Case(
        scenario=_scenario(
            name, contestant.partition(":")[0], configuration, common.protocol, load
        ),
        protocol=common.protocol,
        path=PATHS[common.contract],
        contract=common.contract,
        http=asked.http(common.protocol),
        message=Message(
            kind="text" if is_text else "binary",
            is_json=asked.json_text is not None,
            source=_payload(common, asked.size, asked.json_text),
        ),
        expect=asked.expected(LearnedContent() if common.contract == "static" else EchoContent()),
        load=load,
        sources=FRESH_SOURCES if fresh else (),
    )


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
    name: str, subject: str, configuration: ConfigurationName, protocol: Protocol, load: Load
) -> Scenario:
    return Scenario(
        name=name,
        subject=subject,
        configuration=configuration,
        protocol=protocol,
        workload=f"{load.connections} connections, {load.executor.kind} loop, depth {load.depth}",
    )
