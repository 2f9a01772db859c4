"""Every word of Hurl's format, and what becomes of it here: the one table of what is supported.

Knows words; must not know how files are parsed or compiled. The table of `docs/traffic.md` is made
of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from wiretrial import suggest
from wiretrial.traffic.places import Place, TrafficProblem


class Takes(StrEnum):
    """What stands behind a word."""

    TEXT = "text"
    PATTERN = "pattern"
    NUMBER = "number"
    VALUE = "value"


class Family(StrEnum):
    """What kind of word it is."""

    SECTION = "section"
    OPTION = "option"
    BODY = "body"
    QUERY = "query"
    FILTER = "filter"
    PREDICATE = "predicate"
    FUNCTION = "function"


@dataclass(frozen=True)
class Word:
    """A word: supported with a note on what it does here, or refused with a remedy."""

    family: Family
    word: str
    note: str = ""
    takes: tuple[Takes, ...] = ()
    remedy: str | None = None

    @property
    def is_supported(self) -> bool:
        """Whether a file may use it."""
        return self.remedy is None


def find(family: Family, word: str, place: Place) -> Word:
    """The word's row; raises where there is none, or where it isn't supported."""
    found = _BY_NAME.get((family, word))
    if found is None:
        raise TrafficProblem(place, f"there is no {family} {word}", instead(word, family))
    if found.remedy is not None:
        raise TrafficProblem(place, f"{family} {word} is not supported", found.remedy)
    return found


def instead(word: str, *families: Family) -> str:
    """What to write in place of a word that isn't there."""
    rows = [row for row in TABLE if row.family in families]
    if found := suggest.closest(word, (row.word for row in rows)):
        return f"did you mean {found}?"
    named = (row.word for row in rows if row.is_supported and row.word[0].isalpha())
    return f"use one of {', '.join(named)}"


def is_known(family: Family, word: str) -> bool:
    """Whether Hurl has the word."""
    return (family, word) in _BY_NAME


def _yes(family: Family, word: str, note: str, *takes: Takes) -> Word:
    return Word(family, word, note, takes)


def _no(family: Family, words: str, remedy: str) -> Iterator[Word]:
    return (Word(family, word, remedy=remedy) for word in words.split())


_S, _O, _B = Family.SECTION, Family.OPTION, Family.BODY
_Q, _F, _P = Family.QUERY, Family.FILTER, Family.PREDICATE

_SUBJECT = "check it with a tool for one request at a time"
_COMMAND = "give it on the command line (`wiretrial load --help`)"

TABLE: tuple[Word, ...] = (
    _yes(_S, "Query", "parameters of the URL, percent-encoded; also QueryStringParams"),
    _yes(_S, "Form", "an urlencoded body; also FormParams"),
    _yes(_S, "BasicAuth", "an Authorization header"),
    _yes(_S, "Options", "the options below"),
    _yes(_S, "Captures", "values of a reply, for later requests of the session"),
    _yes(_S, "Asserts", "what must hold of each reply"),
    *_no(_S, "Cookies", "have an earlier entry set it: a session sends the cookies of its replies"),
    *_no(_S, "Multipart MultipartFormData", "write the body between ``` and its Content-Type"),
    _yes(_O, "delay", "a constant think time before the request"),
    _yes(_O, "repeat", "the request is sent so many times in each session"),
    _yes(_O, "skip", "true: the entry is left out"),
    _yes(_O, "user", "an Authorization header: `user: name:password`"),
    _yes(_O, "header", "one more header: `header: Name: value`"),
    _yes(_O, "variable", "a value for this entry and those after it: `variable: name=value`"),
    *_no(_O, "insecure cacert cert key connect-to resolve proxy", _COMMAND),
    _yes(
        _O, "location", "true: redirects to the same origin are followed; the last reply is judged"
    ),
    _yes(_O, "max-redirs", "so many redirects at most, by default 50"),
    *_no(_O, "location-trusted", "use location: true: redirects stay at the same origin"),
    *_no(_O, "retry retry-interval", "leave it out: a reply that is not right is counted"),
    _yes(_O, "compressed", "true: one more header, Accept-Encoding: gzip, deflate, br"),
    _yes(_O, "verbose", "nothing: it is about what hurl prints"),
    _yes(_O, "very-verbose", "nothing: it is about what hurl prints"),
    _yes(_O, "http1.1", "true: as it is always"),
    _yes(_O, "path-as-is", "true: as it is always"),
    *_no(_O, "connect-timeout", "use --timeout of `wiretrial load`"),
    *_no(
        _O,
        "http1.0 http2 http3",
        'leave it out: the TOML file says `http = "2"` or "3", the command line `--http 2` or 3',
    ),
    *_no(_O, "ipv4 ipv6", "write the address in `base`"),
    *_no(_O, "limit-rate", "leave it out, or use `wiretrial link` for a slow network"),
    *_no(_O, "netrc netrc-file netrc-optional aws-sigv4", "write the Authorization header"),
    *_no(_O, "output", "leave it out: it is about what hurl prints"),
    *_no(_O, "unix-socket", "leave it out: only TCP is spoken"),
    _yes(_B, "JSON", "as written, with holes; sets Content-Type"),
    _yes(_B, "```", "text of several lines; types json and xml set Content-Type"),
    _yes(_B, "`", "text of one line"),
    _yes(_B, "base64,", "bytes that are UTF-8 text"),
    _yes(_B, "hex,", "bytes that are UTF-8 text"),
    _yes(_B, "file,", "a file of UTF-8 text beside the .hurl file; sent as it is"),
    *_no(_B, "XML", "put it between ```xml and ```"),
    *_no(_B, "```graphql", 'send it as JSON: {"query": "..."}'),
    _yes(_Q, "status", "a number"),
    _yes(_Q, "header", "the first field of this name", Takes.TEXT),
    _yes(_Q, "cookie", "the value that this reply sets", Takes.TEXT),
    _yes(_Q, "body", "the body as text"),
    _yes(_Q, "bytes", "with count: the length of the body; with decode or base64Encode (sampled)"),
    _yes(
        _Q,
        "jsonpath",
        "members, indices and `[*]`; in `[Asserts]` also filters, slices and `..` (sampled)",
        Takes.TEXT,
    ),
    _yes(_Q, "regex", "the first group of the first match in the body", Takes.PATTERN),
    _yes(_Q, "duration", "with `<` or `<=`: a goal for the longest time, not a check of a reply"),
    *_no(_Q, "xpath", 'use body contains "..." or regex'),
    _yes(_Q, "sha256", "digest of the body, compared with `hex,...;` (sampled)"),
    _yes(_Q, "md5", "digest of the body, compared with `hex,...;` (sampled)"),
    *_no(_Q, "url", 'check the redirect itself: HTTP 302 and header "Location"'),
    *_no(_Q, "variable", "check the value in the entry that captures it"),
    *_no(_Q, "certificate ip version", _SUBJECT),
    _yes(_F, "count", "elements of a list; also members and characters, where hurl fails; bytes"),
    _yes(_F, "nth", "one element of a list; behind a sampled filter: sampled", Takes.NUMBER),
    _yes(_F, "jsonpath", "a path that goes on from a jsonpath, or from the body", Takes.TEXT),
    _yes(_F, "regex", "of the body; of other texts: sampled", Takes.PATTERN),
    _yes(_F, "replace", "a text or a pattern by another text (sampled)", Takes.PATTERN, Takes.TEXT),
    _yes(_F, "split", "a text into a list (sampled)", Takes.TEXT),
    _yes(_F, "toInt", "a whole number (sampled)"),
    _yes(_F, "toFloat", "a number (sampled)"),
    _yes(_F, "toString", "a text (sampled)"),
    _yes(_F, "decode", 'bytes as text; only "utf-8" (sampled)', Takes.TEXT),
    _yes(_F, "urlDecode", "percent-encoded text as it was (sampled)"),
    _yes(_F, "urlEncode", "text percent-encoded, but for letters, digits and `-._~/` (sampled)"),
    _yes(_F, "base64Decode", "bytes of base64 (sampled)"),
    _yes(_F, "base64Encode", "base64 of bytes (sampled)"),
    *_no(_F, "htmlEscape htmlUnescape", "compare the value as it is"),
    *_no(_F, "toDate format daysAfterNow daysBeforeNow", "use isIsoDate"),
    *_no(_F, "xpath", 'use body contains "..." or regex'),
    *_no(_F, "redact", "leave it out"),
    _yes(_P, "==", "equal; 1 and 1.0 are", Takes.VALUE),
    _yes(_P, "!=", "not equal", Takes.VALUE),
    _yes(_P, ">", "a greater number, or a text that sorts behind", Takes.VALUE),
    _yes(_P, ">=", "greater or equal", Takes.VALUE),
    _yes(_P, "<", "less", Takes.VALUE),
    _yes(_P, "<=", "less or equal", Takes.VALUE),
    _yes(_P, "startsWith", "of a text", Takes.VALUE),
    _yes(_P, "endsWith", "of a text", Takes.VALUE),
    _yes(_P, "contains", "a text that has this text in it", Takes.VALUE),
    _yes(_P, "includes", "of jsonpath: a list that has this element", Takes.VALUE),
    _yes(_P, "matches", "a text in which the pattern matches somewhere", Takes.PATTERN),
    _yes(_P, "exists", "it is there"),
    _yes(_P, "isEmpty", "no elements, members or characters"),
    _yes(_P, "isBoolean", "true or false"),
    _yes(_P, "isFloat", "a number with a fraction or an exponent"),
    _yes(_P, "isInteger", "a number without a fraction"),
    _yes(_P, "isIsoDate", "a date and time of RFC 3339"),
    _yes(_P, "isNumber", "a number"),
    _yes(_P, "isString", "a text"),
    *_no(_P, "isCollection", "use count >= 0"),
    *_no(_P, "isDate", "use isIsoDate"),
    *_no(_P, "isIpv4 isIpv6", "use matches with a pattern"),
    _yes(Family.FUNCTION, "newUuid", "a UUID of its own for each message"),
    _yes(Family.FUNCTION, "newDate", "when the message was due, RFC 3339, UTC"),
)

_BY_NAME = {(row.family, row.word): row for row in TABLE}

SAME_SECTION = {
    "QueryStringParams": "Query",
    "FormParams": "Form",
    "MultipartFormData": "Multipart",
}
"""A section's longer name, and the one by which it is known here."""
