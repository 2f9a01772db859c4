"""`wiretrial advise TARGET`: how many instances carry a demand, and what they cost.

Knows the options; must not know how a capacity is measured, nor how an advice is worked out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import options, options_http, options_kept, options_own, options_search
from wiretrial.cli.output import Format
from wiretrial.cli.screen import Face
from wiretrial.errors import UsageProblem

EXAMPLES = """\b
Examples:
  wiretrial advise shop.toml --users 50k --think 5s --goal 'p99 < 200ms'
  wiretrial advise http://127.0.0.1:8080/ --users 50k --think 5s --goal 'p99 < 50ms' -c 200
  wiretrial advise http://127.0.0.1:8080/ --rate 40k --goal 'p99 < 50ms' --peak 2 --growth 5%
  wiretrial advise shop.toml --users 9k --server app=pid:4711 --server db=podman:pg --shared db
  wiretrial advise http://127.0.0.1:8080/ --rate 9k --machine small=0.17/h,4,16GiB
  wiretrial advise --command './server --port {port}' --rate 20k --goal 'p99 < 50ms'
  wiretrial advise --from advice.json --users 80k --think 5s
  wiretrial advise --from monday.json --from tuesday.json --from friday.json --rate 20k
  wiretrial advise --from one.json --rate 20k --size 2=two.json
  wiretrial advise --from http.json --rate 20k --instead WebSocket=ws.json
  wiretrial advise --catalogue --users 50k --think 5s --payload 64

One instance is measured: the highest rate that keeps the goals, then lower ones for what a message
takes of each server. Of a server that is started here, two instances are then measured together,
to see how capacity grows with their number. --from works on a kept result of advise or limit
(--format json), and measures nothing. What all instances share does not grow with them: name it
(--shared).

Exit: 0 an advice, 1 the run failed, 3 a goal is not kept even at the lowest rate, 4 nothing can be
said.
"""
app = Face()
SIZE = "Size"


@app.add("advise", epilog=EXAMPLES)
def advise(
    url: Annotated[
        str | None,
        typer.Argument(
            metavar="[URL|FILE|SERVER]",
            help="One instance of what is to be sized: a URL, a traffic file, or a server to start,"
            " as in `wiretrial compare`: a folder, image:NAME[@PORT], SUBJECT[:tuned].",
            show_default=False,
        ),
    ] = None,
    users: Annotated[
        str | None,
        typer.Option(
            "--users",
            metavar="N",
            help="Users of all instances together, people or devices, such as 50k.",
            show_default=False,
            rich_help_panel=SIZE,
        ),
    ] = None,
    think: Annotated[
        str | None,
        typer.Option(
            "--think",
            metavar="TIME",
            help="Time that a user waits between two messages or sessions, such as 5s.",
            show_default=False,
            rich_help_panel=SIZE,
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            "--rate",
            metavar="R",
            help="Messages or sessions per second in place of --users, such as 40k.",
            show_default=False,
            rich_help_panel=SIZE,
        ),
    ] = None,
    peak: Annotated[
        str,
        typer.Option(
            "--peak",
            metavar="FACTOR",
            help="Load of the busiest time as a multiple of the average, such as 2.",
            rich_help_panel=SIZE,
        ),
    ] = "1",
    shared: Annotated[
        list[str] | None,
        typer.Option(
            "--shared",
            metavar="NAME",
            help="Name of a --server that all instances share, such as db; repeatable.",
            show_default=False,
            rich_help_panel=SIZE,
        ),
    ] = None,
    machine: Annotated[
        list[str] | None,
        typer.Option(
            "--machine",
            metavar="NAME=PRICE/h,CORES,MEMORY",
            help="Machine to choose from, with its price per hour, cores and memory, such as "
            "small=0.17/h,4,16GiB; repeatable.",
            show_default=False,
            rich_help_panel=SIZE,
        ),
    ] = None,
    growth: Annotated[
        str | None,
        typer.Option(
            "--growth",
            metavar="SHARE",
            help="Growth of the load per month, such as 5%, to tell how long the advice lasts.",
            show_default=False,
            rich_help_panel=SIZE,
        ),
    ] = None,
    kept: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Use a result of advise or limit that was kept with --format json in place of a "
            "measurement, such as monday.json; repeat it for other days.",
            show_default=False,
            rich_help_panel=SIZE,
        ),
    ] = None,
    size: Annotated[
        list[str] | None,
        typer.Option(
            "--size",
            metavar="N=FILE",
            help="Take from a kept result of limit what N instances behind a proxy carry together, "
            "such as 2=two.json; repeatable.",
            show_default=False,
            rich_help_panel=SIZE,
        ),
    ] = None,
    instead: Annotated[
        list[str] | None,
        typer.Option(
            "--instead",
            metavar="NAME=FILE",
            help="Count the instances of an alternative, too, from its kept result, such as "
            "WebSocket=ws.json; repeatable.",
            show_default=False,
            rich_help_panel=SIZE,
        ),
    ] = None,
    catalogue: Annotated[
        bool,
        typer.Option(
            "--catalogue",
            help="Measure nothing: choose a server and a protocol from the kept studies, for "
            "--users or --rate and messages of --payload bytes, such as 64.",
            rich_help_panel=SIZE,
        ),
    ] = False,
    command: options_own.Command = None,
    build: options_own.Build = None,
    port: options_own.Port = None,
    path: options_own.RequestPath = None,
    instances: Annotated[
        str | None,
        typer.Option(
            "--instances",
            metavar="N",
            help="Instances to start and measure together, to see how capacity grows with their "
            "number; 1 measures one alone. [2 where each gets a CPU of its own]",
            show_default=False,
            rich_help_panel=options_own.PANEL,
        ),
    ] = None,
    goal: options_search.Goals = None,
    connections: options_search.Connections = None,
    duration: options_search.Duration = options_search.LEVEL,
    within: options_search.Within = options_search.WITHIN,
    searches: options_search.Searches = options_search.SEARCHES,
    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            metavar="R",
            help="Rate of the first level per second, such as 500. "
            "[half of what a closed loop reaches]",
            show_default=False,
        ),
    ] = None,
    tolerance: options_search.Tolerance = options_search.TOLERANCE,
    payload: options.PayloadSize = None,
    json_text: options.JsonText = None,
    text: options.Text = False,
    http: options_http.Fixed = options_http.FixedHttp.ONE,
    method: options.Method = None,
    header: options.Headers = None,
    variable: options.Variables = None,
    expect: options.Expected = None,
    expect_status: options.ExpectedStatus = "200",
    no_learn: options.NoLearn = False,
    warmup: options.WarmUp = "auto",
    timeout: options.Timeout = "10s",
    threads: options.Threads = "1",
    cpus: options.Cpus = None,
    poller: options.PollerChoice = options.Poller.AUTO,
    insecure: options.Insecure = False,
    cacert: options.Authorities = None,
    seed: options.Seed = 0,
    server: options.Servers = None,
    keep_secrets: options_kept.KeepSecrets = False,
    format_: options.FormatOption = Format.TEXT,
    file: options.ToFile = None,
    page: options.ToPage = None,
) -> int:
    """Say how many instances, and which machines, carry a number of users.

    Measures the highest rate at which one instance keeps its goals, and what a message takes of
    each server at lower rates. Users become messages by Little's law, messages become instances by
    the measured capacity. The answer names what binds, what it rests on, what would make it void,
    and the command that confirms it. Time and memory are measured, never taken from a formula.
    """
    from wiretrial.cli import advising, limiting, loading, starting

    own = starting.Own(tuple(build or ()), (command,) if command else (), (), port, path)
    sized = advising.Sized(
        users=users,
        think=think,
        rate=rate,
        peak=peak,
        shared=tuple(shared or ()),
        machines=tuple(machine or ()),
        growth=growth,
        instead=tuple(instead or ()),
        sizes=tuple(size or ()),
        together=instances,
    )
    output = limiting.Kept(keep_secrets, format_, file, page)
    if catalogue:
        from wiretrial.cli import advising_catalogue

        measuring = {
            "--from": kept,
            "--goal": goal,
            "--server": server,
            "--size": size,
            "--instead": instead,
            own.given() or "--instances": own.given() or instances,
        }
        advising_catalogue.require_alone(url, measuring)
        return advising_catalogue.answer(sized, payload, output)
    if kept:
        if measured := url or own.given() or (instances not in (None, "1") and "--instances"):
            raise UsageProblem(
                f"{measured} with --from: the one is measured, the other was", "name one of them"
            )
        return advising.from_kept(kept, sized, output)
    if url is None and command is None:
        raise UsageProblem(
            "neither what to measure nor a kept result is named",
            "give a URL or a traffic file, --from FILE, or --catalogue for the kept studies",
        )
    typed = loading.Typed(
        url or "",
        options.Loop(
            connections=connections or "",
            depth="1",
            pack="1",
            rate=None,
            requests_per_connection=None,
            pacing="constant",
            seed=seed,
        ),
        options.Asked(
            payload=payload,
            json=json_text,
            text=text,
            method=method,
            header=tuple(header or ()),
            expect=tuple(expect or ()),
            expect_status=expect_status,
            learns=not no_learn,
            http=options.HttpVersions(http.value),
        ),
        options.Security(insecure, cacert),
        loading.Extent(duration, None, warmup, timeout, advising.CONNECT_TIMEOUT),
        loading.Generator(threads, cpus, poller=poller.value, sources=None),
        loading.Further(False, None, "0", variables=tuple(variable or ())),
        servers=tuple(server or ()),
    )
    search = limiting.Search(
        goals=tuple(goal or ()),
        first=start,
        ceiling=None,
        searches=searches,
        tolerance=tolerance,
        within=within,
    )
    return advising.measured(typed, search, sized, output, own)
