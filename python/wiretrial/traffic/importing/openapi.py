"""OpenAPI 3 descriptions, JSON or YAML: a flow for each operation.

Knows operations, parameters, security; examples and checks are made in `schemas`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlsplit

import yaml

from wiretrial.errors import UsageProblem
from wiretrial.traffic.hurl.syntax import (
    Assertion,
    Body,
    Entry,
    Hole,
    Pair,
    Request,
    Response,
    Text,
)
from wiretrial.traffic.importing import parts
from wiretrial.traffic.importing.draft import Draft, DraftFlow
from wiretrial.traffic.importing.parts import NOWHERE
from wiretrial.traffic.importing.schemas import Document

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_NO_SERVER = "http://127.0.0.1:8000"
_SECRET = "change-me"
_FORM = "application/x-www-form-urlencoded"


def draft(source: str, name: str) -> Draft:
    """The draft of a description; `name` is the file's."""
    content = _content(source, name)
    version = str(content.get("openapi", ""))
    if not version.startswith("3."):
        told = (
            f"Swagger {content['swagger']}" if "swagger" in content else "no OpenAPI 3 description"
        )
        raise UsageProblem(f"{name} is {told}", "convert it to OpenAPI 3")
    return _Importer(Document(content)).draft(name)


def _content(source: str, name: str) -> Mapping[str, Any]:
    try:
        # YAML has JSON in it, but for tabs.
        content = parts.loads(source) if source.lstrip()[:1] == "{" else _yaml(source)
    except ValueError as error:
        raise UsageProblem(f"{name}: not JSON: {error}", "correct it") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise UsageProblem(f"{name}{where}: {error.problem}", "correct the YAML") from error
    except yaml.YAMLError as error:
        raise UsageProblem(f"{name}: not YAML: {error}", "correct it") from error
    if not isinstance(content, dict):
        raise UsageProblem(f"{name} is no OpenAPI description", "name one that begins with openapi")
    return content


class _Loader(yaml.SafeLoader):
    """Reads dates as texts, as JSON has them."""


_Loader.yaml_implicit_resolvers = {
    sign: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for sign, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _yaml(source: str) -> Any:
    return yaml.load(source, Loader=_Loader)


@dataclass
class _Importer:
    document: Document
    notes: dict[str, None] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)

    def draft(self, file: str) -> Draft:
        base = self._base()
        flows, left_out = [], []
        taken: set[str] = set()
        for path, item in self._paths():
            for method in _METHODS:
                operation = item.get(method)
                if not isinstance(operation, dict):
                    continue
                entry = self._entry(method.upper(), path, item, operation)
                if entry is None:
                    left_out.append(f"{method.upper()} {path}")
                    continue
                name = _name(operation, method, path, taken)
                if operation.get("operationId") and name.isprintable():
                    entry = replace(entry, name=name)
                schema = self._schema(operation)
                flows.append(DraftFlow(name, (entry,), schema=schema))
        if left_out:
            self.notes[f"left out, as their bodies can't be written: {', '.join(left_out)}"] = None
        if not flows:
            raise UsageProblem(f"{file} has no operation that can be sent", "add paths to it")
        self.notes[
            "values were made from examples and types: put in those that your server has"
        ] = None
        return Draft(base, tuple(flows), tuple(self.notes), self.variables)

    def _base(self) -> str:
        servers = self.document.content.get("servers")
        server = servers[0] if isinstance(servers, list) and servers else {}
        url = str(server.get("url", "")) if isinstance(server, dict) else ""
        for name, about in (server.get("variables") or {}).items() if url else ():
            url = url.replace(f"{{{name}}}", str(about.get("default", "")))
        parsed = urlsplit(url)
        if parsed.scheme in ("http", "https") and parsed.hostname:
            return url.rstrip("/")
        self.notes["the description names no server: change base"] = None
        return f"{_NO_SERVER}{parsed.path}".rstrip("/")

    def _paths(self) -> Iterator[tuple[str, dict[str, Any]]]:
        paths = self.document.content.get("paths")
        for path, item in paths.items() if isinstance(paths, dict) else ():
            yield str(path), self.document.resolved(item)

    def _entry(
        self, method: str, path: str, item: Mapping[str, Any], operation: Mapping[str, Any]
    ) -> Entry | None:
        parameters = [*self._parameters(item, operation)]
        self._tell_cookies(parameters)
        body, form = self._body(operation)
        if body is None and form is None:
            return None
        sections: dict[str, tuple[Pair, ...]] = {}
        if query := [*self._of(parameters, "query"), *self._secrets(operation, "query")]:
            sections["Query"] = tuple(query)
        if form:
            sections["Form"] = form
        headers = [*self._of(parameters, "header"), *self._secrets(operation, "header")]
        return Entry(
            Request(
                method=method,
                url=self._url(path, parameters),
                place=NOWHERE,
                headers=tuple(pair for pair in headers if parts.is_kept(str(pair.key))),
                sections=sections,
                body=body if isinstance(body, Body) else None,
            ),
            self._response(operation),
        )

    def _parameters(
        self, item: Mapping[str, Any], operation: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        """Those of the path and of the operation, which come first."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for where in (item, operation):
            listed = where.get("parameters")
            for one in listed if isinstance(listed, list) else ():
                parameter = self.document.resolved(one)
                if "name" in parameter:
                    found[str(parameter["name"]), str(parameter.get("in"))] = parameter
        yield from found.values()

    def _of(self, parameters: list[dict[str, Any]], where: str) -> Iterator[Pair]:
        for one in parameters:
            if (
                one.get("in") == where
                and one["name"]
                and (one.get("required") or _has_example(one))
            ):
                yield Pair(parts.text(str(one["name"])), parts.text(_written(self._value(one))))

    def _tell_cookies(self, parameters: list[dict[str, Any]]) -> None:
        for one in parameters:
            if one.get("in") == "cookie":
                self.notes[
                    f"the cookie {one['name']} is not sent: put the request whose reply sets it"
                    " before the others, in one .hurl file"
                ] = None

    def _value(self, parameter: Mapping[str, Any]) -> Any:
        if "example" in parameter:
            return parameter["example"]
        examples = parameter.get("examples")
        if isinstance(examples, dict) and examples:
            first = self.document.resolved(next(iter(examples.values())))
            if "value" in first:
                return first["value"]
        return self.document.example(parameter.get("schema"))

    def _url(self, path: str, parameters: list[dict[str, Any]]) -> Text:
        """Values in the path are variables of the TOML file, where a person changes them."""
        found: list[str | Hole] = [Hole("base", NOWHERE)]
        values = {str(one["name"]): one for one in parameters if one.get("in") == "path"}
        for piece in re.split(r"(\{[^{}]*\})", path if path.startswith("/") else f"/{path}"):
            name = piece[1:-1] if piece.startswith("{") else ""
            if name:
                value = _written(self._value(values.get(name, {"schema": {"type": "string"}})))
                if "{{" not in value:
                    found.append(Hole(self._variable(name, value or "1"), NOWHERE))
                    continue
                # A variable can't have braces that are no hole.
                piece = value
            if piece:
                found.append(quote(piece, safe="/:@!$&'()*+,;=-._~%"))
        return parts.merged(found)

    def _variable(self, name: str, value: str) -> str:
        plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name) or "value"
        plain = f"{plain}_" if plain == "base" else plain
        found, number = plain, 1
        while self.variables.setdefault(found, value) != value:
            number += 1
            found = f"{plain}_{number}"
        return found

    def _secrets(self, operation: Mapping[str, Any], where: str) -> Iterator[Pair]:
        """What proves who asks: variables, to be filled in by a person."""
        required = operation.get("security", self.document.content.get("security"))
        schemes = self.document.resolved(self.document.content.get("components")).get(
            "securitySchemes"
        )
        first = required[0] if isinstance(required, list) and required else {}
        if not isinstance(first, dict) or not isinstance(schemes, dict):
            return
        for name in first:
            scheme = self.document.resolved(schemes.get(name))
            kind, way = scheme.get("type"), str(scheme.get("scheme", "")).lower()
            if kind == "apiKey" and scheme.get("in") == where and scheme.get("name"):
                yield Pair(parts.text(str(scheme["name"])), parts.hole(self._secret("api_key")))
            elif where == "header" and (kind in ("oauth2", "openIdConnect") or way == "bearer"):
                value = Text(("Bearer ", Hole(self._secret("token"), NOWHERE)), NOWHERE)
                yield Pair(parts.text("Authorization"), value)
            elif where == "header" and way == "basic":
                value = Text(("Basic ", Hole(self._secret("basic"), NOWHERE)), NOWHERE)
                yield Pair(parts.text("Authorization"), value)

    def _secret(self, name: str) -> str:
        self.notes[f"put the real value of {name} into [variables]"] = None
        return self._variable(name, _SECRET)

    def _body(
        self, operation: Mapping[str, Any]
    ) -> tuple[Body | str | None, tuple[Pair, ...] | None]:
        """A body or the lines of a form. Empty: there is none; None: it can't be written."""
        content = self.document.resolved(operation.get("requestBody")).get("content")
        if not isinstance(content, dict) or not content:
            return "", None
        for media_type, about in content.items():
            value = self._value(about) if isinstance(about, dict) else None
            if "json" in str(media_type):
                return parts.json_body(value), None
            if str(media_type).startswith(_FORM) and isinstance(value, dict):
                fields = ((str(key), _written(one)) for key, one in value.items())
                return "", parts.pairs(fields)
            if str(media_type) == "text/plain":
                return Body(parts.text(_written(value)), NOWHERE), None
        return None, None

    def _response(self, operation: Mapping[str, Any]) -> Response:
        status, one = _right(operation)
        if status is not None:
            return Response(status, NOWHERE, assertions=tuple(self._asserts(one)))
        return Response(None, NOWHERE, assertions=(parts.assertion("status", None, "<", 400),))

    def _asserts(self, response: Any) -> Iterator[Assertion]:
        media_type, schema = self._content(response)
        if media_type is None:
            return
        if "*" not in media_type:
            yield from parts.lines([parts.media_check(media_type)])
        if self.document.own(schema) is None:
            yield from self.document.checks(schema)

    def _schema(self, operation: Mapping[str, Any]) -> dict[str, Any] | None:
        """What the body of a right reply is, where all of it can be checked."""
        _, response = _right(operation)
        return self.document.own(self._content(response)[1])

    def _content(self, response: Any) -> tuple[str | None, Any]:
        """The media type of a reply, and its schema where it is JSON."""
        content = self.document.resolved(response).get("content")
        for media_type, about in content.items() if isinstance(content, dict) else ():
            is_json = "json" in str(media_type) and isinstance(about, dict)
            return str(media_type), about.get("schema") if is_json else None
        return None, None


def _right(operation: Mapping[str, Any]) -> tuple[int | None, Any]:
    """The status of a right reply, and what it is; None: there is none."""
    responses = operation.get("responses")
    for status, one in responses.items() if isinstance(responses, dict) else ():
        if re.fullmatch("2[0-9][0-9]", str(status)):
            return int(status), one
    return None, None


def _name(operation: Mapping[str, Any], method: str, path: str, taken: set[str]) -> str:
    written = " ".join(str(operation.get("operationId") or "").split())
    name = (written or " ".join(f"{method.upper()} {path}".split()))[:100].strip()
    return parts.free_name(name, taken)


def _has_example(parameter: Mapping[str, Any]) -> bool:
    schema = parameter.get("schema")
    places = (parameter, schema if isinstance(schema, dict) else {})
    return any(place.get(word) for place in places for word in ("example", "examples"))


def _written(value: Any) -> str:
    """A value in a URL, a header or a form."""
    if isinstance(value, list):
        return ",".join(map(_written, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or isinstance(value, dict) else str(value)
