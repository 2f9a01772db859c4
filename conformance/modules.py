"""Programs of Go, built from modules that are pinned with their sums.

Knows Go, and when something has been built already; must not know what the programs do.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from conformance.process import Unavailable
from wiretrial.subjects import toolchains

BUILD_LIMIT_S = 1200.0


def build(folder: Path, module: Path, packages: Sequence[str]) -> None:
    """`packages`, which stand on `module` alone, in `folder`; built unless they already are."""
    sources = (module / "go.mod", module / "go.sum", *sorted(module.glob("*.go")))
    made_from = hashlib.sha256(b"".join(one.read_bytes() for one in sources)).hexdigest()
    stamp = folder / ".made-from"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == made_from:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _build(folder, module, packages)
    stamp.write_text(made_from, encoding="utf-8")


def _build(folder: Path, module: Path, packages: Sequence[str]) -> None:
    if not shutil.which("go"):
        raise Unavailable("there is no Go: install golang-go")

    def printed(command: Sequence[str], where: Path | None) -> str:
        done = subprocess.run(
            list(command),
            cwd=where or module,
            env={**os.environ, "GOFLAGS": "-mod=readonly"},
            capture_output=True,
            text=True,
            timeout=BUILD_LIMIT_S,
            check=True,
        )
        return done.stdout

    try:
        go = toolchains.go_program(toolchains.go_wanted(module), printed)
        printed([go, "build", "-trimpath", "-buildvcs=false", "-o", f"{folder}/", *packages], None)
    except subprocess.CalledProcessError as failed:
        lines = str(failed.stderr).strip().splitlines() or ["without a word"]
        raise Unavailable(f"Go could not build it: {lines[-1]}") from None
