"""The site: what it shows, who may read it, and that it follows a study that runs."""

from __future__ import annotations

import http.client
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.lab import trials
from tests.lab.test_study import TWO, tiny
from wiretrial.live import charts, pages
from wiretrial.live.server import LiveServer, is_loopback
from wiretrial.live.site import Site
from wiretrial.results import absent, beacon
from wiretrial.results.absent import Absent
from wiretrial.results.beacon import Beacon
from wiretrial.results.lines import Line, Point
from wiretrial.results.store import ResultsFolder

TOKEN = "a-token-of-this-test"


@pytest.fixture
def results(tmp_path: Path) -> ResultsFolder:
    """A study with one stored trial."""
    folder = ResultsFolder.create(tmp_path, "tiny", tiny(*TWO).model_dump_json(by_alias=True))
    folder.add(trials.trial())
    return folder


@contextmanager
def serving(base: Path, token: str | None = None) -> Iterator[int]:
    """A server of the results in `base`; its port."""
    made: list[str] = []

    def report(folder: ResultsFolder) -> str:
        made.append(folder.folder.name)
        return f"report of {len(folder.paths())} trials, made {len(made)} times"

    with LiveServer("127.0.0.1", 0, Site(base, report, str), token) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def get(port: int, path: str, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers=headers)
    return connection.getresponse()


def test_results_are_listed_and_shown(results: ResultsFolder) -> None:
    name = results.folder.name
    with serving(results.folder.parent) as port:
        listed = get(port, "/").read().decode()
        assert "Which?" in listed
        assert name in listed
        assert get(port, f"/{name}").read() == b"report of 1 trials, made 1 times"
        assert get(port, f"/{name}/report").read() == b"report of 1 trials, made 1 times"
        results.add(trials.trial(block=1))
        assert get(port, f"/{name}").read() == b"report of 2 trials, made 2 times"


def test_the_list_is_filtered_by_study_subject_and_date(results: ResultsFolder) -> None:
    (trial,) = results.trials()
    began, subject = trial.started_at[:10], trial.scenario.subject
    with serving(results.folder.parent) as port:
        for words in ("which?", subject, began, f"{subject}+{began}", "WHICH"):
            assert results.folder.name in get(port, f"/?q={words}").read().decode(), words
        shown = get(port, f"/?q={subject}+nothing").read().decode()
        assert results.folder.name not in shown
        assert f"No result has “{subject} nothing”" in shown
        # What was typed is text.
        shown = get(port, "/?q=%22%3E%3Cscript%3E").read().decode()
        assert '"><script>' not in shown.partition("<form")[2].partition("</form>")[0]


def test_two_results_are_laid_side_by_side(results: ResultsFolder) -> None:
    base = results.folder.parent
    other = ResultsFolder.create(base, "other", tiny(*TWO).model_dump_json(by_alias=True))
    other.add(trials.trial())
    names = [results.folder.name, other.folder.name]
    with serving(base) as port:
        listed = get(port, "/").read().decode()
        for name in names:
            assert f'name="name" value="{name}" form="pair"' in listed
        page = get(port, f"/beside?name={names[0]}&name={names[1]}").read().decode()
        for name in names:
            assert f'src="{name}/report"' in page
        alone = get(port, f"/beside?name={names[0]}").read().decode()
        assert "Choose two results, not 1." in alone
        assert get(port, f"/beside?name={names[0]}&name=..").status == 404
        assert get(port, "/beside").status == 404


def test_a_page_is_made_again_when_what_is_beside_the_trials_changes(
    results: ResultsFolder,
) -> None:
    name = results.folder.name
    with serving(results.folder.parent) as port:
        assert get(port, f"/{name}").read() == b"report of 1 trials, made 1 times"
        absent.keep(results, [Absent(subject="crow", reason="there is no compiler")])
        assert get(port, f"/{name}").read() == b"report of 1 trials, made 2 times"
        assert get(port, f"/{name}").read() == b"report of 1 trials, made 2 times"


@pytest.mark.parametrize(
    "path", ["/nothing", "/..", "/%2e%2e/x", "/..%2f..%2fetc%2fpasswd", "/a/b/c", "//evil.example"]
)
def test_what_is_no_result_is_not_there(results: ResultsFolder, path: str) -> None:
    with serving(results.folder.parent) as port:
        assert get(port, path).status == 404


def test_it_only_reads(results: ResultsFolder) -> None:
    with serving(results.folder.parent) as port:
        for method in ("POST", "PUT", "DELETE"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request(method, "/")
            assert connection.getresponse().status == 501


def test_another_host_s_name_is_refused(results: ResultsFolder) -> None:
    with serving(results.folder.parent) as port:
        assert get(port, "/", Host="evil.example").status == 403
        assert get(port, "/", Host=f"localhost:{port}").status == 200
        assert get(port, "/", Host=f"[::1]:{port}").status == 200


def test_off_loopback_a_token_is_asked_for(results: ResultsFolder) -> None:
    with serving(results.folder.parent, TOKEN) as port:
        assert get(port, "/", Host="mine.example").status == 403
        assert get(port, "/?token=wrong").status == 403
        assert get(port, "/", Cookie="wiretrial=wrong").status == 403
        told = get(port, f"//evil.example/?token={TOKEN}")
        # On this host, whatever it looks like.
        assert (told.status, told.headers["Location"]) == (303, "/evil.example/")
        cookie = told.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert get(port, "/", Cookie=cookie.partition(";")[0]).status == 200


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("a.b", False)],
)
def test_loopback_is_told(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def events(port: int, watched: str) -> Iterator[tuple[str, str]]:
    """The stream of changes."""
    answer = get(port, f"/events?watch={watched}")
    name = ""
    for line in answer:
        key, _, value = line.decode().rstrip("\n").partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            yield name, json.loads(value)


def test_a_running_study_is_followed(results: ResultsFolder) -> None:
    name = results.folder.name
    with serving(results.folder.parent) as port:
        with Beacon(results.folder) as lamp:
            lamp.show(scenario="one", number=2, total=9, step="measure", at_once=True)
            page = get(port, f"/{name}").read().decode()
            assert "2 of 9" in page
            assert f"{name}/report" in page
            assert "running" in get(port, "/").read().decode()
            stream = events(port, name)
            assert next(stream)[0] == "alive"
            lamp.show(scenario="two", number=3, at_once=True)
            seen = next(data for event, data in stream if event == "now")
            assert "two" in seen
            drawn = Line(
                scenario="two", colour=0, points=(Point(1.0, 5, 0, None, None, 0.5, None),)
            )
            lamp.show(lines=(drawn,), at_once=True)
            course = next(data for event, data in stream if event == "course")
            assert course == charts.drawn((drawn,))
            results.add(trials.trial(block=1))
            assert next(data for event, data in stream if event == "trials") == "2"
        assert next(event for event, _ in stream if event == "ended")
        assert get(port, f"/{name}").read().startswith(b"report of 2 trials")


def test_a_study_that_died_does_not_run(results: ResultsFolder) -> None:
    with Beacon(results.folder):
        assert beacon.read(results.folder) is not None
        path = results.folder / beacon.FILE
        state = json.loads(path.read_text(encoding="utf-8"))
        # The same number, another process.
        path.write_text(json.dumps({**state, "process_started": 1.0}), encoding="utf-8")
        assert beacon.read(results.folder) is None
        path.write_text("no json", encoding="utf-8")
        assert beacon.read(results.folder) is None
    assert beacon.read(results.folder) is None
    assert not path.exists()


def test_names_are_text_and_no_markup() -> None:
    state = beacon.State(pid=os.getpid(), process_started=0, scenario="<script>x</script>")
    assert "<script>" not in pages.now(state)
    page = pages.running('"><script>', "<b>", state, "r")
    assert '"><script>' not in page
