"""Several instances together: known laws come back, and far beyond them nothing is told."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import geometric_mean
from typing import Any

import pytest

from tests.advise.synthetic import limit, refused, resource
from wiretrial.advise import answer
from wiretrial.advise.answer import Basis, Wanted
from wiretrial.advise.demand import OfRate
from wiretrial.advise.sizing import Type
from wiretrial.errors import MeasurementInvalid, UsageProblem, WiretrialError
from wiretrial.report import advice
from wiretrial.results.advice import Advice, Together
from wiretrial.results.limits import Found, Limit

ONE = 8400.0


def together(number: int, contention: float, coherency: float = 0.0, **changes: Any) -> Limit:
    waits = 1 + contention * (number - 1) + coherency * number * (number - 1)
    rate = ONE * number / waits
    return limit(target=f"http://proxy{number}/", rate=rate, low=rate, high=rate, **changes)


def advised(sizes: Mapping[int, Limit], rate: float = 20_000.0, **wanted: Any) -> Advice:
    one = limit(low=ONE, high=ONE)
    return answer.advice(Basis(one), OfRate(rate), Wanted(sizes=sizes, **wanted))


def test_two_instances_tell_what_does_not_divide() -> None:
    made = advised({2: together(2, 0.1)})
    scaling = made.scaling
    assert scaling is not None
    assert scaling.contention.value == pytest.approx(0.1)
    # Three carry 21,000 by this law; 2.4 alone ones would be three, too.
    assert made.instances == 3
    assert scaling.at(3) == pytest.approx(21_000)
    assert advised({2: together(2, 0.1)}, rate=21_500.0).instances == 4
    first, *_ = [line for label, line in advice.lines(made) if label == "Scaling"]
    assert first == (
        "2 together carried 15,300 requests/s, 1.82 times one; each of 3 carries 83 % of one alone"
        " (contention 10 %). Not known beyond 4"
    )
    assert "a shared part" not in dict(advice.lines(made))["Void if"]


def measured(limit: Limit, number: int = 2, **changes: Any) -> Together:
    return Together(instances=number, limit=limit, is_spread=True, **changes)


def started(*several: Together, rate: float = 20_000.0, **basis: Any) -> Advice:
    """Of a server that was started for it."""
    one = Basis(limit(low=ONE, high=ONE), together=several, **basis)
    return answer.advice(one, OfRate(rate), Wanted())


def test_what_was_measured_along_counts_as_what_is_named() -> None:
    made = started(measured(together(2, 0.1)))
    assert made.instances == 3
    assert made.scaling is not None
    assert made.scaling.contention.value == pytest.approx(0.1)
    told = [line for label, line in advice.lines(made) if label == "Scaling"]
    assert told[2:] == [
        "of 2 together the server's CPU binds: 97 % busy at 9,000 requests/s",
        "connections were spread by the load generator; a proxy would take its part, too",
    ]
    assert Advice.model_validate_json(made.to_json()) == made
    shared = started(measured(together(2, 0.1), shared_cpus=2))
    told = [line for label, line in advice.lines(shared) if label == "Scaling"]
    assert told[4] == "they shared 2 CPUs with the load generator, which is a part of it"


def searched(*kept: float) -> dict[str, Any]:
    """So many searches, which agree to 5 %, and what they found."""
    searches = tuple(
        Found(search=number, kept=rate, refused=1.05 * rate, is_confirmed=True)
        for number, rate in enumerate(kept, 1)
    )
    return {"rate": geometric_mean(kept), "searches": searches}


def twice(many: Limit, one: Limit, **basis: Any) -> Advice:
    """Two together beside one."""
    whole = Basis(one, together=(measured(many),), **basis)
    return answer.advice(whole, OfRate(20_000.0), Wanted())


def test_contention_has_an_interval_from_the_searches_of_both() -> None:
    made = twice(limit(**searched(15_200, 15_200, 15_200)), limit(**searched(8400, 8400, 8400)))
    assert made.scaling is not None
    found = made.scaling.contention
    # They carried 1.81 times one, by 5 % more or less.
    gained = 15_200 / 8400
    assert [found.value, found.low, found.high] == pytest.approx(
        [2 / gained - 1, 2 / (1.05 * gained) - 1, 2 / (gained / 1.05) - 1]
    )
    lines = [line for label, line in advice.lines(made) if label == "Scaling"]
    assert "(contention 11 % (5.3 to 16))" in lines[0]
    assert "interval" not in "".join(lines)
    assert Advice.model_validate_json(made.to_json()) == made


def test_searches_that_scatter_tell_less_of_contention() -> None:
    made = twice(limit(**searched(14_000, 16_500, 15_200)), limit(**searched(8000, 8400, 8800)))
    assert made.scaling is not None
    found = made.scaling.contention
    assert found.low == 0
    assert found.high is not None
    assert found.high > 2 / (15_200 / 1.05 / 8400) - 1


@pytest.mark.parametrize(
    ("many", "one"),
    [
        (searched(15_200), searched(8400, 8400)),
        (searched(15_200, 15_200), searched(8400)),
        ({"rate": 15_200.0, "searches": ()}, searched(8400, 8400)),
    ],
)
def test_contention_without_an_interval_says_why(many: dict[str, Any], one: dict[str, Any]) -> None:
    made = twice(limit(**many), limit(**one))
    assert made.scaling is not None
    assert (made.scaling.contention.low, made.scaling.contention.high) == (None, None)
    lines = [line for label, line in advice.lines(made) if label == "Scaling"]
    assert lines[1] == (
        "the contention has no interval: one alone or 2 together were searched for once, which"
        " tells no scatter: measure both with --searches 3"
    )
    assert Advice.model_validate_json(made.to_json()) == made


def test_over_occasions_the_interval_is_theirs_or_none() -> None:
    several = limit(**searched(15_200, 15_200))
    one = limit(**searched(8400, 8400))
    whole = Basis(
        one,
        rates=(8400.0, 8400.0),
        together=(Together(instances=2, limit=several, times=(1.7, 1.9)),),
    )
    made = answer.advice(whole, OfRate(20_000.0), Wanted())
    assert made.scaling is not None
    found = made.scaling.contention
    assert (found.low, found.high) == pytest.approx((2 / 1.9 - 1, 2 / 1.7 - 1))
    # Two that were measured on one day do not stand against one alone of two.
    made = twice(several, one, rates=(8400.0, 8400.0))
    lines = [line for label, line in advice.lines(made) if label == "Scaling"]
    assert lines[1] == (
        "the contention has no interval: 2 together were not searched for on each of 2 occasions,"
        " or too seldom: measure both on each, with --searches 3"
    )


def test_a_server_that_all_ask_is_named_where_it_is_busiest() -> None:
    seen = [resource(9000.0, "app", cpus=0.5), resource(9000.0, "db", cpus=3.8, of_cpus=4.0)]
    made = started(measured(together(2, 0.5, refused=refused(9000.0, resources=seen))))
    told = [line for label, line in advice.lines(made) if label == "Scaling"]
    assert told[2] == (
        "of 2 together the server's CPU binds: 97 % busy at 9,000 requests/s; db busiest, 95 % of"
        " its CPUs"
    )


def test_a_size_that_is_named_comes_before_what_was_measured_along() -> None:
    one = Basis(limit(low=ONE, high=ONE), together=(measured(together(2, 0.5)),))
    made = answer.advice(one, OfRate(20_000.0), Wanted(sizes={2: together(2, 0.1)}))
    assert made.scaling is not None
    assert made.scaling.contention.value == pytest.approx(0.1)
    assert "Void if" in dict(advice.lines(made))


def test_beyond_what_was_measured_along_it_takes_at_least_so_many() -> None:
    made = started(measured(together(2, 0.1)), rate=60_000.0)
    # Each of four carries 8,400 / 1.3; more than those are not taken to carry more.
    assert (made.instances, made.is_at_least) == (10, True)
    assert advice.headline(made) == (
        "At least 10 instances meet the goal for 60,000 requests/s; how they divide the load is"
        " known up to 4."
    )
    first, *_ = [line for label, line in advice.lines(made) if label == "Scaling"]
    assert "each of 4 carries 77 % of one alone (contention 10 %)" in first


def test_what_follows_from_at_least_so_many_is_a_bound_too() -> None:
    basis = Basis(limit(low=ONE, high=ONE), together=(measured(together(2, 0.1)),))
    other = Basis(limit(target="ws://h/", low=2 * ONE, rate=2 * ONE, high=2 * ONE))
    types = (Type("one", cores=1, per_hour=0.1),)
    wanted = Wanted(types=types, growth=0.01, instead={"WebSocket": other})
    lines = dict(advice.lines(answer.advice(basis, OfRate(60_000.0), wanted)))
    assert lines["Machines"].startswith(
        "one: at least 11 machines of 1 instance each, at least 1.10 per hour"
    )
    assert lines["Each carries"].startswith("at most 6,000 requests/s, 71 % of capacity")
    # Ten carry 64,615 at most, which is 7.4 months of growth more than the demand.
    assert lines["Growth"] == "10 instances last at most 8 months at 1 % a month"
    assert lines["Instead"] == (
        "WebSocket: 4 instead of at least 10 (one carries 16,800 requests/s, ws://h/; how they"
        " divide the load was not measured)"
    )


def test_an_alternative_is_counted_by_what_several_of_it_carried() -> None:
    def instead(other: Basis, rate: float = 20_000.0) -> Advice:
        return answer.advice(Basis(limit()), OfRate(rate), Wanted(instead={"other": other}))

    one = limit(low=ONE, high=ONE)
    (found,) = instead(Basis(one, together=(measured(together(2, 0.4)),))).instead
    # Each of four carries 8,400 / 2.2, and no more is known; alone ones would be three.
    assert (found.instances, found.is_at_least, found.is_divided) == (6, True, True)
    (alone,) = instead(Basis(one)).instead
    assert (alone.instances, alone.is_at_least, alone.is_divided) == (3, False, False)
    with pytest.raises(UsageProblem, match="--instead other: no number of instances carries"):
        instead(Basis(one, together=(measured(together(2, 1.0)),)))


def test_an_alternative_that_can_not_be_divided_is_named() -> None:
    other = Basis(limit(is_at_least=True, high=None), together=(measured(together(2, 0.4)),))
    with pytest.raises(UsageProblem) as failed:
        answer.advice(Basis(limit()), OfRate(20_000.0), Wanted(instead={"other": other}))
    assert failed.value.line() == (
        "--instead other: what one instance carries is a lower bound, which tells no division:"
        " measure it with more --threads"
    )


def test_a_lower_bound_of_a_capacity_needs_at_most_so_many() -> None:
    def instead(own: Limit, other: Limit) -> str:
        wanted = Wanted(instead={"other": Basis(other)})
        made = answer.advice(Basis(own), OfRate(20_000.0), wanted)
        assert Advice.model_validate_json(made.to_json()) == made
        return dict(advice.lines(made))["Instead"]

    exact, bound = limit(low=ONE), limit(low=ONE, high=None, is_at_least=True)
    assert instead(exact, bound) == (
        "other: at most 3 instead of 3 (one carries at least 8,400 requests/s, http://h/)"
    )
    assert instead(bound, exact) == (
        "other: 3 instead of at most 3 (one carries 8,400 requests/s, http://h/)"
    )


def test_two_that_shared_cpus_are_no_bound_of_more() -> None:
    with pytest.raises(MeasurementInvalid, match="They shared 2 CPUs with the load generator"):
        started(measured(together(2, 0.8), shared_cpus=2), rate=60_000.0)


def test_two_that_carry_no_more_than_one_are_no_advice() -> None:
    with pytest.raises(MeasurementInvalid, match="1 instance carries the most, 8,400"):
        started(measured(together(2, 1.0)))


def test_two_that_shared_cpus_do_not_tell_that_no_number_is_enough() -> None:
    with pytest.raises(MeasurementInvalid) as failed:
        started(measured(together(2, 1.6), shared_cpus=2))
    assert failed.value.message == (
        "2 instances together carried 6,462 per second, one alone 8,400. They shared 2 CPUs with"
        " the load generator, so this does not say what they carry on machines of their own"
    )


def test_a_contention_of_more_than_all_is_a_plain_number() -> None:
    made = started(measured(together(2, 1.6), shared_cpus=2), rate=8000.0)
    first, *_ = [line for label, line in advice.lines(made) if label == "Scaling"]
    assert "(contention 160 %)" in first


def test_why_several_were_not_measured_is_told() -> None:
    made = started(division_lacks="the server listens on port 80 alone")
    lines = dict(advice.lines(made))
    assert lines["Scaling"] == "not measured: the server listens on port 80 alone"
    assert lines["Void if"].endswith("a shared part")
    assert Advice.model_validate_json(made.to_json()) == made


def test_the_law_comes_back_from_four_sizes() -> None:
    made = advised({n: together(n, 0.05, 0.002) for n in (2, 4, 8)})
    scaling = made.scaling
    assert scaling is not None
    assert scaling.unit == pytest.approx(ONE)
    assert scaling.contention.value == pytest.approx(0.05, abs=1e-5)
    assert scaling.coherency.value == pytest.approx(0.002, abs=1e-6)
    assert scaling.contention.low == pytest.approx(0.05, abs=1e-4)
    assert "coherency 0.2 % (0.2 to 0.2)" in dict(advice.lines(made))["Scaling"]


def test_the_lower_end_of_one_counts_for_all() -> None:
    made = answer.advice(
        Basis(limit(low=ONE / 2, high=2 * ONE)),
        OfRate(15_000.0),
        Wanted(sizes={2: together(2, 0.0), 4: together(4, 0.0)}),
    )
    assert made.instances == 4


def test_growth_is_of_what_all_carry_together() -> None:
    made = advised({2: together(2, 0.1)}, growth=0.05)
    assert made.growth is not None
    assert made.growth.months == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("sizes", "rate", "error", "says"),
    [
        ({2: together(2, 0.1)}, 30_000.0, MeasurementInvalid, "more than 4 instances, and 2 were"),
        (
            {n: together(n, 0.05, 0.05) for n in (2, 4, 8)},
            1e6,
            MeasurementInvalid,
            "4 instances together carry the most",
        ),
        (
            {2: together(2, 0.1, goals=("p99 < 1s",))},
            1.0,
            UsageProblem,
            "was held against p99 < 1s",
        ),
        ({2: together(2, 0.1, unit="sessions/s")}, 1.0, UsageProblem, "in sessions/s, and one"),
        ({2: together(2, 0.1, is_at_least=True)}, 1.0, UsageProblem, "--size 2 is a lower bound"),
        ({2: limit(rate=None)}, 1.0, UsageProblem, "no rate of it kept its goals"),
    ],
)
def test_what_can_not_be_told_is_refused(
    sizes: Mapping[int, Limit], rate: float, error: type[WiretrialError], says: str
) -> None:
    with pytest.raises(error, match=says):
        advised(sizes, rate)
