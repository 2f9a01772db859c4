"""What ssh is asked, what its words mean, and which addresses are none. Nothing is started."""

from __future__ import annotations

import pytest

from wiretrial.errors import UsageProblem
from wiretrial.observers import address, ssh
from wiretrial.observers.address import Remote


def remote(text: str) -> Remote:
    """An address that is one of ssh."""
    found = address.parse(text)
    assert isinstance(found, Remote)
    return found


@pytest.mark.parametrize(
    ("text", "destination"),
    [
        ("ssh://db", ["--", "db"]),
        ("ssh://Db.Example.org/", ["--", "Db.Example.org"]),
        ("ssh://ada@db/pid/7", ["-l", "ada", "--", "db"]),
        ("ssh://ada@10.0.0.9:2222/unit/app.service", ["-p", "2222", "-l", "ada", "--", "10.0.0.9"]),
        ("ssh://[fd00::1]:2222/container/db", ["-p", "2222", "--", "fd00::1"]),
    ],
)
def test_an_address_becomes_a_destination(text: str, destination: list[str]) -> None:
    command = ssh.command(remote(text), "words")
    assert command[0] == "ssh"
    assert command[-len(destination) - 1 :] == [*destination, "words"]
    assert "BatchMode=yes" in command


def test_another_command_can_stand_for_ssh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ssh.ENVIRONMENT, "ssh -F 'my config'")
    one = remote("ssh://db:2222")
    assert ssh.command(one, "words")[:3] == ["ssh", "-F", "my config"]
    assert ssh.by_hand(one) == "ssh -F 'my config' -p 2222 db"


@pytest.mark.parametrize(
    "text",
    [
        "ssh://db;reboot",
        "ssh://a b",
        "ssh://$(reboot)@db",
        "ssh://db/pid/0",
        "ssh://db/pid/",
        "ssh://db/unit/",
        "ssh://db/unit/$(reboot)",
        "ssh://db/unit/a\nb",
        "ssh://db/container/`reboot`",
        "ssh://db/container/-v",
        "ssh://db/cgroup/app",
        "ssh://ada:secret@db/pid/7",
    ],
)
def test_what_ssh_or_a_shell_could_take_for_something_else_is_refused(text: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        address.parse(text)
    line = refused.value.line()
    assert "\n" not in line
    assert "secret" not in line
    assert refused.value.remedy


CHANGED = """@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
Host key for [db]:2222 has changed and you have requested strict checking.
Host key verification failed.
"""


@pytest.mark.parametrize(
    ("said", "problem", "remedy"),
    [
        (CHANGED, "its host key is not the one that is known", "`ssh-keygen -R '[db]:2222'`"),
        (
            "Host key verification failed.\n",
            "its host key is not known here",
            "log in once with `ssh -p 2222 -l ada db`",
        ),
        (
            "ada@db: Permission denied (publickey,password).\n",
            "it lets in none of our keys, and no password is asked for",
            "put the user before db",
        ),
        (
            "Received disconnect from 10.0.0.9 port 22:2: Too many authentication failures\n",
            "it was offered too many keys",
            "IdentitiesOnly yes",
        ),
        (
            "ssh: Could not resolve hostname db: Name or service not known\n",
            "there is no host of this name",
            "~/.ssh/config",
        ),
        ("ssh: connect to host db port 22: Connection refused\n", "nothing takes", "start sshd"),
        (
            "ssh: connect to host db port 22: No route to host\n",
            "it can't be reached (ssh: connect to host db port 22: No route to host)",
            "its firewall",
        ),
        ("ssh: connect to host db port 22: Connection timed out\n", "timed out", "firewall"),
        (
            "~/.ssh/config: terminating, 1 bad configuration options\n",
            "ssh does not take its configuration",
            "correct it",
        ),
        (
            "kex_exchange_identification: Connection closed by remote host\n",
            "it closed the connection before a login",
            "what its log says",
        ),
        ("something new\n", "ssh failed (something new)", "without a question"),
        ("", "ssh failed (it said nothing)", "without a question"),
    ],
)
def test_what_ssh_says_becomes_a_line_with_the_remedy(said: str, problem: str, remedy: str) -> None:
    refusal = ssh.refusal(remote("ssh://ada@db:2222/pid/7"), said)
    assert problem in refusal.message
    assert remedy in refusal.remedy
    assert "\n" not in refusal.line()
    assert refusal.exit_code == 1
