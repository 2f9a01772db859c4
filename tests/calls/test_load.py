"""`wiretrial load grpc://...` against servers that other people wrote, and against our own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.process import Process
from tests.calls.conftest import ECHO, PROTO, SHORT, Run, measured
from wiretrial.cli.app import app
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, EXIT_INVALID, EXIT_USAGE, UsageProblem
from wiretrial.subjects.certificates import Certificate

TEA = ("--json", '{"name": "tea", "many": 5}')
ITEMS = ("--json", '[{"name": "tea"}, {"name": "mugs", "stock": 3}]')


def one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The origin of our own server."""
    command = [str(Engine.find().binary), "respond", "--http", "127.0.0.1:0"]
    with Process(command, log=tmp_path_factory.mktemp("reference") / "log") as server:
        address = server.hear(r"http=(\S+)")
        yield f"grpc://{address}"


def test_what_replies_have_in_common_is_learned_from_decoded_fields(
    wiretrial: Run, shop: str
) -> None:
    done = wiretrial("load", f"{shop}/shop.Shop/Find", *TEA, "-n", "300", *SHORT)
    assert done.returncode == EXIT_GOOD, done.stdout + done.stderr
    rule = one_line(done.stderr.splitlines()[0])
    for place in ("$.id UUID", "$.stock integer", "$.at.seconds", "$.at.nanos"):
        assert place in rule
    said = one_line(done.stdout)
    assert "verified by what 30 replies had in common" in said
    assert "statuses OK 300" in said
    assert "calls sent 300 ok 300" in said


def test_a_reply_that_breaks_the_rule_is_found(wiretrial: Run, shop: str) -> None:
    changes = ("--json", '{"name": "changes"}')
    done = wiretrial("load", f"{shop}/shop.Shop/Find", *changes, "-n", "300", *SHORT)
    assert done.returncode == EXIT_INVALID, done.stdout + done.stderr
    assert "mismatch 2" in done.stdout
    assert "field kind had 2, not 1" in one_line(done.stdout)


@pytest.mark.parametrize(
    ("method", "sent", "messages"),
    [
        ("Find", TEA, 0),
        ("List", TEA, 5),
        ("Put", ITEMS, 1),
        ("Talk", ITEMS, 2),
    ],
)
def test_each_kind_of_call_is_told_by_its_file(
    wiretrial: Run, silent_shop: str, method: str, sent: tuple[str, ...], messages: int
) -> None:
    url = f"{silent_shop}/shop.Shop/{method}"
    found = measured(wiretrial, url, *PROTO, *sent, "-n", "200", "--streams", "5")
    assert found["statuses"] == {"OK": 200}
    if messages > 1:
        assert found["messages"] == 200 * messages
        assert found["messages_per_second"] > 0
        assert found["message_time"]["count"] == 200 * messages
    else:
        assert found["message_time"] is None


def test_inside_tls(wiretrial: Run, secure_shop: str, certificate: Certificate) -> None:
    url = f"{secure_shop}/shop.Shop/Put"
    trust = ("--cacert", str(certificate.authority))
    found = measured(wiretrial, url, *ITEMS, "-n", "100", *trust)
    assert "h2" in found["tls"]
    assert found["target"]["grpc"] == {"kind": "client"}


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        ('{"name": "tea", "price": 2.5, "maker": {"since": "1999"}}', EXIT_GOOD),
        ('{"name": "coffee"}', EXIT_FAILED),
        ('{"maker": {"since": "2000"}}', EXIT_FAILED),
    ],
)
def test_fields_that_are_asked_for_are_checked(
    wiretrial: Run, shop: str, expected: str, code: int
) -> None:
    url = f"{shop}/shop.Shop/Find"
    done = wiretrial("load", url, *TEA, "--expect", expected, "-n", "50", *SHORT)
    assert done.returncode == code, done.stdout + done.stderr
    assert (" field maker.since " in done.stderr) is ("2000" in expected)


def test_another_status_is_right_where_it_is_asked_for(wiretrial: Run, shop: str) -> None:
    url, nothing = f"{shop}/shop.Shop/Find", ("--json", '{"name": "nothing"}')
    found = measured(wiretrial, url, *nothing, "--expect-status", "NOT_FOUND", "-n", "100")
    assert found["statuses"] == {"NOT_FOUND": 100}
    done = wiretrial("load", url, *nothing, "-n", "100", *SHORT)
    assert done.returncode in (EXIT_FAILED, EXIT_INVALID)
    assert "NOT_FOUND" in done.stdout + done.stderr


def test_a_reply_behind_its_deadline_has_failed(wiretrial: Run, shop: str) -> None:
    url, slow = f"{shop}/shop.Shop/Find", ("--json", '{"name": "slow"}')
    late = ("--deadline", "50ms", "--no-learn", "--allow-errors", "99%")
    done = wiretrial("load", url, *slow, *late, "-n", "4", *SHORT)
    assert "DEADLINE_EXCEEDED" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("shop.Shop/Fnd",), "there is no method shop.Shop/Fnd: did you mean shop.Shop/Find?"),
        ((), "the URL names no method (grpc://HOST:PORT/package.Service/Method): use one of"),
        (
            ("shop.Shop/Find", "--json", '{"nam": 1}'),
            "--json: shop.Query has no field nam: did you mean name? If not, it has name, many",
        ),
        (("shop.Shop/Find", "--json", "{nam"), "--json is not JSON at line 1, column 2"),
        (("shop.Shop/Put", "--json", '{"name": "{seq}"}'), "methods to which one message is sent"),
        (("shop.Shop/Find", "--json", '{"many": "{seq}"}'), "many"),
        (("shop.Shop/Find", "--expect", '{"nme": 1}'), "--expect: shop.Item has no field nme"),
        (("shop.Shop/Find", "--expect", "json:a"), "messages of gRPC have fields"),
        (("shop.Shop/Find", "--expect-status", "LOST"), "gRPC has no such status"),
        (("shop.Shop/Find", "--payload", "64"), "a message of gRPC has fields"),
        (("shop.Shop/Find", "-H", "grpc-timeout: 1S"), "is gRPC's own"),
        (("shop.Shop/Find", "-H", "a-bin: !"), "is no base64"),
        (("shop.Shop/Find", "-X", "GET"), "--method is for http and https"),
        (
            ("shop.Shop/Find", "--header-profile", "unique"),
            "--header-profile is for http and https",
        ),
        (("shop.Shop/Find", "--proto", "no.proto"), "--proto no.proto is no file"),
        (("shop.Shop/Find", "--proto-path", "."), "--proto-path is of --proto"),
        (("shop.Shop/Find", "--deadline", "soon"), "--deadline"),
        (("shop.Shop/Find", "--turns"), "--turns needs a bidirectional stream"),
        (("shop.Shop/Put", *ITEMS, "--turns"), "--turns needs a bidirectional stream"),
        (("shop.Shop/Find", "--message-interval", "1ms"), "needs a client stream"),
        (("shop.Shop/Put", *ITEMS, "--message-interval", "soon"), "--message-interval"),
        (("shop.Shop/Put", *ITEMS[:1], "[{}]", "--message-interval", "1s"), "has one message"),
        (("shop.Shop/Talk", *ITEMS[:1], "{}", "--turns"), "--turns: the call has one message"),
        (("shop.Shop/Talk", *ITEMS, "--turns", "--message-interval", "1s"), "exclude each other"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(
    shop: str, words: tuple[str, ...], line: str
) -> None:
    path, *options = words or ("",)
    with pytest.raises(UsageProblem) as refused:
        app(["load", f"{shop}/{path}", *options], prog_name="wiretrial", standalone_mode=False)
    assert line in refused.value.line()


@pytest.mark.parametrize(
    "words", [("--deadline", "1s"), ("--gzip",), ("--message-interval", "1s"), ("--turns",)]
)
def test_what_is_of_grpc_is_refused_elsewhere(wiretrial: Run, words: tuple[str, ...]) -> None:
    done = wiretrial("load", "http://127.0.0.1:1/", *words)
    assert done.returncode == EXIT_USAGE
    assert done.stderr == f"wiretrial: {words[0]} is for grpc and grpcs: leave it out\n"


THREE = ("--json", '[{"name": "tea"}, {"name": "mugs"}, {"name": "pots"}]')


def test_messages_go_in_turns_and_each_has_its_round_trip(wiretrial: Run, shop: str) -> None:
    url = f"{shop}/shop.Shop/Talk"
    found = measured(wiretrial, url, *THREE, "--turns", "-n", "100", "--streams", "5")
    assert found["statuses"] == {"OK": 100}
    assert (found["messages"], found["message_time"]["count"]) == (300, 300)
    assert found["target"]["grpc"] == {"kind": "bidi", "turns": True}
    # Three round trips are one behind the other in each call.
    assert 3 * found["message_time"]["mean"] <= 1.01 * found["service_time"]["mean"]


@pytest.mark.parametrize("method", ["Put", "Talk"])
def test_messages_go_at_their_instants(wiretrial: Run, shop: str, method: str) -> None:
    url = f"{shop}/shop.Shop/{method}"
    paced = ("--message-interval", "20ms", "-n", "20", "--streams", "5")
    found = measured(wiretrial, url, *THREE, *paced)
    assert found["statuses"] == {"OK": 20}
    # 40 ms from when the call was due; one that begins late has less left. Exact instants are the
    # written world's.
    assert found["service_time"]["min"] >= 20_000_000


LONG = ("--json", '{"name": "' + "tea " * 100 + '", "many": 3}')


@pytest.mark.parametrize(
    ("method", "sent"), [("Find", LONG), ("List", LONG), ("Put", ITEMS), ("Talk", ITEMS)]
)
def test_messages_in_gzip_are_taken_and_given(
    wiretrial: Run, packing_shop: str, method: str, sent: tuple[str, ...]
) -> None:
    url = f"{packing_shop}/shop.Shop/{method}"
    found = measured(wiretrial, url, *sent, "--gzip", "-n", "200", "--streams", "5")
    assert found["statuses"] == {"OK": 200}
    assert found["target"]["grpc"]["gzip"] is True
    if sent == LONG:
        assert found["deflate"] == "gzip"
        assert found["bytes"]["application_received"] < found["bytes"]["payload_received"]
        assert found["bytes"]["application_sent"] < found["bytes"]["payload_sent"]


def test_replies_that_come_uncompressed_are_told(wiretrial: Run, shop: str) -> None:
    done = wiretrial("load", f"{shop}/shop.Shop/Find", *LONG, "--gzip", "-n", "200", *SHORT)
    assert done.returncode == EXIT_GOOD, done.stdout + done.stderr
    assert "gzip, replies uncompressed" in done.stdout
    assert "compression" in done.stdout


def test_each_call_may_have_a_number_that_comes_back(wiretrial: Run, reference: str) -> None:
    url, options = f"{reference}/wiretrial.Echo/Unary", ("--proto", str(ECHO), "-n", "1k")
    sent = ("--json", '{"text": "a {seq}", "number": 7}')
    found = measured(wiretrial, url, *options, *sent, "--streams", "10")
    assert found["learned_rules"][0]["told"] == "each was its call's own messages"
    assert found["target"]["expect"]["content"] == {"is": "echo"}


@pytest.mark.parametrize("method", ["Unary", "Server", "Client", "Bidi"])
def test_our_server_echoes_what_its_file_says(wiretrial: Run, reference: str, method: str) -> None:
    url = f"{reference}/wiretrial.Echo/{method}"
    sent = ("--json", '{"text": "hello", "number": 7}', "--expect", '{"text": "hello"}')
    found = measured(wiretrial, url, "--proto", str(ECHO), *sent, "-n", "1k", "--streams", "10")
    assert found["statuses"] == {"OK": 1000}


@pytest.mark.parametrize("method", ["Unary", "Server", "Client", "Bidi"])
def test_calls_go_over_http_3(wiretrial: Run, over_quic: tuple[str, ...], method: str) -> None:
    origin, *over = over_quic
    url = f"{origin}/wiretrial.Echo/{method}"
    sent = ("--json", '{"text": "hello", "number": 7}', "--expect", '{"text": "hello"}')
    options = ("--proto", str(ECHO), *over, "-n", "1k", "--streams", "10", "--congestion", "bbr")
    found = measured(wiretrial, url, *sent, *options)
    assert found["statuses"] == {"OK": 1000}
    assert (found["http"]["version"], found["http2"]) == ("3", None)
    assert found["http3"]["datagrams_sent"] > 0
    assert found["http3"]["congestion"] == "bbr"


def test_what_is_learned_holds_over_http_3(wiretrial: Run, over_quic: tuple[str, ...]) -> None:
    origin, *over = over_quic
    url, options = f"{origin}/wiretrial.Echo/Unary", ("--proto", str(ECHO), "-n", "200", *over)
    sent = ("--json", '{"text": "a {seq}", "number": 7}', "--gzip")
    found = measured(wiretrial, url, *options, *sent)
    assert found["learned_rules"][0]["told"] == "each was its call's own messages"
    assert found["deflate"] == "gzip"
