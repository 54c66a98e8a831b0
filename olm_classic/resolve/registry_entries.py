"""What the registry API of a catalog says of a bundle, as an entry of the resolver."""

from collections.abc import Iterator
from typing import Any

import orjson

from olm_catalogs.registry import registry_pb2 as messages
from olm_classic.resolve.entries import LEFT_OUT, Entry, Property, SourceKey, tolerant_version
from olm_classic.resolve.readers import Deprecations

MAX_PROPERTIES_BYTES = 1 << 20
"""Of the properties of one bundle; real ones have a hundredth."""

REQUIRED = {
    "olm.gvk": "olm.gvk.required",
    "olm.package": "olm.package.required",
    "olm.label": "olm.label.required",
    "olm.constraint": "olm.constraint",
}
"""The property that a dependency stands for, by its type."""


class UnreadableBundleError(ValueError):
    """A bundle that cannot be an entry: it is left out."""


def entry_of(bundle: messages.Bundle, key: SourceKey) -> Entry:
    """The bundle in its channel, still without its package's default channel.

    Raises UnreadableBundleError.
    """
    values = [each.value for each in bundle.properties]
    values += [each.value for each in bundle.dependencies]
    size = sum(map(len, values))
    if size > MAX_PROPERTIES_BYTES:
        raise UnreadableBundleError(f"its properties have more than {MAX_PROPERTIES_BYTES} bytes")
    properties = (*_properties(bundle), *_required(bundle))
    if all(each["type"] != "olm.package" for each in properties):
        value = {"packageName": bundle.packageName, "version": bundle.version}
        properties = (*properties, {"type": "olm.package", "value": value})
    return Entry(
        bundle.csvName,
        key,
        bundle.packageName,
        bundle.channelName,
        bundle.replaces,
        tuple(bundle.skips),
        bundle.skipRange,
        tolerant_version(bundle.version),
        bundle.bundlePath,
        properties=properties,
    )


def _properties(bundle: messages.Bundle) -> Iterator[Property]:
    """As they are; of a server that knows none, those that the provided APIs stand for."""
    for each in bundle.properties:
        if each.type not in LEFT_OUT:
            yield {"type": each.type, "value": _json(each.value)}
    if not bundle.properties:
        for api in bundle.providedApis:
            yield {"type": "olm.gvk", "value": _api(api)}


def _required(bundle: messages.Bundle) -> Iterator[Property]:
    for each in bundle.dependencies:
        kind = REQUIRED.get(each.type)
        if kind is None:
            raise UnreadableBundleError(f"its dependency is of the unknown type {each.type}")
        value = _json(each.value)
        if each.type == "olm.package" and isinstance(value, dict):
            value = {
                "packageName": value.get("packageName"),
                "versionRange": value.get("version"),
            }
        yield {"type": kind, "value": value}
    if not bundle.dependencies:
        for api in bundle.requiredApis:
            yield {"type": "olm.gvk.required", "value": _api(api)}


def _api(api: messages.GroupVersionKind) -> dict[str, str]:
    return {"group": api.group, "kind": api.kind, "version": api.version}


def _json(text: str) -> Any:
    try:
        value = orjson.loads(text)
    except ValueError as error:
        raise UnreadableBundleError(f"a property is no JSON: {error}") from error
    try:
        orjson.dumps([[[[[[[[value]]]]]]]])  # so deep it will stand in what is written of it
    except TypeError as error:
        raise UnreadableBundleError(f"a property is nested too deep: {error}") from error
    return value


def deprecations_of(package: messages.Package) -> Deprecations:
    """Those of the package and its channels; bundles have their own."""
    return Deprecations(
        package.deprecation.message if package.HasField("deprecation") else None,
        {
            each.name: each.deprecation.message
            for each in package.channels
            if each.HasField("deprecation")
        },
    )
