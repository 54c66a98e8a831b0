"""What a PackageManifest shows of the ClusterServiceVersion at the head of a channel.

Fields and what is left out when it is empty are upstream's.
"""

import re
from collections.abc import Mapping
from typing import Any

import orjson

Fields = Mapping[str, Any]

_AS_THEY_ARE = {
    "displayName": "displayName",
    "keywords": "keywords",
    "links": "links",
    "maintainers": "maintainers",
    "maturity": "maturity",
    "description": "description",
    "installModes": "installModes",
    "nativeAPIs": "nativeApis",
    "minKubeVersion": "minKubeVersion",
}
"""Fields of the spec that are shown unless they are empty, and how they are called here."""
NO_VERSION = "0.0.0"
_VERSION = re.compile(r"v?\d+(\.\d+){0,2}([-+].+)?")
"""Read tolerantly, as upstream does."""


class UnreadableError(ValueError):
    """No ClusterServiceVersion: its channel is left out."""


def read_csv(text: str) -> Fields:
    """A ClusterServiceVersion. Raises UnreadableError."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UnreadableError("it is no JSON") from error
    if not isinstance(found, dict) or not isinstance(found.get("spec"), dict):
        raise UnreadableError("it has no spec")
    version = found["spec"].get("version", NO_VERSION)
    if not isinstance(version, str) or not _VERSION.fullmatch(version.strip()):
        raise UnreadableError("its version is none")
    return found


def description(csv: Fields) -> dict[str, Any]:
    """`currentCSVDesc`; the icon has an address of its own."""
    spec = csv["spec"]
    annotations = labels_in(csv, "annotations")
    return {
        "icon": [],
        "version": spec.get("version") or NO_VERSION,
        "provider": provider(csv),
        "customresourcedefinitions": _mapping(spec, "customresourcedefinitions"),
        "apiservicedefinitions": _mapping(spec, "apiservicedefinitions"),
        **({"annotations": annotations} if annotations else {}),
        **{key: spec[name] for name, key in _AS_THEY_ARE.items() if spec.get(name)},
        **({"relatedImages": images} if (images := _related_images(spec)) else {}),
    }


def provider(csv: Fields) -> dict[str, str]:
    """Name and URL of who provides it, as far as they are given."""
    given = _mapping(csv["spec"], "provider")
    return {
        key: given[key] for key in ("name", "url") if isinstance(given.get(key), str) and given[key]
    }


def labels_in(csv: Fields, field: str = "labels") -> dict[str, str]:
    """Labels, or annotations: those that are texts."""
    found = _mapping(_mapping(csv, "metadata"), field)
    return {key: value for key, value in found.items() if isinstance(value, str)}


def icon_in(csv: Fields) -> tuple[str, str]:
    """Media type and base64 of the first icon; empty for none."""
    icons = csv["spec"].get("icon")
    first = icons[0] if isinstance(icons, list) and icons else None
    if not isinstance(first, dict):
        return "", ""
    return str(first.get("mediatype") or ""), str(first.get("base64data") or "")


def _related_images(spec: Fields) -> list[str]:
    images = spec.get("relatedImages")
    if not isinstance(images, list):
        return []
    return [
        each["image"]
        for each in images
        if isinstance(each, dict) and isinstance(each.get("image"), str)
    ]


def _mapping(within: Fields, key: str) -> dict[str, Any]:
    found = within.get(key)
    return found if isinstance(found, dict) else {}
