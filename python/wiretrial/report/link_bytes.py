"""What an emulated link carried of a trial, with the headers that the generator does not see.

Knows one trial; must not know where it is shown.
"""

from __future__ import annotations

from wiretrial.results.model import Trial

HEADERS = 52
"""Of a TCP segment over IPv4 with timestamps, as Linux sends it: 20 + 20 + 12 bytes."""


def link_bytes(trial: Trial) -> float | None:
    """Bytes of all IP packets that an emulated link took in, both ways, over the whole trial.

    The link counts packets, the generator the bytes inside TCP: the rest are headers.
    """
    server = trial.server
    link = server.isolation.link if server and server.isolation else None
    if link is None or link.carried_up is None or link.carried_down is None:
        return None
    octets, packets = trial.summary.bytes, link.carried_up.offered + link.carried_down.offered
    return float(octets.sent + octets.received + HEADERS * packets)
