"""What every bench shares: where the floor's binary is, which CPU is whose, how it ends.

Knows places; must not know what is measured.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from wiretrial.engine import Engine
from wiretrial.errors import WiretrialError

_HERE = Path(__file__).resolve().parent
_BUILT = _HERE.parent / "target" / "release"
FLOOR = _BUILT / "wiretrial-floor"
FLOOR_REMEDY = "cargo build --release --locked --package wiretrial-floor"
QUIC_GO = _BUILT / "wiretrial-quic-go"
QUIC_LOAD = _HERE / "quic" / "target" / "release" / "wiretrial-quic-load"
QUIC_GO_REMEDY = QUIC_LOAD_REMEDY = "make quic-peers"
SERVER_CPU, GENERATOR_CPU = 0, 1


def engine_and_floor() -> Engine:
    """The engine, where the floor stands beside it.

    Raises WiretrialError where one of them is missing.
    """
    if not FLOOR.is_file():
        raise WiretrialError("the bare programs are not built", FLOOR_REMEDY)
    return Engine.find()


def machine() -> dict[str, str]:
    """What figures are of."""
    return {"kernel": platform.release(), "cpu": _cpu_model(), "cpus": str(os.cpu_count())}


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def ended(name: str, main: Callable[[], int]) -> int:
    """The bench's exit code. What somebody can mend is one line, and 1."""
    try:
        return main()
    except WiretrialError as failure:
        print(f"{name}: {failure.line()}", file=sys.stderr)
        return 1
