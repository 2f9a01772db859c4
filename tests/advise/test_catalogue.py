"""Which server and protocol, from kept trials: known rows, and what they do not tell."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from wiretrial.advise import catalogue
from wiretrial.advise.demand import OfRate, OfUsers
from wiretrial.advise.sizing import Type
from wiretrial.catalogues import STUDIES
from wiretrial.errors import StoreError, UsageProblem
from wiretrial.report import choice, choice_page, choice_text
from wiretrial.results import kept, known
from wiretrial.results.choice import Chosen
from wiretrial.results.known import Row

ROW = Row(
    study="s",
    subject="quick",
    configuration="tuned",
    version="1.0",
    protocol="ws",
    workload="short messages",
    date="2026-01-01",
    occasion=1,
    payload=64,
    connections=1000,
    copies=1,
    threads=1,
    cpus=1,
    is_plain=True,
    rate=None,
    throughput=100_000.0,
    is_at_least=False,
    is_valid=True,
    cpu_ns=10_000.0,
    p99_ns=9e6,
    memory_bytes=None,
)
HTTP = replace(ROW, protocol="http", configuration="default", throughput=25_000.0)
AT_A_RATE = replace(ROW, workload="at one rate", rate=40_000.0, throughput=40_000.0, p99_ns=2e6)
HELD = replace(ROW, workload="connections", connections=5000, throughput=None, memory_bytes=8000.0)
ROWS = [*[ROW] * 4, *[HTTP] * 4, AT_A_RATE, HELD]


def chosen(
    rows: list[Row] = ROWS, users: int = 500_000, payload: int = 64, **more: list[Type]
) -> Chosen:
    return catalogue.chosen(rows, OfUsers(users, 5_000_000_000).of_kept(), payload, **more)


def lines(made: Chosen) -> dict[str, str]:
    return dict(choice.lines(made))


def test_a_core_is_asked_for_sixty_percent_of_its_highest() -> None:
    made = chosen()
    # 100,000/s: two of 60,000, and over HTTP seven of 15,000.
    assert [(one.server, one.protocol, one.instances) for one in made.choices] == [
        ("quick:tuned", "ws", 2),
        ("quick", "http", 7),
    ]
    assert made.choices[0].busy == pytest.approx(0.5)
    assert choice.headline(made) == (
        "2 cores of quick:tuned over ws carry 500,000 users; 3 if one may fail."
    )
    assert lines(made)["Demand"] == "100,000 messages/s of 64 bytes, one per user every 5 s"
    assert lines(made)["Instead"] == "http: 7 instead of 2 (quick, 25,000/s on 1,000 connections)"


def test_the_first_of_each_protocol_stands_in_the_order_of_what_is_needed() -> None:
    slow = replace(ROW, subject="slow", throughput=1_000.0)
    made = chosen([*ROWS, *[slow] * 4])
    assert [(one.server, one.protocol) for one in made.by_protocol] == [
        ("quick:tuned", "ws"),
        ("quick", "http"),
    ]


def test_the_time_is_a_measured_one_at_no_lower_rate() -> None:
    near = chosen(users=200_000).choices[0].near
    assert near is not None
    assert (near.rate, near.p99_ns) == (40_000.0, 2e6)
    assert chosen().choices[0].near is None


def test_connections_take_memory_and_are_not_known_beyond_twice_what_was_held() -> None:
    told = lines(chosen())["Connections"]
    assert told == "250,000 on each core, 8.00 kB each, 4.00 GB in all; only 5,000 were held"
    assert "were held" not in lines(chosen(users=10_000))["Connections"]


def test_the_lower_end_counts_and_a_lower_bound_has_none() -> None:
    scattered = [replace(ROW, throughput=value) for value in (90e3, 100e3, 100e3, 110e3)]
    first = chosen(scattered).choices[0]
    assert first.low is not None
    assert first.low < 100_000
    assert first.instances == -(-100_000 // (0.6 * first.low))
    bound = chosen([replace(row, is_at_least=True) for row in scattered]).choices[0]
    assert (bound.low, bound.is_at_least, bound.instances) == (None, True, 2)
    assert "at least 100,000/s" in lines(chosen([replace(ROW, is_at_least=True)]))["First"]


def test_the_slowest_occasion_counts() -> None:
    """Four trials of each of three machines are no twelve independent ones."""
    rows = [
        replace(ROW, occasion=day, throughput=rate + trial)
        for day, rate in ((1, 50e3), (2, 100e3), (3, 120e3))
        for trial in (-1e3, 0.0, 0.0, 1e3)
    ]
    first = chosen(rows).choices[0]
    assert (first.low, first.high, first.occasions) == (50e3, 120e3, 3)
    assert first.instances == 4
    bound = chosen([replace(row, is_at_least=True) for row in rows]).choices[0]
    assert (bound.low, bound.instances) == (None, 4)
    assert lines(chosen(rows))["Evidence"].startswith("12 trials on 3 occasions of 1.0 in s,")


def test_the_nearest_size_counts() -> None:
    rows = [ROW, replace(ROW, payload=200, workload="sizes", throughput=50_000.0)]
    assert chosen(rows, payload=64).choices[0].payload == 64
    assert chosen(rows, payload=300).choices[0].payload == 200
    empty = replace(HTTP, payload=None)
    assert chosen([empty], payload=64).choices[0].payload is None


@pytest.mark.parametrize(
    "row",
    [
        replace(ROW, is_plain=False),
        replace(ROW, is_valid=False),
        replace(ROW, cpus=2),
        replace(ROW, copies=5),
        replace(ROW, subject="reference"),
        replace(ROW, subject="reference-http3"),
        replace(ROW, rate=1000.0),
        replace(ROW, payload=1 << 20),
    ],
)
def test_what_is_not_like_it_tells_nothing(row: Row) -> None:
    with pytest.raises(UsageProblem, match="no kept trial has messages of about 64 bytes"):
        chosen([row])


def test_machines_hold_cores_with_their_connections() -> None:
    types = [Type("small", cores=4, memory_bytes=4 << 30, per_hour=0.2)]
    (bought,) = chosen(types=types).purchases
    # 250,000 connections of 8 kB are 2 GB: two to a machine, and one machine to spare.
    assert (bought.instances_each, bought.machines) == (2, 2)
    with pytest.raises(UsageProblem, match="no --machine holds one core of quick:tuned"):
        chosen(types=[Type("tiny", cores=0.5)])


@pytest.mark.parametrize(
    "ask", [lambda: OfUsers(5, None).of_kept(), lambda: OfUsers(5, 0).of_kept()]
)
def test_users_say_how_long_they_wait(ask: Callable[[], object]) -> None:
    with pytest.raises(UsageProblem, match=r"--think|never wait"):
        ask()


def test_it_is_shown_in_a_terminal_and_as_a_page() -> None:
    made = catalogue.chosen(ROWS, OfRate(1000.0, 2.0).of_kept(), 64)
    text = choice_text.render(made)
    assert text.startswith(
        "1 core of quick:tuned over ws carries 2,000 messages/s; 2 if one may fail."
    )
    assert "2 times the average" in text
    assert "more need" not in text
    assert '"schema": "wiretrial-choice"' in choice_page.render(made)
    assert Chosen.model_validate_json(made.to_json()) == made


def test_kept_studies_are_read() -> None:
    (folder,) = [one for one in STUDIES.members() if one.name == "http-vs-websocket"]
    rows = list(known.rows(folder / kept.FILE))
    plain = [row for row in rows if row.is_plain and row.rate is None]
    assert {(row.server, row.protocol) for row in plain} == {
        ("feathers", "http"),
        ("feathers", "socketio+ws"),
        ("reference", "http"),
        ("reference", "socketio+ws"),
        ("reference", "ws"),
    }
    assert all(row.throughput and row.cpus == 1 and row.connections == 100 for row in plain)


def test_events_at_the_pace_of_the_server_are_not_plain() -> None:
    (folder,) = [one for one in STUDIES.members() if one.name == "push"]
    assert not any(row.is_plain for row in known.rows(folder / kept.FILE))


@pytest.mark.parametrize("content", [b"no", lzma.compress(b'{}\n{"trial": {}}\n')])
def test_another_file_is_refused_in_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl.xz"
    path.write_bytes(content)
    with pytest.raises(StoreError) as refused:
        list(known.rows(path))
    assert "\n" not in refused.value.line()
