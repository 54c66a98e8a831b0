"""APIs that operators provide, as OperatorGroups and labels name them."""

from collections.abc import Iterable
from dataclasses import dataclass

from olm_classic.hashes import fnv64a
from olm_classic.names import AGGREGATION_LABEL_PREFIX


@dataclass(frozen=True, slots=True)
class ProvidedAPI:
    """A kind in a version of a group, written as `Kind.version.group`."""

    kind: str
    version: str
    group: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.version}.{self.group}"

    @property
    def hash(self) -> str:
        """What stands for the API in keys of labels, whose length is limited."""
        return fnv64a(str(self))

    def aggregation_label(self, level: str) -> str:
        """The label of cluster roles that give `level` (admin, edit, view) of this API."""
        return f"{AGGREGATION_LABEL_PREFIX}{self.hash}-{level}"


def provided_apis(annotation: str) -> frozenset[ProvidedAPI]:
    """The APIs of an `olm.providedAPIs` annotation; what is no API in it is passed over."""
    parts = (item.split(".", 2) for item in annotation.replace(" ", "").split(","))
    return frozenset(ProvidedAPI(*part) for part in parts if len(part) > 2)


def as_annotation(apis: Iterable[ProvidedAPI]) -> str:
    """The text of an `olm.providedAPIs` annotation: sorted, joined by commas."""
    return ",".join(sorted(map(str, apis)))
