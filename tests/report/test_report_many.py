"""Many subjects side by side, all in one configuration: what is named, and what is counted."""

from __future__ import annotations

import re
from functools import cache
from io import StringIO

import pytest
from rich.console import Console

from tests.report.synthetic import Shape, demo_trials
from wiretrial.report import labels, metrics, page, text, text_blocks
from wiretrial.report.blocks import Cell, Fold, Table
from wiretrial.report.finding import Part
from wiretrial.report.model import ReportModel, build
from wiretrial.report.tables import held, limits, rankings
from wiretrial.results.model import Trial

SUBJECTS = tuple(f"server-{letter}" for letter in "abcdefghij")
PATTERNS = ("steady", "random bursts")
PACKS = ("packs of 10", "one at a time")
BASE = "server-c"


def shapes(configuration: str = "tuned") -> tuple[Shape, ...]:
    """Each server is half as fast as the one before, at each of four levels."""
    return tuple(
        Shape(
            name=f"{subject}:{configuration}: short, {pattern}, {pack}",
            group=f"short, {pattern}, {pack}",
            protocol="ws",
            subject=subject,
            language="Rust",
            rate=400e3 * 0.5**place,
            server_us=2.0 / 0.5**place,
            system_share=0.6,
            generator_us=2.0,
            sent_bytes=26,
            received_bytes=22,
            label=f"{subject}:{configuration}",
            levels={"workload": "short", "pattern": pattern, "pack": pack},
        )
        for pattern in PATTERNS
        for pack in PACKS
        for place, subject in enumerate(SUBJECTS)
    )


@cache
def trials(bound: str = "") -> list[Trial]:
    """Four blocks; the generator is the limit of `bound` in packs of ten."""
    marks = frozenset(
        (shape.name, 1) for shape in shapes() if shape.subject == bound and PACKS[0] in shape.name
    )
    return [tuned(trial) for trial in demo_trials(blocks=4, shapes=shapes(), client_bound=marks)]


def tuned(trial: Trial, configuration: str = "tuned") -> Trial:
    """The trial as if its subject had run so, in its label too."""
    label = f"{trial.scenario.subject}:{configuration}"
    scenario = trial.scenario.model_copy(update={"label": label, "configuration": configuration})
    return trial.model_copy(update={"scenario": scenario})


def reported(found: list[Trial]) -> ReportModel:
    return build(
        found,
        question="Q?",
        title="T",
        command="again",
        order=[shape.name for shape in shapes()],
        baselines=[shape.name for shape in shapes() if shape.subject == BASE],
    )


@pytest.fixture(scope="module")
def report() -> ReportModel:
    return reported(trials())


def test_one_configuration_is_said_once(report: ReportModel) -> None:
    assert {scenario.label for scenario in report.scenarios} == set(SUBJECTS)
    assert report.muted_sentences[-1] == "Everybody ran in the configuration “tuned”."
    assert "server-a:tuned:" in report.scenarios[0].name


def test_a_configuration_for_each_group_is_said_too() -> None:
    changed = [tuned(t, "deflate") if "random" in t.scenario.group else t for t in trials()]
    assert labels.sentence(labels.shortened(changed)) == (
        "Everybody ran in the configurations “deflate” and “tuned”, one of them in each group."
    )


def test_two_configurations_in_a_group_keep_their_names() -> None:
    some = trials()
    mixed = [tuned(some[0], "other"), *some[1:]]
    assert labels.shortened(mixed) is mixed
    assert labels.sentence(mixed) is None


def test_the_best_and_the_last_are_named_and_the_others_counted(report: ReportModel) -> None:
    first, cost = re.split(r"(?<=\.) (?=Server)", report.verdict_sentences[0])
    assert re.fullmatch(
        r"Throughput as multiples of server-c at all 4 levels: server-a [34]\.\d+ to 4\.\d+; "
        r"server-b [12]\.\d+ to 2\.\d+; server-d 0\.\d+ to 0\.\d+; server-e 0\.2\d+ to 0\.2\d+; "
        r"server-f 0\.1\d+ to 0\.1\d+; 3 more, and last server-j 0\.00\d+ to 0\.00\d+\.",
        first,
    )
    own = r"Server CPU per message \(closed loop\) as multiples of server-c at all 4 levels: "
    assert re.match(own + r"server-a 0\.2", cost)


def test_nobody_is_a_multiple_of_a_bound() -> None:
    model = reported(trials(BASE))
    cpu, throughput, _ = model.findings
    assert (cpu.metric, cpu.told, cpu.parts) == (metrics.SERVER, None, ())
    assert (throughput.metric, throughput.told) == (metrics.THROUGHPUT, 2)
    at = "“steady, packs of 10” and “random bursts, packs of 10”"
    assert throughput.parts == (Part("bound", 2, (BASE,), at),)
    assert {other.bound for other in throughput.others} == {"exact"}
    assert re.match(
        r"Server CPU per message \(closed loop\) as multiples of server-c "
        r"at all 4 levels: .* "
        r"Throughput as multiples of server-c at 2 of 4 levels: server-a .*; not ranked at 2 "
        rf"\({at}\), where the throughput of server-c is a lower bound: the load generator "
        r"saturated first\.",
        model.verdict_sentences[0],
    )


def test_a_row_for_each_where_they_are_more_than_the_levels(report: ReportModel) -> None:
    (family,) = report.families
    (table,) = text_blocks.table(Console(width=100), rankings.grid(family))
    assert [str(column.header).split() for column in table.columns[1:]] == [
        [*pattern.split(), *pack.split()] for pattern in PATTERNS for pack in PACKS
    ]
    assert list(map(str, table.columns[0].cells)) == list(SUBJECTS)
    assert max(map(len, text.render(report, width=100).splitlines())) <= 100


HELD = Table(
    held.COLUMNS,
    tuple(
        tuple(Cell(text, aside=tuple(aside)) for text, *aside in row)
        for row in (
            (
                *(["uwebsockets"], ["1,000,000"], ["51 x 1"], ["≥ 15.6", "14.1 to 17.3"]),
                *(["255", "252 to 258"], ["6,770", "6,760 to 6,780"], ["all"], ["24.6 s"]),
            ),
            (
                *(["tokio-tungstenite"], ["1,000"], ["1 x 1"], ["9.43", "8.70 to 9.72"]),
                *(["17,100", "17,000 to 17,200"], ["6,280", "6,270 to 6,290"], ["all"], ["–"]),
            ),
        )
    ),
)


def drawn(width: int) -> list[str]:
    """The lines of the held connections in a terminal of that width."""
    console = Console(width=width, file=StringIO(), record=True)
    for table in text_blocks.table(console, HELD):
        console.print(table)
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_no_word_of_the_held_connections_is_cut() -> None:
    assert drawn(100) == [
        "                                                         user   kernel",
        "                                                       memory   memory                all",
        "                                  copies x    opened     each     each           answered",
        "server              connections    threads    per ms    bytes    bytes   alive         in",
        "─────────────────────────────────────────────────────────────────────────────────────────",
        "uwebsockets           1,000,000     51 x 1   >= 15.6      255    6,770     all     24.6 s",
        "tokio-tungstenite         1,000      1 x 1      9.43   17,100    6,280     all          -",
    ]


def test_the_held_connections_stand_in_two_tables_where_one_is_too_wide() -> None:
    assert drawn(80) == [
        "                                                         user   kernel",
        "                                                       memory   memory",
        "                                  copies x    opened     each     each",
        "server              connections    threads    per ms    bytes    bytes   alive",
        "──────────────────────────────────────────────────────────────────────────────",
        "uwebsockets           1,000,000     51 x 1   >= 15.6      255    6,770     all",
        "tokio-tungstenite         1,000      1 x 1      9.43   17,100    6,280     all",
        "                         all",
        "                    answered",
        "server                    in",
        "────────────────────────────",
        "uwebsockets           24.6 s",
        "tokio-tungstenite          -",
    ]


def test_a_table_of_too_many_pairs_has_the_declared_ones(
    report: ReportModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = report.groups[0]
    whole = rankings.pairs(group)
    assert whole is not None
    assert len(whole.rows) == 45
    assert [column.title for column in whole.columns[:2]] == ["Pair", "Declared"]
    monkeypatch.setattr(rankings, "MOST_PAIRS", 44)
    declared = rankings.pairs(group)
    assert declared is not None
    assert len(declared.rows) == 9
    assert all("server-c" in row[0].text for row in declared.rows)
    assert "Declared" not in {column.title for column in declared.columns}


def test_of_too_many_scenarios_neither_all_costs_nor_the_evidence_have_a_table(
    report: ReportModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def folded() -> dict[str, list[str]]:
        """The heads of each table that opens when it is asked for."""
        return {
            block.title: [column.title for column in table.columns]
            for section in page.sections(report)
            for block in section.blocks
            if isinstance(block, Fold)
            for table in block.blocks
            if isinstance(table, Table)
        }

    few = folded()
    assert "Figures, with intervals" in few
    assert "Evidence (a typical trial)" in few["By scenario, with the evidence"]
    most = len(report.scenarios) - 1
    monkeypatch.setattr(rankings, "MOST_COSTS", most)
    monkeypatch.setattr(limits, "MOST_WITH_EVIDENCE", most)
    many = folded()
    assert "Figures, with intervals" not in many
    assert many["By scenario"] == few["By scenario, with the evidence"][:-1]
