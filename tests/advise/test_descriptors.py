"""Descriptors and disks: known costs come back, and too low a limit is told."""

from __future__ import annotations

import pytest

from tests.advise.synthetic import level, limit, refused, resource
from wiretrial.advise import answer
from wiretrial.advise.answer import Basis, Wanted
from wiretrial.advise.demand import Asked, OfRate, OfUsers
from wiretrial.report import advice, advice_page
from wiretrial.results.advice import Advice
from wiretrial.results.limits import Level, Limit, Resource

USERS = OfUsers(30_000, 5_000_000_000)
"""6,000 requests per second: one instance."""
RATES = (2000.0, 4000.0, 8000.0)


def opened(connections: int) -> Level:
    """12 descriptors at rest, two for each connection."""
    server = resource(2000.0, descriptors=12 + 2 * connections)
    return level(2000.0, [server], connections=connections, search=0)


def writing(rate: float, *, each: float = 4096.0) -> Resource:
    """1 kB per second at rest, and so many bytes for each request."""
    return resource(rate, written_bytes=1000 + each * rate)


def written(each: float = 4096.0) -> Limit:
    levels = [level(rate, [writing(rate, each=each)]) for rate in RATES]
    return limit([*levels, refused(9000.0, resources=[writing(9000.0, each=each)])])


def advised(asked: Asked = USERS, *, own: int = 100_000) -> Advice:
    """Of a server that may have so many."""
    beside = [opened(count) for count in (100, 100, 1000, 2000)]
    kept = [resource(rate, descriptors=140, descriptor_limit=own) for rate in RATES]
    found = limit([level(rate, [one]) for rate, one in zip(RATES, kept, strict=True)])
    return answer.advice(Basis(found, beside), asked, Wanted())


def told(made: Advice, label: str) -> str:
    return dict(advice.details(made)).get(label, "")


def test_a_connection_takes_the_descriptors_that_it_does() -> None:
    (use,) = advised().uses
    assert use.opened is not None
    assert [use.opened.each, use.opened.base] == pytest.approx([2, 12])
    assert (use.descriptors, use.descriptor_limit, use.opened.most) == (140, 100_000, 2000)
    assert use.descriptors_advised == pytest.approx(60_012)
    assert not use.lacks_descriptors
    assert told(advised(), "Descriptors") == (
        "server 2 per connection, 60,000 with 30,000 users (extrapolated from 2,000), limit 100,000"
    )


def test_a_rate_has_no_users_whose_descriptors_are_told() -> None:
    made = advised(OfRate(5000.0))
    assert made.uses[0].descriptors_advised is None
    assert told(made, "Descriptors") == "server 2 per connection, limit 100,000"


def test_too_low_a_limit_binds() -> None:
    made = advised(own=20_000)
    assert made.uses[0].lacks_descriptors
    _, line = [line for label, line in advice.lines(made) if label == "Binds"]
    assert line == (
        "the descriptor limit of server: 30,000 users of one instance need 60,000, and it allows"
        " 20,000; raise it (ulimit -n)"
    )
    assert "of 20,000" in advice_page.render(made)


def test_a_limit_that_is_close_is_told_beside_what_binds() -> None:
    full = resource(9000.0, descriptors=1020, descriptor_limit=1024)
    found = limit([*map(level, RATES), refused(9000.0, resources=[full])])
    lines = dict(advice.lines(answer.advice(Basis(found), OfRate(5000.0), Wanted())))
    assert lines["Binds"].startswith("the server's CPU: 97 % busy")
    assert lines["Close to"] == (
        "the descriptor limit of server: 1,020 of 1,024 were open at 9,000 requests/s, and none was"
        " lacking"
    )


def test_what_a_request_has_written_comes_back() -> None:
    made = answer.advice(Basis(written()), USERS, Wanted())
    disk = made.uses[0].written
    assert disk is not None
    assert [disk.each_bytes, disk.base_bytes] == pytest.approx([4096, 1000])
    assert disk.at_capacity == pytest.approx(1000 + 4096 * 8400)
    assert disk.advised == pytest.approx(1000 + 4096 * made.each)
    lines = dict(advice.lines(made))
    assert lines["Per request"].endswith("; server writes 4.10 kB")
    # A user asks once in 5.002 s.
    assert lines["1,000 users"].endswith(" and 819 kB/s to disk")
    assert told(made, "Disks") == "server writes 4.10 kB per request, 34.4 MB/s at the capacity"
    assert "To disk per" in advice_page.render(made)


def test_a_server_that_writes_nothing_is_told_so_behind_the_lines_alone() -> None:
    made = answer.advice(Basis(written(each=0.0)), USERS, Wanted())
    assert "writes" not in dict(advice.lines(made))["Per request"]
    assert told(made, "Disks") == "server writes nothing"


def test_what_was_not_read_is_not_told() -> None:
    made = answer.advice(Basis(limit()), USERS, Wanted())
    (use,) = made.uses
    assert (use.descriptors, use.opened, use.written) == (None, None, None)
    assert (told(made, "Descriptors"), told(made, "Disks")) == ("", "")
    page = advice_page.render(made)
    assert "To disk per" not in page
    assert '"descriptors"' not in page


def test_the_document_is_read_as_it_was_written() -> None:
    made = advised()
    assert Advice.model_validate_json(made.to_json()) == made
