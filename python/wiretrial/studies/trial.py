"""One trial: a fresh server, somebody who sends, the record of both.

Knows who can send; must not know how they do, nor what comes before or after a trial.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

from wiretrial.results.model import Trial
from wiretrial.studies import browsed, driven, loaded, sent
from wiretrial.studies.bench import Bench, Stand
from wiretrial.studies.events import Event
from wiretrial.studies.order import Slot
from wiretrial.studies.prepare import Ready
from wiretrial.studies.sent import Sent
from wiretrial.studies.spec import Browsing, Case, Driving


class Sender(Protocol):
    """Sends what a case asks of the server that stands there, and tells of it meanwhile.

    Raises `SubjectFailed` or `EngineFailed` where that fails altogether.
    """

    def __call__(self, stand: Stand) -> Generator[Event, None, Sent]:
        """The run."""


_SENDERS: dict[type, Sender] = {Driving: driven.send, Browsing: browsed.send}


def measure(
    bench: Bench, case: Case, slot: Slot, ready: Ready | None
) -> Generator[Event, None, Trial]:
    """The trial of `case`; `ready` is None where the server is the user's own."""
    sender = _SENDERS.get(type(case.sending), loaded.send)
    with bench.stand(case, ready, _seed(slot)) as stand:
        ran = yield from sender(stand)
    return recorded(stand, slot, ran)


def recorded(stand: Stand, slot: Slot, ran: Sent, case: Case | None = None) -> Trial:
    """The record of what was sent there. `case`: where it is not the one that the stand is for."""
    bench = stand.bench
    apart = {"cpus_apart": stand.cpus.problem is None}
    pacing = {"pacing": bench.alone.pacing.model_dump()} if bench.alone.pacing else {}
    return sent.record(
        ran,
        (case or stand.case).scenario,
        bench.study.name,
        {**bench.machine, **apart, **pacing},
        study_digest=bench.digest,
        slot=slot,
        labels=bench.study.labels,
    )


def _seed(slot: Slot) -> int:
    """Of a link's random choices: each trial has its own, the same in every run of the study."""
    return (slot.order_seed * 1_000_003 + slot.block) * 1_000_003 + slot.position
