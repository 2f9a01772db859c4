"""Help and the Tab key import nothing that takes long: no numbers, no models, no certificates."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import LIMIT_S, ROOT
from tests.cli.test_help import COMMANDS
from wiretrial.cli import app

HEAVY = (
    *("numpy", "scipy", "pydantic", "cryptography", "rich", "vl_convert", "jsonschema"),
    *("distributed", "dask", "psycopg", "google", "grpc", "grpc_tools"),
)

SHOWS = """
import json, os, sys
from wiretrial.cli import app

asked, heavy = json.loads(sys.argv[1])
found = {}
for words in asked:
    sys.argv[1:] = [*words, "--help"]
    told = os.dup(1)
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
        try:
            app.main()
        except SystemExit as end:
            assert not end.code, words
        finally:
            sys.stdout.flush()
            os.dup2(told, 1)
    found[" ".join(words)] = [name for name in heavy if name in sys.modules]
print(json.dumps(found))
"""


def test_help_of_every_command_imports_what_is_light(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHOWS, json.dumps([COMMANDS, HEAVY])],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == len(COMMANDS)
    # Modules stay, so that the first with any is the one to look at.
    assert {command: names for command, names in found.items() if names} == {}


def test_every_command_has_its_help_committed() -> None:
    assert set(app.Commands.table) == {names[0] for names in COMMANDS if names}
