"""Checks traffic files, and shows what they say.

Knows the command's steps and how the result is laid out; must not know the files' formats.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from wiretrial import redaction, redaction_traffic
from wiretrial.cli import output
from wiretrial.cli.output import Format
from wiretrial.errors import EXIT_GOOD
from wiretrial.traffic import telling
from wiretrial.traffic.compiler import Scenario, compile_file
from wiretrial.traffic.variables import given


def check(path: Path, variables: Sequence[str], *, learns: bool, format_: Format) -> int:
    """Compiles the file; what is wrong in it is raised."""
    scenario = compile_file(path, given(variables), learns=learns)
    if format_ is Format.JSON:
        output.emit(output.as_json(_document(scenario)), None)
    else:
        output.emit("\n".join(_text(scenario, path)), None)
    return EXIT_GOOD


def _text(scenario: Scenario, path: Path) -> Iterator[str]:
    for line in telling.lines(scenario, str(path)):
        indent = " " * 2 * line.depth
        yield from textwrap.wrap(
            line.text,
            width=output.width(),
            initial_indent=indent,
            subsequent_indent=f"{indent}  ",
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]


def _document(scenario: Scenario) -> dict[str, object]:
    shape = scenario.load
    return {
        "schema": "wiretrial-traffic-check",
        "version": 1,
        "origin": scenario.origin,
        "headers": redaction.headers(scenario.headers),
        "load": {
            "users": shape.users,
            "rate": shape.rate,
            "pacing": shape.pacing,
            "stages": [
                {"for_ns": stage.for_ns, "from": stage.start, "to": stage.end}
                for stage in shape.stages
            ],
        },
        "goals": [
            {
                "of": goal.of,
                "figure": goal.figure,
                "relation": goal.relation,
                "value": goal.value,
            }
            for goal in scenario.goals
        ],
        "unchecked": scenario.unchecked,
        "traffic": redaction_traffic.redacted(scenario.traffic).model_dump(
            mode="json", by_alias=True
        ),
    }
