"""What every bench shares: where the floor's binary is, and which CPU is whose.

Knows places; must not know what is measured.
"""

from __future__ import annotations

from pathlib import Path

FLOOR = Path(__file__).resolve().parent.parent / "target" / "release" / "wiretrial-floor"
FLOOR_REMEDY = "cargo build --release --locked --package wiretrial-floor"
SERVER_CPU, GENERATOR_CPU = 0, 1
