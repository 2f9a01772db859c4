"""The site in a real browser, opened as files and below a path: it searches, filters, and asks
nobody else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.interop import chromium
from tests.interop.conftest import program
from wiretrial.site import folder
from wiretrial.site.build import Site
from wiretrial.site.measured import anchor

BINARY = ("chromium", "chromium")

SEARCHED = """
(() => [...document.querySelectorAll("#found a")].map((link) => link.textContent))()
"""
SHOWN = """
(() => [...document.querySelectorAll("#rows tbody tr")]
  .filter((row) => row.getClientRects().length).map((row) => row.querySelector("a").textContent))()
"""
CHOOSE = """
(() => {{
  const form = document.querySelector("form[data-list]");
  form.elements[{name}].value = {value};
  form.dispatchEvent(new Event("input"));
}})()
"""
WIDE = "document.documentElement.scrollWidth <= window.innerWidth"
LIT = "document.querySelector('tr:target th').textContent"


@pytest.fixture(scope="module")
def written(files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("web") / "a path" / "bench"
    target.parent.mkdir()
    folder.write(target, files)
    return target


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def served(written: Path) -> Iterator[str]:
    """The site below a path of a server on loopback."""
    handler = partial(_Quiet, directory=str(written.parents[1]))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/a%20path/bench/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module", params=["file", "http"])
def base(request: pytest.FixtureRequest, written: Path, served: str) -> str:
    return f"{written.as_uri()}/" if request.param == "file" else served


@pytest.fixture
def page(tmp_path: Path) -> Iterator[chromium.Page]:
    with chromium.page(program(*BINARY), None, tmp_path) as opened:
        opened.look(1060, 900)
        opened.watch()
        yield opened


def test_every_page_opens_without_an_error_or_another_address(
    page: chromium.Page, base: str, files: dict[str, bytes]
) -> None:
    for name in files:
        if name.endswith(".html"):
            page.open(f"{base}{name}")
            assert page.run("document.querySelectorAll('h1').length") == 1
    assert page.problems == []
    assert {address for address in page.asked if not address.startswith((base, "data:"))} == set()
    assert len(page.asked) >= 2 * sum(name.endswith(".html") for name in files)


def test_the_search_finds_studies_subjects_and_scenarios(page: chromium.Page, base: str) -> None:
    page.open(f"{base}search.html?q=uwebsockets")
    found = page.run(SEARCHED)
    assert isinstance(found, list)
    assert found[0] == "uwebsockets"
    assert "uwebsockets: echo, 10 connections" in found
    page.open(f"{base}search.html?q=WebSocket+64-byte")
    found = page.run(SEARCHED)
    assert isinstance(found, list)
    assert found[0] == "HTTP or WebSocket for a 64-byte request?"
    page.open(f"{base}search.html?q=nothing-of-that-name")
    assert page.run(SEARCHED) == []
    assert page.run("document.querySelector('#search output').textContent") == "0 found"
    assert page.problems == []


def test_the_search_field_of_every_page_leads_to_the_search(page: chromium.Page, base: str) -> None:
    page.open(f"{base}studies/demo.html")
    page.run("document.getElementById('everywhere').value = 'gorilla'")
    page.follow("document.querySelector('nav form').requestSubmit()")
    assert str(page.run("location.href")).endswith("/search.html?q=gorilla")
    found = page.run(SEARCHED)
    assert isinstance(found, list)
    assert found[0] == "gorilla"


def test_filters_leave_what_fits(page: chromium.Page, base: str) -> None:
    page.open(f"{base}subjects.html")
    every = page.run(SHOWN)
    assert isinstance(every, list)
    page.run(CHOOSE.format(name="'language'", value="'Go'"))
    assert page.run(SHOWN) == ["gorilla"]
    page.run(CHOOSE.format(name="'kind'", value="'client library'"))
    assert page.run(SHOWN) == []
    page.run(CHOOSE.format(name="'language'", value="''"))
    assert page.run(SHOWN) == ["websockets-client"]
    page.run(CHOOSE.format(name="'kind'", value="''"))
    page.run(CHOOSE.format(name="'contract'", value="'rpc'"))
    assert page.run(SHOWN) == ["gorilla", "reference", "ws"]
    page.run(CHOOSE.format(name="'contract'", value="''"))
    page.run(CHOOSE.format(name="'q'", value="'BSD-2'"))
    assert page.run(SHOWN) == ["gorilla", "nginx"]
    assert page.run("document.querySelector('.filter output').textContent") == f"2 of {len(every)}"


def test_a_permalink_marks_its_scenario(page: chromium.Page, base: str) -> None:
    page.open(f"{base}subjects/gorilla.html")
    page.follow("document.querySelector('.scenarios tbody a').click()")
    told = page.run(LIT)
    assert isinstance(told, str)
    assert "gorilla: " in told


def test_a_scenario_over_time_is_found_and_filtered(
    page: chromium.Page, base: str, site: Site
) -> None:
    page.open(f"{base}search.html?q=over+time+worse&kind=trend")
    assert page.run(SEARCHED) == [one.scenario for one in site.histories]
    page.follow("document.querySelector('#found a').click()")
    assert page.run("document.querySelector('h1').textContent") == site.histories[0].scenario
    page.open(f"{base}trends.html")
    assert page.run(SHOWN) == [one.scenario for one in site.histories]
    page.run(CHOOSE.format(name="'found'", value="'worse'"))
    assert page.run(SHOWN) == [one.scenario for one in site.histories if one.outcome == "worse"]
    page.run(CHOOSE.format(name="'q'", value="'no such thing'"))
    assert page.run(SHOWN) == []
    assert page.problems == []


@pytest.mark.parametrize("name", ["index.html", "studies/demo.html", "studies/rest.html",
                                  "scenarios/echo.html", "subjects/uwebsockets.html",
                                  "subjects.html", "search.html", "method.html", "trends.html",
                                  f"trends/{anchor('compare WebSocket')}.html"])  # fmt: skip
def test_a_phone_needs_not_scroll_sideways(page: chromium.Page, written: Path, name: str) -> None:
    page.look(390, 800, dark=True)
    page.open(f"{written.as_uri()}/{name}")
    assert page.run(WIDE)
