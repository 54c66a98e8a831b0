"""Serves a catalog: the registry API, health and reflection, until it is stopped."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health, health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from olm_catalogs.registry.answers import ANSWERS, Answer, Catalog, InvalidRequestError
from olm_catalogs.registry.index import NotFoundError
from olm_catalogs.registry.registry_pb2 import DESCRIPTOR
from olm_runtime.errors import TerminalError

ACKNOWLEDGEMENT = "x-acknowledge-experimental"
"""The metadata that a client of the experimental service must send, with the value `true`."""

STOP_SECONDS = 10.0
"""How long requests under way may go on after the signal to stop."""

_EXPERIMENTAL = "ExperimentalRegistry"
_REFLECTION = (reflection.SERVICE_NAME, "grpc.reflection.v1.ServerReflection")


def make_server(catalog: Catalog) -> grpc.aio.Server:
    """A server with all services, not yet started."""
    # Else a second server takes the same port without a word, and half of the requests.
    server = grpc.aio.server(options=(("grpc.so_reuseport", 0),))
    for service in DESCRIPTOR.services_by_name.values():
        handlers = {method.name: _handler(method, catalog) for method in service.methods}
        _add(server, service.full_name, handlers)
    _add_health(server)
    _add_reflection(server)
    return server


async def serve(catalog: Catalog, port: int, ready: Callable[[int], None]) -> None:
    """Serves until SIGTERM or SIGINT; `ready` is called with the port. Raises TerminalError."""
    server = make_server(catalog)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        bound = server.add_insecure_port(f"[::]:{port}")
    except RuntimeError as error:
        raise TerminalError(
            f"failed to listen on port {port}: {error}",
            hint="another program may have it; choose one with --port",
        ) from error
    await server.start()
    ready(bound)
    await stop.wait()
    await server.stop(STOP_SECONDS)


def _add_health(server: grpc.aio.Server) -> None:
    """As long as it answers it serves, whatever service is asked about: so does upstream."""

    async def check(*_: Any) -> Any:
        return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)

    servicer = health.aio.HealthServicer()
    read = health_pb2.HealthCheckRequest.FromString
    write = health_pb2.HealthCheckResponse.SerializeToString
    handlers = {
        "Check": grpc.unary_unary_rpc_method_handler(check, read, write),
        "Watch": grpc.unary_stream_rpc_method_handler(servicer.Watch, read, write),
    }
    _add(server, health.SERVICE_NAME, handlers)


def _add_reflection(server: grpc.aio.Server) -> None:
    """Under both of its names: the messages are the same, and clients ask for the newer first."""
    ours = (service.full_name for service in DESCRIPTOR.services_by_name.values())
    servicer = reflection.aio.ReflectionServicer((*ours, health.SERVICE_NAME, *_REFLECTION))
    handler = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    for name in _REFLECTION:
        _add(server, name, {"ServerReflectionInfo": handler})


def _add(server: grpc.aio.Server, name: str, handlers: dict[str, Any]) -> None:
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))


def _handler(method: MethodDescriptor, catalog: Catalog) -> grpc.RpcMethodHandler:
    """Answers are serialised already, so no serializer is named."""
    answer = ANSWERS[method.name]
    read = GetMessageClass(method.input_type).FromString
    if method.server_streaming:
        if method.containing_service.name == _EXPERIMENTAL:
            return grpc.unary_stream_rpc_method_handler(
                _acknowledged(_streaming(answer, catalog)), request_deserializer=read
            )
        return grpc.unary_stream_rpc_method_handler(
            _streaming(answer, catalog), request_deserializer=read
        )
    return grpc.unary_unary_rpc_method_handler(_single(answer, catalog), request_deserializer=read)


Context: TypeAlias = Any  # grpc.aio.ServicerContext; grpc says nothing of its types
Streaming = Callable[[Any, Context], AsyncIterator[bytes]]


def _single(answer: Answer, catalog: Catalog) -> Callable[[Any, Context], Awaitable[bytes]]:
    async def single(request: Any, context: Context) -> bytes:
        try:
            return next(iter(answer(catalog, request)))
        except NotFoundError as error:
            await context.abort(grpc.StatusCode.UNKNOWN, str(error))
            raise

    return single


def _streaming(answer: Answer, catalog: Catalog) -> Streaming:
    async def streaming(request: Any, context: Context) -> AsyncIterator[bytes]:
        try:
            for each in answer(catalog, request):
                yield each
        except NotFoundError as error:
            # Upstream's code for every error of a catalog; clients know no other.
            await context.abort(grpc.StatusCode.UNKNOWN, str(error))
        except InvalidRequestError as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))

    return streaming


def _acknowledged(streaming: Streaming) -> Streaming:
    """Answers with nothing when the client does not say that it knows what it asks for."""

    async def acknowledged(request: Any, context: Context) -> AsyncIterator[bytes]:
        if (ACKNOWLEDGEMENT, "true") in (context.invocation_metadata() or ()):
            async for each in streaming(request, context):
                yield each

    return acknowledged
