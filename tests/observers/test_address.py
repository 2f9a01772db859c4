"""Addresses of servers: what is understood, and what is refused with a remedy."""

from __future__ import annotations

import pytest

from wiretrial.errors import EXIT_USAGE, UsageProblem
from wiretrial.observers import address
from wiretrial.observers.address import (
    Address,
    Container,
    ControlGroup,
    Process,
    Remote,
    Scraped,
)

GOOD: list[tuple[str, Address]] = [
    ("pid:4711", Process("pid:4711", "pid:4711", 4711)),
    ("app=pid:1", Process("app", "pid:1", 1)),
    ("app server=pid:1", Process("app server", "pid:1", 1)),
    ("cgroup:/a.slice", ControlGroup("cgroup:/a.slice", "cgroup:/a.slice", "/a.slice")),
    ("db=cgroup:/odd=name", ControlGroup("db", "cgroup:/odd=name", "/odd=name")),
    ("docker:shop-api", Container("shop-api", "docker:shop-api", "docker", "shop-api")),
    ("db=podman:pg_1.2", Container("db", "podman:pg_1.2", "podman", "pg_1.2")),
    ("ssh://host", Remote("host", "ssh://host", "host")),
    (
        "ssh://me@Alias:2222/pid/7",
        Remote("pid 7 on Alias", "ssh://Alias:2222/pid/7", "Alias", "me", 2222, "pid", "7"),
    ),
    (
        "web=ssh://h/unit/app@1.service",
        Remote("web", "ssh://h/unit/app@1.service", "h", None, None, "unit", "app@1.service"),
    ),
    (
        "ssh://h/container/db/",
        Remote("db on h", "ssh://h/container/db", "h", None, None, "container", "db"),
    ),
    ("ssh://[::1]:22", Remote("::1", "ssh://[::1]:22", "::1", None, 22)),
    (
        "prometheus:http://h:9090",
        Scraped("h", "prometheus:http://h:9090", "http://h:9090"),
    ),
    (
        "p=prometheus:https://h/x?token=t",
        Scraped("p", "prometheus:https://h/x?token=***", "https://h/x?token=t"),
    ),
]


@pytest.mark.parametrize(("text", "expected"), GOOD, ids=[text for text, _ in GOOD])
def test_an_address_is_understood(text: str, expected: Address) -> None:
    assert address.parse(text) == expected


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("", "pid:4711"),
        ("4711", "pid:4711"),
        ("app", "pid:4711"),
        ("app=", "pid:4711"),
        ("=pid:1", "pid:4711"),
        ("dockr:1", "did you mean docker"),
        ("podmn:db", "did you mean podman"),
        ("app:1", "pid:4711"),
        ("pid:", "a number"),
        ("pid:0", "a number"),
        ("pid:-1", "a number"),
        ("pid:1.5", "a number"),
        ("pid:x", "a number"),
        ("pid:²", "a number"),
        ("pid:2147483648", "a number"),
        ("pid:99999999999999999999999", "a number"),
        ("cgroup:", "/sys/fs/cgroup"),
        ("cgroup:app", "/sys/fs/cgroup"),
        ("cgroup:/a/../b", "/sys/fs/cgroup"),
        ("cgroup:/a\nb", "/sys/fs/cgroup"),
        ("docker:", "docker ps"),
        ("docker:-v", "docker ps"),
        ("podman:a b", "podman ps"),
        ("podman:a/b", "podman ps"),
        ("ssh:host", "ssh://host"),
        ("ssh://", "ssh://host"),
        ("ssh:///pid/1", "ssh://host"),
        ("ssh://-oProxyCommand=x", "ssh://host"),
        ("ssh://-l@host", "ssh://host"),
        ("ssh://me:word@host", "ssh-copy-id"),
        ("ssh://host:0", "ssh://host"),
        ("ssh://host:99999", "ssh://host"),
        ("ssh://host:x", "ssh://host"),
        ("ssh://[::1", "ssh://host"),
        ("ssh://host/pid", "ssh://host"),
        ("ssh://host/pid/x", "a number"),
        ("ssh://host/pid/1/2", "ssh://host"),
        ("ssh://host/user/1", "ssh://host"),
        ("ssh://host/unit/a b", "ssh://host"),
        ("ssh://host/unit/-a", "ssh://host"),
        ("ssh://host/container/a@b", "ssh://host"),
        ("ssh://host?x=1", "ssh://host"),
        ("prometheus:", "prometheus:http"),
        ("prometheus:host:9090", "prometheus:http"),
        ("prometheus:ftp://host", "prometheus:http"),
        ("prometheus:http://", "prometheus:http"),
        ("prometheus:http://h:99999", "prometheus:http"),
        (f"{'n' * 61}=pid:1", "shorter"),
    ],
)
def test_what_is_no_address_is_refused_in_one_line(text: str, remedy: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        address.parse(text)
    problem = refused.value
    assert problem.exit_code == EXIT_USAGE
    assert remedy in problem.remedy
    assert problem.message.startswith("--server")
    assert "\n" not in problem.line()


def test_a_refused_address_shows_no_secret() -> None:
    with pytest.raises(UsageProblem) as refused:
        address.parse("ssh://me:word@host")
    assert "word@" not in refused.value.line()


def test_each_server_has_a_name_of_its_own() -> None:
    found = address.parse_all(["pid:1", "podman:db", "main=docker:db"])
    assert [one.name for one in found] == ["pid:1", "db", "main"]
    assert address.parse_all([]) == ()
    with pytest.raises(UsageProblem) as refused:
        address.parse_all(["podman:db", "docker:db"])
    assert "app=docker:db" in refused.value.remedy
