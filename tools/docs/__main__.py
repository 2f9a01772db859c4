"""Builds the site: lays out the pages, writes those that are made of the programs, calls mkdocs.

Knows what is called in which order; must not know what a page says. Usage:
python -m tools.docs MKDOCS OUT (the program, and the folder of the site)
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.docs import commands, layout, schemas
from wiretrial.engine import Engine


def main(mkdocs: Path, out: Path) -> int:
    """Writes the site to `out`, its pages beside it. Returns mkdocs' exit code."""
    stage = out.with_name(f"{out.name}-source")
    shutil.rmtree(stage, ignore_errors=True)
    pages = stage / "pages"
    layout.lay_out(pages)
    engine = Engine.find()
    made = {
        "cli.md": commands.laboratory(),
        "cli-engine.md": commands.engine(engine.binary),
        **{f"schema-{name}.md": schemas.page(name, engine.schema(name)) for name in schemas.WORDS},
    }
    for name, text in made.items():
        (pages / "docs" / name).write_text(text, encoding="utf-8")
    shutil.copy(layout.ROOT / "mkdocs.yml", stage)
    build = [str(mkdocs.absolute()), "build", "--strict", "--site-dir", str(out)]
    build += ["--config-file", str(stage / "mkdocs.yml")]
    # The theme's news are not the reader's of a build.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(build, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]).absolute()))
