"""The rules that raise warnings about the agents of a fleet: who is lost, and who stands out.

Knows records; must not know how agents are reached. All functions are pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from wiretrial import words
from wiretrial.results.fleet import Agent
from wiretrial.results.model import Trial, Warning
from wiretrial.results.quantiles import needed
from wiretrial.warnings.catalogue import Code, warn

LESS = 0.8
"""An agent that reaches less than this share of what the others reach stands out."""
SLOWER = 3.0
"""So does one whose 99th percentile is this multiple of the others'."""
MS = 1_000_000


def lost(trial: Trial) -> Iterator[Warning]:
    """Agents that did not come to their end."""
    for agent in trial.fleet.lost if trial.fleet else ():
        assert agent.loss is not None
        yield warn(
            Code.AGENT_LOST,
            f"{agent.name} was lost after {agent.loss.at_ns / 1e9:.1f} s, and with it"
            f" {agent.part.connections:,} of {trial.plan.load.connections:,} connections",
        )


def stands_out(trial: Trial) -> Iterator[Warning]:
    """Agents that reached less, or waited longer, than the others did."""
    agents = trial.fleet.agents if trial.fleet else ()
    what = words.of_target(trial.plan.target).many
    whole = [_Figures.of(one) for one in agents if one.summary and not one.loss]
    for own in whole:
        others = [one for one in whole if one is not own]
        if not others:
            return
        reached = median(one.reached for one in others)
        p99 = median(one.p99_ns for one in others)
        if own.reached < LESS * reached:
            yield warn(
                Code.AGENT_STANDS_OUT,
                f"{own.name} reached {own.reached:,.1f} {what}/s per connection, the others"
                f" {reached:,.1f}",
            )
        elif own.p99_ns > max(SLOWER * p99, MS) and min(one.replies for one in whole) >= needed(
            0.99
        ):
            yield warn(
                Code.AGENT_STANDS_OUT,
                f"{own.name} waited {own.p99_ns / MS:.3g} ms for 1 % of its replies, the others"
                f" {p99 / MS:.3g} ms",
            )


def share_a_machine(trial: Trial) -> Iterator[Warning]:
    """Agents that were meant to be several machines, and are one."""
    boots = [agent.boot for agent in trial.fleet.agents] if trial.fleet else []
    machines = len(set(boots))
    if machines < len(boots):
        where = "one machine" if machines == 1 else f"{machines} machines"
        yield warn(Code.AGENTS_SHARE, f"{len(boots)} agents ran on {where}")


@dataclass(frozen=True)
class _Figures:
    """What an agent is compared by."""

    name: str
    reached: float
    """Replies per second and connection."""
    p99_ns: float
    replies: int

    @classmethod
    def of(cls, agent: Agent) -> _Figures:
        times = agent.service_time
        reached = agent.reached / agent.part.connections
        return cls(agent.name, reached, times.quantile(0.99), times.count)
