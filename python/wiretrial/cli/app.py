"""The command line's door: names the commands, turns every error into one line and a code.

Knows exit codes and the commands' names; must not know what they do.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from collections.abc import Mapping
from typing import Annotated, ClassVar

import typer
from typer.exceptions import TyperException

from wiretrial import __version__, redaction
from wiretrial.cli import interrupts, screen, usage
from wiretrial.cli.output import say
from wiretrial.cli.screen import Entry
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, EXIT_SIGNAL, EXIT_USAGE, WiretrialError

HELP = """Measure HTTP and WebSocket servers and client libraries in randomised, repeated trials,
and see which is faster, by how much, and why.

\b
Start here:
  wiretrial demo                                 needs no server, two minutes
  wiretrial load http://127.0.0.1:8080/          load a server of yours
  wiretrial compare http://HOST1/ http://HOST2/  see which of two is faster
"""


class Commands(screen.FirstScreen):
    """Every command, in the order in which the first screen shows them."""

    table: ClassVar[Mapping[str, Entry]] = {
        "demo": Entry(
            screen.MEASURE, "Two-minute tour: compares HTTP with WebSocket on this machine."
        ),
        "load": Entry(screen.MEASURE, "Load a server and verify every reply."),
        "limit": Entry(screen.MEASURE, "Find the highest rate at which a server keeps its goals."),
        "advise": Entry(screen.MEASURE, "Say how many instances and machines carry your users."),
        "compare": Entry(screen.MEASURE, "Measure servers in turn and say which is faster."),
        "browser": Entry(screen.MEASURE, "Send the same requests from a real browser."),
        "study": Entry(screen.MEASURE, "Prepared studies of one question each: list, show, run."),
        "subject": Entry(
            screen.CATALOGUE, "Servers and clients: list, show, new, install, verify, run."
        ),
        "traffic": Entry(
            screen.CATALOGUE,
            "Requests of your own application: check and make files.",
        ),
        "report": Entry(screen.RESULTS, "Make the report of stored trials again."),
        "gate": Entry(screen.RESULTS, "Check a result against thresholds, for CI."),
        "trend": Entry(screen.RESULTS, "Follow scenarios over commits or days: since when slower?"),
        "serve": Entry(screen.RESULTS, "Show results and the running study in a web browser."),
        "site": Entry(screen.RESULTS, "Make pages of kept studies and results, to publish them."),
        "results": Entry(
            screen.RESULTS, "Stored trials: list, show, compare, export, import, push, pull."
        ),
        "metrics": Entry(screen.RESULTS, "Live metrics of loads and studies: list, dashboard."),
        "machine": Entry(screen.MACHINES, "Show how large a load this machine can carry."),
        "fleet": Entry(
            screen.MACHINES, "Send one load from many machines, through Dask.distributed."
        ),
        "link": Entry(
            screen.MACHINES, "Emulate a slow or lossy link: run a command behind it, measure it."
        ),
    }


app = typer.Typer(
    name="wiretrial",
    cls=Commands,
    help=HELP,
    epilog="`wiretrial COMMAND --help` shows a command's options, with examples.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(wanted: bool) -> None:
    if not wanted:
        return
    from wiretrial.engine import Engine, engine_version

    engine = Engine.find()
    typer.echo(f"wiretrial {__version__}, engine {engine_version(engine.binary)}")
    raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the versions of both halves and exit.",
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Runs the command line; never returns."""
    if elsewhere := _other_system():
        say(f"wiretrial: {elsewhere}")
        sys.exit(EXIT_FAILED)
    interrupts.raise_on_signal()
    _raise_descriptor_limit()
    sys.exit(run())


def _other_system() -> str | None:
    """What is said where the kernel is none that the engine and the laboratory know."""
    name = os.uname().sysname
    if name == "Linux":
        return None
    return (
        f"this is {name}, and wiretrial needs Linux: run it in a virtual machine or a container"
        " with Linux (docs/install.md)"
    )


def run() -> int:
    """Runs the command line and returns its exit code; an error is told as one line."""
    try:
        code = app(standalone_mode=False)
    except TyperException as error:
        if usage.is_help(error):
            say(error.message.rstrip())
        else:
            say(f"wiretrial: {redaction.text(usage.line(error, sys.argv[1:]))}")
        return error.exit_code
    except WiretrialError as error:
        say(f"wiretrial: {error.told()}")
        return error.exit_code
    except interrupts.Stopped as stopped:
        say("wiretrial: stopped")
        return EXIT_SIGNAL + stopped.number
    except typer.Abort:
        return EXIT_USAGE
    except BrokenPipeError:
        # Whoever read our output is gone; the interpreter must not try to flush to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    return code if isinstance(code, int) else EXIT_GOOD


def _raise_descriptor_limit() -> None:
    """What we start inherits as many descriptors as this user may have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
