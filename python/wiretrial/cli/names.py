"""Names that several commands have.

Knows where results lie; must not know what is done with them.
"""

from __future__ import annotations

from pathlib import Path

RESULTS = Path("results")
