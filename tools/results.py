"""Makes what is kept of each study anew from its kept trials, with today's code.

Usage: python -m tools.results [STUDY]..., each a folder of studies/; none: all. Writes
`results/found.json`, `RESULTS.md` and the pictures that `study.toml` names, and of all studies
`docs/claims.md`. A study without `results/trials.jsonl.xz` keeps what it has.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools import claims
from wiretrial.cli import reports
from wiretrial.report import charts, found
from wiretrial.results import kept
from wiretrial.results.answers import KEPT
from wiretrial.studies import document

STUDIES = Path(__file__).parents[1] / "studies"


def made(study: Path) -> dict[str, str]:
    """What follows from the study's kept trials: the text of each file, by its path below it."""
    with tempfile.TemporaryDirectory() as base:
        model = reports.whole(kept.unpack(study / kept.FILE, Path(base)))
    told = found.of_report(model)
    pictures = document.read(study).pictures
    return {
        KEPT: told.to_json(),
        found.PAGE: found.report(study.name, told),
        **{f"results/{file}": charts.render_svg(model, name) for file, name in pictures.items()},
    }


def with_trials(root: Path) -> Iterator[Path]:
    """The studies below `root` that keep their trials."""
    return (path.parent.parent for path in sorted(root.glob(f"*/{kept.FILE}")))


def main(names: list[str]) -> int:
    """Writes the files; says what was written."""
    for study in [STUDIES / name for name in names] or list(with_trials(STUDIES)):
        for name, text in made(study).items():
            (study / name).write_text(text, "utf-8")
            sys.stdout.write(f"{study.name}/{name}\n")
    return claims.main()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
