"""`subject.toml`: what is accepted, what is refused, and with which words."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from wiretrial.errors import UsageProblem
from wiretrial.plan import SECURE, AnyHttpVersion
from wiretrial.subjects import registry, spec

GOOD = """
name = "mine"
kind = "server"
summary = "A server"
language = "C"
homepage = "https://example.org"
licence = "MIT"
speaks = ["http"]
contracts = ["http-echo"]

[version]
command = ["mine", "--version"]
pattern = '(.+)'

[configurations.default]
description = "As its quick start says."
command = ["mine", "{host}", "{port}"]
"""


def write(folder: Path, text: str) -> Path:
    (folder / spec.SPEC_FILE).write_text(text, encoding="utf-8")
    return folder


def test_a_subject_is_a_folder(tmp_path: Path) -> None:
    subject = spec.load(write(tmp_path, GOOD))
    assert subject.spec.name == "mine"
    assert subject.spec.claims() == [("http-echo", "http")]
    assert subject.spec.port_names() == ["port"]
    assert registry.find(f"{tmp_path}/").spec == subject.spec


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "mine"', 'name = "My Server"', "name"),
        ('licence = "MIT"', "", "licence"),
        ('["http"]', '["gopher"]', "speaks"),
        ('["http"]', '["http", "ws"]', "speaks ws, but no contract"),
        ('["http-echo"]', '["http-echo", "ws-echo"]', "claims ws-echo, but speaks neither"),
        ('["http-echo"]', '["http-echo", "proxy"]', 'proxy has backend = "reference", no other'),
        ('["http-echo"]', '["http-echo"]\nbackend = "reference"', "no other"),
        ('["http-echo"]', '["proxy"]\nbackend = "mine"', "backend"),
        ('"{port}"', '"{prot}"', "unknown placeholder {prot}"),
        ("[configurations.default]", "[configurations.tuned]", "a `default` is needed"),
        ('licence = "MIT"', 'licence = "MIT"\ncolour = "red"', "colour"),
        ('kind = "server"', "kind = ", "line 3"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in GOOD
    folder = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(UsageProblem) as refused:
        spec.load(folder)
    assert words in refused.value.line()
    assert "\n" not in refused.value.line()


def test_the_digest_follows_every_file(tmp_path: Path) -> None:
    subject = spec.load(write(tmp_path, GOOD))
    before = subject.digest()
    assert subject.digest() == before
    (tmp_path / "server.c").write_text("int main;", encoding="utf-8")
    with_source = subject.digest()
    assert with_source != before
    (tmp_path / "server.c").rename(tmp_path / "main.c")
    assert subject.digest() not in (before, with_source)


def test_only_known_placeholders_are_filled() -> None:
    text = "listen {host}:{port}; events {} types { text/html html; } $uri"
    filled = spec.fill(text, {"host": "127.0.0.1", "port": "80"})
    assert filled == "listen 127.0.0.1:80; events {} types { text/html html; } $uri"


def test_the_protocols_inside_tls_are_those_whose_names_say_so() -> None:
    inside = ("https", "h2", "h3", "wss", "tls", "grpcs")
    named = {one for one in get_args(spec.Protocol) if one.endswith(inside)}
    assert named == SECURE


KINDS = {"server": 109, "client": 22}
"""The systems of the five studies and twelve of today's, one of them with an article's handler too;
the table servers of the game come with theirs; thirteen that speak HTTP/2, four HTTP/3, six gRPC,
web frameworks with a database, eight proxies, and five that push."""


def test_the_catalogue_is_whole() -> None:
    subjects = {subject.spec.name: subject for subject in registry.catalogue()}
    assert {kind: sum(s.spec.kind == kind for s in subjects.values()) for kind in KINDS} == KINDS
    for name, subject in subjects.items():
        assert subject.folder.name == name
        assert (subject.folder / "README.md").is_file()
        # A client whose documentation names nothing faster has no second configuration.
        wanted = {"default", "tuned"} if subject.spec.kind == "server" else {"default"}
        assert wanted <= set(subject.spec.configurations)
        assert all((subject.folder / file).is_file() for file in subject.spec.footprint.service)
        assert all(folder.is_dir() for folder in subject.shared_folders())
        for configuration in subject.spec.configurations.values():
            assert all((subject.folder / file).is_file() for file in configuration.files.values())


def test_an_unknown_subject_is_told_with_the_known_ones() -> None:
    with pytest.raises(UsageProblem) as refused:
        registry.find("ngnix")
    assert "nginx" in refused.value.remedy


@pytest.mark.parametrize(
    ("scheme", "version", "protocol"),
    [
        ("http", "1.1", "http"),
        ("http", "2", "h2c"),
        ("https", "2", "h2"),
        ("https", "3", "h3"),
        ("ws", "2", "ws"),
        ("wss", "3", "wss"),
    ],
)
def test_versions_of_http_have_names_of_their_own_and_the_schemes_of_http(
    scheme: spec.Protocol, version: AnyHttpVersion, protocol: spec.Protocol
) -> None:
    assert spec.over(scheme, version) == protocol
    assert spec.scheme(protocol) == scheme
    assert spec.version_of(protocol) == ("1.1" if protocol == scheme else version)
    # QUIC goes over UDP, and has a port of its own.
    apart = spec.PORT_OF[protocol] != spec.PORT_OF[scheme]
    assert apart is (protocol == "h3")


def test_a_client_driver_over_http_3_is_refused(tmp_path: Path) -> None:
    text = GOOD.replace('"server"', '"client"').replace('["http"]', '["h3"]')
    folder = write(tmp_path, text.replace('contracts = ["http-echo"]', 'modes = ["kept"]'))
    with pytest.raises(UsageProblem, match="client drivers are not measured over HTTP/3"):
        spec.load(folder)
