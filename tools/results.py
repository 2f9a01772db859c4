"""Makes what is kept of each study anew from its kept trials, with today's code.

Usage: python -m tools.results [STUDY]..., each a folder of studies/; none: all. Writes
`results/found.json`, `RESULTS.md` and the pictures that `study.toml` names; of all studies
`docs/claims.md`; and in `docs/isolation.md` the table of ten servers. A study without
`results/trials.jsonl.xz` keeps what it has.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tools import claims
from wiretrial.cli import reports
from wiretrial.report import charts, found
from wiretrial.report.found import Found
from wiretrial.report.tables import receiving
from wiretrial.results import kept
from wiretrial.results.answers import KEPT
from wiretrial.studies import document

ROOT = Path(__file__).parents[1]
STUDIES = ROOT / "studies"
CHARGED = ROOT / "docs" / "isolation.md"
CHARGED_STUDY = "websocket-servers"
"""Whose servers stand there, charged apart."""
BEGIN, END = "<!-- made by `make results`: ten servers -->", "<!-- end: ten servers -->"
NO_TRIALS = f"""\
No trials of them are kept yet, so there is no table. They are part of the study, and take about 5
minutes as root:

```
wiretrial study run {CHARGED_STUDY} --only '*charged apart*'
```

Once the study's trials are kept ([studies.md](studies.md#what-is-kept-beside-a-study)),
`make results` writes the table here."""


def made(study: Path) -> dict[str, str]:
    """What follows from the study's kept trials: the text of each file, by its path below it."""
    model = reports.of_kept(kept.read(study / kept.FILE))
    told = found.of_report(model)
    named = document.read(study).pictures
    drawn = charts.names(model)
    pictures = {
        f"results/{file}": charts.render_svg(model, name)
        for file, name in named.items()
        if name in drawn
    }
    return {
        KEPT: told.to_json(),
        found.PAGE: found.report(study.name, told, pictures),
        **pictures,
    }


def charged(page: str, kept_there: Found | None) -> str:
    """The page with the table of who pays for receiving, as it is kept; else how to make it."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    if not tail:
        raise ValueError(f"the page has no place for the table: {BEGIN} and {END}")
    known = kept_there.sections if kept_there else ()
    sections = tuple(section for section in known if section.title == receiving.TITLE)
    told = NO_TRIALS
    if kept_there and sections:
        alone = kept_there.model_copy(update={"sections": sections, "sentences": ()})
        told = found.section(alone).strip()
    return f"{head}{BEGIN}\n\n{told}\n\n{END}{tail}"


def with_trials(root: Path) -> Iterator[Path]:
    """The studies below `root` that keep their trials."""
    return (path.parent.parent for path in sorted(root.glob(f"*/{kept.FILE}")))


def main(names: list[str]) -> int:
    """Writes the files; says what was written."""
    for study in [STUDIES / name for name in names] or list(with_trials(STUDIES)):
        for name, text in made(study).items():
            (study / name).write_text(text, "utf-8")
            sys.stdout.write(f"{study.name}/{name}\n")
    told = charged(CHARGED.read_text("utf-8"), found.read(STUDIES / CHARGED_STUDY))
    CHARGED.write_text(told, "utf-8")
    return claims.main()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
