"""`wiretrial compare A B …`: interleaved trials of own servers, URLs and subjects, and a verdict.

Knows the options; must not know how servers are compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretrial import quantities
from wiretrial.cli import names, options, options_grpc, options_http, options_kept, options_own
from wiretrial.cli.screen import Face
from wiretrial.errors import UsageProblem

EXAMPLES = """\b
Examples:
  wiretrial compare ./a ./b                     two checkouts of your own server
  wiretrial compare . --at main --at HEAD       two revisions of it, each built once
  wiretrial compare . --at main --margin 5% --junit compare.xml --markdown summary.md
  wiretrial compare ./a ./b --build make --command './server --port {port}'
  wiretrial compare image:shop:1.4@8080 image:shop:1.5@8080 --path /items
  wiretrial compare 'compose:old.yml#web:8080' 'compose:new.yml#web:8080'
  wiretrial compare reference ws --protocol ws
  wiretrial compare ws ws:tuned ./mine --protocol http -c 64 --trials 10
  wiretrial compare grpc-go tonic -c 10 --streams 10
  wiretrial compare http://127.0.0.1:8080/ http://127.0.0.1:8081/ -d 5s
  wiretrial compare ws://127.0.0.1:8080/chat ws://127.0.0.1:8081/chat --http 2 --streams 100
  wiretrial compare grpc://127.0.0.1:50051/shop.Shop/Find grpc://127.0.0.1:50052/shop.Shop/Find
  wiretrial compare --traffic shop.toml http://127.0.0.1:8080 http://127.0.0.1:8081
  wiretrial compare --resume results/compare-20260101-120000

A folder with a `wiretrial.toml` (build, command, path or traffic) is a server of your own: it is
built, and started anew for each trial. With one --at, that revision is compared with the folder as
it stands. A subject is a name of `wiretrial subject list` or a folder with a `subject.toml`, with
`:tuned` for its tuned configuration. A URL is a server that runs; it is not started or stopped.
With --traffic the sessions of a file go to each server, whose address takes the place of `base`.

Exit: 0 measured; with --margin: 0 no server is slower than the first by more, 3 one is,
4 the data cannot tell. 1 a build or a server failed, 2 usage.
"""

JUDGED = "Verdict"

app = Face()


@app.add("compare", epilog=EXAMPLES)
def compare(
    contestants: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SERVER",
            help="Servers to measure, one or more: a folder, a URL, SUBJECT[:tuned],"
            " image:NAME[@PORT], compose:FILE#SERVICE:PORT.",
            show_default=False,
            autocompletion=names.subjects,
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            metavar="NAME",
            help="Protocol of the subjects: http, https, ws, wss, tcp, tls, grpc or grpcs.",
        ),
    ] = None,
    traffic: Annotated[
        Path | None,
        typer.Option(
            "--traffic",
            metavar="FILE",
            help="Traffic file, .toml or .hurl: its sessions go to each server.",
        ),
    ] = None,
    variable: options.Variables = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="REVISION",
            help="Git revision of the folder to build and measure: a branch, a tag, an id."
            " Repeatable.",
            rich_help_panel=options_own.PANEL,
            autocompletion=names.revisions,
        ),
    ] = None,
    build: options_own.Build = None,
    command: options_own.Commands = None,
    port: options_own.Port = None,
    path: options_own.RequestPath = None,
    margin: Annotated[
        str | None,
        typer.Option(
            "--margin",
            metavar="SHARE",
            help="Fail if a server is slower than the first one by more than this: 5%.",
            rich_help_panel=JUDGED,
        ),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(
            "--junit",
            metavar="FILE",
            help="Write the verdict on the margin as JUnit XML.",
            rich_help_panel=JUDGED,
        ),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            "--markdown",
            metavar="FILE",
            help="Write a summary for a pull request as Markdown.",
            rich_help_panel=JUDGED,
        ),
    ] = None,
    trials: Annotated[
        str | None, typer.Option("--trials", metavar="N", help="Trials of each server. [5]")
    ] = None,
    connections: options.Connections = options.COMPARED_CONNECTIONS,
    duration: options.Duration = None,
    warmup: Annotated[
        str,
        typer.Option("--warmup", metavar="TIME", help="Longest warm-up before the measured time."),
    ] = "1s",
    rate: options.Rate = None,
    depth: options.Depth = None,
    streams: options_http.Streams = None,
    pack: options.Pack = "1",
    requests_per_connection: options.PerConnection = None,
    payload: options.PayloadSize = None,
    json_text: options.JsonText = None,
    text: options.Text = False,
    http: options_http.Fixed = options_http.FixedHttp.ONE,
    header_profile: options_http.Profile = None,
    method: options.Method = None,
    header: options.Headers = None,
    expect: options.Expected = None,
    expect_status: options.ExpectedStatus = "200",
    proto: options_grpc.Proto = None,
    proto_path: options_grpc.ProtoPath = None,
    deadline: options_grpc.Deadline = None,
    gzip: options_grpc.Gzip = False,
    message_interval: options_grpc.MessageInterval = None,
    turns: options_grpc.Turns = False,
    no_learn: options.NoLearn = False,
    allow_errors: options.AllowedErrors = "0",
    insecure: options.Insecure = False,
    cacert: options.Authorities = None,
    threads: options.Threads = "1",
    server_threads: Annotated[
        str, typer.Option("--server-threads", metavar="T", help="Threads of each subject.")
    ] = "1",
    isolate: Annotated[
        bool,
        typer.Option(
            "--isolate", help="Run each subject in a network namespace of its own (root)."
        ),
    ] = False,
    seed: options.OrderSeed = None,
    label: options_kept.Labels = None,
    keep_secrets: options_kept.KeepSecrets = False,
    results: options.Results = names.RESULTS,
    resume: options.Resume = None,
    details: options.Details = False,
) -> int:
    """Measure servers in interleaved trials, and say which is faster if the data show it.

    A single server is measured with its interval, without a rank.
    """
    from wiretrial.cli import comparing, spoken
    from wiretrial.cli.comparing_own import Typed
    from wiretrial.cli.comparing_verdict import Verdict

    wanted = quantities.trials(trials)
    asked = options.Asked(
        payload=payload,
        json=json_text,
        text=text,
        method=method,
        header=tuple(header or ()),
        expect=tuple(rule for rule in expect or () if rule != "auto"),
        expect_status=expect_status,
        learns=not no_learn,
        http=options.HttpVersions(http.value),
        streams=streams,
        header_profile=None if header_profile is None else header_profile.value,
    )
    own = Typed(tuple(build or ()), tuple(command or ()), tuple(at or ()), port, path)
    verdict = Verdict(margin, junit, markdown)
    if resume:
        if contestants or own.given():
            raise UsageProblem("--resume takes its contestants from DIR", "leave them out")
        if label:
            raise UsageProblem("--resume takes its labels from DIR", "leave --label out")
        return comparing.resume(resume, wanted, asked.header, verdict, details=details)
    if not contestants and not command and not at:
        raise UsageProblem("nothing to measure", "name URLs or subjects, such as ws nginx")
    return comparing.compare(
        contestants or (),
        protocol,
        comparing.File(traffic, tuple(variable or ())),
        options.Loop(
            connections, spoken.in_flight(depth, streams), pack, rate, requests_per_connection
        ),
        asked,
        options_grpc.Calls(
            tuple(proto or ()), tuple(proto_path or ()), deadline, gzip, message_interval, turns
        ),
        options.Security(insecure, cacert),
        comparing.Trials(
            number=wanted,
            duration=duration,
            warmup=warmup,
            threads=threads,
            server_threads=server_threads,
            seed=seed,
            isolate=isolate,
            allow_errors=allow_errors,
            keeps_secrets=keep_secrets,
            labels=tuple(label or ()),
        ),
        own,
        verdict,
        results,
        details=details,
    )
