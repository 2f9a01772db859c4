"""Asks a Prometheus server by its HTTP API: raw samples with their own times, and its clock.

Knows the form of its answers; must not know what a series means. Raw samples come by an instant
query of a range selector (`metric[5m]`): a range query would place values on a grid of its own.
Thanos, Mimir and VictoriaMetrics answer the same questions.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, ValidationError

from wiretrial import redaction
from wiretrial.errors import ServiceFailed
from wiretrial.observers.clock import Question
from wiretrial.observers.scrapes import Point, Series
from wiretrial.services import Answer, Service

NAME: Final = "the Prometheus server"
VARIABLE: Final = "WIRETRIAL_PROMETHEUS_TOKEN"
"""Environment variable with a bearer token; with `_FILE` behind it, of a file with one."""
_PATH: Final = "/api/v1/query"


class Prometheus:
    """A server that is asked. Every question raises `ServiceFailed` where no good answer comes."""

    def __init__(self, url: str) -> None:
        self._service = Service.of(NAME, url, VARIABLE)

    @property
    def shown(self) -> str:
        """Its URL without secrets."""
        return self._service.shown

    def raw(self, selector: str, seconds: float, at_s: float) -> list[Series]:
        """All samples of the series of the last `seconds` before an instant of its clock."""
        asked = f"{selector}[{max(1, math.ceil(seconds))}s]"
        found = self._query(asked, {"time": f"{at_s:.3f}"})
        if not isinstance(found, _Matrix):
            raise self._odd(f"it answered {asked} with a {found.resultType}")
        return [
            Series(
                one.metric,
                tuple(Point(at, value) for at, value in one.values if not math.isnan(value)),
            )
            for one in found.result
        ]

    def clock(self) -> Question:
        """When it answered, by its clock and ours: `told_ns` is its Unix time, to a millisecond."""
        asked_ns = time.monotonic_ns()
        found = self._query("time()", {})
        heard_ns = time.monotonic_ns()
        if not isinstance(found, _Scalar | _Vector) or not math.isfinite(found.value):
            raise self._odd(f"it answered time() with a {found.resultType}")
        return Question(asked_ns, round(found.value * 1e9), heard_ns)

    def _query(self, query: str, further: Mapping[str, str]) -> _Data:
        words = urlencode({"query": query, **further})
        answer = self._service.ask(f"{self._service.url}{_PATH}?{words}")
        try:
            told = _Told.model_validate_json(answer.body)
        except ValidationError as error:
            if answer.is_good:
                raise self._odd("its answer is not that of Prometheus's HTTP API") from error
            raise self._service.refused(answer, VARIABLE) from error
        if told.data is None:
            raise self._refused(answer, told)
        return told.data

    def _refused(self, answer: Answer, told: _Told) -> ServiceFailed:
        if answer.status in (401, 403):
            return self._service.refused(answer, VARIABLE)
        return ServiceFailed(
            f"{NAME} at {self.shown} refused a query: {redaction.text(told.error[:200])}",
            "check the labels",
        )

    def _odd(self, problem: str) -> ServiceFailed:
        return ServiceFailed(f"{NAME} at {self.shown}: {problem}", "check the URL")


class _Answered(BaseModel):
    # It may say more than we know of.
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Row(_Answered):
    metric: dict[str, str]
    values: tuple[tuple[float, float], ...] = ()


class _Matrix(_Answered):
    resultType: Literal["matrix"]  # noqa: N815 (the API's own name)
    result: tuple[_Row, ...]


class _Scalar(_Answered):
    resultType: Literal["scalar"]  # noqa: N815 (the API's own name)
    result: tuple[float, float]

    @property
    def value(self) -> float:
        """What it is."""
        return self.result[1]


class _Sample(_Answered):
    value: tuple[float, float]


class _Vector(_Answered):
    """Where a number is a vector of one, as VictoriaMetrics has it."""

    resultType: Literal["vector"]  # noqa: N815 (the API's own name)
    result: tuple[_Sample]

    @property
    def value(self) -> float:
        """What it is."""
        return self.result[0].value[1]


class _Other(_Answered):
    resultType: Literal["vector", "string"]  # noqa: N815 (the API's own name)


_Data = _Matrix | _Scalar | _Vector | _Other


class _Told(_Answered):
    status: Literal["success", "error"]
    data: _Data | None = None
    error: str = ""
