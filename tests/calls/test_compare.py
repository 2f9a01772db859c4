"""`wiretrial compare` and `limit` of servers of gRPC: what is sent, said and shown is of calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.calls.conftest import ECHO, PROTO, Run
from tests.cli.test_runs import MEASURED, results_of
from wiretrial.errors import EXIT_GATE, EXIT_GOOD, EXIT_INVALID, EXIT_USAGE
from wiretrial.plan import FieldsContent
from wiretrial.results.limits import Limit

BRIEFLY = ("-d", "300ms", "--warmup", "100ms", "--seed", "1", "--trials", "2", "-c", "2")
TEA = ("--json", '{"name": "tea", "many": 3}')


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_servers_are_held_to_one_rule_and_told_in_calls(
    wiretrial: Run, shop: str, silent_shop: str, tmp_path: Path
) -> None:
    # The first one tells of the method; the other has no reflection, and needs none.
    urls = [f"{one}/shop.Shop/Find" for one in (shop, silent_shop)]
    more = ("-H", "tenant: one", "--deadline", "5s", "--streams", "3")
    done = wiretrial("compare", *urls, *TEA, *more, *BRIEFLY)
    assert done.returncode in MEASURED, done.stderr
    said = one_line(done.stderr)
    assert "learned from 60 replies: " in said
    assert "$.id UUID" in said
    assert (
        "sends grpc /shop.Shop/Find, calls with 7 bytes; metadata tenant; deadline 5 s; "
        "expects status OK, what 60 replies have in common"
    ) in said
    found = results_of(tmp_path).trials()
    assert {trial.plan.target.url for trial in found} == set(urls)
    for trial in found:
        target = trial.plan.target
        assert isinstance(target.expect.content, FieldsContent)
        assert target.grpc.deadline_ns == 5_000_000_000
        assert (trial.summary.counters.ok > 0, trial.summary.counters.errors) == (True, {})
        assert trial.subject is None
    assert len({trial.plan.target.expect for trial in found}) == 1
    report = wiretrial("report", str(*tmp_path.glob("results/*")), "--format", "markdown").stdout
    told = one_line(done.stdout + report)
    assert "calls/s" in told
    assert "requests/s" not in told
    assert "messages/s" not in told
    assert "3 streams on each" in told


def test_servers_are_compared_over_http_3(
    wiretrial: Run, over_quic: tuple[str, ...], tmp_path: Path
) -> None:
    origin, *over = over_quic
    url = f"{origin}/wiretrial.Echo/Unary"
    sent = ("--proto", str(ECHO), "--json", '{"text": "hello"}', "--streams", "3")
    done = wiretrial("compare", url, url, *sent, *over, *BRIEFLY)
    assert done.returncode in MEASURED, done.stderr
    found = results_of(tmp_path).trials()
    assert len(found) == 4
    for trial in found:
        assert trial.start.http is not None
        assert trial.start.http.version == "3"
        assert trial.summary.http3 is not None
        assert (trial.summary.counters.ok > 0, trial.summary.counters.errors) == (True, {})
        assert trial.scenario.workload.endswith(", HTTP/3, 3 streams on each")


def test_a_reply_that_breaks_the_rule_is_named_by_its_field(wiretrial: Run, shop: str) -> None:
    url = f"{shop}/shop.Shop/Find"
    expected = ("--expect", '{"maker": {"since": "2000"}}')
    done = wiretrial("compare", url, *TEA, *expected, *BRIEFLY, "--allow-errors", "99%")
    assert "field maker.since had 1999, not 2000" in one_line(done.stdout + done.stderr)


@pytest.mark.parametrize(
    ("method", "sent"),
    [("List", TEA), ("Put", ("--json", '[{"name": "a"}, {"name": "b"}]'))],
)
def test_streams_are_compared(
    wiretrial: Run, silent_shop: str, tmp_path: Path, method: str, sent: tuple[str, ...]
) -> None:
    url = f"{silent_shop}/shop.Shop/{method}"
    done = wiretrial("compare", url, url, *PROTO, *sent, *BRIEFLY, "--expect", "status")
    assert done.returncode in MEASURED, done.stderr
    for trial in results_of(tmp_path).trials():
        assert not any(trial.summary.counters.errors.values())


def test_subjects_are_called_by_the_contract_that_they_have_in_common(
    wiretrial: Run, tmp_path: Path
) -> None:
    more = ("-H", "Tenant: one", "--deadline", "5s", "--gzip", "--payload", "100", "--streams", "3")
    done = wiretrial("compare", "reference-grpc", "reference-grpc", *more, *BRIEFLY)
    assert done.returncode in MEASURED, done.stderr
    assert (
        "sends grpc /wiretrial.Echo/Unary, calls with 102 bytes; metadata tenant; deadline 5 s; "
        "in gzip; expects status OK, the message back"
    ) in one_line(done.stderr)
    found = results_of(tmp_path).trials()
    assert len(found) == 4
    for trial in found:
        assert trial.scenario.protocol == "grpc"
        assert trial.plan.target.http.headers == (("tenant", "one"),)
        assert (trial.summary.counters.ok > 0, trial.summary.counters.errors) == (True, {})


def test_subjects_are_called_inside_tls(wiretrial: Run, tmp_path: Path) -> None:
    done = wiretrial("compare", "reference-grpc", "--protocol", "grpcs", *BRIEFLY)
    assert done.returncode in MEASURED, done.stderr
    assert {trial.scenario.protocol for trial in results_of(tmp_path).trials()} == {"grpcs"}


@pytest.mark.parametrize(
    "words",
    [
        ("--proto", "shop.proto"),
        ("--turns",),
        ("--message-interval", "1ms"),
        ("--json", "{}"),
        ("--payload", "@message"),
        ("--expect", "echo"),
        ("--expect-status", "NOT_FOUND"),
        ("-X", "GET"),
    ],
)
def test_what_the_contract_says_is_not_said_again(wiretrial: Run, words: tuple[str, ...]) -> None:
    done = wiretrial("compare", "reference-grpc", *words)
    assert done.returncode == EXIT_USAGE
    assert "subjects of gRPC are called by /wiretrial.Echo/Unary" in one_line(done.stderr)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("reference", "--deadline", "1s"), "--deadline is for grpc and grpcs"),
        (
            ("reference-grpc", "reference"),
            "reference-grpc and reference have no contract in common",
        ),
        (("reference-grpc", "--header-profile", "unique"), "--header-profile is for http"),
        (("reference-grpc", "--payload", "5MB"), "a call carries 4,000,000 bytes at most"),
        (("grpc://127.0.0.1:1/a.B/C", "--payload", "8", *PROTO), "there is no method a.B/C"),
        (("http://127.0.0.1:1/", "--deadline", "1s"), "--deadline is for grpc and grpcs"),
        (("grpc://127.0.0.1:1/shop.Shop/Find", *PROTO, "-X", "GET"), "--method is for http"),
        (("grpc://127.0.0.1:1/shop.Shop/Find", *PROTO), "no connection to 127.0.0.1:1"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(wiretrial: Run, words: tuple[str, ...], line: str) -> None:
    done = wiretrial("compare", *words)
    assert done.returncode not in (EXIT_GOOD, *MEASURED[1:])
    assert line in one_line(done.stderr)
    assert "Traceback" not in done.stderr


def test_the_highest_rate_of_calls_is_found(wiretrial: Run, shop: str, tmp_path: Path) -> None:
    done = wiretrial(
        *("limit", f"{shop}/shop.Shop/Find", *TEA, "--goal", "p50 < 5s", "--from", "60"),
        *("--to", "90", "-c", "4", "-d", "150ms", "--warmup", "0", "--searches", "1"),
        *("--format", "json", "--report", "limit.html"),
    )
    assert done.returncode in (EXIT_GOOD, EXIT_GATE, EXIT_INVALID), done.stderr
    Limit.model_validate_json(done.stdout)
    page = (tmp_path / "limit.html").read_text(encoding="utf-8")
    assert "calls/s" in page
    assert "requests/s" not in page
