"""Which subjects a command is about: named ones, all, or those of a study.

Knows the catalogue; must not know what is done with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.errors import UsageProblem
from wiretrial.studies import registry as studies
from wiretrial.subjects import registry
from wiretrial.subjects.spec import Subject


@dataclass(frozen=True)
class Wanted:
    """What was typed; one of these."""

    names: Sequence[str] | None
    all: bool
    study: str | None

    def subjects(self) -> list[Subject]:
        """The subjects that were asked for, each once."""
        if sum((bool(self.names), self.all, self.study is not None)) != 1:
            raise UsageProblem(
                "no subject is named",
                "name some, or use --all, or --study NAME; `subject list` shows them",
            )
        if self.all:
            return registry.catalogue()
        wanted = self.names or studies.subjects_of(self.study or "")
        return [registry.find(name) for name in dict.fromkeys(wanted)]
