"""What a server says of itself: server reflection, version v1 and v1alpha.

Knows the reflection service; must not know what is done with the answer. The messages of both
versions are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from wiretrial.calls import channel
from wiretrial.calls.channel import Server
from wiretrial.calls.methods import Files
from wiretrial.errors import EngineFailed, UsageProblem

if TYPE_CHECKING:
    import grpc
    from grpc_reflection.v1alpha import reflection_pb2 as messages

VERSIONS = ("v1", "v1alpha")
LIMIT_S = 10.0
_NO_FILE = "name its files with --proto"


def told(server: Server) -> Files:
    """The files of all services of a server, with all that they import."""
    with channel.opened(server) as through:
        return _Asked(through, _version(server, through)).files()


class _Asked:
    """A server whose version of the service is known."""

    def __init__(self, through: grpc.Channel, version: str) -> None:
        self._channel, self._version = through, version
        self._files: dict[str, FileDescriptorProto] = {}

    def files(self) -> Files:
        """Those of all services."""
        from grpc_reflection.v1alpha import reflection_pb2 as messages

        listed = self._ask(messages.ServerReflectionRequest(list_services=""))
        names = [one.name for one in listed.list_services_response.service]
        for name in names:
            # The reflection service is no part of what is loaded.
            if not name.startswith("grpc.reflection."):
                self._take(messages.ServerReflectionRequest(file_containing_symbol=name), name)
        return self._files

    def _take(self, request: messages.ServerReflectionRequest, wanted: str) -> None:
        """Keeps the files of an answer, and asks for those that they import."""
        from grpc_reflection.v1alpha import reflection_pb2 as messages

        answer = self._ask(request)
        if answer.HasField("error_response"):
            said = answer.error_response.error_message
            raise UsageProblem(f"the server does not describe {wanted}: {said}", _NO_FILE)
        came = map(
            FileDescriptorProto.FromString, answer.file_descriptor_response.file_descriptor_proto
        )
        fresh = [one for one in came if one.name not in self._files]
        self._files.update((one.name, one) for one in fresh)
        for file in fresh:
            for name in file.dependency:
                if name not in self._files:
                    self._take(messages.ServerReflectionRequest(file_by_filename=name), name)

    def _ask(self, request: messages.ServerReflectionRequest) -> messages.ServerReflectionResponse:
        import grpc

        try:
            return _answer(self._channel, self._version, request)
        except grpc.RpcError as error:
            raise _failed(error) from error


def _version(server: Server, through: grpc.Channel) -> str:
    """The newest that the server has."""
    import grpc
    from grpc_reflection.v1alpha import reflection_pb2 as messages

    for version in VERSIONS:
        try:
            _answer(through, version, messages.ServerReflectionRequest(list_services=""))
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.UNAVAILABLE:
                raise server.refused(error) from error
            if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
                raise _failed(error) from error
        else:
            return version
    raise UsageProblem(f"{server.address} has no server reflection", _NO_FILE)


def _failed(error: grpc.RpcError) -> EngineFailed:
    return EngineFailed(f"the server's reflection failed: {channel.words(error)}", _NO_FILE)


def _answer(
    through: grpc.Channel, version: str, request: messages.ServerReflectionRequest
) -> messages.ServerReflectionResponse:
    """One question, on a stream of its own."""
    from grpc_reflection.v1alpha import reflection_pb2 as messages

    ask = through.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=messages.ServerReflectionRequest.SerializeToString,
        response_deserializer=messages.ServerReflectionResponse.FromString,
    )
    for answer in ask(iter([request]), timeout=LIMIT_S):
        found: messages.ServerReflectionResponse = answer
        return found
    raise EngineFailed("the server's reflection gave no answer", _NO_FILE)
