"""A folder to begin an own subject with.

Knows the scaffolds; must not know what a subject does.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from importlib import resources
from pathlib import Path

from wiretrial.cli import output
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.subjects.spec import load
from wiretrial.traffic.compiler import compile_at

SCAFFOLD = "scaffold"
OF_TRAFFIC = "scaffold_traffic"
NAME = "own-server"
"""What a scaffold calls itself, until it has the folder's name."""
FILE = "FILE.toml"
"""The traffic file of a scaffold, until it has the path of one."""


def new(folder: Path, traffic: Path | None) -> int:
    """Writes a small server with its subject.toml, or that of one with a traffic file."""
    name = re.sub(r"[^a-z0-9.-]+", "-", folder.resolve().name.lower()).strip(".-") or NAME
    if traffic is not None:
        # What is wrong with the file is told before there is anything to remove.
        compile_at(traffic, {}, None)
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UsageProblem(f"{folder} exists already", "name another folder") from None
    except OSError as error:
        raise UsageProblem(f"{folder}: {error.strerror}", "name another folder") from error
    kind = SCAFFOLD if traffic is None else OF_TRAFFIC
    with resources.as_file(resources.files("wiretrial.subjects") / kind) as scaffold:
        for source in sorted(scaffold.iterdir()):
            if source.is_file():
                shutil.copyfile(source, folder / source.name)
    spec = folder / "subject.toml"
    text = spec.read_text(encoding="utf-8").replace(NAME, name)
    if traffic is not None:
        path = os.path.relpath(traffic.resolve(), folder.resolve())
        text = text.replace(f'"{FILE}"', json.dumps(path, ensure_ascii=False))
    spec.write_text(text, encoding="utf-8")
    load(folder)
    what = "change it" if traffic is None else f"put the command that starts it into {spec}"
    output.emit(f"{folder}: now {what}, then run: wiretrial subject verify {_path(folder)}", None)
    return EXIT_GOOD


def _path(folder: Path) -> str:
    """The folder as a command wants it: a path, not a name of the catalogue."""
    text = str(folder)
    return text if "/" in text else f"./{text}"
