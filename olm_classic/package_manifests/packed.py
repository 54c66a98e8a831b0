"""PackageManifests as they are cached: compressed JSON that is sent without being read."""

from dataclasses import dataclass
from typing import Any

import orjson

from olm_classic.package_manifests.icons import Icon
from olm_classic.package_manifests.manifests import API_VERSION, KIND, Catalog, Manifest
from olm_runtime.gzip_parts import Part, part


@dataclass(frozen=True, slots=True)
class Packed:
    """A PackageManifest.

    head  the JSON of metadata after the namespace
    rest  the JSON after `opening(namespace)`
    """

    catalog: Catalog
    name: str
    labels: dict[str, str]
    head: bytes
    rest: Part
    icon: Icon

    def metadata(self, namespace: str) -> bytes:
        """The JSON of its metadata."""
        return b'{"namespace":' + orjson.dumps(namespace) + b"," + self.head


def pack(manifest: Manifest) -> Packed:
    """A manifest, packed."""
    metadata: Any = manifest.metadata
    head = orjson.dumps(metadata)[1:]
    rest = head + b',"spec":{},"status":' + orjson.dumps(manifest.status) + b"}"
    return Packed(
        catalog=manifest.catalog,
        name=metadata["name"],
        labels=metadata["labels"],
        head=head,
        rest=part(rest),
        icon=manifest.icon,
    )


def opening(namespace: str) -> bytes:
    """How a manifest begins that is shown in a namespace."""
    return b'{"kind":"%s","apiVersion":"%s","metadata":{"namespace":%s,' % (
        KIND.encode(),
        API_VERSION.encode(),
        orjson.dumps(namespace),
    )
