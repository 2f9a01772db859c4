"""`wiretrial compare A B …`: interleaved trials of own URLs and subjects, and a verdict.

Knows the options; must not know how servers are compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import names, options, options_kept
from wiretrial.cli.screen import Face
from wiretrial.errors import UsageProblem

EXAMPLES = """\b
Examples:
  wiretrial compare reference ws --protocol ws
  wiretrial compare ws ws:tuned ./mine --protocol http -c 64 --trials 10
  wiretrial compare http://127.0.0.1:8080/ http://127.0.0.1:8081/ -d 5s
  wiretrial compare --traffic shop.toml http://127.0.0.1:8080 http://127.0.0.1:8081
  wiretrial compare --resume results/compare-20260101-120000

A subject is a name of `wiretrial subject list` or a folder, with `:tuned` for its tuned
configuration. A URL is a server of your own; it is not started or stopped. With --traffic the
sessions of a file go to each server, whose address takes the place of `base`.
"""

app = Face()


@app.add("compare", epilog=EXAMPLES)
def compare(
    contestants: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL|SUBJECT[:tuned]...",
            help="Servers to measure, one or more.",
            show_default=False,
            autocompletion=names.subjects,
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
    traffic: Annotated[
        Path | None,
        typer.Option(
            "--traffic",
            metavar="FILE",
            help="Traffic file, .toml or .hurl: its sessions go to each server.",
        ),
    ] = None,
    variable: options.Variables = None,
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
    depth: options.Depth = "1",
    pack: options.Pack = "1",
    requests_per_connection: options.PerConnection = None,
    payload: options.PayloadSize = None,
    json_text: options.JsonText = None,
    text: options.Text = False,
    method: options.Method = None,
    header: options.Headers = None,
    expect: options.Expected = None,
    expect_status: options.ExpectedStatus = "200",
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
    from wiretrial.cli import comparing

    wanted = options.trials_of(trials)
    asked = options.Asked(
        payload=payload,
        json=json_text,
        text=text,
        method=method,
        header=tuple(header or ()),
        expect=tuple(rule for rule in expect or () if rule != "auto"),
        expect_status=expect_status,
        learns=not no_learn,
    )
    if resume:
        if contestants:
            raise UsageProblem("--resume takes its contestants from DIR", "leave them out")
        if label:
            raise UsageProblem("--resume takes its labels from DIR", "leave --label out")
        return comparing.resume(resume, wanted, asked.header, details=details)
    if not contestants:
        raise UsageProblem("nothing to measure", "name URLs or subjects, such as ws nginx")
    return comparing.compare(
        contestants,
        protocol,
        comparing.File(traffic, tuple(variable or ())),
        options.Loop(connections, depth, pack, rate, requests_per_connection),
        asked,
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
        results,
        details=details,
    )
