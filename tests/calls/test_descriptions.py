"""What a server offers: from files, from the server itself, and what is wrong with either."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.calls.conftest import HERE
from wiretrial.calls import reflection
from wiretrial.calls.channel import Server
from wiretrial.calls.compiling import compiled
from wiretrial.calls.methods import FORM, Methods
from wiretrial.errors import WiretrialError
from wiretrial.plan_grpc import CallKind
from wiretrial.subjects.certificates import Certificate

PATHS = ("shop.Shop/Find", "shop.Shop/List", "shop.Shop/Put", "shop.Shop/Talk")
USE = f"use one of {', '.join(PATHS)}"


def port_of(origin: str) -> int:
    return int(origin.rpartition(":")[2])


@pytest.mark.parametrize(
    ("path", "kind"),
    list(zip(PATHS, ("unary", "server", "client", "bidi"), strict=True)),
)
def test_a_file_tells_who_streams(methods: Methods, path: str, kind: CallKind) -> None:
    assert methods.paths == PATHS
    assert methods.find(f"/{path}").kind == kind


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (
            "shop.Shop/Fin",
            f"there is no method shop.Shop/Fin: did you mean {PATHS[0]}? If not, {USE}",
        ),
        (
            "",
            f"the URL names no method ({FORM}): {USE}",
        ),
    ],
)
def test_a_method_that_there_is_not_is_told_with_those_that_there_are(
    methods: Methods, path: str, line: str
) -> None:
    with pytest.raises(WiretrialError) as refused:
        methods.find(path)
    assert refused.value.line() == line


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('syntax = "proto3";\nservice S { rpc A(B) returns (B); }', '"B" is not defined'),
        ('syntax = "proto3";\nmessage M { string a = 1 }', 'Expected ";"'),
        (
            'syntax = "proto3";\nimport "elsewhere/a.proto";',
            "elsewhere/a.proto: File not found: name its folder with --proto-path DIR",
        ),
    ],
)
def test_a_file_that_does_not_compile_is_told_by_the_compiler_s_line(
    tmp_path: Path, content: str, words: str
) -> None:
    (tmp_path / "wrong.proto").write_text(content)
    with pytest.raises(WiretrialError) as refused:
        compiled([tmp_path / "wrong.proto"], [])
    line = refused.value.line()
    assert line.startswith("--proto: ")
    assert words in line


def test_a_file_is_found_below_its_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    content = 'syntax = "proto3";\nimport "deep/b.proto";\n'
    (tmp_path / "deep" / "a.proto").write_text(content)
    (tmp_path / "deep" / "b.proto").write_text('syntax = "proto3";\n')
    assert set(compiled([tmp_path / "deep" / "a.proto"], [tmp_path])) == {
        "deep/a.proto",
        "deep/b.proto",
    }
    with pytest.raises(WiretrialError, match=r"b\.proto: File not found"):
        compiled([tmp_path / "deep" / "a.proto"], [])


def test_fields_are_named(methods: Methods) -> None:
    find = methods.find("shop.Shop/Find")
    assert find.named("field 9.2 had 1; field 2 had 3, not 5") == (
        "field maker.since had 1; field name had 3, not 5"
    )
    assert find.named("field 99.1 is unknown") == "field 99.1 is unknown"


def test_files_without_a_service_have_no_method() -> None:
    with pytest.raises(WiretrialError, match="no service"):
        Methods(compiled([HERE / "parts.proto"], [])).find("a.B/C")


def test_a_server_tells_what_its_files_say(shop: str, methods: Methods) -> None:
    told = Methods(reflection.told(Server("127.0.0.1", port_of(shop))))
    assert told.paths == methods.paths
    item = told.find("shop.Shop/Find").reply
    assert [field.name for field in item.fields] == [
        field.name for field in methods.find("shop.Shop/Find").reply.fields
    ]


def test_a_server_without_reflection_asks_for_files(silent_shop: str) -> None:
    with pytest.raises(WiretrialError) as refused:
        reflection.told(Server("127.0.0.1", port_of(silent_shop)))
    assert "has no server reflection: name its files with --proto" in refused.value.line()


def test_a_certificate_is_trusted_as_is_asked(secure_shop: str, certificate: Certificate) -> None:
    port = port_of(secure_shop)
    for server in (
        Server("127.0.0.1", port, is_secure=True, ca_file=certificate.authority),
        Server("127.0.0.1", port, is_secure=True, insecure=True),
    ):
        assert Methods(reflection.told(server)).paths == PATHS


def test_what_keeps_a_server_from_being_asked_is_told(shop: str, secure_shop: str) -> None:
    def line(port: int, *, is_secure: bool) -> str:
        with pytest.raises(WiretrialError) as refused:
            reflection.told(Server("127.0.0.1", port, is_secure=is_secure))
        return refused.value.line()

    assert line(port_of(secure_shop), is_secure=False).endswith("speaks TLS: write grpcs://")
    assert line(port_of(shop), is_secure=True).endswith("speaks no TLS: write grpc://")
    assert "is not trusted: name its authority" in line(port_of(secure_shop), is_secure=True)
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    assert f"no connection to 127.0.0.1:{port}" in line(port, is_secure=False)
