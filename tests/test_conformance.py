"""docs/conformance-http.md leaves nothing out and names nothing that is not there.

The summaries of it and of docs/faults.md in docs/conformance.md are as generated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance import document, tables

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "conformance-http.md"
TABLES = [
    *sorted((ROOT / "crates/proto/tests/all/conformance").glob("*.rs")),
    ROOT / "crates/respond/tests/all/conformance.rs",
]
BINDS = {"client", "server", "both", "intermediary", "registries", "nobody"}

# How many sentences of each section say MUST, REQUIRED or SHALL, counted in the RFCs.
SENTENCES = {
    "9112": """1.1:1 2.2:7 2.3:1 3:1 3.2:4 3.2.1:2 3.2.2:6 3.2.3:1 3.2.4:2 4:1 5.1:2 5.2:4 6.1:10
        6.2:1 6.3:11 7.1:2 7.1.1:1 7.1.2:2 7.3:3 7.4:2 8:1 9.2:2 9.3:5 9.3.2:2 9.6:6 9.7:1 9.8:2
        10.1:1""",
    "9110": """2.2:3 2.3:1 2.4:1 3.3:1 4.2.1:2 4.2.2:3 4.2.4:1 4.3.4:7 5.1:1 5.3:3 5.4:1 5.5:2
        5.6.1.1:1 5.6.1.2:2 5.6.3:2 5.6.4:1 5.6.7:4 6:1 6.2:2 6.5.1:2 6.5.2:1 6.6.1:3 7.1:1 7.2:1
        7.4:2 7.6:2 7.6.1:3 7.6.2:4 7.6.3:3 7.7:3 7.8:8 8.3.3:1 8.4:1 8.6:7 8.7:2 8.8.2.1:3 8.8.3:1
        9.1:1 9.2.1:1 9.2.2:1 9.3.2:1 9.3.4:4 9.3.6:5 9.3.7:2 9.3.8:2 10.1.1:7 10.1.3:3 10.1.4:1
        10.1.5:1 10.2.1:2 10.2.2:1 11.2:1 11.5:1 11.6.1:2 11.6.2:1 11.7.1:1 12.4.2:1 12.5.3:1
        12.5.4:1 12.5.5:2 13.1.1:3 13.1.2:4 13.1.3:4 13.1.4:6 13.1.5:7 13.2.1:4 13.2.2:1 14.1.2:1
        14.2:2 14.3:1 14.4:3 15:1 15.2:3 15.2.2:1 15.3.6:1 15.3.7:3 15.3.7.1:1 15.3.7.2:6
        15.3.7.3:3 15.4.5:1 15.4.8:1 15.5.2:1 15.5.6:1 15.5.8:1 15.5.20:1 15.5.22:1 16.1.1:1
        16.2.1:1 16.3.1:1 16.4.1:1 16.4.2:2 16.5.1:1 16.6.1:3 16.7:2""",
}


def rows(rfc: str) -> Iterator[tuple[str, range, str, str]]:
    """Section, sentences, whom it binds, the test or the reason; of one RFC's table."""
    chapter = PAGE.read_text(encoding="utf-8").split(f"## RFC {rfc}")[1].split("\n## ")[0]
    for line in chapter.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 5 or not re.match(r"\d", cells[0]):
            continue
        section, numbers, binds, _, verdict = cells
        first, _, last = numbers.partition("-")
        yield section, range(int(first), int(last or first) + 1), binds, verdict


def rust_tests(source: Path) -> set[str]:
    """Names of the functions under `#[test]`, and of those that proptest calls."""
    text = source.read_text(encoding="utf-8")
    return set(re.findall(r"#\[test\]\s*(?:#\[[^\]]*\]\s*)*fn (\w+)", text))


def named_tests(text: str) -> set[str]:
    return {name for name in re.findall(r"`(\w+)`", text) if name.count("_") > 1}


@pytest.mark.parametrize("rfc", SENTENCES)
def test_every_sentence_has_one_row(rfc: str) -> None:
    expected = {
        section: list(range(1, int(count) + 1))
        for section, count in (entry.split(":") for entry in SENTENCES[rfc].split())
    }
    found: dict[str, list[int]] = {}
    for section, numbers, _, _ in rows(rfc):
        found.setdefault(section, []).extend(numbers)
    assert found == expected


@pytest.mark.parametrize("rfc", SENTENCES)
def test_every_row_says_whom_it_binds_and_how_it_is_held(rfc: str) -> None:
    for section, _, binds, verdict in rows(rfc):
        assert binds in BINDS, section
        assert verdict, section


def test_the_page_names_the_tests_that_are_there() -> None:
    there = set().union(*map(rust_tests, (ROOT / "crates").rglob("*.rs")))
    assert named_tests(PAGE.read_text(encoding="utf-8")) - there == set()


def test_every_conformance_test_is_on_the_page() -> None:
    there = set().union(*map(rust_tests, TABLES))
    assert there - named_tests(PAGE.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    ("part", "lines"),
    [("http", tables.http()), ("faults", tables.faults())],
    ids=["http", "faults"],
)
def test_the_summaries_are_as_generated(part: str, lines: list[str]) -> None:
    """`python -m conformance --tables` writes them."""
    assert document.read(part) == lines


def test_the_table_of_faults_names_tests_that_are_there() -> None:
    rust = set().union(*map(rust_tests, (ROOT / "crates").rglob("*.rs")))
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    python = {name for text in sources for name in re.findall(r"def (test_\w+)", text)}
    named = named_tests(tables.FAULTS_PAGE.read_text(encoding="utf-8"))
    # Of the page's long names one is a class.
    assert named - rust - python == {"header_too_large"}
