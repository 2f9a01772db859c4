"""Numbers that the pages say, counted again from what they speak of."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wiretrial.report import found
from wiretrial.report.blocks import Table

ROOT = Path(__file__).resolve().parent.parent
SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
TEENS = {15: "fifteen"}
VERDICTS = r"Of (\d+) published claims (\d+) are reproduced, (\d+) are not, (\d+) cannot be told\."


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def toml(path: str) -> dict[str, Any]:
    return tomllib.loads(text(path))


def catalogue() -> dict[str, set[str]]:
    """The names of the catalogue's subjects, by kind."""
    kinds: dict[str, set[str]] = {"server": set(), "client": set()}
    for path in (ROOT / "subjects").glob("*/subject.toml"):
        spec: Mapping[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        kinds[spec["kind"]].add(spec["name"])
    return kinds


def subjects(study: str) -> set[str]:
    """Whom a study's document names, without configurations and without what is ours."""
    document = toml(f"studies/{study}/study.toml")
    listed = [*document["subjects"]]
    for workload in document["workload"]:
        listed += workload.get("subjects", [])
    return {name.partition(":")[0] for name in listed} - {"reference", "raw-client"}


def said(pattern: str, path: str) -> list[str]:
    """The groups of the one place where the page says so."""
    matches = re.findall(pattern, re.sub(r"\s+", " ", text(path)))
    assert len(matches) == 1, f"{path}: {pattern}: {matches}"
    return [matches[0]] if isinstance(matches[0], str) else [*matches[0]]


def test_the_readme_counts_the_catalogue() -> None:
    servers, clients = said(r"(\d+) servers, (\d+) client libraries", "README.md")
    kinds = catalogue()
    assert (int(servers), int(clients)) == (len(kinds["server"]), len(kinds["client"]))


def test_the_catalogue_s_page_has_a_row_for_each() -> None:
    page = text("docs/subjects.md")
    assert set(re.findall(r"(?m)^\| \[([\w.-]+)\]\(", page)) == set().union(*catalogue().values())


def test_studies_are_counted() -> None:
    (number,) = said(r"## What (\w+) studies found", "README.md")
    studies = {path.parent.name for path in (ROOT / "studies").glob("*/study.toml")}
    assert number == SMALL[len(studies)]
    assert set(re.findall(r"\(studies/([\w-]+)/README\.md\)", text("README.md"))) >= studies


def test_the_servers_and_libraries_of_a_study_are_counted() -> None:
    servers = subjects("websocket-servers")
    assert said(r"# (\d+) WebSocket servers", "README.md") == [str(len(servers))]
    page = "studies/websocket-servers/README.md"
    assert said(r"One at a time \d+ of (\d+) lie", page) == [str(len(servers))]
    libraries = TEENS[len(subjects("client-libraries"))]
    page = "studies/client-libraries"
    assert said(rf"the same of ({libraries}) libraries", f"{page}/README.md") == [libraries]
    question = toml(f"{page}/study.toml")["question"]
    assert libraries.capitalize() in question


def test_the_verdicts_on_claims_are_counted() -> None:
    """Of the page that counts them."""
    kept = found.read(ROOT / "studies/websocket-servers")
    assert kept is not None
    (claims,) = (one.blocks for one in kept.sections if one.title == "Published / here")
    (table,) = (block for block in claims if isinstance(block, Table))
    verdicts = [row[-1].text for row in table.rows]
    told = [int(one) for one in said(VERDICTS, "studies/websocket-servers/README.md")]
    assert told == [
        len(verdicts),
        *(verdicts.count(one) for one in ("reproduced", "not reproduced", "cannot be told")),
    ]
