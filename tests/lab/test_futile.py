"""When a run is given up because every message fails."""

from __future__ import annotations

import pytest

from tests.lab.trials import interval, summary
from wiretrial import words
from wiretrial.plan import Load, Plan, Stop, Target
from wiretrial.results.model import Use, Window
from wiretrial.snapshot import Interval
from wiretrial.studies import judge
from wiretrial.studies.futile import Futility

STEP_NS = 100_000_000


def failing(index: int, *, ok: int = 0, failed: int = 0, sent: int | None = None) -> Interval:
    """A tenth of a second with so many right replies and so many failures."""
    one = interval(index, ok=ok, step_ns=STEP_NS)
    counters = {
        "sent": ok + failed if sent is None else sent,
        "errors": {"mismatch": failed} if failed else {},
    }
    return one.model_copy(update={"counters": one.counters.model_copy(update=counters)})


@pytest.mark.parametrize(
    ("tenths", "found_at"),
    [
        # (right, failed) of each tenth of a second; where the run is given up.
        ([(0, 50)] * 6, 3),
        ([(0, 0)] * 3 + [(0, 50)] * 6, 6),
        ([(0, 5)] + [(0, 0)] * 5 + [(0, 5)], 6),
        ([(0, 1)] * 9, None),
        # Some are right: it is the rule that most break.
        ([(0, 50)] * 3 + [(1, 50)] + [(0, 50)] * 9, 3),
        ([(1, 0)] + [(0, 50)] * 20, 3),
        ([(50, 0)] * 3 + [(0, 50)] * 9, 6),
        ([(50, 0)] * 5 + [(0, 50)] * 20, None),
        ([(9, 8)] * 20, None),
        ([(9, 0)] * 20, None),
    ],
)
def test_it_is_given_up_when_most_replies_are_wrong(
    tenths: list[tuple[int, int]], found_at: int | None
) -> None:
    futility = Futility()
    intervals = [failing(n, ok=ok, failed=failed) for n, (ok, failed) in enumerate(tenths)]
    told = [futility.see(one) for one in intervals]
    assert [n for n, given_up in enumerate(told) if given_up] == (
        [] if found_at is None else [found_at]
    )
    assert (futility.words(words.REQUEST) is None) == (found_at is None)


def test_errors_that_are_allowed_end_no_run() -> None:
    """Nor do those of other classes, where some replies are right: a server may be overloaded."""
    some = [failing(n, ok=10, failed=50) for n in range(10)]
    futility = Futility(allowed=0.9)
    assert not any(map(futility.see, some))
    futility = Futility()
    refused = [
        one.model_copy(
            update={"counters": one.counters.model_copy(update={"errors": {"status": 50}})}
        )
        for one in some
    ]
    assert not any(map(futility.see, refused))
    futility = Futility()
    assert any(map(futility.see, some))
    assert futility.words(words.REQUEST) == "200 of 240 replies were wrong in the first 0.4 s"


def test_time_without_load_does_not_count() -> None:
    futility = Futility()
    for n in range(9):
        assert not futility.see(failing(n))
    assert not futility.see(failing(9, failed=50))
    assert not futility.see(failing(10, failed=50, sent=0))
    assert not futility.see(failing(11, failed=50))
    assert futility.see(failing(12, failed=50))
    assert futility.words(words.REQUEST) == "every request failed in the first 0.4 s"
    assert futility.words(words.MESSAGE) == "every message failed in the first 0.4 s"


def test_the_judgement_says_it() -> None:
    plan = Plan(
        target=Target(url="http://127.0.0.1:1/"),
        load=Load(connections=10),
        stop=Stop(duration_ns=10**9),
    )
    window = Window(start_ns=0, end_ns=10**9, steady=True, rule="r")
    known = judge.Known(server=Use(0.5), futile="every request failed in the first 0.4 s")
    found = judge.judge(
        [failing(0, failed=10)], summary(ok=0, errors={"mismatch": 50}), window, plan, known
    )
    assert found.verdict == "invalid"
    assert found.evidence.startswith(
        "every request failed in the first 0.4 s, so the run was ended: "
        "50 mismatch of 50 requests failed (100 %)"
    )
