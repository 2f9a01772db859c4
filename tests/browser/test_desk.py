"""The desk: whom it serves, what it hands out, and what it takes."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import pytest

from tests.browser.test_jobs import outcome
from wiretrial.browser.desk import MARK, PAGE, Desk
from wiretrial.browser.jobs import Job
from wiretrial.errors import SubjectFailed

JOB = Job(transport="fetch", base="http://127.0.0.1:1", path="/messages/1", requests=1)
OUTCOME = outcome((0, 1, 2))
NEVER_S = 0.3


@pytest.fixture
def desk() -> Iterator[Desk]:
    with Desk({"subject": "one"}, jobs=(JOB,)) as served:
        yield served


def ask(
    desk: Desk, method: str, path: str, body: str | None = None, **headers: str
) -> http.client.HTTPResponse:
    port = int(desk.url.rstrip("/").rpartition(":")[2])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, body, headers)
    return connection.getresponse()


def tell(desk: Desk, document: object) -> http.client.HTTPResponse:
    return ask(desk, "POST", "/outcome", json.dumps(document), **{MARK: "1"})


def told(job: Job = JOB) -> dict[str, object]:
    return {"job": job.model_dump(), "outcome": OUTCOME.model_dump()}


def running() -> str | None:
    return None


def test_the_page_and_its_parts_are_served(desk: Desk) -> None:
    for path, (_, kind) in PAGE.items():
        answer = ask(desk, "GET", path)
        assert answer.status == 200
        assert str(answer.headers["Content-Type"]).startswith(kind)
        # What gives the page finer clocks, and keeps others from framing it.
        assert answer.headers["Cross-Origin-Embedder-Policy"] == "require-corp"
        assert "frame-ancestors 'none'" in str(answer.headers["Content-Security-Policy"])
        assert len(answer.read()) > 200
    assert ask(desk, "GET", "/../desk.py").status == 404


def test_another_name_is_not_served(desk: Desk) -> None:
    assert ask(desk, "GET", "/about", Host="evil.example:80").status == 403
    assert ask(desk, "POST", "/outcome", "{}", Host="evil.example:80").status == 403


def test_what_another_page_could_send_is_refused(desk: Desk) -> None:
    document = json.dumps(told())
    assert ask(desk, "POST", "/outcome", document).status == 403
    with pytest.raises(SubjectFailed, match="sent no result"):
        desk.outcome(NEVER_S, running)


def test_a_job_is_handed_out_once_and_its_outcome_taken(desk: Desk) -> None:
    assert json.loads(ask(desk, "GET", "/job").read()) == JOB.model_dump()
    assert json.loads(ask(desk, "GET", "/job").read()) is None
    assert tell(desk, told()).status == 200
    assert desk.outcome(5, running) == OUTCOME


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"problem": "it broke"}, "it broke"),
        ({"job": JOB.model_dump(), "outcome": {"agent": "x"}}, "no outcome"),
    ],
)
def test_a_page_that_can_not_measure_says_why(desk: Desk, document: object, said: str) -> None:
    tell(desk, document)
    with pytest.raises(SubjectFailed, match=said):
        desk.outcome(5, running)


def test_a_browser_that_ends_is_seen(desk: Desk) -> None:
    with pytest.raises(SubjectFailed, match="exited 3"):
        desk.outcome(60, lambda: "exited 3")


def test_what_a_person_measures_is_kept() -> None:
    kept: list[Job] = []

    def keep(job: Job, _outcome: object) -> str:
        kept.append(job)
        return f"{len(kept)} kept"

    with Desk({"subject": "one"}, keep=keep) as desk:
        about = json.loads(ask(desk, "GET", "/about").read())
        assert (about["by_itself"], about["keeps"], about["subject"]) == (False, True, "one")
        assert json.loads(tell(desk, told()).read()) == {"kept": "1 kept"}
    assert kept == [JOB]
