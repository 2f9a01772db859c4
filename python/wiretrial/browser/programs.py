"""Browsers: which are here, and one of them running with a profile of its own.

Knows binaries, flags and what a profile needs to trust one certificate; must not know pages. The
page runs by itself when it is opened, so a browser needs nothing but an address, and every browser
is started the same way.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from wiretrial import launch
from wiretrial.closing import Closing, end_program, last_words, told
from wiretrial.errors import SubjectFailed, UsageProblem
from wiretrial.subjects import runfolder
from wiretrial.subjects.certificates import Certificate

Name = Literal["chromium", "firefox"]
BINARIES: Mapping[Name, tuple[str, ...]] = {
    "chromium": ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome"),
    "firefox": ("firefox", "firefox-esr"),
}
PACKAGES: Mapping[Name, str] = {"chromium": "chromium", "firefox": "firefox-esr"}

CHROMIUM = (
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
)
FIREFOX = {
    "network.proxy.type": 0,
    "network.http.http3.enable": False,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}
VERSION_LIMIT_S = 30.0
KEEPER_LIMIT_S = 30.0
STOP_LIMIT_S = launch.STOP_GRACE_S + launch.KILL_LIMIT_S + 5.0


@dataclass(frozen=True)
class Program:
    """A browser that is here."""

    name: Name
    binary: str
    version: str

    @property
    def trusts(self) -> bool:
        """Whether it can be made to trust a certificate of ours, so that TLS can be measured."""
        return self.name == "chromium" or shutil.which("certutil") is not None


def find(name: Name) -> Program:
    """The browser. Raises `UsageProblem` where it is not here."""
    for binary in BINARIES[name]:
        path = shutil.which(binary)
        if path:
            return Program(name, path, _version(path))
    raise UsageProblem(f"{name} is not installed", f"install Debian's {PACKAGES[name]}")


def _version(binary: str) -> str:
    try:
        said = subprocess.run(
            [binary, "--version"],
            capture_output=True,
            text=True,
            timeout=VERSION_LIMIT_S,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageProblem(f"{binary} can't be run: {error}", "run it by hand") from error
    found = re.search(r"\d+(?:\.\d+)+", said)
    return found[0] if found else "unknown"


class Browser(Closing):
    """A browser without a window at one page. A context manager: leaving it ends every process.

    The key of `certificate` is trusted, and nothing else is changed in the trust.
    """

    def __init__(
        self,
        program: Program,
        url: str,
        certificate: Certificate | None = None,
        *,
        cpus: Sequence[int] = (),
    ) -> None:
        self.program = program
        self.folder = runfolder.make(program.name)
        profile = self.folder / "profile"
        profile.mkdir()
        self._log = (self.folder / "output.log").open("w+b")
        self._keeper = subprocess.Popen(
            launch.keeper_command_line(
                command_line(program, profile, url, certificate), cpus=cpus, folder=self.folder
            ),
            cwd=self.folder,
            # Whatever it keeps beside its profile goes with the folder too.
            env={**os.environ, runfolder.MARK: str(self.folder), "HOME": str(self.folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
            start_new_session=True,
        )
        if not told(self._keeper, KEEPER_LIMIT_S):
            self.close()
            raise SubjectFailed(f"{program.binary} could not be started", "run it by hand")

    def ended(self) -> str | None:
        """How it ended by itself, in words; None while it runs."""
        how = told(self._keeper, 0)
        if not how:
            return None
        self._log.flush()
        last = last_words((self.folder / "output.log").read_text(errors="replace"))
        return f"{how} ({last})" if last else how

    def close(self) -> None:
        """Ends it with all that it has begun, and forgets its profile."""
        end_program(self._keeper, STOP_LIMIT_S)
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def command_line(
    program: Program, profile: Path, url: str, certificate: Certificate | None
) -> list[str]:
    """The command line, with what the profile needs written into it. Raises `SubjectFailed`."""
    if program.name == "firefox":
        _write_firefox(profile, certificate)
        return [program.binary, "--headless", "--no-remote", "--profile", str(profile), url]
    flags = [*CHROMIUM, f"--user-data-dir={profile}"]
    if certificate:
        flags.append(f"--ignore-certificate-errors-spki-list={_key_of(certificate)}")
    if os.geteuid() == 0:
        # Chromium refuses to put root into its sandbox.
        flags.append("--no-sandbox")
    return [program.binary, *flags, url]


def _key_of(certificate: Certificate) -> str:
    """The digest of the key that the server shows, as Chromium wants it."""
    leaf = x509.load_pem_x509_certificate(certificate.chain.read_bytes())
    key = leaf.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(key).digest()).decode()


def _write_firefox(profile: Path, certificate: Certificate | None) -> None:
    lines = (f'user_pref("{name}", {_literal(value)});' for name, value in FIREFOX.items())
    (profile / "user.js").write_text("\n".join(lines) + "\n", encoding="utf-8")
    certutil = shutil.which("certutil")
    if certificate is None or certutil is None:
        return
    store = f"sql:{profile}"
    authority = str(certificate.authority)
    for arguments in (
        ("-N", "--empty-password"),
        ("-A", "-n", "wiretrial", "-t", "C,,", "-i", authority),
    ):
        done = subprocess.run(
            [certutil, *arguments, "-d", store], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SubjectFailed(f"certutil failed: {done.stderr.strip()}", "run it by hand")


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)
