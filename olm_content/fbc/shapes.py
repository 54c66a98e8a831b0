"""Reads JSON values into fixed shapes, as Go's encoding/json fills structs and writes them again.

Unknown fields vanish, empty optional ones too, required ones appear, keys match whatever their
case, fields come out in the shape's order, and a wrong type is a fault. Upstream reads `olm.*`
blobs that way, so this decides what `opm render` prints and what `opm validate` refuses.

Shapes are lines of text, one struct each: `Name: field=type ...`. A type is `str`, `int`, `bool`,
`bytes` (base64), `time`, `any` (unchanged), `raw` (the same, a null that was given too), a
struct's name, `[]type` or `{}type` (a map); `?` before it: left out when empty.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from olm_content.fbc.reading import mismatch
from olm_content.formats import go_json
from olm_content.names import (
    LABEL_BUNDLE_CHANNELS,
    LABEL_BUNDLE_DEFAULT_CHANNEL,
    LABEL_BUNDLE_PACKAGE,
)


class ShapeError(ValueError):
    """A value of the wrong type; the text says where and what."""


class _Field(NamedTuple):
    name: str
    kind: str
    optional: bool

    @classmethod
    def parse(cls, text: str) -> "_Field":
        name, _, kind = text.partition("=")
        return cls(name, kind.removeprefix("?"), kind.startswith("?"))

    @property
    def stays_empty(self) -> bool:
        """Whether an optional value that is given stays though it is empty: only absence counts."""
        return self.kind in ("any", "raw") or self.kind in _STRUCTS


def _structs(table: str) -> Mapping[str, tuple[_Field, ...]]:
    lines = (line.partition(":") for line in table.strip().splitlines())
    return {
        name.strip(): tuple(_Field.parse(field) for field in fields.split())
        for name, _, fields in lines
    }


_STRUCTS = _structs(
    """
Package: schema=str name=str defaultChannel=str icon=?Icon description=?str properties=?[]Property
Icon: base64data=bytes mediatype=str
Property: type=str value=any
Channel: schema=str name=str package=str entries=[]Entry properties=?[]Property
Entry: name=str replaces=?str skips=?[]str skipRange=?str
Bundle: schema=str name=?str package=?str image=str properties=?[]Property relatedImages=?[]Image
Image: name=str image=str
Deprecations: schema=str package=str entries=[]Deprecation
Deprecation: reference=Reference message=str
Reference: schema=str name=?str
PackageProperty: packageName=str version=str release=?str
PackageRequired: packageName=str versionRange=str
GVK: group=str kind=str version=str
NativeAPI: group=str version=str kind=str
ChannelProperty: channelName=str priority=int
BundleObject: data=bytes
CSVMetadata: annotations=?{}str apiServiceDefinitions=APIServices crdDescriptions=CRDs \
description=?str displayName=?str installModes=?[]InstallMode keywords=?[]str labels=?{}str \
links=?[]Link maintainers=?[]Maintainer maturity=?str minKubeVersion=?str nativeAPIs=?[]NativeAPI \
provider=Link
APIServices: owned=?[]APIService required=?[]APIService
APIService: name=str group=str version=str kind=str deploymentName=?str containerPort=?int \
displayName=?str description=?str resources=?[]Resource statusDescriptors=?[]Descriptor \
specDescriptors=?[]Descriptor actionDescriptors=?[]Descriptor
CRDs: owned=?[]CRD required=?[]CRD
CRD: name=str version=str kind=str displayName=?str description=?str resources=?[]Resource \
statusDescriptors=?[]Descriptor specDescriptors=?[]Descriptor actionDescriptors=?[]Descriptor
DefinitionKeys: owned=?[]DefinitionKey required=?[]DefinitionKey
DefinitionKey: name=str group=str version=str kind=str
RelatedImages: relatedImages=?[]Image
InstallHolder: install=?Install
Install: strategy=?str spec=?InstallSpec
InstallSpec: deployments=?[]Deployment
Deployment: name=?str spec=?any
AnnotationsFile: annotations=?BundleAnnotations
PropertiesFile: properties=?[]GivenProperty
DependenciesFile: dependencies=?[]GivenProperty
GivenProperty: type=str value=?raw
Head: apiVersion=?str kind=?str metadata=?ObjectMeta
ObjectMeta: name=?str generateName=?str namespace=?str selfLink=?str uid=?str \
resourceVersion=?str generation=?int creationTimestamp=?time deletionTimestamp=?time \
deletionGracePeriodSeconds=?int labels=?{}str annotations=?{}str \
ownerReferences=?[]OwnerReference finalizers=?[]str managedFields=?[]ManagedFields
OwnerReference: apiVersion=str kind=str name=str uid=str controller=?bool blockOwnerDeletion=?bool
ManagedFields: manager=?str operation=?str apiVersion=?str time=?time fieldsType=?str \
fieldsV1=?any subresource=?str
Resource: name=str kind=str version=str
Descriptor: path=str displayName=?str description=?str x-descriptors=?[]str value=?any
InstallMode: type=str supported=bool
Link: name=?str url=?str
Maintainer: name=?str email=?str
""".replace("\\\n", "")
    + f"BundleAnnotations: {LABEL_BUNDLE_PACKAGE}=?str {LABEL_BUNDLE_CHANNELS}=?str "
    f"{LABEL_BUNDLE_DEFAULT_CHANNEL}=?str"
)

_SCALARS: Mapping[str, tuple[type, str, Any]] = {
    "str": (str, "a string", ""),
    "bool": (bool, "a boolean", False),
    "int": (int, "an integer", 0),
}


def read(shape: str, value: Any, *, yaml: bool = False) -> dict[str, Any]:
    """The value as the named struct writes it again. Raises ShapeError.

    Read from `yaml` into a struct, a number or a boolean becomes text where text is expected.
    """
    shown: dict[str, Any] = _reader(shape, yaml)(value, "")
    return shown


Read = Callable[[Any, str], Any]


@cache
def _reader(kind: str, yaml: bool = False) -> Read:
    """How a kind is read; the reader takes the value, None for absent, and its place."""
    if kind.startswith("[]"):
        return _list_reader(_reader(kind[2:], yaml))
    if kind.startswith("{}"):
        return _map_reader(_reader(kind[2:], yaml))
    if kind == "str" and yaml:
        return _read_plain_text
    if kind in _SCALARS:
        return _scalar_reader(*_SCALARS[kind])
    if kind in _READERS:
        return _READERS[kind]
    return _struct_reader(_STRUCTS[kind], yaml)


def _read_plain_text(value: Any, place: str) -> str:
    if isinstance(value, bool | int | float):
        return go_json.dumps(value)
    text: str = _reader("str")(value, place)
    return text


def _read_time(value: Any, place: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise _wrong(place, "a time", value)
    try:
        moment = datetime.fromisoformat(value) if re.fullmatch(_TIME, value) else None
    except ValueError:
        moment = None
    if moment is None:
        raise ShapeError(f"{place}: expected a time such as 2026-01-02T15:04:05Z, got {value!r}")
    return value


_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[-+].{5})"


def _scalar_reader(expected: type, words: str, zero: Any) -> Read:
    def scalar(value: Any, place: str) -> Any:
        if type(value) is expected:
            return value
        if value is None:
            return zero
        raise _wrong(place, words, value)

    return scalar


def _read_bytes(value: Any, place: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise _wrong(place, "base64 text", value)
    try:
        base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ShapeError(f"{place}: invalid base64: {error}") from error
    return value


_READERS: Mapping[str, Read] = {
    "bytes": _read_bytes,
    "time": _read_time,
    "any": lambda value, _: value,
    "raw": lambda value, _: value,
}


def _list_reader(item: Read) -> Read:
    def items(value: Any, place: str) -> list[Any] | None:
        if value is None:
            return None
        if not isinstance(value, list):
            raise _wrong(place, "a list", value)
        return [item(child, f"{place}[{index}]") for index, child in enumerate(value)]

    return items


def _map_reader(item: Read) -> Read:
    def mapping(value: Any, place: str) -> dict[str, Any] | None:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise _wrong(place, "an object", value)
        return {key: item(child, f"{place}.{key}") for key, child in sorted(value.items())}

    return mapping


def _struct_reader(fields: tuple[_Field, ...], yaml: bool) -> Read:
    known = {spelled: f.name for f in fields for spelled in (f.name.casefold(), f.name)}
    readers = [(f.name, f.optional, f.stays_empty, _reader(f.kind, yaml)) for f in fields]
    names = frozenset(f.name for f in fields)
    raw = frozenset(f.name for f in fields if f.kind == "raw")

    def struct(value: Any, place: str) -> dict[str, Any]:
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise _wrong(place, "an object", value)
        given = value
        if not value.keys() <= names:
            given = {
                known.get(key) or known.get(key.casefold(), ""): child
                for key, child in value.items()
            }
        prefix = f"{place}." if place else ""
        result = {}
        for name, optional, stays_empty, read_field in readers:
            child = given.get(name)
            if optional and child is None and not (name in raw and name in given):
                continue
            shown = read_field(child, prefix + name)
            if shown or not optional or stays_empty:
                result[name] = shown
        return result

    return struct


def _wrong(place: str, expected: str, value: Any) -> ShapeError:
    return ShapeError(mismatch(place or "it", expected, value))
