"""What is made of OpenAPI descriptions and Postman collections, and what can't be imported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.traffic.sources import fields, log, made, written
from wiretrial.errors import EXIT_USAGE, UsageProblem
from wiretrial.traffic.importing.draft import save

OPENAPI = """\
openapi: 3.0.3
info: {title: Pets, version: 2026-01-01}
servers: [{url: "https://{env}.example/v1", variables: {env: {default: api}}}]
security: [{bearer: []}]
paths:
  /pets/{petId}:
    parameters:
      - {name: petId, in: path, required: true, schema: {type: integer, minimum: 5}}
    get:
      operationId: getPet
      parameters:
        - {name: verbose, in: query, schema: {type: boolean, example: true}}
        - {name: skip, in: query, schema: {type: integer}}
        - {name: X-Trace, in: header, required: true, schema: {type: string, maxLength: 2}}
      responses:
        "200": {content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
  /pets:
    get: {security: [], responses: {default: {description: x}}}
    post:
      operationId: createPet
      security: [{key: []}]
      requestBody:
        content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}
      responses: {"201": {content: {application/json: {schema: {type: array, items: {}}}}}}
  /shelters:
    get:
      operationId: shelters
      security: []
      responses:
        "200": {content: {application/json: {schema: {$ref: "#/components/schemas/Place"}}}}
  /upload:
    post: {requestBody: {content: {multipart/form-data: {}}}, responses: {}}
components:
  securitySchemes:
    bearer: {type: http, scheme: bearer}
    key: {type: apiKey, in: query, name: key}
  schemas:
    Pet:
      allOf: [{$ref: "#/components/schemas/Named"}]
      required: [id, born, tags, owner, weight]
      properties:
        id: {type: integer, readOnly: true}
        born: {type: string, format: date-time}
        kind: {type: string, enum: [cat, dog]}
        tags: {type: array, items: {type: string}}
        weight: {type: number, nullable: true, minimum: 2.5}
        owner: {type: object, required: [pet], properties: {pet: {$ref: "#/components/schemas/Id"}}}
    Named: {type: object, required: [name], properties: {name: {type: string, minLength: 6}}}
    Id: {type: string, format: uuid, description: of a pet}
    Place:
      type: object
      required: [id, since, pets, secret]
      properties:
        id: {type: integer}
        since: {type: string, format: date-time}
        pets: {type: array, items: {type: string, format: email, x: {}}, uniqueItems: true}
        secret: {type: string, writeOnly: true}
"""
OPENAPI_MADE = {
    "get-pet.hurl": """\
# @name getPet
GET {{base}}/pets/{{petId}}
X-Trace: te
Authorization: Bearer {{token}}
[Query]
verbose: true
HTTP 200
[Asserts]
header "Content-Type" contains "application/json"
""",
    "get-pets.hurl": """\
GET {{base}}/pets
HTTP *
[Asserts]
status < 400
""",
    "create-pet.hurl": """\
# @name createPet
POST {{base}}/pets
[Query]
key: {{api_key}}
{
  "name": "textte",
  "born": "2026-01-01T00:00:00Z",
  "kind": "cat",
  "tags": [
    "text"
  ],
  "weight": 2.5,
  "owner": {
    "pet": "00000000-0000-4000-8000-000000000000"
  }
}
HTTP 201
[Asserts]
header "Content-Type" contains "application/json"
""",
    # Of this schema not all can be checked.
    "shelters.hurl": """\
# @name shelters
GET {{base}}/shelters
HTTP 200
[Asserts]
header "Content-Type" contains "application/json"
jsonpath "$.id" isInteger
jsonpath "$.since" isIsoDate
jsonpath "$.pets" count >= 0
""",
}
SCHEMAS = {
    "get-pet.schema.json": {
        "required": ["name", "id", "born", "tags", "owner", "weight"],
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 6},
            "id": {"type": "integer"},
            "born": {"type": "string", "format": "date-time"},
            "kind": {"type": "string", "enum": ["cat", "dog"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "weight": {"type": "number", "nullable": True, "minimum": 2.5},
            "owner": {
                "type": "object",
                "required": ["pet"],
                "properties": {"pet": {"$ref": "#/$defs/Id"}},
            },
        },
        "$defs": {"Id": {"type": "string", "format": "uuid"}},
    },
    "create-pet.schema.json": {"type": "array", "items": {}},
}


def test_openapi(tmp_path: Path) -> None:
    draft = made("openapi", OPENAPI)
    files = written(draft, tmp_path)
    assert {name: files[name] for name in files if name.endswith(".hurl")} == OPENAPI_MADE
    assert {name: json.loads(files[name]) for name in files if ".schema." in name} == SCHEMAS
    assert (
        '[check]\ngetPet.schema = "get-pet.schema.json"\n'
        'createPet.schema = "create-pet.schema.json"\n' in files["traffic.toml"]
    )
    assert draft.base == "https://api.example/v1"
    assert draft.variables == {"token": "change-me", "petId": "5", "api_key": "change-me"}
    assert "left out, as their bodies can't be written: POST /upload" in draft.notes


def test_openapi_as_json_and_with_another_server(tmp_path: Path) -> None:
    document = {"openapi": "3.1.0", "paths": {"/": {"get": {"responses": {"204": {}}}}}}
    draft = made("openapi", json.dumps(document), base="http://h:1/")
    assert written(draft, tmp_path)["get.hurl"] == "GET {{base}}/\nHTTP 204\n"
    assert draft.base == "http://h:1"


def test_a_cookie_of_openapi_is_told(tmp_path: Path) -> None:
    cookie = {"name": "session", "in": "cookie", "schema": {"type": "string"}}
    sort = {"name": "sort", "in": "query", "schema": {"type": "string", "examples": ["name"]}}
    operation = {"parameters": [cookie, sort], "responses": {"204": {}}}
    draft = made("openapi", json.dumps({"openapi": "3.1.0", "paths": {"/": {"get": operation}}}))
    assert written(draft, tmp_path)["get.hurl"] == "GET {{base}}/\n[Query]\nsort: name\nHTTP 204\n"
    assert any(note.startswith("the cookie session is not sent: put") for note in draft.notes)


POSTMAN = {
    "info": {"name": "Shop API"},
    "variable": [
        {"key": "baseUrl", "value": "https://{{host}}/v1"},
        {"key": "host", "value": "api.shop"},
        {"key": "page", "value": "2"},
    ],
    "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{access token}}"}]},
    "item": [
        {"name": "ping", "request": "{{baseUrl}}/ping"},
        {
            "name": "Users",
            "item": [
                {
                    "name": "login",
                    "request": {
                        "auth": {"type": "noauth"},
                        "method": "POST",
                        "header": fields(),
                        "body": {
                            "mode": "raw",
                            "raw": '{\n "user": "{{user}}", "id": "{{$guid}}"\n}',
                            "options": {"raw": {"language": "json"}},
                        },
                        "url": {"raw": "{{baseUrl}}/login"},
                    },
                    "event": [{"listen": "test", "script": {"exec": ["pm.test()"]}}],
                    "response": [{"code": 201}],
                },
                {
                    "name": "deep",
                    "item": [
                        {
                            "name": "get",
                            "request": {
                                "method": "GET",
                                "url": {
                                    "raw": "{{baseUrl}}/users/:id?page={{page}}&q=a b",
                                    "variable": [{"key": "id", "value": "7"}],
                                },
                            },
                        }
                    ],
                },
                {"name": "other", "request": {"method": "GET", "url": "https://other/x"}},
                {"name": "file", "request": {"body": {"mode": "formdata"}, "url": "x"}},
                {
                    "name": "form",
                    "request": {
                        "method": "PUT",
                        "url": "https://api.shop/v1/form",
                        "body": {
                            "mode": "urlencoded",
                            "urlencoded": [
                                {"key": "a", "value": "{{page}} x"},
                                {"key": "b", "value": "c", "disabled": True},
                            ],
                        },
                    },
                },
            ],
        },
    ],
}
POSTMAN_MADE = """\
# @name login
POST {{base}}/v1/login
{
 "user": "{{user}}", "id": "{{newUuid}}"
}
HTTP 201

# @name get
GET {{base}}/v1/users/7?page={{page}}&q=a%20b
Authorization: Bearer {{access_token}}

# @name form
PUT {{base}}/v1/form
Authorization: Bearer {{access_token}}
[Form]
a: {{page}} x
"""


def test_postman(tmp_path: Path) -> None:
    draft = made("postman", json.dumps(POSTMAN))
    files = written(draft, tmp_path)
    assert files["users.hurl"] == POSTMAN_MADE
    assert files["shop-api.hurl"] == (
        "# @name ping\nGET {{base}}/v1/ping\nAuthorization: Bearer {{access_token}}\n"
    )
    assert draft.base == "https://api.shop"
    assert draft.variables == {"access_token": "1", "user": "1", "page": "2"}
    told = "\n".join(draft.notes)
    assert "scripts are not translated" in told
    assert "left out, its body can't be written: file" in told
    assert "left out, sent to https://other: GET https://other/x" in told


REFUSED = [
    ("curl", "echo hello", "source has no curl command: write commands such as curl http://..."),
    ("curl", "\ncurl 'http://h", "source:2:1: no closing quotation: close the quotation mark"),
    ("curl", "curl --fale http://h", "source:1:1: curl's --fale is not known here: did you mean"),
    ("curl", "curl -F a=b http://h", "source:1:1: curl's --form can't be imported: write the req"),
    ("curl", "curl -d @f http://h", "source:1:1: --data @f is in a file: write its content into"),
    ("curl", "curl -H", "source:1:1: --header has no value: write it"),
    ("curl", "curl -s", "source:1:1: a command without a URL: write curl http://..."),
    ("curl", "curl ftp://h", "source:1:1: ftp://h is not sent: use http:// or https://"),
    ("curl", "curl -X get h", "source:1:1: get is no method: write GET"),
    ("har", "{", "source is no HAR file: Expecting property name"),
    ("har", "{}", "source is no HAR file: no 'log': save the recording as HAR in the browser"),
    ("har", '{"log": {"entries": []}}', "source has no request with http or https: record a page"),
    ("openapi", "{", "source: not JSON: Expecting property name"),
    ("openapi", "a: [", "source:1:5: expected the node content, but found '<stream end>': correct"),
    ("openapi", "swagger: '2.0'", "source is Swagger 2.0: convert it to OpenAPI 3"),
    ("openapi", "openapi: 3.0.0", "source has no operation that can be sent: add paths to it"),
    ("openapi", "- a", "source is no OpenAPI description: name one that begins with openapi"),
    ("postman", "[]", "source is no Postman collection: export it as Collection v2.1"),
    ("postman", "{", "source: not JSON: Expecting property name"),
    ("postman", '{"info": {}, "item": []}', "source has no request that can be sent: export anot"),
    ("access-log", "nonsense", "source has no line in the format common, combined or JSON: JSON"),
    ("access-log", log("POST / 200"), "source has no request that went well without a body: use"),
]


@pytest.mark.parametrize(("kind", "source", "told"), REFUSED)
def test_what_cannot_be_imported(kind: str, source: str, told: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        made(kind, source)
    assert caught.value.line().startswith(told)
    assert caught.value.exit_code == EXIT_USAGE


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    draft = made("curl", "curl http://h/")
    written(draft, tmp_path)
    with pytest.raises(UsageProblem, match="is there already"):
        save(draft, tmp_path / "new", "source")


def test_another_server_has_to_be_a_url() -> None:
    with pytest.raises(UsageProblem, match="--base h is no URL"):
        made("curl", "curl http://h/", base="h")
