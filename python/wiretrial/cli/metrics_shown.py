"""Prints the dashboard of the live metrics, and their names.

Knows files; must not know what a panel shows.
"""

from __future__ import annotations

from pathlib import Path

from wiretrial.cli import output
from wiretrial.errors import EXIT_GOOD
from wiretrial.metrics import dashboard as dashboards
from wiretrial.metrics import families


def dashboard(file: Path | None) -> int:
    """Writes the dashboard."""
    if file:
        output.require_writable(file)
    output.emit(output.as_json(dashboards.dashboard()), file)
    return EXIT_GOOD


def list_() -> int:
    """Prints a line for each metric."""
    width = max(len(family.prometheus) for family in families.FAMILIES)
    lines = [
        f"{family.prometheus:<{width}}  {family.kind.value:<9}  {family.help}"
        for family in families.FAMILIES
    ]
    output.emit("\n".join(lines), None)
    return EXIT_GOOD
