"""An advice in words, in a terminal and as a page."""

from __future__ import annotations

from typing import Any

import pytest

from tests.advise.synthetic import level, limit, refused, resource
from tests.advise.test_advice import advised, with_database
from tests.report.test_report_text import golden
from wiretrial.advise import answer
from wiretrial.advise.answer import Basis, Wanted
from wiretrial.advise.demand import OfUsers
from wiretrial.advise.sizing import Type
from wiretrial.report import advice, advice_page, advice_text
from wiretrial.results.advice import Advice, RouteUse

USUAL = "another machine, version or traffic; uneven load"
SERVED = (
    *(level(rate) for rate in (1000.0, 2000.0, 4000.0, 4800.0, 8000.0)),
    refused(9000.0),
)


def asked(**changes: Any) -> Advice:
    found = limit(SERVED)
    wanted = Wanted(**changes)
    return answer.advice(Basis(found), OfUsers(90_000, 5_000_000_000), wanted)


def test_the_answer_and_what_it_rests_on() -> None:
    types = (Type("small", cores=4, per_hour=0.17), Type("large", cores=16, per_hour=0.8))
    golden("advice.txt", advice_text.render(asked(types=types, growth=0.05), width=110))


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (
            advised(rate=3000.0),
            "1 instance meets the goal for 3,000 requests/s; 2 if one may fail.",
        ),
        (
            advised(limit(goals=("p99 < 200ms", "errors < 1%")), rate=9000.0),
            "2 instances meet the goals for 9,000 requests/s; 3 if one may fail.",
        ),
        (
            advised(limit(goals=()), rate=9000.0),
            "2 instances sustain 9,000 requests/s; 3 if one may fail.",
        ),
        (
            advised(limit(with_database(of_cpus=0.4)), rate=15_000.0, shared=("db",)),
            "No number of instances carries 15,000 requests/s: db, which all ask, is full before.",
        ),
    ],
)
def test_the_first_line_says_it(made: Advice, says: str) -> None:
    assert advice.headline(made) == says


def test_machines_are_the_cheapest_and_the_next() -> None:
    types = tuple(Type(f"m{cores}", cores=cores, per_hour=0.1 * cores) for cores in (1, 2, 4, 8))
    assert dict(advice.lines(asked(types=types)))["Machines"] == (
        "m1: 4 machines of 1 instance each, 0.40 per hour, one of them to spare. Next: m2: 3"
        " machines of 2 instances each, 0.60 per hour; 2 types more"
    )


@pytest.mark.parametrize(
    ("made", "label", "says"),
    [
        (advised(peak=2.0), "Goal", "p99 < 200 ms at 40,000 requests/s, 2 times the average"),
        (
            advised(limit(SERVED, high=None, is_at_least=True)),
            "Capacity",
            "at least 8,400 requests/s each, 1 search on one day",
        ),
        (
            advised(limit(SERVED, searches=())),
            "Capacity",
            "8,400 requests/s each (8,000 to 9,000), no confirmed search on one day",
        ),
        (
            advised(limit(SERVED, binding=None)),
            "Binds",
            "server: 86 % of its CPUs busy at the capacity",
        ),
        (
            advised(limit(SERVED, binding=None, end="time")),
            "Binds",
            "not known: the time was over before a rate was refused for certain (--within)",
        ),
        (
            advised(limit(with_database(of_cpus=0.4)), rate=15_000.0, shared=("db",)),
            "Advice",
            "give db more than its 0.4 CPUs, or split it: it is full at 13,300 requests/s",
        ),
        (
            advised(limit(with_database()), rate=17_000.0, shared=("db",)),
            "Void if",
            f"{USUAL}; db can't take that much (not measured)",
        ),
        (advised(limit(goals=())), "Goal", "all is answered at 20,000 requests/s"),
    ],
)
def test_each_line_says_what_it_must(made: Advice, label: str, says: str) -> None:
    assert dict(advice.lines(made))[label] == says


def test_the_answer_is_ten_short_lines_in_a_small_window() -> None:
    routes = tuple(
        RouteUse(name=name, of_messages=0.5, of_cpu=of_cpu, costs=())
        for name, of_cpu in (("list", 0.1), ("add", 0.9))
    )
    text = advice_text.render(asked().model_copy(update={"routes": routes}), width=80)
    *answer_, confirm = text.splitlines()
    assert [line[2:17].strip() for line in answer_[1:]] == [
        *("Goal", "Capacity", "Binds", "Per request", "1,000 users", "Worst route"),
        *("Each carries", "Evidence", "Void if"),
    ]
    assert max(map(len, answer_)) <= 80
    assert confirm.startswith("confirm: wiretrial limit http://h/ ")


def test_the_page_has_the_lines_in_a_table_and_what_is_behind_them() -> None:
    page = advice_page.render(asked())
    assert '<tr><th scope="row">Goal</th><td>p99 &lt; 200 ms at 18,000 requests/s' in page
    assert "What the answer rests on" in page
    assert "each of 90,000 users waits 5 s and takes 2.00 ms: 18,000 requests/s" in page


def test_the_page_has_every_server_and_every_level() -> None:
    page = advice_page.render(advised(limit(with_database()), rate=12_000.0, shared=("db",)))
    assert "db (shared)" in page
    assert "Load, use and time" in page
    assert 'class="picture' in page
    assert "Every level" in page
    assert '"schema": "wiretrial-advice"' in page


GOALS = ("errors < 1%", "p99 < 200ms")


def test_a_page_without_cpu_time_has_times_alone() -> None:
    page = advice_page.render(advised(limit([level(2000.0, []), level(8000.0, [])], goals=GOALS)))
    assert "CPUs busy" not in page
    assert "p99 over the rate, against p99 &lt; 200ms; the capacity is 8,400 requests/s" in page


def test_one_level_alone_is_no_picture() -> None:
    one = [level(8000.0, [resource(8000.0, cpus=None)])]
    assert "Load, use and time" not in advice_page.render(advised(limit(one)))


def test_without_a_goal_of_time_there_is_no_picture_of_times() -> None:
    page = advice_page.render(advised(limit(SERVED, goals=(), time_goal_ns=None)))
    assert "CPUs busy over the rate" in page
    assert "over the rate, against" not in page
