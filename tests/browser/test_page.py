"""The page by hand: the real command, a real browser, a person's clicks, each size, dark, light."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, command
from tests.interop import chromium
from wiretrial.results.store import folders

pytestmark = pytest.mark.alone

WIDE, PHONE = (1200, 900), (390, 800)
FEWEST_BYTES = 20_000
LIMIT_S = 60.0
START_LIMIT_S = 150.0

STICKING_OUT = """(async () => [...document.querySelectorAll('main *')].filter(e =>
  e.getClientRects().length && !e.closest('.scroll') &&
  e.getBoundingClientRect().right > document.documentElement.clientWidth + 1
).map(e => e.tagName + ' ' + e.textContent.slice(0, 40)))()"""
PAPER = "(async () => getComputedStyle(document.body).backgroundColor)()"
# The page can be used as soon as it knows the server, and again when it has measured.
IDLE = """
  while (document.querySelector('button:disabled'))
    await new Promise(resolve => setTimeout(resolve, 20));
"""
# What a person does: the choices, then the button.
MEASURE = """(async (choices) => {
  IDLE
  for (const [name, value] of Object.entries(choices)) {
    const one = document.querySelector(`[name="${name}"][value="${value}"]`);
    if (one) one.click(); else document.querySelector(`[name="${name}"]`).value = value;
  }
  document.querySelector('button.main').click();
  IDLE
  const text = (id) => document.getElementById(id).textContent;
  return [document.querySelector('.problem')?.textContent ?? '', text('asked'), text('said'),
    document.querySelectorAll('.waterfall rect.goes').length, text('kept')];
})""".replace("IDLE", IDLE)
EXPLAIN = """(async () => {
  IDLE
  document.getElementById('explain').click();
  IDLE
  return [document.querySelector('.problem')?.textContent ?? '',
    document.getElementById('why').textContent,
    document.querySelectorAll('#explained tbody tr').length];
})()""".replace("IDLE", IDLE)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


class Command:
    """`wiretrial browser`, as a person starts it."""

    def __init__(self, results: Path) -> None:
        self._log = results / "log"
        line = command(
            *("browser", "--subject", "reference", "--port", "0", "--results", str(results))
        )
        with self._log.open("wb") as sink:
            self.process = subprocess.Popen(
                line,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
            )

    def hear(self, pattern: str) -> str:
        """The first group of `pattern`, once it was written."""
        deadline = time.monotonic() + START_LIMIT_S
        while time.monotonic() < deadline:
            ended = self.process.poll()
            text = self._log.read_text(encoding="utf-8")
            if found := re.search(pattern, text):
                return found[1]
            assert ended is None, text
            time.sleep(0.05)
        raise AssertionError(f"nothing like {pattern} in {text}")


@pytest.fixture(scope="module")
def served(results: Path) -> Iterator[Command]:
    made = Command(results)
    yield made
    made.process.terminate()
    made.process.wait(LIMIT_S)


@pytest.fixture(scope="module")
def page(
    served: Command, chromium_binary: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[chromium.Page]:
    url = served.hear(r"(http://127\.0\.0\.1:\d+/)\n")
    authority = Path(served.hear(r"the authority is (\S+)\n"))
    # The leaf lies beside its authority.
    chain = authority.with_name("chain.pem")
    with chromium.page(chromium_binary, chain, tmp_path_factory.mktemp("chromium")) as opened:
        opened.open(url)
        yield opened


@pytest.mark.parametrize(
    "choices",
    [
        '{transport: "fetch", http: "1.1", urls: "unique", pattern: "parallel", requests: 12}',
        '{transport: "fetch", http: "2", urls: "same", cache: "no-store", requests: 12}',
        '{transport: "websocket", http: "1.1", pattern: "parallel", requests: 12}',
        '{transport: "socket.io", http: "2", pattern: "parallel", requests: 12}',
    ],
)
def test_a_person_measures(page: chromium.Page, choices: str) -> None:
    found = page.run(f"{MEASURE}({choices})")
    assert isinstance(found, list)
    problem, asked, said, bars, kept = found
    assert problem == ""
    assert "12 at once" in str(asked)
    assert str(said).startswith("All 12 were done after ")
    assert bars == 12
    assert "kept in" in str(kept)


def test_one_request_and_a_sequence_for_a_time(page: chromium.Page) -> None:
    found = page.run(f'{MEASURE}({{transport: "fetch", http: "1.1", pattern: "one"}})')
    assert isinstance(found, list)
    assert str(found[2]).startswith("The reply was there after ")
    found = page.run(f'{MEASURE}({{pattern: "sequential", seconds: 1}})')
    assert isinstance(found, list)
    assert " replies in " in str(found[2])
    assert "failed" not in str(found[2])


def test_the_ways_are_told_apart(page: chromium.Page) -> None:
    found = page.run(EXPLAIN)
    assert isinstance(found, list)
    problem, why, rows = found
    assert problem == ""
    assert "one URL" in str(why)
    assert "Link and server: one request takes" in str(why)
    assert rows == 9


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_fits_its_window(page: chromium.Page, size: tuple[int, int], dark: bool) -> None:
    page.look(*size, dark=dark)
    assert page.run(STICKING_OUT) == []
    assert page.run(PAPER) == ("rgb(21, 23, 26)" if dark else "rgb(255, 255, 255)")
    assert len(page.picture()) > FEWEST_BYTES


def test_every_choice_is_reached_by_keyboard(page: chromium.Page) -> None:
    reached = page.run(
        "(async () => [...document.querySelectorAll('input, button')].every("
        "e => e.tabIndex === 0 && (e.labels?.length || e.textContent)))()"
    )
    assert reached is True


@pytest.mark.usefixtures("page")
def test_what_was_measured_is_in_the_report(served: Command, results: Path) -> None:
    (folder,) = list(folders(results))
    stored = folder.trials()
    assert len(stored) >= 6
    assert all(trial.browsed and trial.judgement.verdict == "valid" for trial in stored)
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(LIMIT_S) == 0
    report = folder.folder / "report.html"
    text = report.read_text("utf-8")
    assert "Run it again: <code>wiretrial browser</code>" in text
