"""The page in a real browser: wide, on a phone, in the dark, on paper."""

from __future__ import annotations

import re
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop import chromium
from tests.report import synthetic_rest
from wiretrial.report import html
from wiretrial.report.model import ReportModel

WIDE, PHONE = (1200, 900), (390, 800)
FEWEST_BYTES = 20_000
"""A picture of a page with text and lines has more; an empty one about 5 kB."""

# Elements that stick out of the window, apart from what scrolls sideways by itself.
STICKING_OUT = """(async () => [...document.querySelectorAll('main *')].filter(e =>
  e.getClientRects().length && !e.closest('.scroll') && !e.closest('.said') &&
  e.getBoundingClientRect().right > document.documentElement.clientWidth + 1
).map(e => e.tagName + ' ' + e.textContent.slice(0, 40)))()"""

# Pairs of texts of one visible picture that lie on each other by more than two pixels.
OVERLAPPING = """(async () => { const found = [];
  for (const svg of document.querySelectorAll('svg.picture')) {
    const texts = [...svg.querySelectorAll('text')].filter(t =>
      t.getClientRects().length && t.textContent && t.getAttribute('opacity') !== '0');
    const boxes = texts.map(t => t.getBoundingClientRect());
    for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
      const [a, b] = [boxes[i], boxes[j]];
      const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (x > 2 && y > 6) found.push(texts[i].textContent + ' / ' + texts[j].textContent);
    }
  }
  return found; })()"""

# Tables beside no fold that have to be scrolled: their last column is cut, maybe within a figure.
CUT = """(async () => [...document.querySelectorAll('.scroll')].filter(e =>
  !e.closest('details') && e.scrollWidth > e.clientWidth
).map(e => e.textContent.slice(0, 40)))()"""

OPEN_ALL = "(async () => document.querySelectorAll('details').forEach(d => d.open = true))()"
INK = "(async () => getComputedStyle(document.body).backgroundColor)()"
SHOWN = """(async () => [...document.querySelectorAll('main figure')].filter(
  f => f.getClientRects().length).map(f => f.className))()"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    binary = shutil.which("chromium")
    if binary is None:
        pytest.skip("there is no chromium: install Debian's chromium")
    with chromium.page(binary, None, tmp_path_factory.mktemp("chromium")) as page:
        yield page


@pytest.fixture
def browser(page: chromium.Page, study: ReportModel, tmp_path: Path) -> chromium.Page:
    return _show(page, study, tmp_path)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_fits_its_window(
    browser: chromium.Page, size: tuple[int, int], dark: bool
) -> None:
    browser.look(*size, dark=dark)
    browser.run(OPEN_ALL)
    assert browser.run(STICKING_OUT) == []
    assert browser.run(OVERLAPPING) == []
    assert browser.run(INK) == ("rgb(21, 23, 26)" if dark else "rgb(255, 255, 255)")
    shown = browser.run(SHOWN)
    assert isinstance(shown, list)
    assert ("wide" in shown, "narrow" in shown) == (size == WIDE, size == PHONE)
    picture = browser.picture()
    assert picture.startswith(b"\x89PNG\r\n")
    assert len(picture) > FEWEST_BYTES


def test_no_figure_of_what_each_is_like_to_adopt_is_cut(
    page: chromium.Page, tmp_path: Path
) -> None:
    _show(page, synthetic_rest.report(), tmp_path).look(*WIDE, dark=False)
    assert page.run("(async () => document.body.textContent.includes('Build, s of CPU'))()")
    assert page.run(CUT) == []


def test_everything_that_opens_is_reached_by_keyboard(browser: chromium.Page) -> None:
    reached = browser.run(
        "(async () => [...document.querySelectorAll('summary')].every(s => s.tabIndex === 0))()"
    )
    assert reached is True


def test_it_prints_on_paper_of_a4(browser: chromium.Page) -> None:
    pdf = browser.paper()
    assert pdf.startswith(b"%PDF")
    boxes = re.findall(rb"/MediaBox \[([\d. ]+)\]", pdf + _unpacked(pdf))
    assert boxes
    for box in boxes:
        *_, width, height = map(float, box.split())
        assert (round(width), round(height)) == (595, 842)


def _show(page: chromium.Page, report: ReportModel, folder: Path) -> chromium.Page:
    file = folder / "report.html"
    file.write_text(html.render(report), encoding="utf-8")
    page.open(file.as_uri())
    return page


def _unpacked(pdf: bytes) -> bytes:
    """The compressed parts that can be read, one after the other."""
    parts = []
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        try:
            parts.append(zlib.decompressobj().decompress(stream))
        except zlib.error:
            continue
    return b"\n".join(parts)
