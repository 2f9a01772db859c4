"""The command line's door: registers the commands, turns every error into one line and a code.

Knows exit codes and the commands' names; must not know what they do.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from typing import Annotated

import typer
from typer.exceptions import TyperException

from wiretrial import __version__
from wiretrial.cli import (
    browser,
    compare,
    demo,
    fleet,
    gate,
    interrupts,
    link,
    load,
    machine,
    report,
    results,
    serve,
    study,
    subject,
    usage,
)
from wiretrial.cli.output import say
from wiretrial.engine import Engine, engine_version
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, EXIT_SIGNAL, EXIT_USAGE, WiretrialError

app = typer.Typer(
    name="wiretrial",
    help="Randomised trials on the wire: load, compare, report.",
    epilog="Start with `wiretrial demo`, or `wiretrial load URL`.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

app.command("load", epilog=load.EXAMPLES, short_help="Load a server, verify every reply.")(
    load.load
)
app.command(
    "compare", epilog=compare.EXAMPLES, short_help="Say which of several servers is faster."
)(compare.compare)
app.command("demo", epilog=demo.EXAMPLES, short_help="HTTP or WebSocket? The main job.")(demo.demo)
app.add_typer(study.app, name="study")
app.add_typer(subject.app, name="subject")
app.add_typer(results.app, name="results")
app.command("report", epilog=report.EXAMPLES, short_help="Report stored trials again.")(
    report.report
)
app.command("gate", epilog=gate.EXAMPLES, short_help="Hold a result against bounds, for CI.")(
    gate.gate
)
app.command("serve", epilog=serve.EXAMPLES, short_help="Results and the running study, live.")(
    serve.serve
)
app.command(
    "browser", epilog=browser.EXAMPLES, short_help="The same requests from a real browser."
)(browser.browser)
app.add_typer(fleet.app, name="fleet")
app.add_typer(link.app, name="link")
app.command("machine", epilog=machine.EXAMPLES, short_help="Show what this machine can carry.")(
    machine.machine
)


def _show_version(wanted: bool) -> None:
    if not wanted:
        return
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
    interrupts.raise_on_signal()
    _raise_descriptor_limit()
    sys.exit(_run())


def _run() -> int:
    try:
        code = app(standalone_mode=False)
    except TyperException as error:
        if usage.is_help(error):
            say(error.message.rstrip())
        else:
            say(f"wiretrial: {usage.line(error, sys.argv[1:])}")
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
