"""The messages and services of the package `api`, as protocol buffers. Pure.

Names, numbers and types are those of upstream's registry API, which every client was built from;
they must never change. One table serves the classes, the services and server reflection.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, struct_pb2

PACKAGE = "api"
FILE = "registry.proto"
STRUCT = "google.protobuf.Struct"

# One message a line; `number:name`, a type before it where it is no string, `*` for repeated.
_MESSAGES = """
Channel 1:name 2:csvName 3:Deprecation:deprecation
PackageName 1:name
Package 1:name 2:Channel*:channels 3:defaultChannelName 4:Deprecation:deprecation
GroupVersionKind 1:group 2:version 3:kind 4:plural
Dependency 1:type 2:value
Property 1:type 2:value
Bundle 1:csvName 2:packageName 3:channelName 4:csvJson 5:string*:object 6:bundlePath \
7:GroupVersionKind*:providedApis 8:GroupVersionKind*:requiredApis 9:version 10:skipRange \
11:Dependency*:dependencies 12:Property*:properties 13:replaces 14:string*:skips \
15:Deprecation:deprecation
ChannelEntry 1:packageName 2:channelName 3:bundleName 4:replaces
ListPackageRequest
ListBundlesRequest
GetPackageRequest 1:name
GetBundleRequest 1:pkgName 2:channelName 3:csvName
GetBundleInChannelRequest 1:pkgName 2:channelName
GetAllReplacementsRequest 1:csvName
GetReplacementRequest 1:csvName 2:pkgName 3:channelName
GetAllProvidersRequest 1:group 2:version 3:kind 4:plural
GetLatestProvidersRequest 1:group 2:version 3:kind 4:plural
GetDefaultProviderRequest 1:group 2:version 3:kind 4:plural
Deprecation 1:message
ExperimentalListPackageCustomSchemasRequest 1:schema 2:packageName
""".replace("\\\n", "")

# One method a line: service, method, request, answer; `*` for a stream.
_METHODS = f"""
Registry ListPackages ListPackageRequest PackageName*
Registry GetPackage GetPackageRequest Package
Registry GetBundle GetBundleRequest Bundle
Registry GetBundleForChannel GetBundleInChannelRequest Bundle
Registry GetChannelEntriesThatReplace GetAllReplacementsRequest ChannelEntry*
Registry GetBundleThatReplaces GetReplacementRequest Bundle
Registry GetChannelEntriesThatProvide GetAllProvidersRequest ChannelEntry*
Registry GetLatestChannelEntriesThatProvide GetLatestProvidersRequest ChannelEntry*
Registry GetDefaultBundleThatProvides GetDefaultProviderRequest Bundle
Registry ListBundles ListBundlesRequest Bundle*
ExperimentalRegistry ExperimentalListPackageCustomSchemas \
ExperimentalListPackageCustomSchemasRequest {STRUCT}*
"""
_DEPRECATED = {"GetBundleForChannel"}

_Field = descriptor_pb2.FieldDescriptorProto


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a service; `streams` tells whether it answers with a stream."""

    service: str
    name: str
    request: str
    answer: str
    streams: bool

    @classmethod
    def parse(cls, line: str) -> "Method":
        """Reads a line of the table."""
        service, name, request, answer = line.split()
        return cls(service, name, request, answer.rstrip("*"), answer.endswith("*"))


METHODS = tuple(map(Method.parse, _METHODS.strip().splitlines()))
SERVICES = tuple(dict.fromkeys(f"{PACKAGE}.{method.service}" for method in METHODS))


def _full_name(name: str) -> str:
    return f".{name}" if "." in name else f".{PACKAGE}.{name}"


def _fields(texts: list[str]) -> Iterator[descriptor_pb2.FieldDescriptorProto]:
    for text in texts:
        number, *kinds, name = text.split(":")
        kind = kinds[0] if kinds else "string"
        field = _Field(name=name, json_name=name, number=int(number))
        field.label = _Field.LABEL_REPEATED if kind.endswith("*") else _Field.LABEL_OPTIONAL
        kind = kind.rstrip("*")
        if kind == "string":
            field.type = _Field.TYPE_STRING
        else:
            field.type, field.type_name = _Field.TYPE_MESSAGE, _full_name(kind)
        yield field


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name=FILE, package=PACKAGE, syntax="proto3", dependency=[struct_pb2.DESCRIPTOR.name]
    )
    for line in _MESSAGES.strip().splitlines():
        name, *fields = line.split()
        file.message_type.add(name=name, field=_fields(fields))
    services: dict[str, Any] = {}
    for method in METHODS:
        service = services.get(method.service)
        if service is None:
            service = services[method.service] = file.service.add(name=method.service)
        added = service.method.add(
            name=method.name,
            input_type=_full_name(method.request),
            output_type=_full_name(method.answer),
        )
        if method.streams:
            added.server_streaming = True
        if method.name in _DEPRECATED:
            added.options.deprecated = True
    return file


POOL = descriptor_pool.Default()
"""Where server reflection finds the descriptors, and those of other services."""

POOL.Add(_file())

MESSAGES: Mapping[str, type[Any]] = MappingProxyType(
    {
        **message_factory.GetMessageClassesForFiles([FILE], POOL),
        STRUCT: struct_pb2.Struct,
    }
)
"""The classes of messages, by their full name."""


def message(name: str) -> type[Any]:
    """The class of a message by its name in the tables."""
    return MESSAGES[_full_name(name)[1:]]
