"""The shop under load (`bench/shop`), and the folder with the session that is loaded.

Knows the shop's prices; must not know who generates the load.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.places import FLOOR
from wiretrial.errors import WiretrialError

SHOP = FLOOR.with_name("wiretrial-shop")
SHOP_REMEDY = "cargo build --release --locked --package wiretrial-shop"
SCRIPTS = Path(__file__).with_name("session")
FAULTS = ("total", "leak", "overload", "slow")
ROWS, PAGES, PAGE_SIZE = 10_000, 25, 20
FIELDS = "user,page,quantity,total"
PLAIN = ("a", "b", "c", "d", "e")
"""Routes that answer everybody the same."""


@dataclass(frozen=True)
class Shop:
    """One start of it."""

    url: str
    pid: int

    def planted(self) -> Mapping[str, int]:
        """How often each fault was put in so far."""
        with urllib.request.urlopen(f"{self.url}/planted", timeout=10) as reply:
            found: dict[str, int] = json.load(reply)
        return found


@contextmanager
def opened(cpu: int, *faults: str) -> Iterator[Shop]:
    """The shop on this CPU, with these faults, until the block ends.

    Raises WiretrialError where it is not built.
    """
    if not SHOP.is_file():
        raise WiretrialError("the shop is not built", SHOP_REMEDY)
    words = ["taskset", "--cpu-list", str(cpu), str(SHOP), "127.0.0.1:0", *faults]
    started = psutil.Popen(words, stdout=subprocess.PIPE)
    try:
        # The first line is its address: it listens.
        address = started.stdout.readline().decode().strip()
        yield Shop(f"http://{address}", started.pid)
    finally:
        started.terminate()
        started.wait()


def lay_out(folder: Path) -> None:
    """Copies the session's files into a folder, and writes its data and the plain routes' files."""
    shutil.copytree(SCRIPTS, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("goose"))
    rows = (",".join(map(str, _row(number))) for number in range(ROWS))
    (folder / "users.csv").write_text("\n".join((FIELDS, *rows)) + "\n", encoding="utf-8")
    for name in PLAIN:
        (folder / f"{name}.hurl").write_text(_plain(name), encoding="utf-8")
    flows = "".join(f'[[flow]]\nfile = "{name}.hurl"\n' for name in PLAIN)
    (folder / "five.toml").write_text(flows, encoding="utf-8")


def _row(number: int) -> tuple[str, int, int, int]:
    page, quantity = number % PAGES, 1 + number % 5
    return f"u{number}", page, quantity, quantity * price(page * PAGE_SIZE)


def price(item: int) -> int:
    """As the shop has it, in cents."""
    return 700 + 13 * (item % 97)


def _plain(name: str) -> str:
    return (
        f"# @name {name}\nGET {{{{base}}}}/plain/{name}\nHTTP 200\n"
        '[Asserts]\njsonpath "$.is_right" == true\n'
    )
