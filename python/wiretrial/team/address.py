"""How a store is named: by a URL of PostgreSQL, or by what libpq finds in the environment.

Knows URLs and where a password may stand; must not know what is stored. A password is taken from
where libpq takes it (PGPASSWORD, ~/.pgpass, a service file) or from WIRETRIAL_STORE; a command line
is no place for one, because every user of the machine can read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from psycopg import ProgrammingError, conninfo

from wiretrial import redaction
from wiretrial.errors import UsageProblem

SCHEMES = ("postgresql://", "postgres://")
VARIABLE = "WIRETRIAL_STORE"
FORM = "postgresql://HOST/DATABASE"
LIBPQ = ("PGSERVICE", "PGHOST", "PGHOSTADDR", "PGDATABASE")
"""Each of them says enough for libpq to connect without a URL."""
_SECRET = ("password", "sslpassword")


@dataclass(frozen=True)
class Address:
    """Where a store is."""

    conninfo: str = field(repr=False)
    """As libpq takes it; may hold a password. Empty: all is in the environment."""
    shown: str
    """As it may be shown."""

    @property
    def settings(self) -> frozenset[str]:
        """The names of what it sets."""
        return frozenset(conninfo.conninfo_to_dict(self.conninfo))


def named(typed: str | None, environment: Mapping[str, str]) -> Address:
    """The store that was typed, or the one of the environment. Raises `UsageProblem`."""
    if typed is not None:
        address, held = _parsed(typed, typed)
        if not held.isdisjoint(_SECRET):
            raise UsageProblem(
                f"{address.shown} carries a password, which other users of this machine can read"
                " there",
                f"leave it out, and set PGPASSWORD or {VARIABLE}, or use ~/.pgpass",
            )
        return address
    if known := environment.get(VARIABLE):
        return _parsed(known, VARIABLE)[0]
    if any(environment.get(name) for name in LIBPQ):
        return Address("", "the store that the PG variables name")
    raise UsageProblem("no store is named", f"give its URL, {FORM}, or set {VARIABLE}")


def _parsed(url: str, called: str) -> tuple[Address, frozenset[str]]:
    shown = redaction.url(url)
    what = shown if called == url else f"{called} ({shown})"
    if not url.startswith(SCHEMES):
        raise UsageProblem(f"{what} names no PostgreSQL", f"write {FORM}")
    try:
        held = conninfo.conninfo_to_dict(url)
    except (ProgrammingError, UnicodeError) as error:
        # What libpq says of it may hold a part of a password.
        raise UsageProblem(f"{what} is not a URL of PostgreSQL", f"write {FORM}") from error
    if f"{redaction.MARK}@" in shown and "user" not in held:
        # libpq takes a password with a slash in it for a port, and tells it.
        raise UsageProblem(f"{what} is not a URL of PostgreSQL", "write / and @ as %2F and %40")
    return Address(url, shown), frozenset(held)
