"""Scenarios over time on a site: what became worse is named, machines are marked, data is there."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from tests.publish.conftest import followed
from tests.report import page_words
from wiretrial.site import shell, trend_pages
from wiretrial.site.build import Site, made
from wiretrial.site.histories import History

Files = dict[str, bytes]


@pytest.fixture(scope="module")
def history(site: Site) -> History:
    (one,) = site.histories
    return one


def words_of(files: Files, name: str) -> str:
    """What a page says, on one line."""
    return " ".join(page_words.lines(files[name].decode()))


def test_the_first_page_names_what_became_worse(files: Files, history: History) -> None:
    told = words_of(files, shell.FIRST)
    assert "Results over time" in told
    assert "1 of 1 scenario became worse." in told
    assert "Throughput worse since 2026-01-19 08:00 (c000018), −8." in told
    assert f'href="{trend_pages.path(history)}"' in files[shell.FIRST].decode()
    assert f'href="{shell.TRENDS}"' in files[shell.METHOD].decode()


def test_a_machine_that_changed_is_marked_and_no_regression(files: Files, history: History) -> None:
    told = words_of(files, trend_pages.path(history))
    assert "The machine changed at 2026-01-07 08:00 (c000006) (kernel 6.1.0 → 6.6.2)" in told
    assert "The two sides are not compared" in told
    assert told.count("machine changed: kernel 6.1.0 → 6.6.2") == 1
    # In the table the change stands beside its own result.
    assert "Throughput worse, −8." in told
    assert history.outcome == "worse"
    assert [step.kind for step in history.first.steps] == ["machine", "worse"]


def test_every_point_can_be_downloaded(files: Files, history: History) -> None:
    base = f"data/{trend_pages.data_folder(history)}"
    rows = [*csv.DictReader(io.StringIO(files[f"{base}/points.csv"].decode()))]
    assert len(rows) == sum(len(one.line.points) for one in history.lines)
    first = rows[0]
    assert (first["study"], first["scenario"]) == (history.study, history.scenario)
    assert float(first["value"]) == history.first.line.points[0].value
    assert json.loads(first["terms"])["kernel"] == "6.1.0"
    document = json.loads(files[f"{base}/trend.json"])
    assert document["schema"] == "wiretrial-trend"
    assert [len(line["points"]) for line in document["lines"]] == [
        len(one.line.points) for one in history.lines
    ]
    assert f"{base.removeprefix('data/')}/points.csv\n" in files["data/SHA256SUMS"].decode()


def test_a_result_that_is_published_too_is_linked(site: Site) -> None:
    history = followed()[0]
    entry = replace(site.entries[0], name="compare-18")
    files = made(replace(site, entries=(entry,), histories=(history,)))
    page = files[trend_pages.path(history)].decode()
    assert page.count('href="../studies/compare-18.html"') == 2
    assert "compare-17.html" not in page


def test_without_histories_nothing_speaks_of_them(site: Site) -> None:
    files = made(replace(site, histories=()))
    assert shell.TRENDS not in files
    assert "Over time" not in files[shell.FIRST].decode()
    assert not [name for name in files if "trends/" in name]


def test_a_site_of_histories_alone_is_whole(site: Site) -> None:
    files = made(Site("Over time", (), histories=site.histories))
    assert "0 studies" not in files[shell.FIRST].decode()
    assert trend_pages.path(site.histories[0]) in files
