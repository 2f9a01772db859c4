"""What one more held connection weighs: which trials count, and where nothing is told."""

from __future__ import annotations

from collections.abc import Sequence

from tests.lab.trials import summary
from tests.lab.trials import trial as made_up
from wiretrial.plan import Hold, Load, Stop
from wiretrial.report import html, markdown, model, text
from wiretrial.report.blocks import Table
from wiretrial.report.model import ReportModel
from wiretrial.report.tables import held
from wiretrial.results.model import Trial
from wiretrial.results.observation import Observation, PerConnection

BASE = 100_000.0
"""Bytes that a server's memory grows by whatever the number of connections is."""
EACH = 300.0
KERNEL_EACH = 6_770.0


def trial(connections: int, block: int, user: float, kernel: float) -> Trial:
    """So many connections were held, and memory grew by so many bytes in all."""
    whole = made_up(block=block, name=f"a: held, {connections} connections")
    plan = whole.plan.model_copy(
        update={
            "load": Load(connections=connections, executor=Hold()),
            "stop": Stop(requests=connections),
        }
    )
    seen = Observation(
        cpu_resolution_ns=1,
        tick_ns=1,
        cost_ns=0,
        watched_ns=1,
        alone=True,
        per_connection=PerConnection(
            pss_bytes=user / connections,
            tcp_memory_bytes=kernel / connections,
            socket_slab_bytes=0.0,
        ),
    )
    return whole.model_copy(
        update={
            "scenario": whole.scenario.model_copy(update={"label": "a"}),
            "plan": plan,
            "observation": seen,
            "summary": summary(ok=connections),
        }
    )


def held_at(levels: Sequence[int], blocks: int = 3) -> list[Trial]:
    return [
        trial(connections, block, BASE + EACH * connections, KERNEL_EACH * connections)
        for connections in levels
        for block in range(blocks)
    ]


def report(trials: list[Trial]) -> ReportModel:
    return model.build(trials, question="Which?", title="Held", command="again")


def slopes(trials: list[Trial]) -> list[tuple[str, ...]]:
    """The rows of the table of slopes."""
    tables = (block for block in held.blocks(report(trials)) if isinstance(block, Table))
    return [
        tuple(" ".join((cell.text, *(f"({one})" for one in cell.aside))) for cell in row)
        for table in tables
        if table.columns == held.SLOPE_COLUMNS
        for row in table.rows
    ]


def test_what_does_not_depend_on_their_number_is_apart() -> None:
    ((_, user, kernel, span),) = slopes(held_at([1_000, 10_000]))
    assert user == "300 (300 to 300)"
    assert kernel == "6,770 (6,770 to 6,770)"
    assert span == "6 trials at 1,000 to 10,000 connections"


def over_occasions(*each: float) -> list[Trial]:
    """Days on which a connection weighed so much."""
    return [
        trial(
            connections, block, BASE + weight * connections, KERNEL_EACH * connections
        ).model_copy(update={"occasion": occasion})
        for occasion, weight in enumerate(each)
        for connections in (1_000, 10_000)
        for block in range(3)
    ]


def test_each_occasion_counts_as_one_value() -> None:
    # Student's t of 2 degrees is 4.303: 300 ± 4.303 x 20 / sqrt(3).
    ((_, user, _, span),) = slopes(over_occasions(280, 300, 320))
    assert user == "300 (250 to 350)"
    assert span == "18 trials at 1,000 to 10,000 connections"


def test_two_occasions_have_no_interval() -> None:
    ((_, user, *_),) = slopes(over_occasions(280, 320))
    assert user == "300"


def test_every_form_of_the_report_shows_it() -> None:
    found = report(held_at([1_000, 10_000]))
    forms = (
        text.render(found, width=160, colour=False),
        markdown.render(found),
        html.render(found),
    )
    assert all(held.SLOPES_TITLE in form for form in forms)


def test_no_trial_is_dropped_for_what_it_showed() -> None:
    """To leave out the trials in which memory did not grow would make a connection heavier."""
    shrunk = trial(1_000, 3, -50_000.0, KERNEL_EACH * 1_000)
    ((_, user, kernel, span),) = slopes([*held_at([1_000, 10_000]), shrunk])
    assert (user, kernel) == ("–", "6,770 (6,770 to 6,770)")
    assert span == "7 trials at 1,000 to 10,000 connections"


def test_nothing_is_told_of_one_number_or_of_too_few_trials() -> None:
    assert slopes(held_at([1_000])) == []
    assert slopes(held_at([1_000, 10_000], blocks=1)) == []
