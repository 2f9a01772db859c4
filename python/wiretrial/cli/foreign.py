"""Options that other load generators have and wiretrial spells differently, in one table.

Knows other tools' flags (wrk, ab, hey, oha, k6, Locust, curl), their files, and what ours are
called; must not know how a command line is read.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from wiretrial import redaction

NUMBER = r"\d+k?"
JSON = r"\s*[\[{].*"
FILE = r"@.+"
LOGIN = r"[^:/]+:[^:/]*"


@dataclass(frozen=True)
class Row:
    """Options of theirs that mean the same, and what to write instead."""

    names: tuple[str, ...]
    words: tuple[str, ...]
    """The first is an option of ours, or no option; none: leave it out. `{}` is the value."""
    usual: str
    """What stands for `{}` where no value was given."""
    note: str
    value: str | None = None
    """A pattern of the values for which the row holds; None: all."""


SCRIPTS = frozenset({".js", ".ts", ".mjs", ".py", ".lua", ".jmx", ".scala", ".java", ".kt"})
"""What k6, Locust, wrk, JMeter and Gatling read."""
IMPORTED = {
    ".har": "har",
    ".log": "access-log",
    ".sh": "curl",
    ".yaml": "openapi",
    ".yml": "openapi",
}
"""What can be made to traffic files."""

BODY = ("-b", "-p", "--data", "--data-raw", "--data-binary", "--body", "--body-file", "--post-data")
SILENT = ("-q", "-s", "--quiet", "--silent", "--no-tui", "--no-progress")

TABLE: tuple[Row, ...] = (
    Row(("-u",), ("-c", "{}"), "10", "connections", NUMBER),
    Row(
        ("-u", "--user"),
        ("-H", "Authorization: Basic BASE64"),
        "",
        "Basic and user:password in base64",
        LOGIN,
    ),
    Row(("-u", "--url", "--uri", "--target", "--host"), ("{}",), "URL", "without an option"),
    Row(
        ("--users", "--vus", "--clients", "--concurrency", "--conns", "--connection"),
        ("-c", "{}"),
        "10",
        "connections",
    ),
    Row(("-t",), ("--threads", "{}"), "", "generator threads", r"\d+"),
    Row(("-t",), ("--timeout", "{}"), "10s", "of one exchange; -d is how long to measure"),
    Row(("-t",), ("-d", "{}"), "10s", "how long to measure"),
    Row(("-z", "--time", "--timelimit", "--run-time"), ("-d", "{}"), "10s", "how long to measure"),
    Row(("--iterations", "--number", "--count", "--total"), ("-n", "{}"), "1k", "messages in all"),
    Row(
        ("-n", "--requests", "--iterations", "--number", "--count", "--total"),
        ("-d", "5s"),
        "",
        "each trial lasts for a time, not for a number of messages",
    ),
    Row(("--quick", "--budget"), ("--trials", "2"), "", "fewer trials take less time"),
    Row(("-q",), ("--rate", "{}"), "1k", "messages per second in all", NUMBER),
    Row(
        ("--qps", "--rps", "-R", "--arrival-rate", "--arrivals"),
        ("--rate", "{}"),
        "1k",
        "messages per second in all",
    ),
    Row(
        ("-s", "--script", "-f", "--locustfile", "--scenario"),
        (),
        "",
        "there are no scripts: -X, -H, --json and --payload say what is sent, a traffic file what"
        " several requests are",
        r".+\.\w+",
    ),
    Row(
        ("--stage", "--stages", "--ramp", "--ramp-up", "--rampup", "--spawn-rate", "--hatch-rate"),
        ('stages = [{for = "1m", to = 50}]',),
        "",
        "a ramp of users, in [load] of a traffic file",
    ),
    Row(
        ("--think", "--think-time", "--pause", "--sleep", "--wait", "--wait-time"),
        ('think = "2s"',),
        "",
        "in a [[flow]] of a traffic file; for one URL: --rate with --pacing after-response",
    ),
    Row(("--headless", "--no-web", "--autostart"), (), "", "there is no page to start from"),
    Row(("--latency", "--histogram", "--percentiles"), (), "", "percentiles are always shown"),
    Row(("--keepalive", "--keep-alive"), (), "", "connections are kept open"),
    Row(SILENT, ("2>/dev/null",), "", "progress goes there; the result to standard output"),
    Row(("-k",), ("--insecure",), "", "any certificate; connections are kept open anyway"),
    Row(
        ("--disable-keepalive", "--no-keepalive", "--no-keep-alive"),
        ("--requests-per-connection", "{}"),
        "1",
        "a new connection for each request",
    ),
    Row(BODY, ("--json", "{}"), "TEXT", "--payload @FILE sends any file", JSON),
    Row(BODY, ("--payload", "{}"), "@FILE", "the content of a file; --json TEXT sends JSON", FILE),
    Row(
        ("-D", "-p", "--body-file"),
        ("--payload", "@{}"),
        "FILE",
        "the content of a file; --json TEXT sends JSON",
    ),
    Row(BODY, ("--payload", "@FILE"), "", "the content of a file; --json TEXT sends JSON"),
    Row(("--size", "--bytes", "--payload-size"), ("--payload", "{}"), "64", "bytes per message"),
    Row(("-m", "--request", "--verb", "--http-method"), ("-X", "{}"), "POST", "the HTTP method"),
    Row(("--headers",), ("-H", "{}"), "NAME: VALUE", "once for each header"),
    Row(("-A", "--user-agent"), ("-H", "User-Agent: {}"), "NAME", "a header"),
    Row(("-T", "--content-type"), ("-H", "Content-Type: {}"), "application/json", "a header"),
    Row(("--pipeline", "--pipelining"), ("--depth", "{}"), "16", "requests in flight each"),
    Row(("--max-time", "--request-timeout"), ("--timeout", "{}"), "10s", "of one exchange"),
    Row(("--status", "--expected-status"), ("--expect-status", "{}"), "200", "the HTTP status"),
    Row(("--sni", "--servername"), ("--server-name", "{}"), "NAME", "to verify and to send"),
    Row(("-j", "--json-output"), ("--format", "json"), "", "--json TEXT is a payload"),
)
"""The first row with the name, with an option that the command has, and a value that fits."""


def hint(name: str, value: str | None, options: Collection[str]) -> str | None:
    """What to write for `name`, where one of these `options` does the same; None: nothing does."""
    for row in TABLE:
        if name in row.names and _fits(row, value) and _is_known(row, options):
            advice = f"write {_filled(row, value)}" if row.words else "leave it out"
            return f"{advice} ({row.note})"
    return None


def of_file(name: str) -> str | None:
    """What to do with another tool's file; None: it is not there, or none that is known."""
    path = Path(name)
    suffix = path.suffix.lower()
    # `bun.sh` may be a host.
    if not path.is_file():
        return None
    if suffix in SCRIPTS:
        return (
            "scripts are not read; record what it sends as HAR, then `wiretrial traffic from har"
            " FILE -o DIR`"
        )
    if suffix in IMPORTED:
        return f"write `wiretrial traffic from {IMPORTED[suffix]} {shlex.quote(name)} -o DIR` first"
    return None


def is_body(duration: str) -> bool:
    """Whether `-d`, a duration here, was given what curl, hey and oha send with it."""
    return re.search(r'[{\["=&@]', duration) is not None


def _fits(row: Row, value: str | None) -> bool:
    if row.value is None:
        return True
    return (
        value is not None and re.fullmatch(row.value, value, re.IGNORECASE | re.DOTALL) is not None
    )


def _is_known(row: Row, options: Collection[str]) -> bool:
    first = row.words[0] if row.words else ""
    return not first.startswith("-") or first in options


def _filled(row: Row, value: str | None) -> str:
    if row.words == ("2>/dev/null",):
        return row.words[0]
    given = row.usual if value is None else value
    return shlex.join(redaction.command([word.replace("{}", given) for word in row.words]))
