"""The traffic files of the contract `web`, written from what it keeps in its database.

Pure: knows what is asked, and the right reply to each; must not know who asks.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence

from wiretrial.subjects import web_parts
from wiretrial.subjects.web_parts import ROWS, chain

ASKED = 500
"""Rows of the feed of single rows; far apart in the table, and each of its own."""
LISTS = 100
LENGTH = 20
"""Rows that a request for many is for."""
BASE = "http://127.0.0.1:8000"


def files() -> dict[str, str]:
    """Each file by its name."""
    hurl = {
        "plaintext": PLAINTEXT,
        "json": JSON,
        "db": ONE,
        "queries": _many("queries", ""),
        "updates": _many("updates", "\nnumber: {{number}}"),
        "cached": _many("cached", ""),
        "fortunes": _fortunes(),
        "session": SESSION,
    }
    feeds = {"db": "rows", "session": "users"}
    feeds |= {name: name for name in ("queries", "updates", "cached")}
    found = {f"{name}.hurl": text for name, text in hurl.items()}
    found |= {f"{name}.toml": _toml(name, feeds.get(name)) for name in hurl}
    found["rows.csv"] = _csv(("id", "number"), ((row, web_parts.number(row)) for row in _firsts()))
    found["users.csv"] = _csv(("name", "password"), _users())
    found["queries.csv"] = _lists(web_parts.number)
    found["cached.csv"] = _lists(web_parts.cached_number)
    found["updates.csv"] = _updates()
    return found


PLAINTEXT = """# @name plaintext
GET {{base}}/plaintext
HTTP 200
[Asserts]
header "Content-Type" startsWith "text/plain"
body == "Hello, World!"
"""

JSON = """# @name json
GET {{base}}/json
HTTP 200
[Asserts]
header "Content-Type" startsWith "application/json"
jsonpath "$.message" == "Hello, World!"
"""

ONE = """# @name db
GET {{base}}/db
[Query]
id: {{id}}
HTTP 200
[Asserts]
header "Content-Type" startsWith "application/json"
jsonpath "$.id" == {{id}}
jsonpath "$.number" == {{number}}
"""

SESSION = """# @name login
POST {{base}}/login
{"name": "{{name}}", "password": "{{password}}"}
HTTP 200
[Captures]
token: jsonpath "$.token"

# @name list
GET {{base}}/items
Authorization: Bearer {{token}}
HTTP 200
[Asserts]
header "Content-Type" startsWith "application/json"
jsonpath "$" count == 20

# @name create
POST {{base}}/items
Authorization: Bearer {{token}}
{"text": "made by {{name}} as {{seq}} <&>"}
HTTP 201
[Captures]
made: jsonpath "$.id"
text: jsonpath "$.text"
[Asserts]
jsonpath "$.text" == "made by {{name}} as {{seq}} <&>"

# @name list again
GET {{base}}/items
Authorization: Bearer {{token}}
HTTP 200
[Asserts]
jsonpath "$" count == 20
jsonpath "$[0].id" == {{made}}
jsonpath "$[0].text" == "{{text}}"
"""


def _many(name: str, more: str) -> str:
    """Many rows: each of them, in its place."""
    lines = [
        f"# @name {name}",
        f"GET {{{{base}}}}/{name}",
        "[Query]",
        "id: {{id0}}",
        f"count: {LENGTH}{more}",
        "HTTP 200",
        "[Asserts]",
        'header "Content-Type" startsWith "application/json"',
        f'jsonpath "$" count == {LENGTH}',
    ]
    for place in range(LENGTH):
        wanted = "number" if name == "updates" and place == 0 else f"number{place}"
        lines.append(f'jsonpath "$[{place}].id" == {{{{id{place}}}}}')
        lines.append(f'jsonpath "$[{place}].number" == {{{{{wanted}}}}}')
    return "\n".join([*lines, ""])


def _fortunes() -> str:
    """The page: what must, and must not, stand in it. Each framework escapes in its own way."""
    lines = [
        "# @name fortunes",
        "GET {{base}}/fortunes",
        "HTTP 200",
        "[Asserts]",
        'header "Content-Type" matches "(?i)^text/html; *charset=utf-8$"',
        'body startsWith "<!DOCTYPE html>"',
        'body not contains "<script"',
        'body not contains "<em"',
        'body not contains "Tom & "',
        'body matches "(?i)&(lt|#60|#x3c);script&(gt|#62|#x3e);alert\\\\("',
        'body matches "(?i)Tom &(amp|#38|#x26); Jerry"',
    ]
    plain = [(row, text) for row, text in web_parts.fortunes() if not set(text) & set("&<>'\"")]
    for row, text in plain:
        lines.append(f'body matches "<td>{row}</td>\\\\s*<td>{_literal(text)}</td>"')
    return "\n".join([*lines, ""])


def _literal(text: str) -> str:
    return text.replace(".", "\\\\.")


def _toml(name: str, feed: str | None) -> str:
    # A session takes the next account, so that nobody logs in twice at the same time.
    order = "sequential" if name == "session" else "shuffled"
    fed = f'feed = {{file = "{feed}.csv", order = "{order}"}}\n' if feed else ""
    return f'base = "{BASE}"\n\n[[flow]]\nfile = "{name}.hurl"\n{fed}\n[load]\nusers = 32\n'


def _firsts() -> list[int]:
    return chain(1, ASKED)


def _users() -> Iterator[tuple[str, str]]:
    for account in range(1, web_parts.ACCOUNTS + 1):
        yield web_parts.name(account), web_parts.password(account)


def _lists(tell: Callable[[int], int]) -> str:
    names = [f"{kind}{place}" for place in range(LENGTH) for kind in ("id", "number")]
    rows = ([(row, tell(row)) for row in chain(first, LENGTH)] for first in _first_of_lists())
    return _csv(names, ([value for pair in row for value in pair] for row in rows))


def _updates() -> str:
    names = [f"{kind}{place}" for place in range(LENGTH) for kind in ("id", "number")]
    names[1] = "number"
    rows = []
    for first in _first_of_lists():
        numbers = chain(first * 17 % ROWS + 1, LENGTH)
        pairs = zip(chain(first, LENGTH), numbers, strict=True)
        rows.append([value for pair in pairs for value in pair])
    return _csv(names, rows)


def _first_of_lists() -> list[int]:
    return [number * 97 + 1 for number in range(LISTS)]


def _csv(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    to = io.StringIO()
    writer = csv.writer(to, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return to.getvalue()
