"""What people who know wrk, ab, hey, oha, k6 or curl type: taken as meant, or with a hint."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from wiretrial.cli import foreign

GOLDEN = Path(__file__).parent / "golden"
URL = "http://127.0.0.1:1/"
LOAD = ("load", URL)

TABLE: list[tuple[tuple[str, ...], str]] = [
    ((*LOAD, "--users", "10"), "there is no option --users: write -c 10 (connections)"),
    ((*LOAD, "--vus=7"), "write -c 7"),
    ((*LOAD, "--concurrency", "4"), "write -c 4"),
    ((*LOAD, "-u", "10"), "write -c 10"),
    (
        (*LOAD, "-u", "me:secret"),
        "write -H 'Authorization: ***' (Basic and user:password in base64)",
    ),
    (("load", "-u", URL), f"write {URL} "),
    (("load", "--url", URL), f"write {URL} "),
    ((*LOAD, "-t", "4"), "write --threads 4"),
    ((*LOAD, "-t4"), "write --threads 4"),
    ((*LOAD, "-t", "10s"), "write --timeout 10s"),
    ((*LOAD, "-z", "30s"), "write -d 30s"),
    ((*LOAD, "-k"), "write --insecure"),
    ((*LOAD, "-q", "100"), "write --rate 100"),
    ((*LOAD, "-q"), "write 2>/dev/null"),
    ((*LOAD, "--qps", "100"), "write --rate 100"),
    ((*LOAD, "-R1000"), "write --rate 1000"),
    ((*LOAD, "--data", '{"a": 1}'), """write --json '{"a": 1}'"""),
    ((*LOAD, "--data", "@body.bin"), "write --payload @body.bin"),
    ((*LOAD, "--body", "a=1"), "write --payload @FILE"),
    ((*LOAD, "-D", "body.bin"), "write --payload @body.bin"),
    ((*LOAD, "--request", "PUT"), "write -X PUT"),
    ((*LOAD, "-m", "PUT"), "write -X PUT"),
    ((*LOAD, "-A", "me"), "write -H 'User-Agent: me'"),
    ((*LOAD, "-T", "text/plain"), "write -H 'Content-Type: text/plain'"),
    ((*LOAD, "-p", "body.bin"), "write --payload @body.bin"),
    ((*LOAD, "-s", "post.lua"), "leave it out (there are no scripts"),
    ((*LOAD, "-f", "locustfile.py"), "leave it out (there are no scripts"),
    ((*LOAD, "--stage", "10s:50"), """write 'stages = [{for = "1m", to = 50}]' (a ramp of users"""),
    ((*LOAD, "--spawn-rate", "5"), "in [load] of a traffic file)"),
    ((*LOAD, "--think-time", "2s"), """write 'think = "2s"' (in a [[flow]] of a traffic file"""),
    ((*LOAD, "--arrival-rate", "20"), "write --rate 20"),
    ((*LOAD, "--headless"), "leave it out"),
    ((*LOAD, "--latency"), "leave it out (percentiles are always shown)"),
    ((*LOAD, "-d", '{"a": 1}'), "send a body with --json TEXT"),
    (("compare", URL, URL, "-d", "a=1"), "send a body with --json TEXT"),
    (("compare", URL, URL, "-t", "4"), "write --threads 4"),
    (("compare", URL, URL, "-t", "10s"), "write -d 10s"),
    (("compare", URL, URL, "--vus", "10"), "write -c 10"),
    (("compare", URL, URL, "-n", "100"), "write -d 5s"),
    (("compare", "ws", "nginx", "--quick"), "write --trials 2"),
    (("demo", "--budget", "5s", "--quick"), "write --trials 2"),
    ((URL,), f"write wiretrial load {URL}"),
]


@pytest.mark.parametrize(("arguments", "words"), TABLE, ids=lambda v: str(v)[:60])
def test_an_option_of_another_tool(wiretrial: Run, arguments: tuple[str, ...], words: str) -> None:
    done = wiretrial(*arguments)
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.returncode == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("--rate", "1000rps"),
        ("--rate", "1k/s"),
        ("--rate", "60/m"),
        ("--rate", "1,000 req/s"),
        ("-d", "1min"),
        ("-d", "10sec"),
        ("-d", "1m30s"),
        ("--timeout", "2 seconds"),
    ],
    ids=" ".join,
)
def test_a_spelling_with_one_meaning_is_taken(wiretrial: Run, arguments: tuple[str, ...]) -> None:
    done = wiretrial(*LOAD, *arguments, "--connect-timeout", "100ms")
    # It gets as far as the server, which is not there.
    assert "127.0.0.1:1" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("script.js", "scripts are not read; record what it sends as HAR"),
        ("my shop.har", "write `wiretrial traffic from har 'my shop.har' -o DIR` first"),
        ("access.log", "write `wiretrial traffic from access-log access.log -o DIR` first"),
    ],
)
def test_a_file_of_another_tool(wiretrial: Run, tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / name).touch()
    done = wiretrial("load", name)
    assert done.stderr.startswith(f"wiretrial: {name!r} is not a URL: {words}")
    assert done.returncode == 2


@pytest.mark.parametrize("command", ["load", "compare", "demo"])
def test_what_is_advised_is_there(command: str) -> None:
    told = (GOLDEN / f"help-{command}.txt").read_text(encoding="utf-8")
    options = set(re.findall(r"(?<=[ ,])--?[a-zA-Z][a-z-]*", told))
    for row in foreign.TABLE:
        for name in set(row.names) - options:
            words = foreign.hint(name, None, options) or ""
            advised = re.findall(r"(?<=write )--?[a-zA-Z][a-z-]*|(?<=; )--?[a-zA-Z][a-z-]*", words)
            assert set(advised) <= options, words
