"""Break-even: what set-up and message cost on both sides, and after how many messages it pays.

Knows places and their crossings; must not know how a table is drawn.
"""

from __future__ import annotations

from wiretrial.report import units
from wiretrial.report.blocks import Table, figures, plain, words
from wiretrial.report.break_even import Place

KEY = (
    "Per connection: the set-up, and each message with its reply; means over blocks, and where"
    " there are several occasions over those of the occasions. In brackets the 95 % interval"
    " (Fieller), over the same."
)


def table(place: Place) -> Table:
    """Pair and quantity, the two costs of HTTP, the two of the socket, and the break-even."""
    rows = []
    for crossing in place.crossings:
        both = (crossing.http, crossing.socket)
        told = [
            units.fitting(crossing.quantity.units, (value,)).text(value) if value > 0 else "none"
            for side in both
            for value in (side.setup, side.message)
        ]
        pair = f"{crossing.socket.label} against {crossing.http.label}: {crossing.quantity.name}"
        rows.append((pair, *told, crossing.words))
    columns = (
        *words("Socket against HTTP"),
        *figures("HTTP\nset-up", "HTTP\nper message", "socket\nset-up", "socket\nper message"),
        *words("The socket is cheaper"),
    )
    return Table(columns, plain(rows))
