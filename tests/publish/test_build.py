"""The files of a site: every link leads somewhere, nothing is loaded from elsewhere, same bytes."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from itertools import pairwise
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import wiretrial
from tests.docs.html_links import Names, in_style
from tests.publish.conftest import demo
from tests.report import page_words
from tests.report.test_report_text import golden
from wiretrial.report import facts, html
from wiretrial.report.model import build
from wiretrial.site import entries, pages, shell
from wiretrial.site.build import Site, made
from wiretrial.subjects import registry

Files = dict[str, bytes]
MOST_TEXT = 800_000
"""Bytes of a page without its pictures."""


def html_of(files: Files) -> dict[str, str]:
    """The pages."""
    return {name: data.decode() for name, data in files.items() if name.endswith(".html")}


def dead(files: Files) -> list[str]:
    """Each address within the site that leads nowhere."""
    known = {name: Names(text) for name, text in html_of(files).items()}
    found = []
    for name, page in known.items():
        for address in page.links + page.loaded:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            there = normpath(join(dirname(name), unquote(parts.path))) if parts.path else name
            anchor = unquote(parts.fragment)
            if there not in files or (anchor and anchor not in known[there].anchors):
                found.append(f"{name}: {address}")
    return found


def test_every_link_leads_somewhere(files: Files) -> None:
    assert dead(files) == []


def test_a_dead_link_is_found(files: Files) -> None:
    broken = {**files, "x.html": b'<a href="no.html">a</a><a href="index.html#no">b</a>'}
    assert dead(broken) == ["x.html: no.html", "x.html: index.html#no"]


def test_nothing_is_loaded_from_elsewhere(files: Files) -> None:
    loaded = [
        (name, address)
        for name, text in html_of(files).items()
        for address in Names(text).loaded
        if urlsplit(address).netloc or urlsplit(address).scheme not in ("", "data")
    ]
    # The address of the page itself, for search engines: no browser loads it.
    assert {address.partition("bench/")[0] for _, address in loaded} == {"https://results.example/"}
    assert all(address.endswith((name, "bench/")) for name, address in loaded)
    assert in_style(files[shell.STYLE].decode()) == []


def test_without_a_base_no_page_names_where_it_will_be(site: Site) -> None:
    files = made(replace(site, base=None))
    assert "sitemap.xml" not in files
    assert not any('rel="canonical"' in text for text in html_of(files).values())


def test_the_sitemap_has_every_page_once(files: Files) -> None:
    root = ElementTree.fromstring(files["sitemap.xml"].decode())
    found = [place.text for place in root.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    base = "https://results.example/bench/"
    assert found[0] == base
    assert sorted(found[1:], key=str) == sorted(
        f"{base}{name}" for name in html_of(files) if name != shell.FIRST
    )


def test_the_same_results_give_the_same_bytes(site: Site, files: Files) -> None:
    again = made(site)
    assert list(again) == list(files)
    assert [name for name, data in files.items() if again[name] != data] == []


def test_ids_stand_once_in_a_page(files: Files) -> None:
    for name, text in html_of(files).items():
        shown = re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)
        ids = re.findall(r'\sid="([^"]*)"', shown)
        assert len(ids) == len(set(ids)), name


def test_pages_are_light(files: Files) -> None:
    for name, text in html_of(files).items():
        shown = re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)
        assert len(shown.encode()) < MOST_TEXT, name
        # What a report carries along lies beside the pages here.
        assert 'id="trials"><' not in shown
        assert "base64" not in shown


def test_a_study_s_page_says_what_its_report_says(files: Files) -> None:
    """But for two tables of facts, which are in the data beside it."""
    model = demo()
    told = tuple(one for one in model.facts if one.title not in (facts.PLANS, facts.ORDER))
    assert len(told) == len(model.facts) - 2
    report = page_words.lines(html.render(replace(model, facts=told)))
    shown = page_words.lines(files["studies/demo.html"].decode())
    missing = [line for line in report if line not in shown and "This file holds" not in line]
    assert missing == []


def test_every_scenario_has_one_permalink_that_is_searched_and_led_to(
    site: Site, files: Files
) -> None:
    index = json.loads(files[shell.INDEX].decode().partition(" = ")[2].rstrip(";\n"))
    scenarios = {(title, address) for kind, title, address, _ in index if kind == "scenario"}
    assert scenarios == {
        (row.name, f"{pages.scenarios_path(entry)}#{row.anchor}")
        for entry in site.entries
        for row in entry.measured
    }
    subject = files["subjects/uwebsockets.html"].decode()
    for entry in site.entries:
        page = Names(files[pages.scenarios_path(entry)].decode())
        for row in entry.measured:
            assert row.anchor in page.anchors
            if row.subject == "uwebsockets":
                assert f'href="../{pages.scenarios_path(entry)}#{row.anchor}"' in subject


def test_there_is_a_page_for_each_subject_of_the_catalogue() -> None:
    specs = tuple(subject.spec for subject in registry.catalogue())
    site = Site("All", (entries.of_model("demo", demo(), []),), specs)
    files = made(site)
    names = {spec.name for spec in specs}
    assert {f"subjects/{name}.html" for name in names} <= set(files)
    assert {one.name for one in site.subjects} == names
    rows = re.findall(r"<tr data-words", files[shell.SUBJECTS].decode())
    assert len(rows) == len(names)
    for spec in specs:
        text = page_words.lines(files[f"subjects/{spec.name}.html"].decode())
        told = " ".join(text)
        wanted = (spec.licence, spec.language, *(limit.part for limit in spec.limits))
        assert [word for word in wanted if word not in told] == [], spec.name
    assert f'<p class="question">1 study, {len(names)} subjects' in files[shell.FIRST].decode()


def test_a_subject_that_is_a_url_has_a_page() -> None:
    model = demo()
    renamed = [
        trial.model_copy(
            update={"scenario": trial.scenario.model_copy(update={"subject": "http://h:1/a?b"})}
        )
        for trial in model.trials
    ]
    compared = build(renamed, question="q", title="t", command="c")
    files = made(Site("URLs", (entries.of_model("urls", compared, []),)))
    assert dead(files) == []
    (name,) = (name for name in files if name.startswith("subjects/"))
    assert re.fullmatch(r"subjects/http-h-1-a-b-[0-9a-f]{6}\.html", name)


def test_what_a_result_says_is_text(site: Site) -> None:
    evil = replace(site.entries[0], title="<script>alert(1)</script>", answer=("<b>x</b> & y",))
    files = made(replace(site, entries=(evil,), title="A & <i>B</i>"))
    for text in html_of(files).values():
        assert "<script>alert" not in text
        assert "<i>B" not in text
    assert "&lt;b&gt;x&lt;/b&gt; &amp; y" in files[shell.FIRST].decode()


def test_data_are_as_they_were_with_their_sums(site: Site, files: Files) -> None:
    sums = files[pages.SUMS].decode().splitlines()
    downloads = [owner.downloads for owner in site.entries]
    downloads += [owner.downloads for owner in site.histories]
    assert len(sums) == sum(map(len, downloads))
    for line in sums:
        digest, name = line.split("  ")
        assert hashlib.sha256(files[f"data/{name}"]).hexdigest() == digest
    page = files["studies/rest.html"].decode()
    assert hashlib.sha256(files["data/rest/found.json"]).hexdigest() in page


def test_every_control_has_a_name(files: Files) -> None:
    for name, text in html_of(files).items():
        for control, its_id in re.findall(r'(<input(?: id="([^"]+)")?[^>]*>)', text):
            is_inside = re.search(rf"<label>[^<]*{re.escape(control)}", text)
            assert is_inside or f'for="{its_id}"' in text, f"{name}: {control}"
        levels = [int(level) for level in re.findall(r"<h([1-6])[ >]", text)]
        assert levels[0] == 1, name
        assert levels.count(1) == 1, name
        assert all(b <= a + 1 for a, b in pairwise(levels)), name


def test_what_the_first_page_says(files: Files) -> None:
    told = page_words.lines(files[shell.FIRST].decode())
    golden(
        "site.page", "\n".join(told).replace(f"wiretrial {wiretrial.__version__}", "wiretrial V")
    )


def test_what_a_subject_s_page_says(files: Files) -> None:
    told = page_words.lines(files["subjects/nginx.html"].decode())
    golden(
        "subject.page", "\n".join(told).replace(f"wiretrial {wiretrial.__version__}", "wiretrial V")
    )
