"""All files of the site: pages, search index, data, and what a web server's visitors ask for.

Pure: from entries and specs to bytes, the same bytes each time; must not know where they are
written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from xml.sax.saxutils import escape

from wiretrial.report import html
from wiretrial.site import pages, subject_pages, trend_pages
from wiretrial.site.entries import DATA, Entry
from wiretrial.site.histories import History
from wiretrial.site.shell import (
    FIRST,
    INDEX,
    METHOD,
    SCRIPT,
    SEARCH,
    STYLE,
    SUBJECTS,
    TRENDS,
    Shell,
)
from wiretrial.site.subject_pages import Shown
from wiretrial.subjects.spec import Spec

SITEMAP = "sitemap.xml"


@dataclass(frozen=True)
class Site:
    """What a site is made from. `base`: the URL of its folder, ending in a slash; None: unknown."""

    title: str
    entries: tuple[Entry, ...]
    specs: tuple[Spec, ...] = ()
    base: str | None = None
    histories: tuple[History, ...] = ()

    @property
    def subjects(self) -> tuple[Shown, ...]:
        """Every subject that has a page."""
        return subject_pages.shown(self.entries, self.specs)


def made(site: Site) -> dict[str, bytes]:
    """Each file by its path below the site's folder."""
    texts = dict(_pages(site))
    if site.base:
        texts[SITEMAP] = _sitemap(site, list(texts))
    texts |= {STYLE: style(), SCRIPT: _asset("site.js"), INDEX: _index(site)}
    owners = [(entry.name, entry.downloads) for entry in site.entries]
    owners += [(trend_pages.data_folder(one), one.downloads) for one in site.histories]
    data = {pages.data_path(owner, one.name): one for owner, own in owners for one in own}
    if data:
        texts[pages.SUMS] = "".join(
            f"{one.digest}  {path.removeprefix(f'{DATA}/')}\n" for path, one in sorted(data.items())
        )
    return {name: text.encode() for name, text in texts.items()} | {
        path: one.data for path, one in data.items()
    }


def _pages(site: Site) -> Iterator[tuple[str, str]]:
    """The pages by their paths."""
    shell, subjects = Shell(site.title, site.base, bool(site.histories)), site.subjects

    def page(path: str, title: str, about: str, content: Any, *scripts: str) -> tuple[str, str]:
        return path, shell.page(path, title, about, content, *scripts)

    yield page(
        FIRST,
        site.title,
        "Measured servers and client libraries, with intervals, limits and all data.",
        pages.first(site.title, site.entries, len(subjects), trend_pages.card(site.histories)),
    )
    for entry in site.entries:
        path = pages.study_path(entry)
        yield page(path, entry.heading, " ".join(entry.answer), pages.study(entry))
        yield page(
            pages.scenarios_path(entry),
            f"Scenarios: {entry.heading}",
            f"Every scenario of “{entry.heading}” with its figures and its permalink.",
            pages.scenarios(entry),
            SCRIPT,
        )
    if site.histories:
        about = "Each scenario over its results: since when it is slower."
        content = trend_pages.index(site.histories)
        yield page(TRENDS, trend_pages.TITLE, about, content, SCRIPT)
    reports = {entry.name: pages.study_path(entry) for entry in site.entries}
    for history in site.histories:
        about = f"{history.scenario} over time: {history.found}."
        content = trend_pages.page(history, reports)
        yield page(trend_pages.path(history), f"{history.scenario} over time", about, content)
    about = "Every server and client library, with filters."
    yield page(SUBJECTS, "Subjects", about, subject_pages.index(subjects), SCRIPT)
    for one in subjects:
        about = f"{one.name}: what was measured of it, in which version and configuration."
        content = subject_pages.page(one, site.entries)
        yield page(pages.subject_path(one.name), one.name, about, content)
    about = "Search all studies, subjects and scenarios."
    yield page(SEARCH, "Search", about, pages.search(), INDEX, SCRIPT)
    about = "Trials, verification, intervals, places and bounds."
    yield page(METHOD, "How these numbers were made", about, pages.method(site.entries))


def _index(site: Site) -> str:
    """What the search looks through: kind, title, address, and words beside it.

    It is JSON behind an assignment: a page that was opened as a file may run a script, and may not
    read a file.
    """
    rows = [*_rows(site)]
    return f"window.wiretrialIndex = {json.dumps(rows, ensure_ascii=False, indent=0)};\n"


def _rows(site: Site) -> Iterator[tuple[str, str, str, str]]:
    for entry in site.entries:
        told = " ".join((entry.question, *entry.answer))
        yield "study", entry.heading, pages.study_path(entry), told
    for one in site.subjects:
        told = " ".join((one.kind, one.language, *one.protocols, *one.contracts))
        summary = one.spec.summary if one.spec else ""
        yield "subject", one.name, pages.subject_path(one.name), " ".join((summary, told)).strip()
    for entry in site.entries:
        home = pages.scenarios_path(entry)
        for row in entry.measured:
            told = " · ".join(filter(None, (row.protocol, entry.heading)))
            yield "scenario", row.name, f"{home}#{row.anchor}", told
    for history in site.histories:
        told = " · ".join((history.study, "over time", history.found))
        yield "trend", history.scenario, trend_pages.path(history), told


def style() -> str:
    """One style sheet for all pages: the report's, and the site's own."""
    return html.style() + _asset("site.css")


def _sitemap(site: Site, paths: Sequence[str]) -> str:
    shell = Shell(site.title, site.base)
    dates: Mapping[str, str] = {
        path: entry.date
        for entry in site.entries
        for path in (pages.study_path(entry), pages.scenarios_path(entry))
    }
    rows = "".join(
        f"<url><loc>{escape(shell.address(path))}</loc>"
        f"{f'<lastmod>{dates[path]}</lastmod>' if path in dates else ''}</url>\n"
        for path in paths
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'
    )


def _asset(name: str) -> str:
    return files("wiretrial.site").joinpath(f"assets/{name}").read_text("utf-8")
