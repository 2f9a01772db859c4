"""What each server used in a trial: of a part with a name, and of the one of this machine."""

from __future__ import annotations

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


def test_those_of_the_server_of_this_machine_are_the_most_of_its_plateaus() -> None:
    few = Descriptors(open=5, fullest=5, limit=100)
    none = Plateau(name="end", offset_ns=0, took_ns=0, connections=100)
    plateaus = (
        none.model_copy(update={"name": "before", "descriptors": few}),
        none.model_copy(update={"name": "connected", "descriptors": OPENED}),
        none,
    )
    seen = Observation(
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
    judgement = TRIAL.judgement.model_copy(update={"server": Use(busy=0.97)})
    trial = TRIAL.model_copy(update={"observation": seen, "judgement": judgement})
    (server,) = resources.used(Measured(trial))
    assert (server.descriptors, server.descriptor_limit) == (30, 150)
    assert server.written_bytes == 2_000_000
