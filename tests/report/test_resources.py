"""What each server used in a trial: of a part with a name, and of the one of this machine."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from tests.report.synthetic import DEMO, demo_trials
from tests.report.synthetic_places import a_part, a_place
from wiretrial.observation import Descriptors
from wiretrial.report import resources
from wiretrial.report.measures import Measured
from wiretrial.results.model import Use
from wiretrial.results.observation import Observation, Plateau

SECOND = 10**9
TRIAL = demo_trials(blocks=1, shapes=DEMO[:1])[0]
OPENED = Descriptors(open=30, fullest=20, limit=100)


def test_descriptors_and_disks_of_a_part_are_those_of_its_span() -> None:
    part = a_part(written_bytes=4_000_000, descriptors=OPENED)
    trial = TRIAL.model_copy(update={"places": (a_place(part),)})
    (db,) = resources.used(Measured(trial))
    assert (db.descriptors, db.descriptor_limit, db.written_bytes) == (30, 150, 2_000_000)
    restarted = part.model_copy(update={"restarts": 1})
    trial = TRIAL.model_copy(update={"places": (a_place(restarted),)})
    assert resources.used(Measured(trial))[0].written_bytes is None


def seen(*plateaus: Plateau) -> Observation:
    """Of a server of this machine that had 4 MB written in two seconds."""
    return Observation(
        cpu_resolution_ns=1,
        tick_ns=1,
        cost_ns=0,
        watched_ns=1,
        start_ns=0,
        end_ns=2 * SECOND,
        written_bytes=4_000_000,
        alone=False,
        plateaus=plateaus,
    )


def plateau(name: Literal["before", "connected", "end"], **changes: Any) -> Plateau:
    told: dict[str, Any] = {"offset_ns": 0, "took_ns": 0, "connections": 100, **changes}
    return Plateau(name=name, **told)


def measured(observation: Observation | None, failed: dict[str, int] | None = None) -> Measured:
    connections = TRIAL.summary.connections.model_copy(update={"failed": failed or {}})
    summary = TRIAL.summary.model_copy(update={"connections": connections})
    judgement = TRIAL.judgement.model_copy(update={"server": Use(busy=0.97)})
    changes = {"observation": observation, "judgement": judgement, "summary": summary}
    return Measured(TRIAL.model_copy(update=changes))


def test_those_of_the_server_of_this_machine_are_the_most_of_its_plateaus() -> None:
    few = Descriptors(open=5, fullest=5, limit=100)
    plateaus = (
        plateau("before", descriptors=few),
        plateau("connected", descriptors=OPENED),
        plateau("end"),
    )
    (server,) = resources.used(measured(seen(*plateaus)))
    assert (server.descriptors, server.descriptor_limit) == (30, 150)
    assert server.written_bytes == 2_000_000


def test_memory_of_the_server_of_this_machine_counts_shared_pages_once() -> None:
    # Three processes of 20 MB, 15 MB of which they share.
    *others, last = TRIAL.subject_samples
    samples = (*others, last.model_copy(update={"rss_bytes": 60_000_000}))

    def server(*plateaus: Plateau) -> tuple[str | None, int | None]:
        trial = measured(seen(*plateaus)).trial.model_copy(update={"subject_samples": samples})
        (found,) = resources.used(Measured(trial))
        return found.memory_kind, found.memory_bytes

    assert server(plateau("end", pss_bytes=30_000_000)) == ("proportional", 30_000_000)
    # What may not be read, or is of a server that has ended, leaves the upper bound.
    assert server(plateau("end")) == ("resident", 60_000_000)
    assert server(plateau("end", pss_bytes=0)) == ("resident", 60_000_000)
    assert server() == ("resident", 60_000_000)


def test_memory_of_a_part_is_counted_as_it_says() -> None:
    trial = TRIAL.model_copy(update={"places": (a_place(a_part(memory="control group")),)})
    assert resources.used(Measured(trial))[0].memory_kind == "control group"


def connected(opened: int) -> Observation:
    """A server that may have 64, had 8, and has so many while 100 connections stand."""
    before, after = (Descriptors(open=n, fullest=n, limit=64) for n in (8, opened))
    return seen(plateau("before", descriptors=before), plateau("connected", descriptors=after))


@pytest.mark.parametrize(
    ("found", "count"),
    [
        (measured(None), 0),
        (measured(None, {"refused": 2, "connect_timeout": 3, "client": 7, "system": 1}), 5),
        (measured(seen(plateau("connected"))), 0),
        # 56 of 100 were accepted; a server that keeps one back has 55.
        (measured(connected(64)), 44),
        (measured(connected(63), {"reset": 1}), 46),
        # Many are left, so that it shares them with others, or needs none for a connection.
        (measured(connected(62)), 0),
    ],
)
def test_connections_that_are_not_opened_are_those_that_a_server_lacks(
    found: Measured, count: int
) -> None:
    assert resources.unopened(found) == count
