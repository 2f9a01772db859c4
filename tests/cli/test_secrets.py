"""Secrets go over the wire and nowhere else: no file, no line and no page holds them."""

from __future__ import annotations

import gzip
import json
import lzma
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.conftest import Run, command
from wiretrial.cli import report, serving
from wiretrial.cli import results as stored
from wiretrial.cli.forms import ExportForm, ReportForm
from wiretrial.errors import EXIT_GOOD, EXIT_INVALID, EXIT_USAGE
from wiretrial.results.store import ResultsFolder

IN_HEADER, IN_QUERY, IN_USER = "hdr-7f3a90c1d2", "qry-51be08aa97", "usr-c04d6e2f18"
SECRETS = (IN_HEADER, IN_QUERY, IN_USER)
MEASURED = (EXIT_GOOD, EXIT_INVALID)
HEADER = ("-H", f"Authorization: Bearer {IN_HEADER}")
SHORT = ("-d", "300ms", "--warmup", "100ms", "-c", "2")


class Echo:
    """A server that sends back what it was sent, secrets too."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, str]] = set()
        """Path, and the header Authorization, of each request."""
        mine = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                authorization = self.headers.get("Authorization", "")
                mine.seen.add((self.path, authorization))
                body = f"you sent {self.path} with {authorization}".encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/?page=1&token={IN_QUERY}"


@pytest.fixture
def echo() -> Iterator[Echo]:
    made = Echo()
    threading.Thread(target=made.server.serve_forever, daemon=True).start()
    yield made
    made.server.shutdown()
    made.server.server_close()


def content(path: Path) -> str:
    unpacked = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix, bytes)
    return unpacked(path.read_bytes()).decode(errors="replace")


def held_by(folder: Path, *said: str) -> list[str]:
    """The files below a folder, and the texts, that hold a secret."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files or said
    return [
        *(str(path) for path in files if any(secret in content(path) for secret in SECRETS)),
        *(text for text in said if any(secret in text for secret in SECRETS)),
    ]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_load_sends_secrets_and_keeps_none(
    wiretrial: Run, echo: Echo, tmp_path: Path, form: str
) -> None:
    flags = (*SHORT, *HEADER, "--format", form)
    shown = wiretrial("load", echo.url, *flags)
    assert shown.returncode in MEASURED, shown.stderr
    assert echo.seen == {(f"/?page=1&token={IN_QUERY}", f"Bearer {IN_HEADER}")}
    kept = wiretrial("load", echo.url, *flags, "-o", "result.out")
    assert kept.returncode in MEASURED, kept.stderr
    assert held_by(tmp_path, shown.stdout, shown.stderr, kept.stdout, kept.stderr) == []
    assert "/?page=1&token=***" in shown.stdout


def test_a_load_keeps_them_where_it_is_asked_to(wiretrial: Run, echo: Echo) -> None:
    flags = (*SHORT, *HEADER, "--format", "json")
    kept = json.loads(wiretrial("load", echo.url, *flags, "--keep-secrets").stdout)
    assert kept["secrets"] == "kept"
    assert kept["target"]["url"] == echo.url
    assert kept["target"]["http"]["headers"] == [["Authorization", f"Bearer {IN_HEADER}"]]
    redacted = json.loads(wiretrial("load", echo.url, *flags).stdout)
    assert redacted["secrets"] == "redacted"
    assert redacted["target"]["http"]["headers"] == [["Authorization", "***"]]


COMPARE = (*SHORT, "--trials", "1", "--seed", "3")


def results_of(base: Path) -> ResultsFolder:
    (folder,) = (path for path in (base / "results").iterdir() if path.is_dir())
    return ResultsFolder.open(folder)


def test_a_comparison_keeps_none_in_any_form(
    wiretrial: Run, echo: Echo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = echo.url.replace(IN_QUERY, IN_QUERY[::-1])
    done = wiretrial("compare", echo.url, other, *COMPARE, *HEADER)
    assert done.returncode in MEASURED, done.stderr
    assert {path for path, _ in echo.seen} >= {f"/?page=1&token={IN_QUERY[::-1]}"}
    results = results_of(tmp_path)
    assert len({trial.scenario.name for trial in results.trials()}) == 2
    said = [serving.page_of(results)]
    for form in set(ReportForm) - {ReportForm.SVG, ReportForm.PNG}:
        report.report(results.folder, form)
        said.append(capsys.readouterr().out)
    stored.export(results.folder, ExportForm.KEPT, file=tmp_path / "trials.jsonl.xz")
    for written_as in set(ExportForm) - {ExportForm.PARQUET, ExportForm.KEPT}:
        stored.export(results.folder, written_as)
        said.append(capsys.readouterr().out)
    stored.show(results.folder)
    stored.list_(tmp_path / "results")
    said.append(capsys.readouterr().out)
    assert all(said)
    assert held_by(tmp_path, done.stdout, done.stderr, *said) == []
    assert (
        "-H 'Authorization: ***'" in json.loads(content(results.folder / "study.json"))["command"]
    )


def test_gone_on_with_it_never_sends_a_mark(wiretrial: Run, echo: Echo, tmp_path: Path) -> None:
    plain = echo.url.partition("?")[0]
    assert wiretrial("compare", plain, *COMPARE, *HEADER).returncode in MEASURED
    folder = str(results_of(tmp_path).folder)
    echo.seen.clear()
    refused = wiretrial("compare", "--resume", folder, "--trials", "2")
    assert refused.returncode == EXIT_USAGE
    (line,) = refused.stderr.splitlines()
    assert "the header Authorization was redacted" in line
    assert "-H 'Authorization: ...'" in line
    assert echo.seen == set()
    done = wiretrial("compare", "--resume", folder, "--trials", "2", *HEADER)
    assert done.returncode in MEASURED, done.stderr
    assert echo.seen == {("/", f"Bearer {IN_HEADER}")}
    assert len(results_of(tmp_path).trials()) == 2
    assert held_by(tmp_path, done.stdout, done.stderr) == []


def test_a_url_that_was_redacted_is_not_gone_on_with(
    wiretrial: Run, echo: Echo, tmp_path: Path
) -> None:
    assert wiretrial("compare", echo.url, *COMPARE).returncode in MEASURED
    echo.seen.clear()
    refused = wiretrial("compare", "--resume", str(results_of(tmp_path).folder), "--trials", "2")
    assert refused.returncode == EXIT_USAGE
    assert len(refused.stderr.splitlines()) == 1
    assert "the URL's parameter token was redacted" in refused.stderr
    assert "--keep-secrets" in refused.stderr
    assert echo.seen == set()


@pytest.mark.parametrize(
    ("hurl", "told"),
    [
        (
            f"GET {{{{base}}}}/?token={IN_QUERY}\nX-Pass: {{{{password}}}}\nHTTP 200\n",
            "the column password of users.csv and a parameter in the URL of page were redacted",
        ),
        (
            f"GET {{{{base}}}}/\nAuthorization: Bearer {IN_HEADER}\nHTTP 200\n",
            "a header of page (Authorization) was redacted",
        ),
    ],
)
def test_traffic_that_was_redacted_is_not_gone_on_with(
    wiretrial: Run, echo: Echo, tmp_path: Path, hurl: str, told: str
) -> None:
    (tmp_path / "shop.hurl").write_text(f"# @name page\n{hurl}", encoding="utf-8")
    flow = '[[flow]]\nfile = "shop.hurl"\n' + 'feed = "users.csv"\n' * ("password" in hurl)
    (tmp_path / "shop.toml").write_text(flow, encoding="utf-8")
    (tmp_path / "users.csv").write_text(f"password\n{IN_USER}\n", encoding="utf-8")
    plain = echo.url.partition("/?")[0]
    begun = wiretrial("compare", "--traffic", "shop.toml", plain, *COMPARE)
    assert begun.returncode in MEASURED, begun.stderr
    echo.seen.clear()
    folder = results_of(tmp_path).folder
    for name in ("shop.hurl", "users.csv"):
        (tmp_path / name).unlink()
    assert held_by(tmp_path, begun.stdout, begun.stderr) == []
    refused = wiretrial("compare", "--resume", str(folder), "--trials", "2")
    assert refused.returncode == EXIT_USAGE
    (line,) = refused.stderr.splitlines()
    assert f"{told} in {folder}, and can't be sent: begin a new study with --keep-secrets" in line
    assert echo.seen == set()


def test_kept_secrets_are_gone_on_with(wiretrial: Run, echo: Echo, tmp_path: Path) -> None:
    begun = wiretrial("compare", echo.url, *COMPARE, *HEADER, "--keep-secrets")
    assert begun.returncode in MEASURED, begun.stderr
    results = results_of(tmp_path)
    assert json.loads(content(results.folder / "study.json"))["keeps_secrets"]
    done = wiretrial("compare", "--resume", str(results.folder), "--trials", "2")
    assert done.returncode in MEASURED, done.stderr
    assert echo.seen == {(f"/?page=1&token={IN_QUERY}", f"Bearer {IN_HEADER}")}


STUDY = """
title = "Tiny?"
question = "How fast?"
subjects = ["reference"]
trials = 1
duration = "300ms"
warmup = "100ms"
headers = { Authorization = "Bearer SECRET" }

[[workload]]
name = "page"
contract = "static"
protocol = ["http"]
connections = [2]
"""


def test_a_study_keeps_none(wiretrial: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    path = tmp_path / "mine" / "study.toml"
    path.write_text(STUDY.replace("SECRET", IN_HEADER), encoding="utf-8")
    shown = wiretrial("study", "show", "./mine", "--format", "json")
    assert shown.returncode == EXIT_GOOD, shown.stderr
    done = wiretrial("study", "run", "./mine", "--seed", "1")
    assert done.returncode in MEASURED, done.stderr
    path.unlink()
    assert held_by(tmp_path, shown.stdout, done.stdout, done.stderr) == []
    folder = str(results_of(tmp_path).folder)
    again = wiretrial("study", "run", "--from", f"{folder}/report.html")
    assert again.returncode == EXIT_USAGE
    assert "the header Authorization was redacted" in again.stderr


USERS = f"""{STUDY.partition("[[workload]]")[0]}
[[workload]]
name = "a file"
traffic = "users.toml"
"""
FLOW = """
[[flow]]
file = "users.hurl"
feed = "users.csv"
[load]
users = 2
"""
ASKED = """# @name message
GET {{base}}/message?as={{password}}
HTTP 200
"""


def test_a_study_is_gone_on_with_by_its_own_files(wiretrial: Run, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "study.toml").write_text(USERS.replace("SECRET", IN_HEADER), encoding="utf-8")
    (mine / "users.toml").write_text(FLOW, encoding="utf-8")
    (mine / "users.hurl").write_text(ASKED, encoding="utf-8")
    users = mine / "users.csv"
    users.write_text(f"user,password\nann,{IN_USER}\n", encoding="utf-8")
    begun = wiretrial("study", "run", "./mine", "--seed", "1")
    assert begun.returncode in MEASURED, begun.stderr
    folder = results_of(tmp_path).folder
    assert held_by(folder, begun.stdout, begun.stderr) == []

    def more(trials: int) -> subprocess.CompletedProcess[str]:
        return wiretrial("study", "run", "--resume", str(folder), "--trials", str(trials))

    done = more(2)
    assert done.returncode in MEASURED, done.stderr
    assert {trial.block for trial in results_of(tmp_path).trials()} == {0, 1}
    assert held_by(folder, done.stdout, done.stderr) == []
    once_more = wiretrial("study", "run", "--from", str(folder), "--results", "others")
    assert once_more.returncode in MEASURED, once_more.stderr
    # With other users it is no longer what was begun.
    users.write_text(f"user,password\nbob,{IN_USER}\n", encoding="utf-8")
    refused = more(3)
    assert refused.returncode == EXIT_USAGE
    assert "the column password of users.csv was redacted" in refused.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("load", f"http://me:{IN_USER}@127.0.0.1:1/"),
        ("compare", f"http://me:{IN_USER}@127.0.0.1:1/"),
        ("load", f"http://127.0.0.1:1/?token={IN_QUERY}", "--connect-timeout", "10ms"),
        ("load", f"http://127.0.0.1:1/?token={IN_QUERY} x{IN_QUERY}"),
        ("load", f"127.0.0.1:1/?token={IN_QUERY}"),
        ("load", f"nope://127.0.0.1:1/?token={IN_QUERY}"),
        ("load", "http://127.0.0.1:1/", f"http://127.0.0.1:1/?token={IN_QUERY}"),
        ("load", "http://127.0.0.1:1/", "-H", f"Authorization Bearer {IN_HEADER}"),
        ("load", "http://127.0.0.1:1/", "-H", "Authorization: ***"),
        ("load", "http://127.0.0.1:1/", "--headers", f"Authorization: {IN_HEADER}"),
        (f"http://127.0.0.1:1/?token={IN_QUERY}",),
        ("compare", f"http://127.0.0.1:1/?token={IN_QUERY}", "--trials", "1"),
    ],
)
def test_no_refusal_tells_them(wiretrial: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = wiretrial(*words)
    assert done.returncode not in MEASURED
    assert done.stderr
    assert held_by(tmp_path, done.stdout, done.stderr) == []


def test_the_command_that_fits_the_limits_tells_none(echo: Echo, tmp_path: Path) -> None:
    words = command("load", echo.url, *HEADER, "-c", "250", "-n", "250")
    limited = subprocess.run(
        ("sh", "-c", 'ulimit -n 150 && exec "$@"', "sh", *words),
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert limited.returncode == EXIT_USAGE, limited.stderr
    assert "run: wiretrial load" in limited.stderr
    assert held_by(tmp_path, limited.stdout, limited.stderr) == []
