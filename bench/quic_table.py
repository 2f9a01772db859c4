"""What HTTP/3 costs each generator, as the table of docs/performance.md.

Knows figures; must not know how they came about.
"""

from __future__ import annotations

from bench.quic_loads import ALL
from bench.stream_table import Found, conditions, table

SCHEMA = "wiretrial-bench-http3"
PLACE = BEGIN, END = "<!-- generated: http3 speed -->", "<!-- end: http3 speed -->"
"""The two lines of docs/performance.md between which the table stands."""
OTHERS = ("floor", "oha", "quic-go", "quinn", "s2n-quic")


def markdown(found: Found) -> str:
    """The table, and how it was measured."""
    loads = [(load.name, load.server, load.connections, load.streams) for load in ALL]
    return f"{conditions(found)}\n\n{table(found, loads, OTHERS)}"
