"""The table of how long servers take to start, and where it stands."""

from __future__ import annotations

import json
from pathlib import Path

from tests.report import synthetic_rest
from wiretrial.cli import reporting
from wiretrial.cli.forms import ReportForm
from wiretrial.report import found, html, markdown, text
from wiretrial.report.blocks import Items, Table, Text
from wiretrial.report.tables import starts as tables
from wiretrial.results import starts
from wiretrial.results.starts import Start
from wiretrial.results.store import ResultsFolder

MS = 1_000_000


def start(subject: str, number: int, ms: float | None, **more: object) -> Start:
    row: dict[str, object] = {
        "subject": subject,
        "configuration": "tuned",
        "number": number,
        "contract": "web",
        "protocol": "http",
        "first_reply_ns": None if ms is None else round(ms * MS),
        "resolution_ns": None if ms is None else MS,
        "pss_bytes": 30_000_000 + number,
        **more,
    }
    return Start.model_validate(row)


STARTS = (
    start("slow", 1, 2100, resolution_ns=round(1.3 * MS)),
    start("quick", 1, 9),
    start("slow", 2, 1900),
    start("quick", 2, 8, pss_bytes=None),
    start("quick", 3, 40),
    start("gone", 1, None, problem="it ended at its start: exit status 2", pss_bytes=None),
)


def test_the_quickest_is_the_first_by_its_median() -> None:
    table, key, lost = tables.blocks(STARTS)
    assert isinstance(table, Table)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["quick:tuned", "9.00", "8.00", "40.0", "30.0", "3"],
        ["slow:tuned", "2,000", "1,900", "2,100", "30.0", "2"],
    ]
    assert isinstance(key, Text)
    assert "a right reply to the first exchange of the contract web over http" in key.text
    assert "at most 1.30 ms earlier" in key.text
    assert isinstance(lost, Items)
    (item,) = lost.items
    assert item.line == "gone:tuned: it ended at its start: exit status 2"


def test_without_starts_there_is_nothing_and_without_replies_no_table() -> None:
    assert tables.blocks(()) == ()
    (only,) = tables.blocks(STARTS[-1:])
    assert isinstance(only, Items)


def test_every_form_of_the_report_has_it() -> None:
    made = synthetic_rest.report(starts=STARTS)
    plain = text.render(made, width=100)
    for shown in (plain, html.render(made), markdown.render(made)):
        assert "From a server" in shown
        assert "quick:tuned" in shown
        assert "gone:tuned" in shown
    titles = [section.title for section in found.of_report(made).sections]
    adopted = titles.index("What each is like to adopt")
    assert titles[adopted + 1] == tables.TITLE
    assert tables.TITLE not in text.render(synthetic_rest.report(), width=100)


def test_they_are_kept_with_the_results_and_replaced_by_their_place(tmp_path: Path) -> None:
    results = ResultsFolder.create(tmp_path, "web", "{}")
    assert starts.read(results) == ()
    starts.keep(results, [])
    assert not (results.folder / starts.FILE).exists()
    starts.keep(results, STARTS[:2])
    again = start("slow", 1, 1)
    starts.keep(results, [again, start("slow", 1, 3, occasion=2)])
    assert [(row.subject, row.occasion, row.first_reply_ns) for row in starts.read(results)] == [
        ("slow", 1, MS),
        ("quick", 1, 9 * MS),
        ("slow", 2, 3 * MS),
    ]


def test_the_report_as_json_has_each_start(tmp_path: Path) -> None:
    study = synthetic_rest.study()
    results = ResultsFolder.create(tmp_path, study.name, study.document())
    results.add(synthetic_rest.trials()[0])
    starts.keep(results, STARTS[:1])
    target = tmp_path / "told.json"
    reporting.report(results.folder, ReportForm.JSON, target)
    told = json.loads(target.read_text(encoding="utf-8"))
    assert [row["first_reply_ns"] for row in told["starts"]] == [2100 * MS]
