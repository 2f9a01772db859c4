"""What a workload says of the handshakes of its connections: words, and what each comes to.

Pure. Knows the levels and where each makes sense; must not know what goes over the connections.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal

from wiretrial.plan import SECURE
from wiretrial.words import HTTP

Handshake = Literal["whole", "resumed", "early"]
"""`whole`: each handshake of TLS is made whole. `resumed`: it resumes an earlier session, where
there is one. `early`: requests go with its first datagram, too (0-RTT of HTTP/3)."""
WHOLE: Final = "whole"
EARLY: Final = "early"


def require(chosen: Collection[Handshake], spoken: Collection[str], http: Collection[str]) -> None:
    """Raises `ValueError` where a level is of other protocols or versions of HTTP than these."""
    if not SECURE.issuperset(spoken):
        raise ValueError("`handshake` is of TLS: write it for https, wss, grpcs and the like")
    if EARLY in chosen and (set(http) != {"3"} or not set(spoken) <= set(HTTP)):
        raise ValueError(
            f'handshake = "{EARLY}" is of requests over HTTP/3: write http = "3", and a workload'
            " of their own for other versions"
        )


def resumes(level: str | None) -> bool:
    """Whether earlier sessions are resumed; they are where nothing is said."""
    return level != WHOLE


def is_early(level: str | None) -> bool:
    """Whether requests go before the handshake's end."""
    return level == EARLY
