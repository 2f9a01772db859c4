"""Labels of what is measured: typed, taken from a CI service, kept with the result."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.cli.conftest import Run, serving
from wiretrial.cli import labels
from wiretrial.errors import UsageProblem

SERVICES = dict.fromkeys(labels.VARIABLES, "")


class Hello(BaseHTTPRequestHandler):
    """Answers at once."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        pass


def test_labels_are_read() -> None:
    assert labels.wanted(["commit=abc", "branch=main"], {}) == {"commit": "abc", "branch": "main"}
    assert labels.wanted(None, {}) == {}


@pytest.mark.parametrize("variable", labels.VARIABLES)
def test_a_ci_service_tells_the_commit(variable: str) -> None:
    assert labels.wanted(["a=b"], {variable: "3f2a91c"}) == {"a": "b", "commit": "3f2a91c"}
    assert labels.wanted(["commit=mine"], {variable: "3f2a91c"}) == {"commit": "mine"}
    assert labels.wanted([], {variable: " "}) == {}


@pytest.mark.parametrize(
    "text", ["commit", "=a", "Commit=a", "a b=c", "a=", "a=\n", f"a={'x' * 201}"]
)
def test_what_is_no_label_is_refused(text: str) -> None:
    with pytest.raises(UsageProblem):
        labels.wanted([text], {})


def test_a_label_is_given_once() -> None:
    with pytest.raises(UsageProblem, match="given twice"):
        labels.wanted(["a=b", "a=c"], {})


def test_a_load_keeps_its_labels(wiretrial: Run, tmp_path: Path) -> None:
    with serving(Hello) as origin:
        words = ("load", f"{origin}/", "-n", "20", "-c", "1", "--format", "json", "-o", "a.json")
        done = wiretrial(*words, "--label", "branch=main", **{**SERVICES, "GITHUB_SHA": "3f2a91c"})
        assert done.returncode == 0, done.stderr
        bad = wiretrial(*words, "--label", "branch")
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert document["labels"] == {"branch": "main", "commit": "3f2a91c"}
    assert document["trial"]["labels"] == document["labels"]
    assert bad.returncode == 2
    assert "--label 'branch' is not KEY=VALUE" in bad.stderr
    shown = wiretrial("report", "a.json", "--format", "markdown")
    assert "branch=main" in shown.stdout


def test_a_comparison_keeps_its_labels_and_its_digest(wiretrial: Run, tmp_path: Path) -> None:
    words = ("--protocol", "tcp", "--trials", "1", "-d", "200ms", "--warmup", "0s", "--seed", "1")
    for commit in ("one", "two"):
        done = wiretrial("compare", "reference", *words, "--label", f"commit={commit}", **SERVICES)
        assert done.returncode in (0, 4), done.stderr
    found = {}
    for folder in (tmp_path / "results").glob("compare-*"):
        shown = wiretrial("results", "export", str(folder), "--format", "json")
        (trial,) = json.loads(shown.stdout)["trials"]
        found[trial["labels"]["commit"]] = trial["study_digest"]
    assert set(found) == {"one", "two"}
    assert len(set(found.values())) == 1
    kept = str(next((tmp_path / "results").glob("compare-*")))
    again = wiretrial("compare", "--resume", kept, "--label", "commit=three")
    assert again.returncode == 2
    assert "takes its labels from DIR" in again.stderr
