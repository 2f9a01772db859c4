"""From the replies of one route to the rule that later ones are checked by.

Knows which replies can be learned from, and what kind of rule fits them; must not know where it is
applied. An error page is refused: what it says must not become right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import JsonValue

from wiretrial.errors import WiretrialError
from wiretrial.plan_shape import Shape
from wiretrial.plan_traffic import (
    Check,
    Compared,
    Contains,
    HeaderOf,
    IsShape,
    JsonOperand,
    Matches,
    RouteExpect,
    StatusIn,
    Words,
)
from wiretrial.traffic.learning import echoes, holes, locations, shapes, strings
from wiretrial.traffic.learning.echoes import Echo
from wiretrial.traffic.learning.locations import Location
from wiretrial.traffic.learning.samples import NotJson, Sample, read_json
from wiretrial.traffic.learning.shapes import Varied

MOST_SHOWN = 5
"""Places that vary, in the one line that tells of them."""
_EXCERPT = 60
_REMEDY = "say what a right reply is, with --expect or a response part"
_TEXTS = ("text/", "application/xml", "application/javascript", "application/json", "image/svg")

Kind = Literal["equal", "echo", "json", "text", "size"]


class NotLearned(WiretrialError):
    """Replies that no rule is to be learned of: they fail, or are not what they say."""


@dataclass(frozen=True)
class Learned:
    """The rule of one route, and how much is known by it.

    `equal`: every reply carried the bytes of the first; a shape stands for them where a secret is
    in them. `echo`: each carried its own request's.
    """

    route: str
    samples: int
    status: int
    kind: Kind
    body: bytes
    """Of the first reply."""
    media_type: str
    varied: tuple[Varied, ...] = ()
    fields: int = 1
    shape: Shape | None = None
    pattern: str | None = None
    length: tuple[int, int] | None = None
    constants: bool = True
    """Whether constants are part of the rule."""
    echoes: tuple[Echo, ...] = ()
    """Values of the request that come back."""
    location: Location | None = None
    """Where the replies redirect to."""

    @property
    def bound(self) -> float:
        """The share of replies that may break the rule although none of the samples did (95 %)."""
        return bound(self.samples)

    @property
    def told(self) -> str:
        """What varies, in one line: `2 of 11 fields vary: $.id UUID, $.at time`."""
        if self.status < 300:
            return self._content_told
        to = f" to {self.location.shown}" if self.location else ""
        return f"status {self.status}{to}; content: {self._content_told}"

    @property
    def _content_told(self) -> str:
        match self.kind:
            case "equal":
                return "all were equal"
            case "echo":
                return "each was its request's body"
            case "size":
                low, high = self.length or (0, 0)
                return f"content varies, {low:,} to {high:,} bytes"
        count = len(self.varied)
        listed = self._listed
        if self.kind == "text":
            varies = "place varies" if count == 1 else "places vary"
            return f"{count} {varies} in the text: {listed}"
        if not self.constants:
            return f"the shape counts alone: {listed}"
        told = f"{count} of {self.fields} {'field' if self.fields == 1 else 'fields'}"
        told = f"{told} {'varies' if count == 1 else 'vary'}"
        return f"{told}: {listed}" if listed else told

    @property
    def _listed(self) -> str:
        """The places that vary. What a reply has of its request comes first: it says most."""
        back = {one.words for one in self.echoes}
        ordered = sorted(self.varied, key=lambda one: one.what not in back)
        counts = Counter(map(str, ordered))
        shown = [f"{words} ({n} times)" if n > 1 else words for words, n in counts.items()]
        left = sum(list(counts.values())[MOST_SHOWN:])
        return ", ".join([*shown[:MOST_SHOWN], *([f"{left} more"] if left else [])])

    @property
    def checks(self) -> tuple[Check, ...]:
        """What a route's reply is held against, beside its status and a body that is constant."""
        location = () if self.location is None else (self.location.check,)
        return (*location, *self._content_checks)

    @property
    def _content_checks(self) -> tuple[Check, ...]:
        # The first check that fails is told, and whose reply it is says most.
        back = tuple(one.check for one in self.echoes)
        if self.shape is not None:
            return (*back, Check(of="body", test=IsShape(shape=self.shape)))
        if self.pattern is not None:
            return (*back, Check(of="body", test=Matches(pattern=self.pattern)))
        if self.length is None:
            return ()
        return (*_of_media_type(self.media_type), *_sized(*self.length))

    @property
    def expect(self) -> RouteExpect | None:
        """What a right reply is; None: an echo, which no route can be asked for."""
        if self.kind == "echo":
            return None
        body: tuple[Words, ...] | None = None
        checks = self.checks
        if self.kind == "equal" and self.shape is None:
            try:
                text = self.body.decode()
                body = (Words(text=text),) if text else ()
            except UnicodeDecodeError:
                checks = (*checks, *_sized(len(self.body), len(self.body)))
        status = StatusIn.model_validate({"in": (self.status,)})
        return RouteExpect(status=status, body=body, checks=checks)


def learn(
    route: str,
    samples: Sequence[Sample],
    *,
    status: int | None = None,
    constants: bool = True,
) -> Learned:
    """The rule that these replies keep; raises `NotLearned`. There is at least one.

    `status`: the right one; None: any of 2xx and 3xx, with where it redirects to. Without
    `constants`, of JSON only the shape counts.
    """
    known = _status(route, samples, status)
    is_told = status is not None or known < 300
    base = Learned(
        *(route, len(samples), known, "equal", samples[0].body, samples[0].media_type),
        location=None if is_told else locations.of_replies(samples, constants=constants),
    )
    _require_one_media_type(route, samples)
    is_equal = all(one.body == samples[0].body for one in samples)
    if samples[0].body and all(one.body == one.sent for one in samples):
        return replace(base, kind="echo")
    at = [one.at for one in samples]
    if (documents := _documents(route, samples)) is not None:
        found = shapes.of_documents(documents, at=at, constants=constants)
        if constants and is_equal and all(one.is_secret for one in found.varied):
            return replace(base, shape=found.shape if found.varied else None)
        values = [one.values for one in samples] if constants else []
        back = {one.path: one for one in echoes.of_documents(documents, values, found.varied)}
        return replace(
            base,
            kind="json",
            shape=found.shape,
            varied=tuple(_coming_back(one, back.get(one.path)) for one in found.varied),
            fields=found.fields,
            constants=constants,
            echoes=tuple(back.values()),
        )
    texts = _texts(samples[:1] if is_equal else samples)
    last = max((one for one in at if one is not None), default=None)
    template = holes.template(texts, last) if texts else None
    if template is not None and template.holes:
        of_holes = list(echoes.of_text(template.holes, [one.values for one in samples]))
        told = zip(template.holes, of_holes, strict=True)
        return replace(
            base,
            kind="text",
            pattern=template.pattern,
            varied=tuple(_coming_back(Varied("", hole.words), echo) for hole, echo in told),
            echoes=tuple(echo for echo in of_holes if echo),
        )
    if is_equal:
        return base
    return replace(base, kind="size", length=strings.with_room([len(s.body) for s in samples]))


def bound(samples: int) -> float:
    """1 - 0.05^(1/n): of more that break a rule, n that keep it have a chance below 5 %."""
    return float(1 - 0.05 ** (1 / samples))


def _coming_back(place: Varied, echo: Echo | None) -> Varied:
    """The place in words: where a value of the request is, its name says more than a type."""
    return replace(place, what=echo.words) if echo else place


def _of_media_type(name: str) -> Iterator[Check]:
    """Of content that nobody can read, it is at least said what it is."""
    if name:
        operand = JsonOperand.model_validate({"json": name})
        test = Contains.model_validate({"with": operand})
        yield Check(of=HeaderOf(header="Content-Type"), test=test)


def _sized(least: int, most: int) -> tuple[Check, ...]:
    """Checks of how many bytes there are."""
    ends = ((">=", least), ("<=", most))
    return tuple(
        Check(
            of="bytes",
            test=Compared.model_validate(
                {"how": how, "with": JsonOperand.model_validate({"json": end})}
            ),
        )
        for how, end in ends
    )


def _status(route: str, samples: Sequence[Sample], wanted: int | None) -> int:
    """The one status of all."""
    counts = Counter(one.status for one in samples)
    for status, count in counts.items():
        is_right = 200 <= status < 400 if wanted is None else status == wanted
        if not is_right:
            of = f"{count} of {len(samples)} replies had " if count < len(samples) else ""
            shown = next(one.body for one in samples if one.status == status)
            raise NotLearned(
                f"{route}: {of}status {status}, which is not learned{_excerpt(shown)}", _REMEDY
            )
    if len(counts) > 1:
        told = " and ".join(f"{status} ({count}x)" for status, count in sorted(counts.items()))
        raise NotLearned(f"{route}: replies had statuses {told}", _REMEDY)
    return samples[0].status


def _require_one_media_type(route: str, samples: Sequence[Sample]) -> None:
    counts = Counter(one.media_type or "none" for one in samples)
    if len(counts) > 1:
        told = " and ".join(f"{name} ({count}x)" for name, count in counts.most_common())
        raise NotLearned(f"{route}: replies had media types {told}", _REMEDY)


def _documents(route: str, samples: Sequence[Sample]) -> list[JsonValue] | None:
    """The replies as JSON; None: they are none, and do not say that they are."""
    found = []
    for one in samples:
        if not one.body and not any(other.body for other in samples):
            return None
        try:
            found.append(read_json(one.body))
        except NotJson:
            if one.says_json:
                raise NotLearned(
                    f"{route}: a reply said {one.media_type}, and was no JSON{_excerpt(one.body)}",
                    _REMEDY,
                ) from None
            return None
    is_meant = samples[0].says_json or all(isinstance(one, dict | list) for one in found)
    return found if is_meant else None


def _texts(samples: Sequence[Sample]) -> list[str]:
    """The replies as text; none where they are not."""
    media_type = samples[0].media_type
    if media_type and not media_type.startswith(_TEXTS) and not media_type.endswith("+xml"):
        return []
    try:
        found = [one.body.decode("utf-8") for one in samples]
    except UnicodeDecodeError:
        return []
    return [] if any("\0" in text for text in found) else found


def _excerpt(body: bytes) -> str:
    text = " ".join(body[: 4 * _EXCERPT].decode("utf-8", errors="replace").split())
    shown = "".join(sign for sign in text if sign.isprintable())
    return f": '{shown[:_EXCERPT]}{'...' if len(shown) > _EXCERPT else ''}'" if shown else ""
