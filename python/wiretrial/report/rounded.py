"""A trial whose measured times and shares have six digits.

Knows which of its figures are measured; must not know where the trial goes. Figures are told with
three digits. Instants between which something is counted stay exact: they are matched.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from wiretrial.results.model import Trial

DIGITS: Final = 6
TIME: Final = "_ns"
INSTANTS: Final = frozenset({"start_ns", "end_ns", "measure_start_ns", "measure_end_ns"})

_Part = TypeVar("_Part", bound=BaseModel)


def of(trial: Trial) -> Trial:
    """The trial, each measured time and share in it within 0.0005 % of what it was."""
    return trial.model_copy(
        update={
            "intervals": tuple(map(_part, trial.intervals)),
            "summary": _part(trial.summary),
            "subject_samples": tuple(map(_part, trial.subject_samples)),
            "places": tuple(map(_part, trial.places)),
            "observation": trial.observation and _part(trial.observation),
        }
    )


def figure(value: float) -> float:
    """With six digits."""
    return float(f"{value:.{DIGITS}g}")


def _part(part: _Part) -> _Part:
    return part.model_validate(_value("", part.model_dump(by_alias=True)))


def _value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _value(str(key), one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [_value(name, one) for one in value]
    if isinstance(value, float) and math.isfinite(value):
        return figure(value)
    if isinstance(value, int) and name.endswith(TIME) and name not in INSTANTS:
        return round(value, DIGITS - len(str(abs(value)))) if abs(value) >= 10**DIGITS else value
    return value
