"""Whatever an importer writes can be read and compiled, whatever it was made of."""

from __future__ import annotations

import json
import shlex
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from wiretrial.errors import UsageProblem
from wiretrial.traffic.compiler import Scenario, compile_file
from wiretrial.traffic.importing import formats
from wiretrial.traffic.importing.draft import save

EXAMPLES = settings(max_examples=40, deadline=None)

ODD = [
    "{{",
    "}}",
    "{{x}}",
    "#",
    "\\",
    '"',
    "`",
    "```",
    "\n",
    "\t",
    " ",
    "%",
    "?",
    "&",
    "=",
    "é",
    "[a]",
]
TEXTS = st.text(max_size=12) | st.sampled_from(ODD) | st.text('ab{}"#\\ ', max_size=8)
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,8}", fullmatch=True) | TEXTS
TOKENS = st.from_regex(r"[a-z0-9]{12,20}", fullmatch=True)
SEGMENTS = st.lists(TEXTS | TOKENS | st.integers(0, 99999).map(str), max_size=4)
URLS = st.builds(
    lambda path, query: "http://h:8000/" + "/".join(path) + (f"?{query}" if query else ""),
    SEGMENTS,
    TEXTS,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS | TOKENS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
METHODS = st.sampled_from(["GET", "POST", "PUT", "DELETE"])
PAIRS = st.lists(st.tuples(NAMES, TEXTS), max_size=3)


def imported(kind: str, source: str) -> Scenario | None:
    """The scenario in what is written; None where the source is refused in one line."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            made = formats.draft(kind, source, Path("source"), None)
        except UsageProblem:
            return None
        files = save(made, Path(folder) / "new", "source")
        return compile_file(files[0], {})


@st.composite
def har_entries(draw: st.DrawFn) -> dict[str, Any]:
    body = draw(st.none() | JSON.map(json.dumps) | TEXTS)
    reply = draw(JSON)
    return {
        "startedDateTime": "2026-01-01T00:00:00Z",
        "time": 5,
        "request": {
            "method": draw(METHODS),
            "url": draw(URLS),
            "headers": [{"name": key, "value": value} for key, value in draw(PAIRS)],
            "postData": {
                "text": body,
                "mimeType": draw(
                    st.sampled_from(
                        ["application/json", "application/x-www-form-urlencoded", "text/plain"]
                    )
                ),
            },
        },
        "response": {
            "status": draw(st.sampled_from([200, 201, 302, 404])),
            "headers": [{"name": key, "value": value} for key, value in draw(PAIRS)],
            "content": {
                "mimeType": draw(st.sampled_from(["application/json", "text/html"])),
                "text": json.dumps(reply),
            },
        },
    }


@EXAMPLES
@given(st.lists(har_entries(), min_size=1, max_size=4))
def test_har(entries: list[dict[str, Any]]) -> None:
    scenario = imported("har", json.dumps({"log": {"entries": entries}}))
    assert scenario is not None
    assert len(scenario.traffic.flows[0].steps) == len(entries)


@EXAMPLES
@given(TOKENS, st.sampled_from(["header", "path", "query", "json", "form"]), JSON)
def test_a_token_that_comes_back_is_captured(token: str, place: str, other: Any) -> None:
    token = f"t0k8x2m9q4{token}"
    posted = {
        "json": {"text": json.dumps({"a": {"b": token}}), "mimeType": "application/json"},
        "form": {"text": f"a={token}", "mimeType": "application/x-www-form-urlencoded"},
    }
    path = {"path": f"/x/{token}/y", "query": f"/x?a={token}"}.get(place, "/")
    header = {"name": "Authorization", "value": f"Bearer {token}" if place == "header" else "x"}
    first = {
        "request": {"method": "GET", "url": "http://h/"},
        "response": {
            "status": 200,
            "content": {
                "mimeType": "application/json",
                "text": json.dumps({"other": other, "token": token}),
            },
        },
    }
    second = {
        "request": {
            "method": "POST",
            "url": f"http://h{path}",
            "headers": [header],
            "postData": posted.get(place),
        },
        "response": {"status": 200},
    }
    scenario = imported("har", json.dumps({"log": {"entries": [first, second]}}))
    assert scenario is not None
    assert token not in scenario.traffic.routes[1].model_dump_json()
    assert [one.name for one in scenario.traffic.routes[0].captures] == ["token"]


@st.composite
def curl_commands(draw: st.DrawFn) -> str:
    words = ["curl", draw(URLS)]
    for key, value in draw(PAIRS):
        words += ["-H", f"{key}: {value}"]
    body = draw(st.none() | JSON.map(json.dumps) | TEXTS)
    if body is not None:
        words += ["--data-raw", body]
    words += draw(st.sampled_from([[], ["-X", "PATCH"], ["--json", "{}"], ["-u", "a:b"], ["-G"]]))
    return shlex.join(words)


@EXAMPLES
@given(st.lists(curl_commands(), min_size=1, max_size=3))
def test_curl(commands: list[str]) -> None:
    imported("curl", "\n".join(commands))


@EXAMPLES
@given(st.lists(st.tuples(METHODS, SEGMENTS, TEXTS), min_size=1, max_size=20))
def test_access_log(requests: list[tuple[str, list[str], str]]) -> None:
    lines = []
    for index, (method, segments, query) in enumerate(requests):
        path = f"/{'/'.join(segments)}?{query}"
        lines.append(
            f'h - - [01/Jan/2026:00:{index:02}:00 +0000] "{method} {path} HTTP/1.1" 200 5 "-" "x"'
            if index % 2
            else json.dumps({"method": method, "path": path, "status": 200, "time": index})
        )
    imported("access-log", "\n".join(lines))


SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "number", "boolean", "null"])},
        optional={"example": TEXTS, "format": st.sampled_from(["uuid", "date-time", "email"])},
    )
    | st.just({"$ref": "#/components/schemas/Self"}),
    lambda inner: (
        st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.builds(
            lambda members: {
                "type": "object",
                "properties": members,
                "required": [*members],
            },
            st.dictionaries(NAMES, inner, max_size=3),
        )
        | st.fixed_dictionaries({"allOf": st.lists(inner, max_size=2)})
    ),
    max_leaves=6,
)


@EXAMPLES
@given(
    st.dictionaries(
        SEGMENTS.map(lambda parts: "/" + "/".join(parts)) | st.just("/a/{id}"),
        st.dictionaries(
            st.sampled_from(["get", "post", "delete"]), SCHEMAS, min_size=1, max_size=2
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["application/json", "application/x-www-form-urlencoded", "text/plain"]),
    st.lists(st.tuples(NAMES, st.sampled_from(["path", "query", "header"]), SCHEMAS), max_size=3),
    st.none() | TEXTS,
)
def test_openapi(
    paths: dict[str, dict[str, Any]],
    media_type: str,
    parameters: list[tuple[str, str, Any]],
    operation_id: str | None,
) -> None:
    document = {
        "openapi": "3.1.0",
        "components": {
            "schemas": {
                "Self": {
                    "type": "object",
                    "required": ["self", "n"],
                    "properties": {
                        "self": {"$ref": "#/components/schemas/Self"},
                        "n": {"type": "integer"},
                    },
                }
            }
        },
        "paths": {
            path: {
                method: {
                    "operationId": operation_id,
                    "parameters": [
                        {"name": name, "in": where, "schema": one, "required": True}
                        for name, where, one in parameters
                    ],
                    "requestBody": {"content": {media_type: {"schema": schema}}},
                    "responses": {"200": {"content": {media_type: {"schema": schema}}}},
                }
                for method, schema in operations.items()
            }
            for path, operations in paths.items()
        },
    }
    imported("openapi", json.dumps(document))


@st.composite
def postman_items(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.integers(0, 4)) == 0:
        return {"name": draw(TEXTS), "item": [draw(postman_items())]}
    base = draw(st.sampled_from(["{{baseUrl}}", "http://h:8000", "{{host}}:80", "https://other"]))
    raw = draw(TEXTS | JSON.map(json.dumps))
    return {
        "name": draw(TEXTS),
        "request": {
            "method": draw(METHODS),
            "url": {"raw": f"{base}/{'/'.join(draw(SEGMENTS))}"},
            "header": [{"key": key, "value": value} for key, value in draw(PAIRS)],
            "body": draw(
                st.sampled_from(
                    [
                        None,
                        {"mode": "raw", "raw": raw},
                        {"mode": "raw", "raw": raw, "options": {"raw": {"language": "json"}}},
                        {"mode": "urlencoded", "urlencoded": [{"key": "a", "value": raw}]},
                        {"mode": "graphql", "graphql": {"query": raw}},
                    ]
                )
            ),
        },
    }


@EXAMPLES
@given(st.lists(postman_items(), min_size=1, max_size=4), TEXTS)
def test_postman(items: list[dict[str, Any]], value: str) -> None:
    collection = {
        "info": {"name": "x"},
        "item": items,
        "variable": [{"key": "baseUrl", "value": "http://h:8000"}, {"key": "x", "value": value}],
    }
    imported("postman", json.dumps(collection))
