"""The rule that sampled replies of a method have in common.

Knows replies as they came, and which rule fits them; must not know how they were asked for. What
varies is found in documents, as for JSON, and checked in bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.calls import fields, messages
from wiretrial.calls.asking import Reply
from wiretrial.calls.methods import Method
from wiretrial.errors import WiretrialError
from wiretrial.plan import Content, EchoContent, FieldsContent, LearnedContent, StatusContent
from wiretrial.traffic.learning import rules, shapes, strings

MOST_LOOKED_AT = 100
"""Messages of a long stream in which a time is looked for."""


@dataclass(frozen=True)
class Learned:
    """What is right, how many messages a reply has, and what varies, in words; None: nothing."""

    content: Content
    replies: tuple[int, int | None] | None
    told: str | None


def learned(replies: Sequence[Reply], method: Method, *, constants: bool = True) -> Learned:
    """The rule of these replies; there is at least one. Without `constants`, types count alone."""
    every = [one for reply in replies for one in reply.messages]
    counts = [len(reply.messages) for reply in replies]
    bounds = _counted(counts) if method.is_answered_as_stream else None
    if not every:
        return Learned(StatusContent(), bounds, None)
    is_equal = all(reply.messages == replies[0].messages for reply in replies)
    if constants and not is_equal and all(reply.messages == reply.sent for reply in replies):
        return Learned(EchoContent(), None, "each was its call's own messages")
    try:
        decoded = [messages.decoded(one, method.reply) for one in every]
    except messages.NotAMessage as error:
        raise WiretrialError(str(error), "name the file that the server was made of") from error
    at = [reply.at for reply in replies for _ in reply.messages]
    documents = list(map(messages.document, decoded))
    found = shapes.of_documents([*documents], at=at, constants=constants)
    if constants and is_equal and not _goes_on(documents[: counts[0]], at[0]):
        # The engine compares bytes: of a stream, it checks their order, too.
        return Learned(LearnedContent(), None, None)
    has_more = not constants or any(map(messages.has_unknown, decoded))
    shape = fields.of_shape(found.shape, method.reply, others=has_more)
    told = rules.Learned(
        *("", len(replies), 0, "json", b"", ""),
        varied=found.varied,
        fields=found.fields,
        shape=found.shape,
        constants=constants,
    ).told
    counted = f"; {_words(bounds)}" if bounds else ""
    return Learned(FieldsContent(shape=shape), bounds, f"{told}{counted}")


def _goes_on(documents: Sequence[fields.Document], at: float) -> bool:
    """Whether one of these is another later, or has what is not to be kept."""
    return any(
        shapes.of_documents([one] * shapes.SURE, at=[at]).varied
        for one in documents[:MOST_LOOKED_AT]
    )


def _counted(counts: Sequence[int]) -> tuple[int, int]:
    """How many messages a reply may have: as many as all had, or about as many."""
    if len(set(counts)) == 1:
        return counts[0], counts[0]
    return strings.with_room(counts)


def _words(bounds: tuple[int, int | None]) -> str:
    least, most = bounds
    if least == most:
        return f"{least:,} {'message' if least == 1 else 'messages'} each"
    return f"{least:,} to {most:,} messages each"
