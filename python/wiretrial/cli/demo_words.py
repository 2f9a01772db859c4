"""What the demo says before the automatic sentences: the price of HTTP, and where it goes.

Knows the demo's scenarios and their figures; must not know how they were measured or are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.report import figure_words, metrics
from wiretrial.report.contest import Pair
from wiretrial.report.metrics import Metric
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.units import significant
from wiretrial.studies import demo as demo_study

_ALL = 0.97
"""A share above this is told as all: the rest is within what CPU times can tell."""


def verdict(made: ReportModel) -> Sequence[str]:
    """What HTTP costs next to WebSocket here, and why."""
    found = [
        _price(made, "On the reference server", demo_study.REFERENCE_HTTP, demo_study.REFERENCE_WS),
        _price(made, "On Node", demo_study.NODE_HTTP, demo_study.NODE_WS),
        _price_of_connecting(made),
    ]
    return [sentence for sentence in found if sentence]


def answer(made: ReportModel) -> Sequence[str]:
    """The same in short sentences, for the first screen."""
    found = []
    if pair := _pair(made, demo_study.REFERENCE_HTTP, demo_study.REFERENCE_WS, metrics.SERVER):
        ratio = figure_words.ratio_text(pair)
        found.append(
            "An HTTP request and a WebSocket message with the same 64 bytes show no difference in "
            f"server CPU: ratio {ratio}."
            if pair.winner is None
            else f"An HTTP request costs this server {ratio} times the CPU of a WebSocket message "
            "with the same 64 bytes."
        )
    if pair := _shown(made, demo_study.NODE_HTTP, demo_study.NODE_WS):
        ratio = figure_words.ratio_text(pair)
        found.append(f"On a Node server the HTTP request costs {ratio} times as much.")
    if pair := _shown(made, demo_study.REFERENCE_FRESH, demo_study.REFERENCE_HTTP):
        ratio = figure_words.ratio_text(pair)
        found.append(f"A new connection per HTTP request costs {ratio} times a kept one.")
    return found


def _shown(made: ReportModel, name: str, base: str) -> Pair | None:
    """The comparison in server CPU, where it shows a difference."""
    pair = _pair(made, name, base, metrics.SERVER)
    return pair if pair is not None and pair.winner is not None else None


def _price(made: ReportModel, where: str, http: str, ws: str) -> str | None:
    pair = _pair(made, http, ws, metrics.SERVER)
    by_name = {scenario.name: scenario for scenario in made.scenarios}
    if pair is None or pair.verdict == "invalid":
        return None
    over_http, over_ws = _cost(by_name[http]), _cost(by_name[ws])
    if over_http is None or over_ws is None:
        return None
    ratio = figure_words.ratio_text(pair)
    octets = (
        f"its request and reply are {over_http.octets:,.0f} bytes against {over_ws.octets:,.0f} for"
        " the same 2 x 64 bytes of content"
    )
    if pair.winner is None:
        return (
            f"{where}, no difference in server CPU between an HTTP keep-alive request and a"
            f" WebSocket message is shown (ratio {ratio}), although {octets}."
        )
    costs = f"an HTTP keep-alive request costs {ratio} times the server CPU of a WebSocket message"
    more_cpu = over_http.cpu_ns - over_ws.cpu_ns
    if more_cpu <= 0:
        return f"{where}, {costs}; {octets}."
    share = min(max((over_http.user_ns - over_ws.user_ns) / more_cpu, 0.0), 1.0)
    part = "all" if share > _ALL else f"{100 * share:.0f} %"
    return (
        f"{where}, {costs}: {octets}, and {part} of the {significant(more_cpu / 1e3)} µs more is"
        " spent in the server program, on headers, rather than in the kernel."
    )


def _price_of_connecting(made: ReportModel) -> str | None:
    kept, fresh = demo_study.REFERENCE_HTTP, demo_study.REFERENCE_FRESH
    pair = _pair(made, fresh, kept, metrics.SERVER)
    by_name = {scenario.name: scenario for scenario in made.scenarios}
    if pair is None or pair.winner != kept:
        return None
    old, new = _cost(by_name[kept]), _cost(by_name[fresh])
    if old is None or new is None or new.cpu_ns <= old.cpu_ns:
        return None
    in_kernel = 1 - (new.user_ns - old.user_ns) / (new.cpu_ns - old.cpu_ns)
    part = f"{100 * min(max(in_kernel, 0.0), 1.0):.0f} %"
    ratio = figure_words.ratio_text(pair)
    return (
        f"A new connection per HTTP request costs {ratio} times the server CPU of a kept one;"
        f" {part} of the difference is the kernel's, which opens and closes it."
    )


def _pair(made: ReportModel, name: str, base: str, metric: Metric) -> Pair | None:
    """The comparison of two scenarios, as multiples of `base`; None where there is none."""
    for group in made.groups:
        for pair in group.contest.pairs.get(metric.key, ()):
            if {pair.a, pair.b} == {name, base} and pair.comparison:
                return pair.seen_from(base)
    return None


@dataclass(frozen=True)
class _Cost:
    octets: float
    cpu_ns: float
    user_ns: float


def _cost(scenario: ScenarioResult) -> _Cost | None:
    octets = scenario.median(metrics.APPLICATION_BYTES)
    cpu = scenario.median(metrics.SERVER)
    user = scenario.median(metrics.SERVER_USER)
    if octets is None or cpu is None or user is None:
        return None
    return _Cost(octets, cpu, user)
