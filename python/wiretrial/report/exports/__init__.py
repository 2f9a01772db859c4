"""Results in other tools' forms: a table, histogram logs, Google Benchmark's.

Knows trials and those forms; must not know files or terminals.
"""

from __future__ import annotations
