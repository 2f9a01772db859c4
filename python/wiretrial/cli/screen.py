"""How commands are declared and shown: the first screen, a command's face, its import when called.

Knows typer, and how help is laid out; must not know what a command does.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

MEASURE, CATALOGUE = "Measure", "What can be measured"
RESULTS, MACHINES = "Results", "Machines and networks"
HEADINGS = (MEASURE, CATALOGUE, RESULTS, MACHINES)
LOAD, REPLIES = "When messages are sent", "Right replies"
SOCKETS, STYX, GRPC = "WebSocket", "Styx", "gRPC"
TLS, GENERATOR, FLEET = "TLS", "Load generator", "Many machines"
SERVERS = "Servers that you run"
OUTPUT = "Output"
"""What options beyond the common ones are about: a heading each in a command's help."""
LONGEST_OFFERED = 72
"""Letters of a help beside what a shell offers; typer breaks what exceeds 80."""

Function = TypeVar("Function", bound=Callable[..., int])


@dataclass(frozen=True)
class Entry:
    """What the first screen says of a command."""

    heading: str
    short: str


class Face(typer.Typer):
    """A command, or a group of several, as a module declares it."""

    def __init__(self, epilog: str | None = None) -> None:
        super().__init__(
            cls=Group,
            epilog=epilog,
            rich_markup_mode=None,
            no_args_is_help=True,
            # The first screen has these options.
            add_completion=False,
        )

    def add(
        self, name: str, short: str | None = None, *, epilog: str | None = None
    ) -> Callable[[Function], Function]:
        """Declares a command: its options are the function's, its help is the docstring."""
        return self.command(name, cls=Command, short_help=short, epilog=epilog)


class Command(TyperCommand):
    """One command."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options and arguments."""
        return _lightened(super().get_params(ctx), ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The common options first, the others under what they are about."""
        sections: dict[str, list[Any]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            is_argument = parameter.param_type_name == "argument"
            plain = "Arguments" if is_argument else "Options"
            heading = getattr(parameter, "rich_help_panel", None) or plain
            if record := parameter.get_help_record(ctx):
                sections.setdefault(heading, []).append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Its options, for a shell to offer."""
        return _shortened(super().shell_complete(ctx, incomplete))


class Group(TyperGroup):
    """A command that is a group of others."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options."""
        return _lightened(super().get_params(ctx), ctx)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Its commands and options, for a shell to offer."""
        return _shortened(super().shell_complete(ctx, incomplete))


def _lightened(parameters: list[Any], context: Any) -> list[Any]:
    """The same, without what typer imports pydantic for although there is nothing to check."""
    for parameter in parameters:
        if getattr(parameter, "is_bool_flag", False) and parameter.default is None:
            # A flag that is not given: None is checked, False is not.
            parameter.default = False
        if context.resilient_parsing:
            # A shell asks what may come next; what is there already is not judged.
            parameter.process_value = _as_typed
    return parameters


def _as_typed(_context: Any, value: Any) -> Any:
    return value


def _shortened(offered: list[Any]) -> list[Any]:
    """The same, each with a help of one line: fish takes the next for another thing to offer."""
    for item in offered:
        if item.help:
            item.help = textwrap.shorten(item.help, LONGEST_OFFERED, placeholder=" ...")
    return offered


class Later(Command):
    """A command that is imported when it is called, or when its own help or completion is wanted.

    It is the `app` of the module in `wiretrial.cli` that has its name.
    """

    def __init__(self, name: str, entry: Entry) -> None:
        super().__init__(name, short_help=entry.short, rich_help_panel=entry.heading)

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself, which takes the place of this one."""
        command = get_command(import_module(f"wiretrial.cli.{self.name}").app)
        # A group has one line in both places; a command's own help is its docstring.
        command.help = command.help or self.short_help
        return command.make_context(info_name, args, parent, **extra)


class FirstScreen(Group):
    """The group of all commands, under the headings that `table` gives them."""

    table: ClassVar[Mapping[str, Entry]] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, entry in self.table.items():
            self.add_command(Later(name, entry))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Commands first: a new user looks for these."""
        width = max(map(len, self.table))
        for heading in HEADINGS:
            rows = [
                (name.ljust(width), entry.short)
                for name, entry in self.table.items()
                if entry.heading == heading
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)
        records = [parameter.get_help_record(ctx) for parameter in self.get_params(ctx)]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record is not None])
