"""Which subjects a command is about: named ones, all, or those of a study."""

from __future__ import annotations

from typing import Annotated

import typer

from wiretrial.errors import UsageProblem
from wiretrial.studies import registry as studies
from wiretrial.subjects import registry
from wiretrial.subjects.spec import Subject

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME|FOLDER]...", help="Names from `subject list`, or folders."),
]
All = Annotated[bool, typer.Option("--all", help="All subjects of the catalogue.")]
OfStudy = Annotated[
    str | None,
    typer.Option("--study", metavar="NAME", help="The subjects that this study measures."),
]


def chosen(names: list[str] | None, *, all_: bool, study: str | None) -> list[Subject]:
    """The subjects that were asked for, each once."""
    if sum((bool(names), all_, study is not None)) != 1:
        raise UsageProblem(
            "no subject is named",
            "name some, or use --all, or --study NAME; `subject list` shows them",
        )
    if all_:
        return registry.catalogue()
    wanted = names or studies.subjects_of(study or "")
    return [registry.find(name) for name in dict.fromkeys(wanted)]
