"""Failures of the engine in other words stay what they are."""

from __future__ import annotations

import pytest

from wiretrial.errors import EngineFailed, LimitsTooLow, TargetNotReady, TargetSilent, reworded


@pytest.mark.parametrize("kind", [EngineFailed, TargetNotReady, TargetSilent])
def test_a_failure_keeps_its_kind_its_remedy_and_its_code(kind: type[EngineFailed]) -> None:
    with pytest.raises(EngineFailed) as caught, reworded(str.upper):
        raise kind("no field 1", "try it", 4)
    error = caught.value
    assert (type(error), error.line(), error.exit_code) == (kind, "NO FIELD 1: try it", 4)


def test_limits_that_are_too_low_are_told_as_they_are() -> None:
    short = LimitsTooLow("too few descriptors")
    with pytest.raises(LimitsTooLow) as caught, reworded(str.upper):
        raise short
    assert caught.value is short
