"""The first screen: what wiretrial is for, how to begin, and its commands in groups.

Knows how help is laid out; must not know what a command does.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

MEASURE, CATALOGUE = "Measure", "What can be measured"
RESULTS, MACHINES = "Results", "Machines and networks"
HEADINGS = (MEASURE, CATALOGUE, RESULTS, MACHINES)


class Grouped(TyperGroup):
    """A group that shows its commands under the headings that they were registered with."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Commands first: a new user looks for these."""
        width = max(map(len, self.commands))
        for heading in HEADINGS:
            rows = [
                (name.ljust(width), command.get_short_help_str(formatter.width))
                for name, command in self.commands.items()
                if getattr(command, "rich_help_panel", None) == heading
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)
        records = [parameter.get_help_record(ctx) for parameter in self.get_params(ctx)]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record is not None])
