"""Which methods a server has, and what their messages are, from protobuf's descriptors.

Knows descriptors; must not know where they come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from google.protobuf.descriptor import Descriptor, MethodDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from wiretrial import plan_grpc, suggest
from wiretrial.errors import UsageProblem
from wiretrial.plan_grpc import CallKind

FORM = "grpc://HOST:PORT/package.Service/Method"
MOST_LISTED = 12
"""Methods in one line of an error."""
DEEPEST_NAMED, MOST_NAMED = 4, 256
"""Fields of a reply whose names are kept with a study: messages in messages, and how many."""
_KINDS: dict[tuple[bool, bool], CallKind] = {
    (False, False): "unary",
    (False, True): "server",
    (True, False): "client",
    (True, True): "bidi",
}

Files = Mapping[str, FileDescriptorProto]
"""Described files by their names, with all that they import."""


@dataclass(frozen=True)
class Method:
    """One method: its path without the first slash, who streams, and its messages."""

    path: str
    kind: CallKind
    request: Descriptor
    reply: Descriptor

    @property
    def is_sent_as_stream(self) -> bool:
        """Whether a call has any number of messages."""
        return self.kind in ("client", "bidi")

    @property
    def is_answered_as_stream(self) -> bool:
        """Whether a reply has any number of messages."""
        return self.kind in ("server", "bidi")

    def named(self, text: str) -> str:
        """The text with the names of a reply's fields in place of `field 9.2`."""
        return plan_grpc.named(text, self._path)

    def names(self) -> dict[str, str]:
        """`maker.since` by `9.2`, of the fields of a reply; of a large one those nearest to it."""
        found: dict[str, str] = {}
        level = [("", "", self.reply)]
        for _ in range(DEEPEST_NAMED):
            inner = []
            for number, name, of in level:
                for field in of.fields:
                    at, called = f"{number}{field.number}", f"{name}{field.name}"
                    if len(found) == MOST_NAMED:
                        return found
                    found[at] = called
                    if field.message_type:
                        inner.append((f"{at}.", f"{called}.", field.message_type))
            level = inner
        return found

    def _path(self, numbers: str) -> str:
        of: Descriptor | None = self.reply
        names = []
        for number in numbers.split("."):
            field = of.fields_by_number.get(int(number)) if of else None
            names.append(field.name if field else number)
            of = field.message_type if field else None
        return ".".join(names)


class Methods:
    """The methods of described files."""

    def __init__(self, files: Files) -> None:
        """Raises where a file is missing, or makes no sense."""
        self._pool = _pool(files)
        self.paths = tuple(_paths(files))
        """`package.Service/Method` of each."""

    def find(self, path: str) -> Method:
        """The method at the path of a URL; raises with those that there are."""
        wanted = path.strip("/")
        if wanted in self.paths:
            service, _, name = wanted.rpartition("/")
            return _method(wanted, self._pool.FindServiceByName(service).methods_by_name[name])
        if not self.paths:
            raise UsageProblem("these files have no service", "name the file that has it: --proto")
        fault = f"there is no method {wanted}" if wanted else f"the URL names no method ({FORM})"
        raise UsageProblem(fault, _remedy(wanted, self.paths))


def _method(path: str, described: MethodDescriptor) -> Method:
    kind = _KINDS[described.client_streaming, described.server_streaming]
    return Method(path, kind, described.input_type, described.output_type)


def _remedy(wanted: str, paths: tuple[str, ...]) -> str:
    """Those of the service where it is one of these, else all."""
    service = wanted.partition("/")[0]
    near = [one for one in paths if one.startswith(f"{service}/")] or list(paths)
    more = f" and {len(near) - MOST_LISTED} more" if len(near) > MOST_LISTED else ""
    return suggest.remedy(wanted, near, f"use one of {', '.join(near[:MOST_LISTED])}{more}")


def _pool(files: Files) -> DescriptorPool:
    """The files, each after all that it imports."""
    pool = DescriptorPool()
    added: set[str] = set()

    def add(name: str) -> None:
        if name in added:
            return
        added.add(name)
        if name not in files:
            raise UsageProblem(f"{name} is imported, and nobody describes it", "name it: --proto")
        for imported in files[name].dependency:
            add(imported)
        try:
            pool.AddSerializedFile(files[name].SerializeToString())
        except TypeError as error:
            raise UsageProblem(
                f"{name} makes no sense: {error}", "name its file: --proto"
            ) from error

    for name in files:
        add(name)
    return pool


def _paths(files: Files) -> Iterator[str]:
    for file in files.values():
        for service in file.service:
            whole = f"{file.package}.{service.name}" if file.package else service.name
            yield from (f"{whole}/{method.name}" for method in service.method)
