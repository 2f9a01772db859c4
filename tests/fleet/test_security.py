"""Beyond one machine a fleet goes with certificates on both sides, or not at all."""

from __future__ import annotations

import ssl
import stat
from pathlib import Path

import pytest

from wiretrial.errors import UsageProblem
from wiretrial.fleet.authority import make
from wiretrial.fleet.security import ROLES, Address


@pytest.mark.parametrize(
    ("text", "secure", "address"),
    [
        ("tcp://127.0.0.1:9000", False, "tcp://127.0.0.1:9000"),
        ("localhost", False, "tcp://localhost:8786"),
        ("tls://10.0.0.1", True, "tls://10.0.0.1:8786"),
        ("10.0.0.1:1", True, "tls://10.0.0.1:1"),
        ("tls://[fd00::1]:2", True, "tls://[fd00::1]:2"),
    ],
)
def test_addresses_as_people_write_them(text: str, secure: bool, address: str) -> None:
    assert str(Address.parse(text, secure=secure)) == address


@pytest.mark.parametrize(
    ("text", "secure", "words"),
    [
        ("tcp://10.0.0.1", False, "beyond this machine a fleet needs TLS"),
        ("10.0.0.1:8786", False, "make certificates with `wiretrial fleet certificates DIR`"),
        ("tls://10.0.0.1", False, "add --fleet-certificates DIR"),
        ("tcp://10.0.0.1", True, "write tls://10.0.0.1:8786"),
        ("http://10.0.0.1", True, "not the address of a Dask scheduler"),
        ("tls://", True, "not the address"),
        ("tls://h:99999", True, "Port out of range"),
    ],
)
def test_what_is_not_safe_or_makes_no_sense_is_refused_in_a_line(
    text: str, secure: bool, words: str
) -> None:
    with pytest.raises(UsageProblem) as refused:
        Address.parse(text, secure=secure)
    line = refused.value.line()
    assert words in line
    assert "\n" not in line


def test_each_role_proves_itself_to_the_one_authority(tmp_path: Path) -> None:
    made = make(tmp_path / "certs")
    for role in ROLES:
        made.require(role)
        assert stat.S_IMODE(made.key(role).stat().st_mode) == 0o600
        context = ssl.create_default_context(cafile=str(made.authority))
        context.load_cert_chain(made.chain(role), made.key(role))
    assert stat.S_IMODE(made.folder.stat().st_mode) == 0o700


def test_certificates_are_not_made_over_others(tmp_path: Path) -> None:
    make(tmp_path / "certs")
    with pytest.raises(UsageProblem, match="is not empty"):
        make(tmp_path / "certs")


def test_a_missing_certificate_is_named(tmp_path: Path) -> None:
    made = make(tmp_path / "certs")
    made.key("agent").unlink()
    with pytest.raises(UsageProblem, match=r"agent\.key can't be read"):
        made.require("agent")
