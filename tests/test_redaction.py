"""Secrets are found by the names that they go by, wherever they stand, and nothing else is."""

from __future__ import annotations

import shlex
import string
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiretrial import redaction
from wiretrial.redaction import MARK, Secrets

SECRET = "s3cr3t-9f2c41d0"
TABLE = Path(__file__).with_name("redaction-urls.txt")
"""What the engine keeps, too."""
URLS = [line.split(" -> ") for line in TABLE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    "name",
    [
        *("Authorization", "proxy-authorization", "Cookie", "Set-Cookie", "X-Api-Key", "apikey"),
        *("X-Auth-Token", "x-functions-key", "Ocp-Apim-Subscription-Key", "X-Amz-Security-Token"),
        *("access_token", "accessToken", "id_token", "client_secret", "password", "key", "sig"),
        *("signature", "X-Amz-Credential", "code", "session_id", "pass", "sid", "%74oken", "jwt"),
    ],
)
def test_the_name_tells_a_secret(name: str) -> None:
    assert redaction.is_secret(name)
    assert redaction.header(name, SECRET) == MARK
    assert redaction.url(f"http://h/?a=1&{name}={SECRET}&b=2") == f"http://h/?a=1&{name}=***&b=2"


@pytest.mark.parametrize(
    "name",
    [
        *("Accept", "Content-Type", "Host", "Idempotency-Key", "WWW-Authenticate", "author"),
        *("authority", "monkey", "country_code", "keyword", "page", "q", "passage", "design"),
    ],
)
def test_other_names_do_not(name: str) -> None:
    assert not redaction.is_secret(name)
    assert redaction.header(name, "plain") == "plain"
    assert redaction.url(f"http://h/?{name}=plain") == f"http://h/?{name}=plain"


@pytest.mark.parametrize(("address", "shown"), URLS)
def test_a_url_keeps_all_but_its_secrets(address: str, shown: str) -> None:
    assert redaction.url(address) == shown
    assert redaction.url(shown) == shown


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("'http://h/?token=x' is no URL", "'http://h/?token=***' is no URL"),
        ("http://h/nope?token=x: status 404", "http://h/nope?token=***: status 404"),
        ("A (http://u:p@h/), and B?", "A (http://***@h/), and B?"),
        ("'http://h/?token=o'clock' and 'x'", "'http://h/?token=***' and 'x'"),
        ("HTTP or WebSocket? Both.", "HTTP or WebSocket? Both."),
        ("http://a/?sig=x or http://u:p@b/?", "http://a/?sig=*** or http://***@b/?"),
    ],
)
def test_a_text_keeps_all_but_its_urls_secrets(words: str, shown: str) -> None:
    assert redaction.text(words) == shown
    assert redaction.text(shown) == shown


def test_a_command_line_keeps_its_other_words() -> None:
    words = [
        *("wiretrial", "compare", f"http://h/?token={SECRET}", "-H", f"Authorization: {SECRET}"),
        *(f"--header=X-Api-Key: {SECRET}", f"-HCookie: a={SECRET}", "-H", "Accept: */*"),
        *("--publish-header", f"Cookie: {SECRET}", f"--publish-header=X-Auth: {SECRET}"),
        *("--header", f"no colon {SECRET}", "-c", "4"),
    ]
    shown = redaction.command(words)
    assert SECRET not in shlex.join(shown)
    assert (shown[7:9], shown[-2:]) == (["-H", "Accept: */*"], ["-c", "4"])
    assert shown[9:12] == ["--publish-header", "Cookie: ***", "--publish-header=X-Auth: ***"]
    assert redaction.command_line(shlex.join(words)) == shlex.join(shown)
    assert redaction.command([*words, "--keep-secrets"]) == [*words, "--keep-secrets"]


def test_what_a_server_sends_back_is_found() -> None:
    basic = "dXNlcjpodW50ZXIy"
    fields = (("Authorization", f"Basic {basic}"), ("Cookie", f"theme=dark; id={SECRET}"))
    secrets = Secrets.of("http://h/?token=a%20long%20one", fields)
    for told in (
        basic,
        "hunter2",
        SECRET,
        "a long one",
        "a%20long%20one",
        SECRET.encode().hex(" "),
    ):
        assert secrets.text(f"got {told} here") == f"got {MARK} here"
    assert secrets.text(f"cut off in {SECRET[:7]}…") == f"cut off in {MARK}…"
    assert secrets.text("got nothing") == "got nothing"


def test_the_secrets_of_two_requests_are_found_together() -> None:
    one = Secrets.of("http://h/?token=abcdef", ())
    other = Secrets.of("http://p/", (("X-Api-Key", "abcdefgh"),))
    assert (one | other).text("abcdefgh and abcdef") == f"{MARK} and {MARK}"
    assert one | other == other | one


def test_what_lacks_its_secret_is_named() -> None:
    fields = redaction.headers((("Authorization", f"Bearer {SECRET}"), ("Accept", "*/*")))
    address = redaction.url(f"http://u:p@h/?a=1&token={SECRET}")
    assert redaction.redacted_parts(address, fields) == [
        "the header Authorization",
        "the user name in the URL",
        "the URL's parameter token",
    ]
    assert not redaction.redacted_parts("http://h/?a=1", (("Accept", "*/*"),))


LETTERS = string.ascii_letters + string.digits + "-._~!$'()+,:;=%{}|^"
ANY = st.text(LETTERS, min_size=8)


@given(ANY)
def test_no_secret_is_left(secret: str) -> None:
    asked = f"http://h/?a=1&token={secret}&b=2"
    assert redaction.url(asked) == f"http://h/?a=1&token={MARK}&b=2"
    user = quote(secret, safe="")
    assert redaction.url(f"http://u:{user}@h/?b=2") == f"http://{MARK}@h/?b=2"
    assert redaction.text(f"see http://u:{user}@h/?token={user}&b=2 here") == (
        f"see http://{MARK}@h/?token={MARK}&b=2 here"
    )
    assert redaction.header("X-Api-Key", secret) == MARK
    assert redaction.header("X-Other", f"Bearer {secret}") == MARK
    words = ["wiretrial", "load", asked, "-H", f"Authorization: {secret}"]
    assert redaction.command(words)[2:] == [redaction.url(asked), "-H", f"Authorization: {MARK}"]
    found = Secrets.of(asked, (("Authorization", secret),))
    assert secret not in found.text(f"[{secret}]")
