"""What a study found, small enough to be kept beside it: figures as JSON, and as a page.

Knows a report's blocks and the form in which they are kept; must not know how anything was
measured. The page of a study's figures is made from what is kept, and from nothing else.
The pictures that `study.toml` names stand on it, too, as far as they are there.
Usage: python -m wiretrial.report.found studies/NAME
"""

from __future__ import annotations

import html
import json
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from wiretrial.catalogues import STUDIES
from wiretrial.report import facts, markdown, page, units
from wiretrial.report.blocks import Section, Told
from wiretrial.report.model import ReportModel
from wiretrial.report.shown import told
from wiretrial.results.answers import KEPT

SCHEMA: Final = "wiretrial-found"
PAGE = "RESULTS.md"
DIGITS = 9
"""So many of a figure are kept: what is behind them may differ between processors."""
NOTHING_YET = "Nothing is kept yet: the study has not been run whole."

_FLAT = re.compile(r"\{\n[^{}\[\]]*\n\s*\}")
"""An object without others in it, as JSON is indented."""
_BREAK = re.compile(r"\n\s*")


class FoundSection(BaseModel):
    """A section of the report, as far as it is words and figures."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    blocks: tuple[Told, ...]


class Found(BaseModel):
    """Everything that is kept of a study's report."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_name: Literal["wiretrial-found"] = Field(default=SCHEMA, alias="schema")
    version: Literal[2] = 2
    study: str
    command: str
    date: str
    machine: str
    trials: int
    occasions: int = 1
    sentences: tuple[str, ...]
    sections: tuple[FoundSection, ...]

    def to_json(self) -> str:
        """As it is kept: what says nothing is left out, and a cell is a line."""
        kept = self.model_dump(mode="json", exclude_defaults=True)
        whole = {"schema": self.schema_name, "version": self.version, **kept}
        text = json.dumps(whole, indent=1, ensure_ascii=False)
        return _FLAT.sub(lambda found: _BREAK.sub(" ", found[0]), text) + "\n"


def of_report(model: ReportModel) -> Found:
    """What is kept of a report."""
    first = model.trials[0]
    found = Found(
        study=first.study,
        command=model.command,
        date=max(trial.started_at for trial in model.trials)[:10],
        machine=facts.machines_words(model.trials),
        trials=model.trials_measured,
        occasions=len({trial.occasion for trial in model.trials}),
        sentences=model.all_sentences,
        sections=tuple(
            FoundSection(title=section.title, blocks=blocks)
            for section in page.sections(model)
            if (blocks := told(section))
        ),
    )
    return Found.model_validate(_rounded(found.model_dump(mode="json")))


def report(name: str, found: Found | None, pictures: Mapping[str, str] | None = None) -> str:
    """The page of a study's figures, Markdown. `pictures`: SVG by file below the study's folder."""
    if found is None:
        return f"# Results of {name}\n\n{NOTHING_YET}\n"
    made = (
        "Every figure that is kept. What they say together is in [README.md](README.md). This page "
        "is made from [results/found.json](results/found.json) by "
        f"`python -m wiretrial.report.found studies/{name}`; a test holds it against that."
    )
    known = [(_caption(svg), file) for file, svg in (pictures or {}).items()]
    drawn = "\n\n".join(f"**{caption}**\n\n![{caption}]({file})" for caption, file in known)
    shown = f"\n## Pictures\n\n{drawn}\n" if drawn else ""
    return f"# Results of {name}\n\n{made}\n\n{section(found)}{shown}"


def of_study(study: Path) -> str:
    """The page of what is kept in a study's folder."""
    document = tomllib.loads((study / STUDIES.document).read_text("utf-8"))
    files = [f"results/{file}" for file in document.get("pictures", {})]
    pictures = {
        file: (study / file).read_text("utf-8") for file in files if (study / file).is_file()
    }
    return report(study.resolve().name, read(study), pictures)


def section(found: Found) -> str:
    """The figures: what was found first, then table after table."""
    many = units.plural(found.trials, "trial")
    if found.occasions > 1:
        many += f" over {found.occasions} occasions"
    made = f"{found.date}, {found.machine}; {many} of `{found.command}`."
    shown = markdown.sections(Section(one.title, one.blocks) for one in found.sections)
    return "\n\n".join((made, *found.sentences, *shown)) + "\n"


def read(study: Path) -> Found | None:
    """What is kept in a study's folder; None where nothing is."""
    path = study / KEPT
    return Found.model_validate_json(path.read_bytes()) if path.is_file() else None


def _rounded(kept: Any) -> Any:
    """The same with figures of `DIGITS` digits."""
    match kept:
        case float():
            return float(f"{kept:.{DIGITS}g}")
        case dict():
            return {key: _rounded(value) for key, value in kept.items()}
        case list():
            return [_rounded(value) for value in kept]
    return kept


def _caption(svg: str) -> str:
    """What a picture shows, without its figures: the beginning of its title."""
    title = re.search(r"<title>(.*?)</title>", svg, re.DOTALL)
    return html.unescape(title[1].partition(": ")[0]) if title else ""


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (folder / PAGE).write_text(of_study(folder), "utf-8")
