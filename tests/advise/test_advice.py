"""How many instances: against a server whose costs are known, and what nobody can be told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.advise.synthetic import level, limit, refused, resource
from wiretrial.advise import answer, checking
from wiretrial.advise.answer import Basis, Wanted
from wiretrial.advise.demand import OfRate, OfUsers
from wiretrial.advise.sizing import Type
from wiretrial.errors import GoalsMissed, MeasurementInvalid, UsageProblem
from wiretrial.report import advice as told
from wiretrial.report import units
from wiretrial.results.advice import Advice, Demand
from wiretrial.results.limits import Level, Limit, RouteRate

GIB = 1 << 30


def advised(
    found: Limit | None = None, rate: float = 20_000.0, peak: float = 1.0, **wanted: Any
) -> Advice:
    return answer.advice(Basis(found or limit()), OfRate(rate, peak), Wanted(**wanted))


def test_instances_are_counted_by_the_lower_end_of_the_capacity() -> None:
    made = advised()
    # 20,000 / 8,000: three, though 20,000 / 8,400 would be three, too; 16,500 tells them apart.
    assert made.instances == 3
    assert made.each == pytest.approx(20_000 / 3)
    assert advised(rate=16_500).instances == 3
    assert advised(rate=16_000).instances == 2
    assert advised(rate=1.0).instances == 1


def test_the_peak_is_what_must_be_carried() -> None:
    made = advised(peak=2.0)
    assert made.instances == 5
    assert made.each == pytest.approx(8000)


def test_costs_and_use_are_those_of_the_server() -> None:
    (use,) = advised().uses
    assert use.slope_ns == pytest.approx(100_000)
    assert use.base == pytest.approx(0.02)
    assert use.at_capacity == pytest.approx(0.86)
    assert use.advised == pytest.approx(0.02 + 20 / 30)
    assert use.full_at == pytest.approx(9800)


def test_a_message_that_takes_less_than_the_scatter_takes_at_most_so_much() -> None:
    cpus = (0.101, 0.099, 0.100)
    levels = [
        level(rate, [resource(rate, cpus=one)])
        for rate, one in zip((2000.0, 4000.0, 8000.0), cpus, strict=True)
    ]
    made = advised(limit([*levels, refused(9000.0)]))
    assert made.uses[0].slope_ns == 0
    assert dict(told.lines(made))["Per request"].startswith("CPU of server at most ")


def test_a_sum_with_a_bound_in_it_is_of_upper_ends() -> None:
    app, db = (0.2201, 0.4199, 0.8201), (0.101, 0.099, 0.100)
    levels = [
        level(rate, [resource(rate, "app", cpus=one), resource(rate, "db", cpus=other)])
        for rate, one, other in zip((2000.0, 4000.0, 8000.0), app, db, strict=True)
    ]
    basis = Basis(limit([*levels, refused(9000.0)]))
    made = answer.advice(basis, OfUsers(50_000, 5_000_000_000), Wanted())
    first, second = made.uses
    assert 0 < first.low_ns < first.slope_ns < first.high_ns
    assert second.low_ns == 0
    per_user = (first.high_ns + second.high_ns) / 1e9 * made.demand.highest / 50_000
    most = f"at most {units.significant(1000 * per_user)} CPUs"
    assert dict(told.lines(made))["1,000 users"].startswith(most)


def test_the_time_is_the_measured_one_at_no_lower_rate() -> None:
    near = advised().near
    assert near is not None
    assert (near.rate, near.time_ns) == (8000.0, 8e6)
    assert advised(rate=3000.0).near == level(4000.0)


def test_low_levels_predict_the_highest() -> None:
    levels = [*(level(rate) for rate in (1000.0, 2000.0, 4000.0, 5000.0)), level(8000.0)]
    check = advised(limit([*levels, refused(9000.0)])).check
    assert check is not None
    assert [check.rate, check.measured] == pytest.approx([8000.0, 0.82])
    assert check.error == pytest.approx(0.0, abs=1e-9)


def test_a_level_above_the_capacity_is_not_what_is_predicted() -> None:
    rates = (1000.0, 2000.0, 4000.0, 8000.0)
    levels = [*(level(rate) for rate in rates), level(12_000.0), refused(9000.0)]
    check = advised(limit(levels)).check
    assert check is not None
    assert check.rate == 8000


def test_what_grows_faster_at_the_top_is_an_error_of_the_prediction() -> None:
    top = level(8000.0, [resource(8000.0, cpus=0.95)])
    levels = [*(level(rate) for rate in (1000.0, 2000.0, 4000.0)), top, refused(9000.0)]
    check = advised(limit(levels)).check
    assert check is not None
    assert check.error == pytest.approx(0.82 / 0.95 - 1)


def test_too_few_low_levels_are_no_check() -> None:
    assert advised().check is None


def test_a_shared_server_does_not_grow_with_the_instances() -> None:
    made = advised(limit(with_database()), rate=12_000.0, shared=("db",))
    app, db = made.uses
    assert (app.name, db.name) == ("app", "db")
    assert app.advised == pytest.approx(0.02 + 0.6)
    assert db.advised == pytest.approx(12_000 * 30e-6)
    assert made.stopped_by is None
    assert made.binding == "app"


def test_a_shared_server_that_is_full_stops_it() -> None:
    tight = with_database(of_cpus=0.4)
    made = advised(limit(tight), rate=15_000.0, shared=("db",))
    assert made.stopped_by == "db"
    assert made.uses[1].full_at == pytest.approx(0.4 / 30e-6)


def test_a_shared_server_is_not_predicted_beyond_twice_what_was_measured() -> None:
    made = advised(limit(with_database()), rate=17_000.0, shared=("db",))
    assert made.uses[1].advised is None
    assert made.stopped_by is None


def with_database(**changes: Any) -> list[Level]:
    def both(rate: float) -> list[Any]:
        return [resource(rate, "app"), resource(rate, "db", cpus=30e-6 * rate, **changes)]

    kept = [level(rate, both(rate)) for rate in (2000.0, 4000.0, 8000.0)]
    return [*kept, refused(9000.0)]


def test_machines_are_sorted_by_what_they_cost_together() -> None:
    types = (
        Type("small", cores=1, memory_bytes=GIB, per_hour=0.10),
        Type("large", cores=4, memory_bytes=16 * GIB, per_hour=0.15),
        Type("tiny", cores=0.5, memory_bytes=GIB, per_hour=0.01),
        Type("narrow", cores=8, memory_bytes=60 << 20, per_hour=0.3),
    )
    found = advised(types=types).purchases
    # Three instances are needed; one machine more may be lost. The tiny one holds none.
    assert [(one.name, one.machines, one.instances_each) for one in found] == [
        ("large", 2, 4),
        ("small", 4, 1),
        ("narrow", 4, 1),
    ]
    assert [one.per_hour for one in found] == pytest.approx([0.30, 0.40, 1.20])


def test_machines_without_prices_come_by_their_number() -> None:
    types = (Type("one", cores=1), Type("two", cores=2))
    assert [one.name for one in advised(types=types).purchases] == ["two", "one"]


def test_growth_says_how_long_it_lasts() -> None:
    growth = advised(growth=0.05).growth
    assert growth is not None
    # 24,000 are carried: 20,000 grow to that by 5 % a month in 3.7.
    assert growth.months == pytest.approx(3.737, abs=1e-3)
    at_once = advised(rate=24_000.0, growth=0.05)
    assert at_once.growth is not None
    assert at_once.growth.months == 0
    assert dict(told.lines(at_once))["Growth"].startswith(
        "3 instances last less than a month at 5 %"
    )
    # 20,000 x 1.05^12 = 35,917: five of 8,000.
    assert growth.in_a_year == 5


def test_bytes_of_the_whole_demand_are_told() -> None:
    assert advised().bytes_per_second == pytest.approx(300 * 20_000)
    lines = dict(told.lines(advised()))
    assert lines["Per request"].endswith("; 300 B of traffic")
    assert lines["In all"] == "48 Mbit/s of traffic"
    routed = tuple(RouteRate(name=name, rate=24_000.0) for name in ("a", "b"))
    sessions = [level(rate, routes=routed) for rate in (2000.0, 4000.0, 8000.0)]
    # Six messages to a session.
    made = advised(limit(sessions, unit="sessions/s"))
    assert made.bytes_per_second == pytest.approx(6 * 300 * 20_000)
    assert dict(told.lines(made))["Per session"].endswith("; 1.80 kB of traffic")
    assert advised(limit([level(8000.0, [], bytes=None)])).bytes_per_second is None


def test_the_share_of_the_kernel_is_told() -> None:
    levels = [level(rate, [resource(rate, of_kernel=0.38)]) for rate in (2000.0, 4000.0, 8000.0)]
    cpu_time = dict(told.details(advised(limit(levels))))["CPU time"]
    assert cpu_time == "per request: server 100 µs, 38 % of it in the kernel"


def test_users_send_by_littles_law() -> None:
    made = users(50_000, 5_000_000_000)
    assert made.rate == pytest.approx(50_000 / 5.002)
    assert made.stay_ns == 2e6


def test_the_shortest_stay_of_kept_levels_counts() -> None:
    levels = [level(1000.0, stay_ns=4e6), level(2000.0, stay_ns=3e6), refused(9000.0, stay_ns=1e6)]
    assert users(10, 1_000_000_000, limit(levels)).stay_ns == 3e6


def test_users_of_sessions_think_as_their_file_has_it() -> None:
    of_file = limit(unit="sessions/s", thinking_ns=8e9)
    made = users(50_000, None, of_file)
    assert made.rate == pytest.approx(50_000 / 8.002)


def users(number: int, think_ns: int | None, found: Limit | None = None) -> Demand:
    measured = found or limit()
    return OfUsers(number, think_ns).demand(measured, measured.levels)


@pytest.mark.parametrize(
    ("ask", "error", "says"),
    [
        (lambda: users(5, None), UsageProblem, "--users without --think"),
        (
            lambda: users(5, 0, limit([level(1000.0, stay_ns=None)])),
            UsageProblem,
            "never wait",
        ),
        (
            lambda: advised(limit([refused(500.0)], rate=None, low=None)),
            GoalsMissed,
            "one does not at 500",
        ),
        (
            lambda: advised(limit([level(200.0), refused(400.0)], rate=None, low=None)),
            MeasurementInvalid,
            "200 requests/s were kept once, and no rate was confirmed",
        ),
        (lambda: advised(rate=1e12), UsageProblem, "more than 100,000 instances"),
        (lambda: advised(shared=("dv",)), UsageProblem, "nothing of that name"),
        (
            lambda: advised(types=(Type("tiny", cores=0.5),)),
            UsageProblem,
            "holds a single instance, which takes 1 CPUs and 50 MiB",
        ),
        (
            lambda: advised(limit([level(7000.0), level(7500.0), level(8000.0)])),
            MeasurementInvalid,
            "too close",
        ),
        (lambda: advised(limit([level(2000.0), level(8000.0)])), MeasurementInvalid, "3 levels"),
    ],
)
def test_what_can_not_be_told_is_refused(
    ask: Callable[[], object], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        ask()


def test_without_cpu_time_the_capacity_still_tells() -> None:
    made = advised(limit([level(2000.0, []), level(8000.0, []), refused(9000.0)]))
    assert (made.instances, made.uses, made.binding, made.check) == (3, (), None, None)


@pytest.mark.parametrize(
    ("measured", "rate", "confirmed"),
    [
        (
            ["advise", "http://h/", "--users", "50k", "--think=5s", "-c", "64"],
            6667.0,
            "wiretrial limit http://h/ -c 64 --from 6670 --to 6670 --searches 1",
        ),
        (
            ["limit", "shop.toml", "--within", "5m", "--goal", "p99 < 1s", "-o", "l.json"],
            8000.0,
            "wiretrial limit shop.toml --goal 'p99 < 1s' --from 8000 --to 8000 --searches 1",
        ),
        (
            ["advise", "http://h/", "--rate", "1", "--shared=db", "--server", "db=pid:1"],
            0.123456,
            "wiretrial limit http://h/ --server db=pid:1 --from 0.124 --to 0.124 --searches 1",
        ),
        (
            [
                *("advise", "http://h/", "--rate", "1", "--size", "2=two.json"),
                *("--instead=WebSocket=ws.json", "-c", "8"),
            ],
            20.0,
            "wiretrial limit http://h/ -c 8 --from 20 --to 20 --searches 1",
        ),
    ],
)
def test_the_check_measures_as_it_was_measured(
    measured: Sequence[str], rate: float, confirmed: str
) -> None:
    import shlex

    assert checking.command(shlex.join(["wiretrial", *measured]), rate) == confirmed


def test_the_check_has_the_cpus_that_one_of_several_had() -> None:
    measured = "wiretrial advise ./shop --instances 2 --rate 9 -c 64"
    assert checking.command(measured, 3.0, (0, 1, 6)) == (
        "taskset -c 0,1,6 wiretrial limit ./shop -c 64 --from 3 --to 3 --searches 1"
    )


def test_the_document_is_read_as_it_was_written() -> None:
    made = advised(types=(Type("one", cores=1, per_hour=0.2),), growth=0.02)
    assert Advice.model_validate_json(made.to_json()) == made


def test_another_protocol_needs_its_own_number() -> None:
    other = limit(target="ws://h/", unit="messages/s", rate=20_000.0, low=18_000.0, high=22_000.0)
    made = advised(instead={"WebSocket": Basis(other)})
    (instead,) = made.instead
    assert (instead.name, instead.instances) == ("WebSocket", 2)
    assert dict(told.lines(made))["Instead"] == (
        "WebSocket: 2 instead of 3 (one carries 18,000 messages/s, ws://h/)"
    )


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (limit(goals=("p99 < 1s",)), "was held against p99 < 1s, in requests/s, and this against"),
        (limit(unit="sessions/s"), "in sessions/s, and this"),
        (limit([refused(500.0)], rate=None, low=None), "no rate of it kept its goals"),
    ],
)
def test_what_was_asked_otherwise_is_no_alternative(other: Limit, says: str) -> None:
    with pytest.raises(UsageProblem, match=says):
        advised(instead={"WebSocket": Basis(other)})
