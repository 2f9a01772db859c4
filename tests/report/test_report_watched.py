"""Servers that somebody else runs: their tables, notes, JSON and warnings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.report.synthetic import DEMO
from tests.report.synthetic_places import SPAN, a_part, a_place
from tests.report.test_report_parity import small
from wiretrial import warnings
from wiretrial.report import load_json, markdown, run
from wiretrial.report.blocks import Items, Table, Told
from wiretrial.report.html import render as page_of
from wiretrial.report.load_lines import render
from wiretrial.report.tables import watched
from wiretrial.results.model import Trial
from wiretrial.results.observation import Observation
from wiretrial.results.watched import Span, WatchedPlace
from wiretrial.words import MESSAGE, REQUEST

NARROW = 80


def trial(*places: WatchedPlace) -> Trial:
    made = small(DEMO[0]).model_copy(update={"places": places})
    return made.model_copy(update={"warnings": ()})


def tables(*places: WatchedPlace) -> list[list[str]]:
    """The cells of each row of the first table."""
    found = [one for one in watched.blocks(places, REQUEST) if isinstance(one, Table)]
    return [[cell.text for cell in row] for row in found[0].rows]


def notes(*places: WatchedPlace) -> list[str]:
    blocks: tuple[Told, ...] = tuple(
        one for one in watched.blocks(places, REQUEST) if isinstance(one, Items)
    )
    return [item.text for one in blocks if isinstance(one, Items) for item in one.items]


def test_nothing_is_shown_where_nothing_was_watched() -> None:
    assert watched.blocks((), REQUEST) == ()
    made = trial()
    assert watched.TITLE not in render(made)
    assert load_json(made)["servers"] is None
    assert load_json(made)["server_hosts"] is None


def test_a_row_for_each_server_and_each_host() -> None:
    assert tables(a_place()) == [
        ["db", "60.0", "40.0", "20.0", "0.30", "52.4", "1.3", "5.0"],
    ]
    blocks = watched.blocks((a_place(),), MESSAGE)
    servers, hosts = (one for one in blocks if isinstance(one, Table))
    assert servers.columns[1].title == "CPU, µs per message"
    # 0.9 busy: 0.1 were before, 0.3 are the server's and 0.4 the generator's.
    assert [cell.text for cell in hosts.rows[0]] == [
        *("this machine", "4", "0.90", "0.10", "0.30", "0.40", "0.10", "0.10"),
    ]


def test_it_is_in_the_terminal_on_the_page_in_markdown_and_in_the_json() -> None:
    made = trial(a_place())
    text = render(made, width=NARROW)
    assert watched.TITLE in text
    assert "60.0" in text
    assert max(map(len, text.splitlines())) <= NARROW
    model = run.build(made)
    assert "60.0" in page_of(model)
    assert watched.TITLE in markdown.render(model)
    document = load_json(made)
    (server,) = document["servers"]
    assert server["cpu_ns_per_message"] == 60_000
    assert (server["name"], server["host"], server["replies"]) == ("db", "this machine", 10_000)
    (host,) = document["server_hosts"]
    assert host["cpus_of_rest"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"has_ended": True}, "db ended in the measured time"),
        ({"restarts": 1}, "db was started again"),
        ({"span": None}, "db was not read twice"),
        ({"span": Span(start_ns=0, end_ns=10**10, replies=1, is_around=True)}, "10 s around it"),
        ({"cpu_ns": 30_000_000, "cpu_resolution_ns": 10_000_000}, "steps of 10.0 ms"),
        ({"memory": "resident"}, "counts what its processes share once for each"),
        ({}, "with its page cache"),
        ({"shares_group": True}, "may share its CPU limit"),
        ({"lacks": ("memory: permission denied",)}, "Not read of db: memory: permission"),
    ],
)
def test_what_a_reader_of_a_server_s_figures_must_know(change: dict[str, Any], words: str) -> None:
    assert any(words in note for note in notes(a_place(a_part(**change))))


@pytest.mark.parametrize("change", [{"has_ended": True}, {"restarts": 2}])
def test_a_void_cost_has_no_figure(change: dict[str, Any]) -> None:
    (row,) = tables(a_place(a_part(**change)))
    assert row[1:4] == ["–", "–", "–"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"failed": "the observer ended by signal 9"}, "ended early: the observer ended by"),
        ({"clock_error_ns": 400_000}, "known to 400 µs"),
        ({"clock_error_ns": 400_000}, "off by less than 0.1 %"),
        ({"clock_error_ns": 40_000_000}, "off by 4.0 %"),
        ({"charges_softirq": True}, "charges interrupts to the process"),
        (
            {"lacks": ("CPU frequency: it is not there",)},
            "Not read of this machine: CPU frequency: it",
        ),
    ],
)
def test_what_a_reader_of_a_host_s_figures_must_know(change: dict[str, Any], words: str) -> None:
    assert any(words in note for note in notes(a_place(**change)))


def test_a_host_stands_beside_its_servers_where_there_are_several() -> None:
    other = a_place(a_part(name="app"), place="h2", has_generator=False, generator_ns=None)
    blocks = watched.blocks((a_place(), other), REQUEST)
    servers = next(one for one in blocks if isinstance(one, Table))
    assert [row[0].aside for row in servers.rows] == [("this machine",), ("h2",)]
    assert max(map(len, render(trial(a_place(), other), width=NARROW).splitlines())) <= NARROW


def test_a_host_that_could_not_be_read_has_no_row() -> None:
    bare = WatchedPlace(place="h", kind="prometheus", parts=(a_part(span=None),))
    assert len([one for one in watched.blocks((bare,), REQUEST) if isinstance(one, Table)]) == 1


def codes(*places: WatchedPlace) -> dict[str, str]:
    """The warnings that these places bring, with their words."""
    quiet = {one.code for one in warnings.of_trial(trial())}
    found = warnings.of_trial(trial(*places))
    return {one.code: one.message for one in found if one.code not in quiet}


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"restarts": 1}, "server-restarted", "db was started again once"),
        ({"restarts": 3}, "server-restarted", "3 times"),
        ({"has_ended": True}, "server-restarted", "db ended before"),
        ({"oom_kills": 2}, "out-of-memory", "ended 2 processes of db"),
        ({}, "server-throttled", "limit of 0.5 CPUs in 5 % of the limit's periods"),
    ],
)
def test_marks_of_a_server(change: dict[str, Any], code: str, words: str) -> None:
    assert words in codes(a_place(a_part(**change)))[code]


CALM = {"throttled_periods": 0}


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"failed": "it broke"}, "watch-ended", "it broke"),
        ({"steal_ns": 200_000_000}, "steal", "of the CPU time of this machine"),
        ({"lowest_khz": 2e6, "highest_khz": 3e6}, "frequency", "2,000 to 3,000 MHz"),
        ({"user_ns": 2 * SPAN.length_ns}, "busy-neighbours", "1.50 CPUs of this machine busy"),
        ({"baseline_busy_ns": 500_000_000}, "busy-neighbours", "0.50 CPUs busy before"),
    ],
)
def test_marks_of_a_host(change: dict[str, Any], code: str, words: str) -> None:
    calm = a_part(**CALM)
    assert words in codes(a_place(calm, **change))[code]
    assert codes(a_place(calm)) == {}


def test_steal_of_this_machine_is_told_once() -> None:
    place = a_place(a_part(**CALM), steal_ns=200_000_000)
    assert "steal" in codes(place)
    observed = Observation(cpu_resolution_ns=1, tick_ns=1, cost_ns=0, watched_ns=1, alone=False)
    made = trial(place).model_copy(update={"observation": observed})
    assert "steal" not in {one.code for one in warnings.of_trial(made)}
