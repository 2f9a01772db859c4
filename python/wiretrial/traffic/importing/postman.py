"""Postman collections (v2.1): a flow for each top folder, with variables.

Knows the format; scripts are not translated, and said so.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from wiretrial.errors import UsageProblem
from wiretrial.traffic.filling import Form, Scope, fill
from wiretrial.traffic.hurl.syntax import Body, Entry, Hole, Pair, Request, Response, Text
from wiretrial.traffic.hurl.writing import write
from wiretrial.traffic.importing import parts
from wiretrial.traffic.importing.draft import Draft, DraftFlow
from wiretrial.traffic.importing.parts import NOWHERE
from wiretrial.traffic.places import TrafficProblem

_SERVER = "http://127.0.0.1:8000"
_HOLE = re.compile(r"\{\{\s*(?P<name>[^{}]+?)\s*\}\}")
_MADE = {
    **dict.fromkeys(("$guid", "$randomUUID"), "newUuid"),
    **dict.fromkeys(("$isoTimestamp", "$timestamp", "$randomDateRecent"), "newDate"),
    **dict.fromkeys(("$randomInt",), "seq"),
}
_JSON = "application/json"
_MOST_NAME = 60
_MISSING = "1"
"""For a variable without a value: it can stand anywhere."""
_Auth = Mapping[str, Any] | None


def draft(source: str, name: str) -> Draft:
    """The draft of a collection; `name` is the file's."""
    try:
        collection = parts.loads(source)
    except ValueError as error:
        raise UsageProblem(f"{name}: not JSON: {error}", "export the collection again") from error
    info = collection.get("info") if isinstance(collection, dict) else None
    if not isinstance(info, dict) or "item" not in collection:
        raise UsageProblem(f"{name} is no Postman collection", "export it as Collection v2.1")
    return _Importer(collection).draft(str(info.get("name") or "requests"), name)


@dataclass
class _Importer:
    collection: Mapping[str, Any]
    notes: dict[str, None] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    left_out: dict[str, list[str]] = field(default_factory=dict)

    given: Mapping[str, str] = field(init=False)
    """The collection's variables; empty ones are filled in by a person."""

    def __post_init__(self) -> None:
        self.given = self._variables()

    def draft(self, title: str, file: str) -> Draft:
        groups = [*self._groups(title)]
        made = [
            (name, [entry for item, auth in items if (entry := self._entry(item, auth))])
            for name, items in groups
        ]
        origin = self._origin([entry for _, entries in made for entry in entries])
        flows = []
        for name, entries in made:
            kept = tuple(self._based(entry, origin) for entry in entries)
            if here := tuple(entry for entry in kept if entry is not None):
                flows.append(DraftFlow(name, here))
        if not flows:
            raise UsageProblem(f"{file} has no request that can be sent", "export another")
        used = _used(flows)
        variables = {name: self.given.get(name) or _MISSING for name in used}
        if missing := [name for name in used if not self.given.get(name)]:
            self.notes[f"put values into [variables]: {', '.join(missing)}"] = None
        for why, names in self.left_out.items():
            self.notes[f"left out, {why}: {', '.join(names)}"] = None
        return Draft(origin, tuple(flows), tuple(self.notes), variables)

    def _groups(self, title: str) -> Iterator[tuple[str, list[tuple[Any, _Auth]]]]:
        """The requests of each top folder, and those beside the folders."""
        own: list[tuple[Any, _Auth]] = []
        names: set[str] = set()
        auth = self._auth(self.collection, None)
        self._note_scripts(self.collection)
        folders = []
        for item in _list(self.collection.get("item")):
            if "item" in item:
                folders.append(item)
            else:
                own.append((item, auth))
        if own:
            yield parts.free_name(title, names), own
        for folder in folders:
            inside = [*self._inside(folder, auth)]
            yield parts.free_name(str(folder.get("name") or "folder"), names), inside

    def _inside(self, folder: Mapping[str, Any], auth: _Auth) -> Iterator[tuple[Any, _Auth]]:
        self._note_scripts(folder)
        own = self._auth(folder, auth)
        for item in _list(folder.get("item")):
            if "item" in item:
                yield from self._inside(item, own)
            else:
                yield item, own

    def _auth(self, part: Mapping[str, Any], inherited: _Auth) -> _Auth:
        auth = part.get("auth")
        return auth if isinstance(auth, dict) else inherited

    def _note_scripts(self, part: Mapping[str, Any]) -> None:
        if any(_code(event) for event in _list(part.get("event"))):
            told = "scripts are not translated: write [Captures] and [Asserts] in their place"
            self.notes[told] = None

    def _variables(self) -> dict[str, str]:
        """The collection's, each with the others that it names filled in."""
        found = {}
        for one in _list(self.collection.get("variable")):
            key = one.get("key") or one.get("id")
            if key and not one.get("disabled"):
                found[_plain(str(key))] = _HOLE.sub(
                    lambda hole: f"{{{{{_plain(hole['name'])}}}}}", str(one.get("value") or "")
                )
        whole = {name: _known(parts.text(value), found) for name, value in found.items()}
        return {name: "" if "{{" in value else value for name, value in whole.items()}

    def _entry(self, item: Mapping[str, Any], inherited: _Auth) -> Entry | None:
        name = " ".join(str(item.get("name") or "").split())[:_MOST_NAME].strip() or "request"
        self._note_scripts(item)
        sent = item.get("request")
        if isinstance(sent, str):
            sent = {"method": "GET", "url": sent}
        if not isinstance(sent, dict):
            return None
        method = str(sent.get("method") or "GET")
        if not re.fullmatch("[A-Z]+", method):
            self._leave(f"method {method}", name)
            return None
        headers = [*self._headers(_list(sent.get("header")))]
        body = self._body(sent.get("body"), headers)
        if body is None:
            self._leave("its body can't be written", name)
            return None
        sections = {"Form": body} if isinstance(body, tuple) and body else {}
        query, own = self._authorized(self._auth(sent, inherited))
        if sections or (isinstance(body, Body) and body.media_type == _JSON):
            headers = [pair for pair in headers if str(pair.key).lower() != "content-type"]
        request = Request(
            method=method,
            url=self._url(sent.get("url"), query),
            place=NOWHERE,
            headers=(*headers, *own),
            sections=sections,
            body=body if isinstance(body, Body) else None,
        )
        statuses = [one.get("code") for one in _list(item.get("response"))]
        status = next((s for s in statuses if isinstance(s, int) and 200 <= s < 400), None)
        named = name if name.isprintable() and name not in self.names else None
        self.names.add(name)
        return Entry(request, Response(status, NOWHERE) if status else None, named)

    def _leave(self, why: str, name: str) -> None:
        self.left_out.setdefault(why, []).append(name)

    def _headers(self, listed: Sequence[Any]) -> Iterator[Pair]:
        for one in listed:
            if not one.get("disabled") and parts.is_kept(str(one.get("key") or "")):
                yield Pair(parts.text(str(one["key"])), self._text(str(one.get("value") or "")))

    def _body(self, body: Any, headers: list[Pair]) -> Body | tuple[Pair, ...] | None:
        """Empty: there is none; None: it can't be written."""
        mode = body.get("mode") if isinstance(body, dict) and not body.get("disabled") else None
        match mode:
            case None:
                return ()
            case "raw":
                return self._raw(body, headers)
            case "urlencoded":
                return tuple(
                    Pair(self._text(str(one["key"])), self._text(str(one.get("value") or "")))
                    for one in _list(body.get("urlencoded"))
                    if one.get("key") and not one.get("disabled")
                )
            case "graphql":
                asked = body.get("graphql") or {}
                try:
                    variables = parts.loads(str(asked.get("variables") or "{}"))
                except ValueError:
                    variables = {}
                content = {"query": str(asked.get("query") or ""), "variables": variables}
                return parts.json_body(content)
            case _:
                return None

    def _raw(self, body: Mapping[str, Any], headers: list[Pair]) -> Body | tuple[Pair, ...]:
        raw = str(body.get("raw") or "")
        if not raw:
            return ()
        options = body.get("options")
        raw_options = options.get("raw") if isinstance(options, dict) else None
        language = raw_options.get("language") if isinstance(raw_options, dict) else None
        types = [str(pair.value) for pair in headers if str(pair.key).lower() == "content-type"]
        text = self._text(raw)
        if language == "json" or any("json" in one for one in types):
            if text.plain is not None and _is_json(raw):
                return parts.json_body(parts.loads(raw))
            made = parts.templated_json(text)
            return made if made and self._is_filled(made) else Body(text, NOWHERE, _JSON)
        return Body(text, NOWHERE)

    def _is_filled(self, body: Body) -> bool:
        """Whether it is JSON with the values of the collection's variables, too."""
        assert isinstance(body.content, Text)
        names = dict.fromkeys((hole.name for hole in body.content.holes), _MISSING)
        given = {name: value for name, value in self.given.items() if value}
        try:
            fill(body.content, Scope(variables={**names, **given}), Form.JSON)
        except TrafficProblem:
            return False
        return True

    def _authorized(self, auth: _Auth) -> tuple[list[tuple[str, str]], list[Pair]]:
        """Parameters of the query and header fields that prove who asks."""
        kind = str(auth.get("type")) if auth else "noauth"
        listed = auth.get(kind) if auth else None
        values = (
            {str(one.get("key")): str(one.get("value") or "") for one in _list(listed)}
            if isinstance(listed, list)
            else {str(key): str(value) for key, value in (listed or {}).items()}
        )
        match kind:
            case "noauth":
                return [], []
            case "bearer":
                return [], [self._header("Authorization", f"Bearer {values.get('token', '')}")]
            case "apikey" if values.get("in") == "query":
                return [(values.get("key", "key"), values.get("value", ""))], []
            case "apikey":
                return [], [self._header(values.get("key") or "X-Key", values.get("value", ""))]
            case "basic" if "{{" not in f"{values}":
                user = f"{values.get('username', '')}:{values.get('password', '')}"
                encoded = base64.b64encode(user.encode()).decode()
                return [], [self._header("Authorization", f"Basic {encoded}")]
            case _:
                self.notes[f"left out: authorization of type {kind}; write the header"] = None
                return [], []

    def _header(self, key: str, value: str) -> Pair:
        return Pair(parts.text(key), self._text(value))

    def _url(self, url: Any, query: Sequence[tuple[str, str]]) -> Text:
        raw = str(url.get("raw") or "") if isinstance(url, dict) else str(url or "")
        raw = raw.partition("#")[0]
        for one in _list(url.get("variable")) if isinstance(url, dict) else []:
            key, value = str(one.get("key") or ""), str(one.get("value") or "1")
            if found := re.search(rf"(?<=/):{re.escape(key)}(?=[/?]|$)", raw):
                raw = raw[: found.start()] + value + raw[found.end() :]
        for key, value in query:
            raw += f"{'&' if '?' in raw else '?'}{quote(key)}={value}"
        return self._text(raw)

    def _text(self, source: str) -> Text:
        """The text, with Postman's names in `{{}}` as ours."""
        found: list[str | Hole] = []
        at = 0
        for hole in _HOLE.finditer(source):
            if before := source[at : hole.start()]:
                found.append(before)
            name = _MADE.get(hole["name"]) or _plain(hole["name"])
            found.append(Hole(name, NOWHERE))
            at = hole.end()
        if at < len(source):
            found.append(source[at:])
        return Text(tuple(found), NOWHERE)

    def _origin(self, entries: Sequence[Entry]) -> str:
        """The server of the first request; the variable that has it is filled in."""
        for entry in entries:
            if found := _server(entry.request.url, self.given):
                return found
        return _SERVER

    def _based(self, entry: Entry, origin: str) -> Entry | None:
        """The entry with `{{base}}` for its server; None where that is another one."""
        url = entry.request.url
        server = _server(url, self.given)
        if server not in (None, origin):
            self._leave(f"sent to {server}", f"{entry.request.method} {url}")
            return None
        rest = _behind(url, self.given)
        if not str(rest).startswith(("/", "?")) and rest.parts:
            rest = Text(("/", *rest.parts), NOWHERE)
        whole = Text((Hole("base", NOWHERE), *_clean(parts.merged(rest.parts).parts)), NOWHERE)
        return replace(entry, request=replace(entry.request, url=whole))


def _used(flows: Sequence[DraftFlow]) -> list[str]:
    """The names that stand in the flows, but for those that need no value."""
    entries = [replace(entry, name=None) for flow in flows for entry in flow.entries]
    names = dict.fromkeys(hole["name"] for hole in _HOLE.finditer(write(entries)))
    return [name for name in names if name not in ("base", *_MADE.values())]


def _server(url: Text, given: Mapping[str, str]) -> str | None:
    found = re.match(r"(?:https?://)?[^/?]+", _known(url, given))
    if not found or "{{" in found[0]:
        return None
    return found[0] if "://" in found[0] else f"http://{found[0]}"


def _known(url: Text, given: Mapping[str, str]) -> str:
    """The URL with the variables that have a value, whatever they name filled in, too."""
    text = str(url)
    for _ in range(5):
        text = _HOLE.sub(lambda hole: given.get(hole["name"]) or hole[0], text)
    return text


def _behind(url: Text, given: Mapping[str, str]) -> Text:
    """The URL without scheme and host."""
    server = re.match(r"(?:https?://)?[^/?]*", str(url))
    assert server is not None
    left = len(server[0])
    first = url.parts[0] if url.parts else ""
    found: list[str | Hole] = []
    if isinstance(first, Hole) and (value := _known(Text((first,), NOWHERE), given)):
        path = re.match(r"(?:https?://)?[^/?]*(.*)", value)
        found.append(path[1].rstrip("/") if path and "{{" not in value else "")
    for part in url.parts:
        length = len(str(part))
        if left >= length:
            left -= length
            continue
        found.append(part[left:] if isinstance(part, str) else part)
        left = 0
    return Text(tuple(piece for piece in found if piece != ""), NOWHERE)


def _clean(of: Sequence[str | Hole]) -> Iterator[str | Hole]:
    for part in of:
        yield quote(part, safe="/?:@!$&'()*+,;=-._~%[]") if isinstance(part, str) else part


def _is_json(text: str) -> bool:
    try:
        parts.loads(text)
    except ValueError:
        return False
    return True


def _code(event: Mapping[str, Any]) -> bool:
    script = event.get("script")
    lines = script.get("exec") if isinstance(script, dict) else None
    return bool("".join(map(str, lines)) if isinstance(lines, list) else lines)


def _plain(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_") or "value"
    return f"{plain}_" if plain in ("base", *_MADE.values()) else plain


def _list(part: Any) -> list[Any]:
    return [one for one in part if isinstance(one, dict)] if isinstance(part, list) else []
