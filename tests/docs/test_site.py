"""The site of `make docs`: whole, without a dead link, and with nothing from another host."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.cli.test_help import COMMANDS
from tests.docs.conftest import Site
from tests.docs.html_links import Names, in_style, names
from tests.interop import chromium
from tests.interop.conftest import program
from tools.docs import schemas
from tools.docs.layout import ROOT, DeadLink, linked, pages
from wiretrial.engine import Engine

MADE = {Path("docs") / name for name in ("cli.md", "cli-engine.md")} | {
    Path("docs") / f"schema-{name}.md" for name in schemas.WORDS
}

SEARCHES = """
(async () => {
  const query = document.querySelector("[data-md-component=search-query]");
  query.focus();
  query.value = "threshold";
  query.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }));
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const found = [...document.querySelectorAll(".md-search-result__link")];
    if (found.length) return found.map((link) => link.href);
  }
})()
"""

FETCHED = "performance.getEntriesByType('resource').map((entry) => entry.name)"


def is_elsewhere(address: str) -> bool:
    """Whether an address names a host, or anything but a file beside the page."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in {"", "data"}


def test_it_builds_without_a_warning(site: Site) -> None:
    assert re.findall(r"^(?!INFO)\S.*", site.said, re.MULTILINE) == []
    assert len(site.pages()) > len(pages()) + len(MADE) - 1


def test_no_page_loads_from_another_host(site: Site) -> None:
    loaded = {page: names(page).loaded for page in site.pages()}
    assert all(loaded.values())
    loaded |= {sheet: in_style(sheet.read_text()) for sheet in site.folder.rglob("*.css")}
    assert [
        f"{place.relative_to(site.folder)}: {address}"
        for place, addresses in loaded.items()
        for address in addresses
        if is_elsewhere(address)
    ] == []


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://host.example/a.js"></script>',
        '<link rel="stylesheet" href="//host.example/a.css">',
        '<p style="background: url(https://host.example/a.png)">',
        '<style>@import "https://host.example/a.css";</style>',
    ],
)
def test_what_is_loaded_from_another_host_is_found(text: str) -> None:
    assert any(map(is_elsewhere, Names(text).loaded))


def test_every_link_within_the_site_leads_somewhere(site: Site) -> None:
    known = cache(names)
    dead = []
    for page in site.pages():
        for link in known(page).links + known(page).loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = unquote(parts.path)
            # The page for what is not found is shown at any address, so it counts from the root.
            start = site.folder if path.startswith("/") else page.parent
            there = (start / path.lstrip("/")).resolve() if path else page
            there = there / "index.html" if there.is_dir() else there
            anchor = unquote(parts.fragment)
            if not there.is_file() or (anchor and anchor not in known(there).anchors):
                dead.append(f"{page.relative_to(site.folder)}: {link}")
    assert dead == []


def test_every_page_is_in_the_navigation_once() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = re.findall(r": (\S+\.md)$", text, re.MULTILINE)
    assert sorted(map(Path, named)) == sorted([*pages(), *MADE])
    assert re.findall(r"^  - ([\w ]+|How-to):$", text, re.MULTILINE) == [
        *("Start here", "How-to", "Reference", "Explanation"),
    ]


def test_every_page_of_the_tree_is_a_page_of_the_site() -> None:
    assert set(pages()) >= {path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")}


def test_the_reference_has_every_command(site: Site) -> None:
    anchors = names(site.folder / "docs" / "cli.html").anchors
    assert {"-".join(("wiretrial", *words)) for words in COMMANDS} <= anchors
    engine = names(site.folder / "docs" / "cli-engine.html").anchors
    commands = ("run", "load", "respond", "link", "observe")
    assert {f"wiretrial-engine-{name}" for name in commands} <= engine


@pytest.mark.parametrize("name", list(schemas.WORDS))
def test_the_reference_has_every_member(name: str) -> None:
    text = Engine.find().schema(name)
    tables = schemas.page(name, text).partition("## JSON Schema")[0]
    kinds = json.loads(text)["$defs"].values()
    members = {member for kind in kinds for member in kind.get("properties", ())}
    members |= set(re.findall(r'"properties": \{\s*"(\w+)"', text))
    assert members
    assert [member for member in members if not re.search(rf"`{member}(`|:)", tables)] == []


def test_links_lead_to_files_and_code_holds_none() -> None:
    page = Path("docs/page.md")
    text = "[a](load.md#x) [b](../Makefile) [c](https://host.example) [d](#here)"
    assert linked(page, text) == (text, {Path("docs/load.md"), Path("Makefile")})
    assert linked(page, "in [the folder](../studies)") == ("in the folder", set())
    code = "`[a](none.md)`\n```\n[b](none.md)\n```\n"
    assert linked(page, code) == (code, set())
    with pytest.raises(DeadLink, match=r"docs/page.md: none.md is not there"):
        linked(page, "[a](none.md)")


def test_a_page_that_was_opened_as_a_file_can_search(site: Site, tmp_path: Path) -> None:
    with chromium.page(program("chromium", "chromium"), None, tmp_path) as page:
        page.look(1280, 900)
        page.open((site.folder / "docs" / "gate.html").as_uri())
        found = page.run(SEARCHES)
        fetched = page.run(FETCHED)
    assert isinstance(found, list)
    assert (site.folder / "docs" / "gate.html").as_uri() in found
    # A page from a file lists only what came from elsewhere.
    assert fetched == []
