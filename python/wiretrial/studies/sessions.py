"""Sessions of traffic as a study's workload: how they are called, and what ranks servers for them.

Pure. Knows how traffic is sent; must not know which file says so.
"""

from __future__ import annotations

from wiretrial.plan import OpenLoop
from wiretrial.subjects.spec import PROTOCOLS_OF, TRAFFIC, Protocol
from wiretrial.traffic.compiler import Scenario
from wiretrial.traffic.loads import Sending

WAITED = "p99"
"""Key of the figure that ranks servers which cannot be asked more than users do."""


def protocols(scenario: Scenario) -> tuple[Protocol, ...]:
    """What the sessions go over, the plain one first."""
    return tuple(one for one in PROTOCOLS_OF[TRAFFIC] if one in scenario.schemes)


def words(sending: Sending) -> str:
    """How many sessions there are, as people say it."""
    executor, users = sending.load.executor, sending.load.population
    ramped = ", in stages" if sending.load.stages else ""
    pooled = ""
    if sending.load.users is not None:
        count = sending.load.connections
        pooled = f" on {count:,} shared connection{'' if count == 1 else 's'}"
        if sending.load.depth > 1:
            pooled += f" with {sending.load.depth:,} streams each"
    if isinstance(executor, OpenLoop):
        return f"{executor.rate:g} sessions/s{ramped}{pooled}"
    return f"{users:,} user{'' if users == 1 else 's'}{ramped}{pooled}"


def ranked_by(sending: Sending) -> str | None:
    """What servers are ranked by; None: what the load suggests.

    Users who think ask no more of a quick server than of a slow one.
    """
    is_open = isinstance(sending.load.executor, OpenLoop)
    return WAITED if sending.thinks and not is_open else None
