"""Checks of the contract `web`: an application with a database, and pages, rows and logins in it.

Knows routes and right answers, and looks into the database past the server; must not know who
serves them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import urlencode

from wiretrial.subjects import http_parts, web_parts
from wiretrial.subjects.any_connection import connect
from wiretrial.subjects.checks import Check
from wiretrial.subjects.checks_http import WRONG_PATH, expect_json
from wiretrial.subjects.endpoint import Endpoint, expect
from wiretrial.subjects.http_connection import Answer, Connection, Request
from wiretrial.subjects.web_parts import MOST, ROWS, Row, chain, clamped

JSON = "application/json"
FEW = 7
"""Rows of a request whose statements are counted."""
COUNTS = (None, "", "foo", "0", "-3", "1", "20", str(MOST + 1), "100000")
"""What may stand as `count`, and is clamped."""
WRITERS = 20
"""Connections that change the same rows at the same time."""
AT_ONCE = 20
"""Rows that each of them changes."""

Tell = Callable[[int], int]
"""The number that a row must have."""


def _request(number: int) -> Request:
    """All routes that read, in turn: answers that change places are of the wrong kind."""
    kinds = (
        _plaintext(),
        _json(),
        _one(number * 37 % ROWS + 1),
        _queries(number + 1, "2"),
        _fortunes(),
        _cached(number + 1, "3"),
    )
    return kinds[number % len(kinds)]


def _plaintext() -> Request:
    def right(answer: Answer) -> None:
        wanted = web_parts.GREETING.encode()
        expect(answer.content == wanted, f"/plaintext is {answer.content[:40]!r}, not {wanted!r}")
        expect(answer.kind == "text/plain", f"/plaintext is {answer.kind}, not text/plain")

    return Request("GET", "/plaintext", right=right)


def _json() -> Request:
    def right(answer: Answer) -> None:
        wanted = {"message": web_parts.GREETING}
        said = expect_json(answer)
        expect(said == wanted, f"/json says {said!r}, not {wanted!r}")

    return Request("GET", "/json", right=right)


def _one(row: int, tell: Tell = web_parts.number) -> Request:
    def right(answer: Answer) -> None:
        _expect_rows([expect_json(answer)], [Row(row, tell(row))], "/db")

    return Request("GET", _path("/db", id=row), right=right)


def _queries(first: int, count: str | None) -> Request:
    return _rows("/queries", first, count, web_parts.number)


def _cached(first: int, count: str | None) -> Request:
    return _rows("/cached", first, count, web_parts.cached_number)


def _rows(path: str, first: int, count: str | None, tell: Tell) -> Request:
    def right(answer: Answer) -> None:
        wanted = [Row(row, tell(row)) for row in chain(first, clamped(count))]
        _expect_rows(expect_json(answer), wanted, path)

    return Request("GET", _path(path, id=first, count=count), right=right)


def _updates(first: int, count: str | None, number: int) -> Request:
    def right(answer: Answer) -> None:
        _expect_rows(expect_json(answer), _changed(first, count, number), "/updates")

    return Request("GET", _path("/updates", id=first, count=count, number=number), right=right)


def _changed(first: int, count: str | None, number: int) -> list[Row]:
    """What such a request makes of which rows."""
    wanted = clamped(count)
    return [Row(*pair) for pair in zip(chain(first, wanted), chain(number, wanted), strict=True)]


def _path(path: str, **values: object) -> str:
    given = {name: value for name, value in values.items() if value is not None}
    return f"{path}?{urlencode(given)}"


def _expect_rows(said: object, wanted: Sequence[Row], path: str) -> None:
    """Raises unless the reply has exactly these rows in this order."""
    expect(isinstance(said, list), f"{path} answered {str(said)[:60]}, not a list")
    assert isinstance(said, list)
    expect(len(said) == len(wanted), f"{path} answered {len(said)} rows, not {len(wanted)}")
    for place, (one, row) in enumerate(zip(said, wanted, strict=True)):
        right = {"id": row.id, "number": row.number}
        expect(one == right, f"{path} answered {one!r} as row {place}, not {right!r}")


class _Table(HTMLParser):
    """Cells of a page's table, and whatever else is in the page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self.tags: list[str] = []
        self.declared = False
        self._in_cell = False

    def handle_decl(self, decl: str) -> None:
        self.declared = decl.lower() == "doctype html"

    def handle_starttag(self, tag: str, _: Iterable[object]) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data


PAGE_TAGS = frozenset({"html", "head", "meta", "title", "body", "table", "thead", "tbody", "tr"})
"""What a page is made of, beside its cells."""


def _fortunes() -> Request:
    def right(answer: Answer) -> None:
        expect(answer.kind == "text/html", f"/fortunes is {answer.kind}, not text/html")
        said = (answer.charset or "").lower()
        expect(said == "utf-8", f"/fortunes says charset {said or 'nothing'}, not utf-8")
        page = _Table()
        page.feed(answer.content.decode("utf-8"))
        page.close()
        expect(page.declared, "/fortunes does not begin with <!DOCTYPE html>")
        strange = set(page.tags) - PAGE_TAGS - {"td", "th"}
        expect(not strange, f"/fortunes has tags that no page has: {', '.join(sorted(strange))}")
        wanted = [["id", "message"], *([str(row), text] for row, text in web_parts.fortunes())]
        expect(
            len(page.rows) == len(wanted),
            f"/fortunes has {len(page.rows)} rows of a table, not {len(wanted)}",
        )
        for one, row in zip(page.rows, wanted, strict=True):
            expect(one == row, f"/fortunes has the row {one}, and is wanted {row}")

    return Request("GET", "/fortunes", right=right)


def _routes(endpoint: Endpoint) -> None:
    with connect(endpoint) as connection:
        for request in (_plaintext(), _json(), _fortunes()):
            connection.exchange(request)


def _data(endpoint: Endpoint) -> None:
    with connect(endpoint) as connection:
        for row in (1, 2, ROWS // 2, ROWS):
            connection.exchange(_one(row))
            connection.exchange(_queries(row, "20"))


def _statements(endpoint: Endpoint) -> None:
    """Each row is asked for by a statement of its own, each time."""
    with connect(endpoint) as connection:
        for request, wanted in ((_one(5), 1), (_queries(5, str(FEW)), FEW), (_fortunes(), 1)):
            connection.exchange(request)
            before = _counted(endpoint)
            connection.exchange(request)
            asked = _counted(endpoint) - before
            expect(asked == wanted, f"{request} asked the database {asked} times, not {wanted}")


def _counted(endpoint: Endpoint, verb: str = "select") -> int:
    """How many statements have read, or changed, a table of ours until now."""
    sql = (
        "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements JOIN pg_roles ON oid = userid"
        f" WHERE rolname = '{web_parts.DATABASE}' AND query ~* '^\\s*{verb}\\M'"
        r" AND query ~* '\m(world|fortune)\M'"
    )
    return int(_ask(endpoint, sql)[0][0])


def _ask(endpoint: Endpoint, sql: str) -> list[tuple[str, ...]]:
    assert endpoint.database
    return endpoint.database.ask(sql, web_parts.DATABASE)


def _clamping(endpoint: Endpoint) -> None:
    with connect(endpoint) as connection:
        for count in COUNTS:
            connection.exchange(_queries(11, count))
            connection.exchange(_cached(11, count))
        for count in COUNTS:
            connection.exchange(_updates(11, count, 12))


def _updated(endpoint: Endpoint) -> None:
    """The database holds afterwards what the reply said, and nothing else has changed."""
    before = _world(endpoint)
    wanted = dict(before)
    with connect(endpoint) as connection:
        connection.exchange(_one(17, lambda row: before[row]))
        for number, count in enumerate(("1", str(FEW), str(MOST))):
            first = number * 3001 + 17
            connection.exchange(_updates(first, count, 4711 + number))
            wanted |= dict(_changed(first, count, 4711 + number))
            found = _world(endpoint)
            wrong = [row for row in found if found[row] != wanted[row]]
            expect(
                not wrong and len(found) == ROWS,
                f"after /updates of {count} rows from {first} on {len(wrong)} rows of the database"
                " are not as the reply said"
                + (f": row {wrong[0]} is {found[wrong[0]]}" if wrong else ""),
            )
        # What was changed is read, not what was kept of it.
        connection.exchange(_one(17, lambda row: wanted[row]))


def _reading_first(endpoint: Endpoint) -> None:
    """Each row is read before it is changed, and is changed."""
    with connect(endpoint) as connection:
        connection.exchange(_updates(2, str(FEW), 9))
        before = _counted(endpoint)
        connection.exchange(_updates(2, str(FEW), 10))
        asked = _counted(endpoint) - before
        expect(asked >= FEW, f"/updates of {FEW} rows read {asked} of them before")


def _at_once(endpoint: Endpoint) -> None:
    """Rows that are changed by many at the same time. All of them take rows in the same order."""

    def change(writer: int) -> None:
        with connect(endpoint) as connection:
            for turn in range(3):
                # The same rows, each time begun at another one.
                first = chain(100, AT_ONCE)[writer % AT_ONCE]
                connection.exchange(_updates(first, str(AT_ONCE), writer * 31 + turn + 1))

    with ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(change, writer) for writer in range(WRITERS)]:
            done.result()


def _world(endpoint: Endpoint) -> dict[int, int]:
    return {int(row): int(number) for row, number in _ask(endpoint, "TABLE world")}


def _kept(endpoint: Endpoint) -> None:
    """What was asked for once does not come from the database again."""
    with connect(endpoint) as connection:
        for first in (1, 4242):
            connection.exchange(_cached(first, "100"))
        before = _counted_cached(endpoint)
        for _ in range(3):
            connection.exchange(_cached(1, "100"))
        asked = _counted_cached(endpoint) - before
        expect(asked == 0, f"/cached asked the database {asked} times for what it had been told")


def _counted_cached(endpoint: Endpoint) -> int:
    sql = "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query ~* 'cached_world'"
    return int(_ask(endpoint, sql)[0][0])


def _login(account: int, password: str | None = None) -> Request:
    said = {"name": web_parts.name(account), "password": password or web_parts.password(account)}
    return _posted("/login", said)


def _posted(path: str, said: object, token: str | None = None) -> Request:
    body = json.dumps(said, ensure_ascii=False).encode()
    return replace(Request("POST", path, body, kind=JSON), fields=_bearer(token))


def _items(token: str | None) -> Request:
    return Request("GET", "/items", fields=_bearer(token))


def _bearer(token: str | None) -> tuple[tuple[str, str], ...]:
    return () if token is None else (("Authorization", f"Bearer {token}"),)


def _session(endpoint: Endpoint) -> None:
    """Who logs in sees the own items, the newest first, and adds one."""
    account, text = 17, 'Say "hello" & 再见'
    with connect(endpoint) as connection:
        token = _token(connection, account)
        kept = _ask(endpoint, f"SELECT account FROM session WHERE token = '{token}'")
        expect(kept == [(str(account),)], "the token of /login is not in the table session")
        before = _listed(connection, token)
        newest = range(web_parts.FIRST_ITEMS, 0, -1)[: web_parts.ITEMS]
        wanted = [web_parts.item(account, place) for place in newest]
        expect(
            [one for _, one in before] == wanted,
            f"/items lists {before[:2]}, not {wanted[:2]}",
        )
        answer = _answer(connection, _posted("/items", {"text": text}, token), 201)
        said = expect_json(answer)
        made = said.get("id") if isinstance(said, dict) else None
        expect(
            isinstance(made, int) and said == {"id": made, "text": text},
            f"POST /items answered {said!r}, not its id and its text",
        )
        found = _ask(endpoint, f"SELECT account, text FROM item WHERE id = {made}")
        expect(found == [(str(account), text)], f"POST /items left {found} in the database")
        after = _listed(connection, token)
        expect(after == [(made, text), *before[:-1]], f"/items lists {after[:2]} after POST /items")
        other = _listed(connection, _token(connection, account + 1))
        expect(text not in [one for _, one in other], "/items lists another account's item")


def _strangers(endpoint: Endpoint) -> None:
    """Nobody gets in with a wrong password, or on without a token."""
    with connect(endpoint) as connection:
        token = _token(connection, 5)
        for request in (
            _login(5, web_parts.password(6)),
            _login(web_parts.ACCOUNTS + 1),
            _items(None),
            _items("not-" + token),
            _posted("/items", {"text": "from nobody"}),
            _posted("/items", {"text": "from nobody"}, "none"),
        ):
            _answer(connection, request, 401)
        found = _ask(endpoint, "SELECT count(*) FROM item WHERE text = 'from nobody'")
        expect(found == [("0",)], "an item of nobody is in the database")
        # The connection, and the login, are as good as before.
        _listed(connection, token)


def _token(connection: Connection, account: int) -> str:
    said = expect_json(_answer(connection, _login(account), 200))
    token = said.get("token") if isinstance(said, dict) else None
    expect(isinstance(token, str) and len(token) >= 32, f"/login answered {said!r}, and no token")
    return str(token)


def _listed(connection: Connection, token: str) -> list[tuple[int, str]]:
    said = expect_json(_answer(connection, _items(token), 200))
    try:
        assert isinstance(said, list)
        found = [(one["id"], one["text"]) for one in said if one.keys() == {"id", "text"}]
    except (AssertionError, AttributeError, KeyError, TypeError):
        found = []
    expect(
        len(found) == web_parts.ITEMS == len(said if isinstance(said, list) else ()),
        f"/items answered {str(said)[:60]}..., not {web_parts.ITEMS} items with id and text",
    )
    return found


def _answer(connection: Connection, request: Request, status: int) -> Answer:
    connection.send(request)
    answer = connection.receive_any(request.method)
    expect(answer.status == status, f"{request} answered {answer.status}, not {status}")
    return answer


WEB: tuple[Check, ...] = (
    *http_parts.parts(
        _request,
        unknown_routes=(Request("GET", WRONG_PATH), Request("GET", "/plaintext-not")),
        wrong_methods=(Request("DELETE", "/plaintext"), Request("PUT", "/items", b"{}", kind=JSON)),
    ),
    Check("routes", "known routes", _routes),
    Check("data", "rows of the database", _data),
    Check("data", "a statement for each row", _statements),
    Check("clamping", f"{len(COUNTS)} counts", _clamping),
    http_parts.body("escaping", "a page with markup in its data", _fortunes()),
    Check("updates", "rows that are changed", _updated),
    Check("updates", "rows that are read before", _reading_first),
    Check("updates", f"{WRITERS} that change the same rows", _at_once),
    Check("cached", "rows that are kept", _kept),
    Check("session", "login, list, create", _session),
    Check("session", "wrong passwords and tokens", _strangers),
)
