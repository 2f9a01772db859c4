"""What a reader must beware of in the figures of servers that somebody else runs.

Knows what was seen of them; must not know how. Shares below the bounds here are told by the tables.
"""

from __future__ import annotations

from collections.abc import Iterator

from wiretrial.results.model import Trial, Warning
from wiretrial.results.watched import WatchedPart
from wiretrial.warnings.catalogue import Code, warn

THROTTLED = 0.01
"""Share of a limit's periods."""
STOLEN = 0.01
"""Share of a host's CPU time."""
FREQUENCY = 1.1
"""The highest over the lowest frequency."""
OTHERS = 0.1
"""CPUs that others keep busy, as a share of those that the parts do; fewer than as many CPUs are
never told."""


def restarted(trial: Trial) -> Iterator[Warning]:
    """A server that was not the same one throughout."""
    for part in _parts(trial):
        if part.restarts:
            times = "once" if part.restarts == 1 else f"{part.restarts} times"
            yield warn(Code.SERVER_RESTARTED, f"{part.name} was started again {times} meanwhile")
        elif part.has_ended:
            yield warn(Code.SERVER_RESTARTED, f"{part.name} ended before the measurement did")


def out_of_memory(trial: Trial) -> Iterator[Warning]:
    """A control group that ran into its memory limit."""
    for part in _parts(trial):
        if part.oom_kills:
            yield warn(
                Code.OUT_OF_MEMORY,
                f"the kernel ended {part.oom_kills:,} processes of {part.name} for want of memory",
            )


def throttled(trial: Trial) -> Iterator[Warning]:
    """A CPU limit that stopped a server."""
    for part in _parts(trial):
        share = part.throttled_share or 0.0
        if share > THROTTLED:
            limit = "" if part.quota_cpus is None else f" of {part.quota_cpus:.3g} CPUs"
            yield warn(
                Code.SERVER_THROTTLED,
                f"{part.name} was stopped by its CPU limit{limit} in {100 * share:.0f} % of the"
                " limit's periods",
            )


def steal(trial: Trial) -> Iterator[Warning]:
    """A hypervisor that took CPU time."""
    for place in trial.places:
        share = place.steal_share or 0.0
        # What both readings of this machine would tell is told once.
        if share > STOLEN and not (place.has_generator and trial.observation):
            yield warn(
                Code.STEAL,
                f"the hypervisor took {100 * share:.1f} % of the CPU time of {place.place}",
            )


def frequency(trial: Trial) -> Iterator[Warning]:
    """CPUs whose clock changed."""
    for place in trial.places:
        low, high = place.lowest_khz, place.highest_khz
        if low and high and high > FREQUENCY * low:
            yield warn(
                Code.FREQUENCY,
                f"the CPUs of {place.place} ran at {low / 1e3:,.0f} to {high / 1e3:,.0f} MHz",
            )


def neighbours(trial: Trial) -> Iterator[Warning]:
    """Programs that are neither a part of the application nor the generator."""
    for place in trial.places:
        others, rest = place.others_cpus, place.baseline_cpus or 0.0
        least = OTHERS * max(1.0, place.parts_cpus)
        if others is not None and others > least:
            yield warn(
                Code.NEIGHBOURS,
                f"other programs kept {others:.2f} CPUs of {place.place} busy under load, beside"
                f" {rest:.2f} before it",
            )
        elif rest > least:
            yield warn(
                Code.NEIGHBOURS, f"{place.place} kept {rest:.2f} CPUs busy before the load began"
            )


def ended(trial: Trial) -> Iterator[Warning]:
    """A watch that ended before the run did."""
    for place in trial.places:
        if place.failed:
            yield warn(
                Code.WATCH_ENDED, f"watching {place.place} ended before the load: {place.failed}"
            )


def _parts(trial: Trial) -> Iterator[WatchedPart]:
    for place in trial.places:
        yield from place.parts
