"""`wiretrial link`: a command behind an emulated link, and what such a link really does.

Knows the options; must not know how a link is made.
"""

from __future__ import annotations

from typing import Annotated

import typer

from wiretrial.cli import options
from wiretrial.cli.output import Format
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial link list
  wiretrial link run vpn -- curl http://{far}:8080/
  wiretrial link run 4g --far 'python3 -m http.server' -- curl http://{far}:8000/
  wiretrial link run 'up:delay=20ms,rate=5mbit down:delay=20ms' -- ping {far}
  wiretrial link measure satellite

\b
A direction: delay=26ms,jitter=2ms/normal,loss=0.1%/4,reorder=1%/2ms,duplicate=0.01%,
blackhole=10s/2s,rebind=10s,rate=100mbit,queue=100ms,mtu=1500. It needs root; without:
unshare --user --map-root-user --net wiretrial link …
"""

app = Face(EXAMPLES)

LinkName = Annotated[
    str,
    typer.Argument(
        metavar="PROFILE|NUMBERS", help="Name from `link list`, or delay=26ms,rate=100mbit."
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random choices.")]
Spin = Annotated[
    str,
    typer.Option(
        "--spin",
        metavar="TIME",
        help="Poll instead of sleeping for this long before a packet is due.",
    ),
]


@app.add("list", "List the named links.")
def list_(format_: options.FormatOption = Format.TEXT) -> int:
    """List the named links with their delay, jitter, loss and rate."""
    from wiretrial.cli import linking

    return linking.list_(format_)


@app.add("run", "Run a command behind a link.")
def run(
    name: LinkName,
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND", help="Command to run; {far} and {near} become the addresses."
        ),
    ],
    far: Annotated[
        str | None,
        typer.Option(
            "--far",
            metavar="COMMAND",
            help="Command to run at the far end. [the far end is this machine]",
        ),
    ] = None,
    seed: Seed = 0,
    spin: Spin = "0s",
) -> int:
    """Run a command in a namespace whose only way out is the link.

    The far end is this machine itself, with all that listens on every address; or, with --far, a
    namespace in which that command runs. Both commands find the addresses in WIRETRIAL_FAR and
    WIRETRIAL_NEAR. The exit code is the command's.
    """
    from wiretrial.cli import linking

    return linking.run(name, command, far, linking.Carrying(seed, spin))


@app.add("measure", "Measure the delay, loss and rate of a link.")
def measure(
    name: LinkName,
    per_second: Annotated[
        str, typer.Option("--packets-per-second", metavar="N", help="Probes per second.")
    ] = "1000",
    size: Annotated[
        str, typer.Option("--bytes", metavar="BYTES", help="Size of a probe, IP and UDP included.")
    ] = "100",
    duration: Annotated[
        str,
        typer.Option("-d", "--duration", metavar="TIME", help="Time to measure in each direction."),
    ] = "5s",
    seed: Seed = 0,
    spin: Spin = "0s",
    format_: options.FormatOption = Format.TEXT,
) -> int:
    """Send probes each way, and show measured and requested delay, jitter, loss and rate.

    Where the link has a rate, 1.2 times as much is sent then. Times are the kernel's.
    """
    from wiretrial.cli import linking

    return linking.measure(
        name,
        linking.Probing(per_second, size, duration),
        linking.Carrying(seed, spin),
        format_,
    )
