"""What `load` shows as text is in its JSON: whatever changes the one changes the other."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from tests.report.synthetic import DEMO, Shape, demo_trials, one_trial
from tests.report.synthetic_places import a_part, a_place
from wiretrial.plan import OpenLoop
from wiretrial.report import load_json
from wiretrial.report.load_lines import render
from wiretrial.results.fleet import Agent, Clock, Fleet, Loss, Part
from wiretrial.results.model import Bottleneck, Judgement, Trial, Verdict, Warning
from wiretrial.snapshot import Deliveries, Learned, Lobby

Leaf = tuple[str | int, ...]
WORDS = (*get_args(Verdict), *get_args(Bottleneck), "changed", "phased")
OTHER = next(iter(demo_trials(blocks=1, shapes=DEMO[:1], seed=77)[0].summary.histograms.values()))
"""A histogram that no trial here has."""
ALIKE = [("intervals", index) for index in (0, 1, 3)]
"""Of the intervals one that counts is enough: they are added up."""


def small(shape: Shape, **changes: Any) -> Trial:
    """A trial with a few intervals, so that each of its parts can be changed in turn."""
    judgement = Judgement(verdict="valid", bottleneck="server", evidence="its core 99 % busy")
    made = one_trial(shape, 0, 0, 1, judgement, 1.0, random.Random(3), warmup=1, measured=3)
    return made.model_copy(update=changes)


def plain() -> Trial:
    """A closed loop whose replies were learned, over TLS, with errors and a warning."""
    made = small(DEMO[0])
    counters = made.summary.counters.model_copy(update={"errors": {"timeout": 3, "reset": 1}})
    summary = made.summary.model_copy(
        update={
            "counters": counters.model_copy(update={"greetings": 5}),
            "examples": {"timeout": "no reply in 10 s"},
            "connect_start_ns": 0,
            "connected_ns": 5_000_000,
            "connections": made.summary.connections.model_copy(
                update={"opened": 130, "failed": {"refused": 2}}
            ),
        }
    )
    start = made.start.model_copy(
        update={"tls": "TLS 1.3", "learned": Learned(bytes=64, excerpt="hello", echo=False)}
    )
    warning = Warning(code="errors", message="some failed", advice="Look.")
    return made.model_copy(update={"summary": summary, "start": start, "warnings": (warning,)})


def open_loop() -> Trial:
    """A rate that was not reached, with copies, a lobby and compression."""
    made = small(Shape(**{**vars(DEMO[2]), "offered": 9000.0}))
    counters = made.summary.counters.model_copy(
        update={
            "waiting": 12,
            "dropped": 3,
            "deliveries": Deliveries(expected=40, ok=36, missing=1, duplicate=2, in_flight=3),
            "lobby": Lobby(ok=7, missing=1),
        }
    )
    size = made.summary.bytes.model_copy(update={"payload_sent": 9999, "payload_received": 8888})
    target = made.plan.target
    target = target.model_copy(update={"styx": target.styx.model_copy(update={"lobby": True})})
    return made.model_copy(
        update={
            "plan": made.plan.model_copy(update={"target": target}),
            "summary": made.summary.model_copy(update={"counters": counters, "bytes": size}),
            "start": made.start.model_copy(update={"deflate": "permessage-deflate"}),
            "judgement": made.judgement.model_copy(update={"verdict": "overloaded"}),
        }
    )


def fleet() -> Trial:
    """Two agents, of which one was lost."""
    made = small(DEMO[2])
    agents = tuple(
        Agent(
            name=name,
            address=f"tcp://{name}",
            host=name,
            part=Part(connections=50, rate=None),
            clock=Clock(offset_ns=5, error_ns=20_000, samples=9),
            summary=made.summary,
            loss=Loss(at_ns=7_000_000, reason="silent") if name == "b" else None,
        )
        for name in ("a", "b")
    )
    return made.model_copy(update={"fleet": Fleet(on_loss="stop", agents=agents)})


def watched() -> Trial:
    """A server that somebody else runs, on another host with an unsure clock."""
    lacks = ("CPU frequency: it is not there",)
    place = a_place(a_part(lacks=lacks, shares_group=True), clock_error_ns=400_000, lacks=lacks)
    return small(DEMO[0]).model_copy(update={"places": (place,)})


CASES = {"plain": plain, "open loop": open_loop, "fleet": fleet, "watched": watched}


def leaves(part: Any, place: Leaf = ()) -> Iterator[tuple[Leaf, Any]]:
    """Every value in a document, and where it is."""
    items: Any = part.items() if isinstance(part, dict) else enumerate(part)
    for key, value in items:
        if isinstance(value, dict | list) and value:
            yield from leaves(value, (*place, key))
        else:
            yield (*place, key), value


def others(place: Leaf, value: Any) -> Iterator[Any]:
    """Values that could stand in its place; those that can't are refused by the record's form."""
    if "histograms" in place:
        yield OTHER
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value + 1, 3 * value + 10_000_003)
    elif isinstance(value, str):
        yield from (f"{value} changed", *WORDS)
    else:
        yield from (12_345, "changed", True, 0.5, {"timeout": 77})


def changed(document: dict[str, Any], place: Leaf, value: Any) -> Trial | None:
    """The trial with another value there; None where there can't be one."""
    part: Any = document
    for key in place[:-1]:
        part = part[key]
    before = part[place[-1]]
    part[place[-1]] = value
    try:
        return Trial.model_validate(document)
    except ValidationError:
        return None
    finally:
        part[place[-1]] = before


@pytest.mark.parametrize("name", CASES)
def test_whatever_the_text_shows_is_in_the_json(name: str) -> None:
    trial = CASES[name]()
    text, known = render(trial), load_json(trial)
    document = trial.model_dump(mode="json", by_alias=True)
    seen, missing = set(), set()
    for place, value in leaves(document):
        if place[0] in ("machine", "observation", "subject") or place[:2] in ALIKE:
            continue
        for other in others(place, value):
            made = changed(document, place, other)
            if made is None or render(made) == text:
                continue
            seen.add(place)
            if load_json(made) == known:
                missing.add(place)
    assert missing == set()
    assert len(seen) > 20


def test_the_json_names_what_scripts_ask_for() -> None:
    found = load_json(plain())
    assert found["bottleneck"] == "server"
    assert found["evidence"] == "its core 99 % busy"
    assert found["examples"] == {"timeout": "no reply in 10 s"}
    assert found["server"]["cpu_user_ns_per_message"] > 0
    assert found["server"]["cpu_system_ns_per_message"] > 0
    assert found["generator"]["cpu_ns_per_message"] > 0
    assert (found["tls"], found["poller"]) == ("TLS 1.3", "epoll")
    assert found["window"]["steady"] is True
    assert found["connections"]["failed"] == {"refused": 2}
    assert found["greetings"] == 5


def test_an_open_loop_s_json_has_what_it_could_not_send() -> None:
    found = load_json(open_loop())
    assert isinstance(open_loop().plan.load.executor, OpenLoop)
    assert (found["waiting"], found["dropped"]) == (12, 3)
