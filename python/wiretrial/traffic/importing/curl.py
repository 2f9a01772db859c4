"""curl commands, as browsers and pages of documentation give them: a request each.

Knows a shell's words and curl's options; must not know replies.
"""

from __future__ import annotations

import re
import shlex
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from wiretrial import suggest
from wiretrial.errors import UsageProblem
from wiretrial.traffic.importing import recording
from wiretrial.traffic.importing.draft import Draft, DraftFlow
from wiretrial.traffic.importing.parts import Sent
from wiretrial.traffic.importing.recording import Exchange

_SHORT = {
    "-X": "--request",
    "-H": "--header",
    "-d": "--data",
    "-u": "--user",
    "-G": "--get",
    "-I": "--head",
    "-A": "--user-agent",
    "-e": "--referer",
    "-b": "--cookie",
    "-F": "--form",
    "-T": "--upload-file",
    "-k": "--insecure",
    "-s": "--silent",
    "-S": "--show-error",
    "-v": "--verbose",
    "-i": "--include",
    "-L": "--location",
    "-f": "--fail",
    "-o": "--output",
    "-m": "--max-time",
    "-w": "--write-out",
    "-x": "--proxy",
    "-c": "--cookie-jar",
    "-N": "--no-buffer",
    "-g": "--globoff",
    "-O": "--remote-name",
}
_DATA = {"--data", "--data-raw", "--data-ascii", "--data-binary", "--data-urlencode", "--json"}
_WITH_VALUE = {
    *_DATA,
    *("--request", "--header", "--user", "--user-agent", "--referer", "--cookie", "--url"),
    *("--output", "--max-time", "--write-out", "--proxy", "--cookie-jar", "--connect-timeout"),
    *("--cacert", "--cert", "--key", "--resolve", "--retry"),
}
_WITHOUT = {
    *("--get", "--head", "--insecure", "--silent", "--show-error", "--verbose", "--include"),
    *("--location", "--fail", "--compressed", "--no-buffer", "--globoff", "--remote-name"),
    *("--http1.1", "--http2", "--http3", "--no-progress-meter"),
}
_REFUSED = {
    "--form": "write the request by hand: multipart bodies are not imported",
    "--upload-file": "write the content as --data-binary '...'",
    "--config": "write its options into the command",
}
_TOLD = {
    "--location": "redirects are followed only where [Options] has `location: true`",
    "--insecure": "--insecure is left out: give it to `wiretrial load`",
    "--cacert": "--cacert is left out: give it to `wiretrial load`",
    "--cookie": "cookies are left out: a session sends those that replies set",
    "--proxy": "the proxy is left out",
}


@dataclass
class _Command:
    """What one command says."""

    line: int
    urls: list[str] = field(default_factory=list)
    method: str | None = None
    headers: list[tuple[str, str]] = field(default_factory=list)
    data: list[str] = field(default_factory=list)
    is_get: bool = False
    is_head: bool = False
    is_json: bool = False


def draft(source: str, name: str) -> Draft:
    """The draft of a file of commands; `name` is the file's."""
    notes: dict[str, None] = {}
    exchanges = [
        Exchange(one)
        for line, words in _commands(source, name)
        for one in _sent(_read(words, line, name, notes), name)
    ]
    if not exchanges:
        raise UsageProblem(f"{name} has no curl command", "write commands such as curl http://...")
    origin, others = recording.most_common_origin(exchanges)
    if others:
        notes[f"left out, sent to other servers: {', '.join(others)}"] = None
    kept = [exchange for exchange in exchanges if exchange.sent.origin == origin]
    return Draft(origin, (DraftFlow("session", recording.entries(kept)),), tuple(notes))


def _commands(source: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The words of each command, without `curl`, and its line."""
    joined = re.sub(r"\\\r?\n", " ", _ansi_quotes(source))
    lexer = shlex.shlex(joined, posix=True, punctuation_chars=";|&<>\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, "#"
    words: list[str] | None = None
    line = begun = 1
    try:
        for word in lexer:
            if word and set(word) <= set(";|&<>\n"):
                if words is not None:
                    yield begun, words
                words = None
            elif words is not None:
                words.append(word)
            elif word == "curl" or word.endswith("/curl"):
                words, begun = [], line
            line = lexer.lineno
    except ValueError as error:
        raise UsageProblem(
            f"{name}:{line}:1: {str(error).lower()}", "close the quotation mark"
        ) from error
    if words is not None:
        yield begun, words


def _ansi_quotes(source: str) -> str:
    r"""`$'a\'b'` as any shell has it: browsers write it where a text has a quote."""

    def plain(found: re.Match[str]) -> str:
        inside = re.sub(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", _unescaped, found[1], flags=re.S)
        return shlex.quote(inside)

    return re.sub(r"(?<=\s)\$'((?:[^'\\]|\\.)*)'", plain, source, flags=re.DOTALL)


def _unescaped(found: re.Match[str]) -> str:
    mark = found[1]
    if len(mark) > 1:
        return chr(int(mark[1:], 16))
    return {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}.get(mark, mark)


def _read(words: list[str], line: int, name: str, notes: dict[str, None]) -> _Command:
    command = _Command(line)
    left = iter(words)
    for word in left:
        if not word.startswith("-") or word == "-":
            command.urls.append(word)
            continue
        for option, value in _options(word, f"{name}:{line}:1"):
            if option in _TOLD:
                notes[_TOLD[option]] = None
            if option in _WITH_VALUE and value is None:
                value = next(left, None)
                if value is None:
                    raise UsageProblem(f"{name}:{line}:1: {option} has no value", "write it")
            _take(command, option, value or "", f"{name}:{line}:1")
    return command


def _options(word: str, place: str) -> Iterator[tuple[str, str | None]]:
    """The options in a word: `--name=value`, `-sS`, `-XPOST`."""
    if word.startswith("--"):
        option, mark, value = word.partition("=")
        _require_known(option, place)
        yield option, value if mark else None
        return
    rest = word[1:]
    while rest:
        short, rest = f"-{rest[0]}", rest[1:]
        option = _SHORT.get(short, short)
        _require_known(option, place)
        if option in _WITH_VALUE:
            yield option, rest or None
            return
        yield option, None


def _require_known(option: str, place: str) -> None:
    if option in _REFUSED:
        raise UsageProblem(f"{place}: curl's {option} can't be imported", _REFUSED[option])
    if option not in _WITH_VALUE and option not in _WITHOUT:
        known = [*_WITH_VALUE, *_WITHOUT]
        found = suggest.closest(option, known)
        remedy = f"did you mean {found}?" if found else "leave it out"
        raise UsageProblem(f"{place}: curl's {option} is not known here", remedy)


def _take(command: _Command, option: str, value: str, place: str) -> None:
    match option:
        case "--url":
            command.urls.append(value)
        case "--request":
            command.method = value
        case "--header":
            key, mark, content = value.partition(":")
            if mark and content.strip():
                command.headers.append((key.strip(), content.strip()))
        case "--user":
            command.headers.append(("Authorization", _basic(value)))
        case "--referer":
            command.headers.append(("Referer", value))
        case "--get":
            command.is_get = True
        case "--head":
            command.is_head = True
        case option if option in _DATA:
            command.is_json |= option == "--json"
            command.data.append(_data(option, value, place))


def _basic(user: str) -> str:
    return f"Basic {b64encode(user.encode()).decode()}"


def _data(option: str, value: str, place: str) -> str:
    if value.startswith("@") and option != "--data-raw":
        raise UsageProblem(
            f"{place}: {option} {value} is in a file", "write its content into the command"
        )
    if option != "--data-urlencode":
        return value
    key, mark, content = value.partition("=")
    if not mark:
        return quote(value, safe="")
    return urlencode([(key, content)]) if key else quote(content, safe="")


def _sent(command: _Command, name: str) -> Iterator[Sent]:
    place = f"{name}:{command.line}:1"
    if not command.urls:
        raise UsageProblem(f"{place}: a command without a URL", "write curl http://...")
    for url in command.urls:
        whole = url if "://" in url else f"http://{url}"
        if not whole.startswith(("http://", "https://")):
            raise UsageProblem(f"{place}: {url} is not sent", "use http:// or https://")
        if command.is_get and command.data:
            whole += ("&" if "?" in whole else "?") + "&".join(command.data)
        yield _request(command, whole.partition("#")[0], place)


def _request(command: _Command, url: str, place: str) -> Sent:
    body = ("" if command.is_json else "&").join(command.data)
    if command.is_get or not command.data:
        body = ""
    method = command.method or ("HEAD" if command.is_head else "POST" if body else "GET")
    if not re.fullmatch("[A-Z]+", method):
        raise UsageProblem(f"{place}: {method} is no method", f"write {method.upper()}")
    headers = list(command.headers)
    given = next((value for key, value in headers if key.lower() == "content-type"), None)
    implied = "application/json" if command.is_json else "application/x-www-form-urlencoded"
    if body and given is None:
        given = implied
        headers.append(("Content-Type", given))
    return Sent(method, url, tuple(headers), body or None, given or "")
