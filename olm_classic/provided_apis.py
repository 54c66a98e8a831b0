"""APIs that operators provide, as OperatorGroups and labels name them."""

from collections.abc import Iterable

from api.objects import GVK
from olm_classic.hashes import fnv64a
from olm_classic.names import AGGREGATION_LABEL_PREFIX


def api_name(api: GVK) -> str:
    """An API as `Kind.version.group`."""
    return f"{api.kind}.{api.version}.{api.group}"


def api_hash(api: GVK) -> str:
    """What stands for an API in keys of labels, whose length is limited."""
    return fnv64a(api_name(api))


def aggregation_label(api: GVK, level: str) -> str:
    """The label of cluster roles that give `level` (admin, edit, view) of an API."""
    return f"{AGGREGATION_LABEL_PREFIX}{api_hash(api)}-{level}"


def provided_apis(annotation: str) -> frozenset[GVK]:
    """The APIs of an `olm.providedAPIs` annotation; what is no API in it is passed over."""
    parts = (item.split(".", 2) for item in annotation.replace(" ", "").split(","))
    return frozenset(GVK(part[2], part[1], part[0]) for part in parts if len(part) > 2)


def as_annotation(apis: Iterable[GVK]) -> str:
    """The text of an `olm.providedAPIs` annotation: sorted, joined by commas."""
    return ",".join(sorted(map(api_name, apis)))
