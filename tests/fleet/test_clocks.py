"""Whatever each way takes, the true offset is within the error that is told."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from wiretrial.fleet.clocks import Sample, best, clock

OFFSETS = st.integers(-(10**18), 10**18)
WAYS = st.tuples(st.integers(0, 10**10), st.integers(0, 10**10))


def asked(at_ns: int, there_ns: int, back_ns: int, offset_ns: int) -> Sample:
    return Sample(at_ns, at_ns + there_ns + offset_ns, at_ns + there_ns + back_ns)


@settings(deadline=None)
@given(OFFSETS, st.lists(WAYS, min_size=1, max_size=20))
def test_the_true_offset_is_within_the_error(offset: int, ways: list[tuple[int, int]]) -> None:
    samples = [asked(n * 10**9, there, back, offset) for n, (there, back) in enumerate(ways)]
    known = clock(samples)
    assert abs(known.offset_ns - offset) <= known.error_ns
    assert known.error_ns <= -(-min(there + back for there, back in ways) // 2)
    assert known.samples == len(ways)


def test_the_shortest_round_trip_counts() -> None:
    slow, quick = asked(0, 9000, 1000, 500), asked(20_000, 30, 50, 500)
    assert best([slow, quick]) is quick
    assert clock([slow, quick]).offset_ns == 490


def test_drift_is_what_the_offset_has_changed_by() -> None:
    before, after = asked(0, 10, 10, 500), asked(10**9, 10, 10, 700)
    assert clock([before]).drift_ns is None
    assert clock([before], [after]).drift_ns == 200
