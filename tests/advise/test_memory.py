"""Memory of a connection: known slopes come back, and decide which machine holds an instance."""

from __future__ import annotations

from typing import Any

import pytest

from tests.advise.synthetic import level, limit, resource
from wiretrial.advise import answer
from wiretrial.advise.answer import Basis, Wanted
from wiretrial.advise.demand import Asked, OfRate, OfUsers
from wiretrial.advise.sizing import Type
from wiretrial.report import advice, units
from wiretrial.report.tables import advised as advised_table
from wiretrial.results.advice import Advice, Together
from wiretrial.results.limits import Level
from wiretrial.results.watched import MemoryKind

USERS = OfUsers(30_000, 5_000_000_000)
"""6,000 requests per second: one instance."""


def held(connections: int, **changes: Any) -> Level:
    """30 MB at rest, 20 kB for each connection."""
    server = resource(2000.0, memory_bytes=30_000_000 + 20_000 * connections)
    return level(2000.0, [server], connections=connections, search=0, **changes)


BESIDE = (held(100), held(100), held(100))
CROWDED = (held(1000, kernel_bytes=6000.0), held(2000, kernel_bytes=7000.0))


def advised(crowded: tuple[Level, ...] = CROWDED, asked: Asked = USERS, **wanted: Any) -> Advice:
    return answer.advice(Basis(limit(), BESIDE, (), crowded), asked, Wanted(**wanted))


def told(made: Advice) -> str:
    return dict(advice.details(made)).get("Memory", "")


def test_a_connection_takes_what_it_does() -> None:
    made = advised()
    memory = made.uses[0].memory
    assert memory is not None
    assert [memory.each_bytes, memory.low_bytes, memory.high_bytes] == pytest.approx([20_000] * 3)
    assert (memory.most, made.kernel_bytes) == (2000, 6500.0)
    assert told(made) == (
        "per connection: server 20.0 kB, kernel 6.50 kB. 30,000 users of one instance, a connection"
        " each: 825 MB, extrapolated from 2,000"
    )


def counted(kind: MemoryKind | None, *others: Level) -> Advice:
    """Of levels that count memory so, and of others."""

    def so(one: Level) -> Level:
        (server,) = one.resources
        told = {"memory_kind": kind}
        return one.model_copy(update={"resources": (server.model_copy(update=told),)})

    found = limit([so(level(rate)) for rate in (2000.0, 4000.0, 8000.0)])
    crowded = (*others, *map(so, CROWDED))
    return answer.advice(Basis(found, tuple(map(so, BESIDE)), (), crowded), USERS, Wanted())


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("proportional", "PSS"),
        ("resident", "RSS, at most"),
        ("control group", "control group"),
        (None, None),
    ],
)
def test_how_memory_was_counted_is_told(kind: MemoryKind | None, says: str | None) -> None:
    made = counted(kind)
    memory = advised_table.resources(made).rows[0][5]
    assert memory.aside == (() if says is None else (says,))
    bound = (
        ". That of server is resident (RSS), an upper bound: pages that processes share count for"
        " each"
    )
    assert told(made).endswith(bound) == (kind == "resident")


def test_memory_that_was_counted_in_two_ways_is_no_line() -> None:
    other = held(1500)
    memory = counted("proportional", other).uses[0].memory
    assert memory is not None
    assert memory.each_bytes == pytest.approx(20_000)
    (server,) = other.resources
    resident = {"memory_kind": "resident", "memory_bytes": 900_000_000}
    other = other.model_copy(update={"resources": (server.model_copy(update=resident),)})
    memory = counted("proportional", other).uses[0].memory
    assert memory is not None
    assert memory.each_bytes == pytest.approx(20_000)


def test_users_take_memory_by_the_thousand() -> None:
    # Each 20 kB of the server and 6.5 kB of the kernel, and 0.2 requests of 100 us a second.
    assert dict(advice.lines(advised()))["1,000 users"] == (
        "0.0200 CPUs, 0.48 Mbit/s and 26.5 MB of memory"
    )


def test_fewer_users_of_one_where_it_may_take_more_of_them() -> None:
    one = limit(low=8400.0, high=8400.0)
    two = Together(instances=2, limit=limit(rate=15_272.7), is_spread=True)
    basis = Basis(one, BESIDE, (), CROWDED, together=(two,))
    made = answer.advice(basis, OfUsers(300_000, 5_000_000_000), Wanted())
    assert made.is_at_least
    assert f". At most {units.trimmed(made.users_each or 0)} users of one instance" in told(made)


def test_a_rate_has_no_users() -> None:
    made = advised(asked=OfRate(5000.0))
    assert told(made).endswith("kernel 6.50 kB")
    assert dict(advice.lines(made))["Per connection"] == (
        "memory of server 20.0 kB, kernel 6.50 kB"
    )


def test_a_machine_holds_an_instance_with_its_users() -> None:
    # 630 MB each: one to a GiB, though two would hold what was seen at 2,000 connections.
    (bought,) = advised(types=(Type("m", cores=8, memory_bytes=1 << 30),)).purchases
    assert bought.instances_each == 1
    (bought,) = advised(asked=OfRate(6000.0), types=(Type("m", 8, 1 << 30),)).purchases
    assert bought.instances_each == 8


@pytest.mark.parametrize(
    "crowded",
    [
        (),
        (held(110),),
        tuple(one.model_copy(update={"is_kept": False, "reason": "invalid"}) for one in CROWDED),
        (level(2000.0, [resource(2000.0, memory_bytes=1_000_000)], connections=2000),),
    ],
)
def test_what_tells_nothing_is_not_told(crowded: tuple[Level, ...]) -> None:
    made = advised(crowded)
    assert made.uses[0].memory is None
    assert told(made) == ""


def test_less_than_the_scatter_is_at_most_so_much() -> None:
    def seen(connections: int, memory: int) -> Level:
        return level(2000.0, [resource(2000.0, memory_bytes=memory)], connections=connections)

    noisy = answer.advice(
        Basis(
            limit(), (seen(100, 30_000_000), seen(100, 32_000_000)), (), (seen(2000, 31_500_000),)
        ),
        USERS,
        Wanted(),
    )
    assert told(noisy).startswith("per connection: server at most ")
    memory = noisy.uses[0].memory
    assert memory is not None
    most = units.octets(memory.base_bytes + 30_000 * memory.high_bytes)
    assert f"users of one instance, a connection each: at most {most}" in told(noisy)
    assert " Mbit/s and at most 11.8 MB of memory" in dict(advice.lines(noisy))["1,000 users"]
