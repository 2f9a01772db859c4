"""The page: whole, self-contained, and with the model's own figures."""

from __future__ import annotations

import base64
import lzma
import re
from html.parser import HTMLParser

import pytest

from tests.report.synthetic import DEMO, ORDER, demo_trials
from wiretrial.report import carried as carrying
from wiretrial.report import figure_words, html, metrics, palette
from wiretrial.report.families import unit_of
from wiretrial.report.model import ReportModel, build
from wiretrial.report.views import ranking
from wiretrial.results.model import Trial


class Page(HTMLParser):
    """Start tags with their attributes, and text outside script and style."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "path", "line", "rect"}:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not {"script", "style", "title"} & set(self._open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


@pytest.fixture(scope="module")
def source(report: ReportModel) -> str:
    return html.render(report)


@pytest.fixture(scope="module")
def page(source: str) -> Page:
    return Page(source)


def test_nothing_is_loaded_from_anywhere(source: str, page: Page) -> None:
    for tag, attributes in page.tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "image", "use"}
        assert not {"src", "href", "xlink:href", "srcset", "data", "action"} & attributes.keys()
    style = source[source.index("<style>") : source.index("</style>")]
    assert "@import" not in style
    assert "url(" not in style
    for address in re.findall(r"https?://[^\s\"'<>]+", source):
        assert address.startswith(("http://www.w3.org/", "http://127.0.0.1:"))


def test_it_runs_no_script(page: Page) -> None:
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert [s["type"] for s in scripts] == ["application/xz;base64"]
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)


def test_every_picture_says_what_it_shows(page: Page) -> None:
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(pictures) == 2 * 3 + 2 * 3 + 3 + 2 * 5
    for attributes in pictures:
        assert attributes["role"] == "img"
        assert (attributes["aria-label"] or "").endswith(".")


def test_the_figures_shown_are_the_models(report: ReportModel, page: Page) -> None:
    for group in report.groups:
        unit = unit_of((group,), group.contest.metric)
        for scenario in group.scenarios:
            estimate = scenario.estimates[metrics.THROUGHPUT.key]
            assert ranking.figure(scenario, group.contest.metric, unit) in page.words
            interval = figure_words.interval_text(estimate, unit)
            # A bound has none.
            assert (
                interval in page.words
                if scenario.bound_of(metrics.THROUGHPUT) == "exact"
                else not interval
            )
            cost = scenario.estimates[metrics.SERVER.key]
            assert metrics.SERVER.units[0].figure(cost.median) in page.words
    for sentence in report.verdict_sentences:
        assert sentence in page.words


def test_sections_stand_in_the_order_of_importance(source: str) -> None:
    titles = re.findall(r"<h[12]>(.*?)</h[12]>", source)
    assert titles == [
        "HTTP or WebSocket for a 64-byte request?",
        "Throughput: protocol, reference server",
        "Throughput: protocol, Node",
        "Throughput: for orientation, not compared",
        "Service time",
        "Cost",
        "Over time",
        "Who was the bottleneck",
        "Warnings",
        "Facts",
    ]
    assert source.index('class="verdict"') < source.index("<h2>")


def test_marked_trials_are_hollow_and_listed(report: ReportModel, source: str, page: Page) -> None:
    hollow = re.findall(r"<path[^>]*><title>[^<]*, (?:client-bound|invalid)</title>", source)
    assert len(hollow) == 2 * len(report.marked)
    assert not any(" fill=" in path for path in hollow)
    assert "12 of 24 intervals disturbed" in page.text


def carried(source: str) -> list[Trial]:
    packed = re.search(r'<script type="application/xz;base64"[^>]*>([^<]*)<', source)
    assert packed
    lines = lzma.decompress(base64.b64decode(packed[1])).splitlines()
    return [Trial.model_validate_json(line) for line in lines]


def test_the_trials_inside_are_the_trials() -> None:
    trials = demo_trials(blocks=2)
    made = build(trials, question="Q?", title="T", command="again")
    assert carried(html.render(made)) == trials


def test_many_trials_are_inside_with_merged_histograms_that_say_the_same(
    report: ReportModel, source: str
) -> None:
    inside = carried(source)
    assert 'data-histograms="merged"' in source
    assert len(inside) == len(report.trials)
    again = build(inside, question="Q?", title="T", command="again", order=ORDER)
    for old, new in zip(report.scenarios, again.scenarios, strict=True):
        assert (old.name, old.estimates, old.curve) == (new.name, new.estimates, new.curve)


def test_where_these_are_too_much_outlines_are_inside_and_say_the_same(
    report: ReportModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carrying, "MOST_MERGED", 1000)
    source = html.render(report)
    assert 'data-histograms="outlined"' in source
    assert "the outlines of the histograms of their windows" in Page(source).text
    again = build(carried(source), question="Q?", title="T", command="again", order=ORDER)
    for old, new in zip(report.scenarios, again.scenarios, strict=True):
        assert (old.name, old.curve) == (new.name, new.curve)


def test_the_dark_turns_every_ink(source: str) -> None:
    style = source[source.index("<style>") : source.index("</style>")]
    dark = style[style.rindex("prefers-color-scheme: dark") :]
    for light, turned in palette.DARK.items():
        assert f'[fill="{light}"]{{fill:{turned}}}' in dark
    known = {*palette.DARK, *palette.SCENARIOS, "none", "transparent"}
    svg = source[source.index("<svg") : source.rindex("</svg>")]
    assert set(re.findall(r' (?:fill|stroke)="([^"]*)"', svg)) <= known


def test_names_are_escaped() -> None:
    name = "<b>A & B</b>"
    shape = DEMO[0].__class__(**{**DEMO[0].__dict__, "name": name})
    made = build(
        demo_trials(blocks=2, shapes=(shape,)), question="<i>?", title="<u>", command="a < b"
    )
    source = html.render(made)
    assert "<b>A" not in source
    assert "<i>" not in source
    assert "&lt;b&gt;A &amp; B&lt;/b&gt;" in source


def test_one_trial_or_no_valid_one_still_makes_a_page() -> None:
    for trials in (
        demo_trials(blocks=1, shapes=DEMO[:1]),
        demo_trials(blocks=1, shapes=DEMO[:1], invalid=frozenset({(DEMO[0].name, 0)})),
    ):
        made = build(trials, question="Q?", title="T", command="again")
        assert "</html>" in html.render(made)


@pytest.fixture(scope="module")
def study_source(study: ReportModel) -> str:
    return html.render(study)


def test_a_study_of_many_levels_has_a_section_per_question(study_source: str) -> None:
    titles = re.findall(r"<h2>(.*?)</h2>", study_source)
    assert titles == [
        "Server CPU at 17,000 messages/s: at one rate",
        "Throughput: echo",
        "Highest rate with p99 within 5 ms: knee",
        "Service and response time",
        "Cost",
        "Over time",
        "Published / here",
        "Who was the bottleneck",
        "Not measured",
        "Warnings",
        "Facts",
    ]
    assert "Ranking at each level" in study_source


def test_claims_are_told_by_a_mark_and_a_word(study_source: str) -> None:
    text = Page(study_source).text
    for mark, verdict in (("✓", "reproduced"), ("✗", "not reproduced"), ("=", "arithmetic")):
        assert re.search(rf"{mark}\s+{verdict}", text), verdict


def test_what_was_not_measured_stands_with_its_reason(study_source: str) -> None:
    assert "crow can&#39;t be built: no compiler is here" in study_source


def test_the_study_without_its_trials_is_small(study_source: str) -> None:
    packed = re.search(r'id="trials".*?</script>', study_source, re.DOTALL)
    assert packed
    # A third of it are 72 trials over their time.
    # Charts are as wide as the machine's fonts make their labels, some hundred bytes more or less.
    assert len(study_source) - len(packed[0]) < 500_000


def test_best_and_worst_of_a_case_are_marked_by_more_than_colour(cases: ReportModel) -> None:
    source = html.render(cases)
    found = re.findall(r'<td class="num (\w+)"><span class="mark" aria-hidden="true">(.)<', source)
    assert len(found) == 12
    assert dict(found) == {"best": "▲", "worst": "▼"}
    assert source.count('<span class="said"> (best)</span>') == 6
    assert source.count('<span class="said"> (worst)</span>') == 6
