"""The smallest difference that could have been shown: a row per workload and metric, everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from tests.report.later import Later
from tests.report.synthetic import Shape, demo_trials
from tests.report.synthetic_study import echo
from wiretrial.report import figure_words, found, page, text
from wiretrial.report.blocks import Table, Text
from wiretrial.report.contest import Pair
from wiretrial.report.model import ReportModel, build
from wiretrial.report.tables import resolution
from wiretrial.results.model import Trial
from wiretrial.stats import compare

SHAPES = echo(("gorilla", "ws"))
TRIALS = Later(partial(demo_trials, blocks=6, shapes=SHAPES))


def report(trials: Sequence[Trial], shapes: Sequence[Shape] = SHAPES) -> ReportModel:
    return build(
        trials,
        question="Q?",
        title="T",
        command="again",
        order=[shape.name for shape in shapes],
        baselines=[shape.name for shape in shapes if shape.subject == "ws"],
    )


def table(model: ReportModel) -> Table:
    (one,) = [block for block in resolution.section(model) if isinstance(block, Table)]
    return one


def pairs(model: ReportModel, metric: str) -> list[Pair]:
    return [pair for group in model.groups for pair in group.contest.pairs[metric]]


def test_a_row_has_the_median_of_its_contrasts_with_the_least_and_the_greatest() -> None:
    model = report(TRIALS)
    told = {row[1].text: [cell.text for cell in row] for row in table(model).rows}
    assert list(told) == ["Throughput", "Server CPU"]
    for title, metric in (("Throughput", "throughput"), ("Server CPU", "server")):
        sizes = sorted(pair.resolution for pair in pairs(model, metric) if pair.resolution)
        assert len(sizes) == 3
        least, middle, greatest = map(figure_words.difference, sizes)
        assert told[title] == ["echo", title, "3", "3", middle, f"{least} to {greatest}"]


def test_the_sentence_is_of_what_is_ranked_and_stands_wherever_the_report_is_read() -> None:
    model = report(TRIALS)
    (sentence, *_) = resolution.section(model)
    assert isinstance(sentence, Text)
    middle = table(model).rows[0][4].text
    assert sentence.text == (
        f"In half of 3 declared contrasts a difference of {middle} or less could have been shown;"
        " 3 show one, or that there is none of 3 %."
    )
    assert resolution.TITLE in {one.title for one in page.sections(model)}
    for told in (found.of_report(model).to_json(), text.render(model, width=200)):
        assert resolution.TITLE in told
        assert sentence.text[:60] in told


def test_where_nothing_could_have_been_shown_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "MOST_REACH", 0.0)
    model = report(demo_trials(blocks=6, shapes=SHAPES))
    assert {row[4].text for row in table(model).rows} == {"none"}
    assert {row[5].text for row in table(model).rows} == {"none"}
    (sentence, *_) = resolution.section(model)
    assert isinstance(sentence, Text)
    assert sentence.text == (
        "In half of 3 declared contrasts no difference could have been shown, whatever its size."
    )


def test_a_ratio_that_is_only_a_bound_is_left_out() -> None:
    limited = frozenset({("gorilla: echo, 10 connections", 2)})
    model = report(demo_trials(blocks=6, shapes=SHAPES, client_bound=limited))
    assert [row[2].text for row in table(model).rows] == ["2", "3"]


def test_few_contrasts_are_told_by_their_sentences() -> None:
    shapes = [shape for shape in SHAPES if "echo, 10 connections" in shape.name]
    assert not resolution.section(report(demo_trials(blocks=6, shapes=tuple(shapes)), shapes))


@pytest.mark.parametrize(
    ("share", "said"), [(0.012, "1.2 %"), (0.09, "9 %"), (0.994, "99 %"), (1.6, "2.60 times")]
)
def test_a_difference_is_told_in_percent_and_from_the_double_on_in_times(
    share: float, said: str
) -> None:
    assert figure_words.difference(share) == said
