"""The CSVs of a namespace as entries of its virtual source."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from api.objects import KubeObject, name_of
from olm_classic.names import ANNOTATION_PROPERTIES, LABEL_COPIED_FROM
from olm_classic.operator_groups.strategy import fails_forward
from olm_classic.resolve.entries import EXISTING, Entry, Property, SourceKey, tolerant_version
from olm_classic.resolve.errors import ResolutionError
from olm_content.formats.go_text import quote


def installed_entries(
    namespace: str,
    csvs: Iterable[KubeObject],
    subscriptions: Iterable[KubeObject],
    groups: Iterable[KubeObject],
) -> list[Entry]:
    """The CSVs that are no copies, by name. Raises ResolutionError for one that cannot be read."""
    own = sorted(
        (csv for csv in csvs if LABEL_COPIED_FROM not in (csv["metadata"].get("labels") or {})),
        key=name_of,
    )
    if fails_forward(groups):
        own = [csv for csv in own if not _failed_forward(namespace, csv, own)]
    subscribed = list(subscriptions)
    return [_entry(namespace, csv, subscribed) for csv in own]


def _failed_forward(namespace: str, csv: KubeObject, own: list[KubeObject]) -> bool:
    """Whether it is being replaced, and the last of its replacements failed."""
    replaced_by = {str((each.get("spec") or {}).get("replaces")): each for each in own}
    current, seen = csv, {name_of(csv)}
    while (following := replaced_by.get(name_of(current))) is not None:
        if _phase(current) != "Replacing":
            raise ResolutionError(
                f"csv {namespace}/{name_of(current)} in phase {_phase(current)} "
                "instead of Replacing"
            )
        if name_of(following) in seen:
            raise ResolutionError(f"csv {namespace}/{name_of(following)} has already been seen")
        seen.add(name_of(following))
        current = following
    return current is not csv and _phase(current) == "Failed"


def _phase(csv: KubeObject) -> str:
    return str((csv.get("status") or {}).get("phase", ""))


def _entry(namespace: str, csv: KubeObject, subscriptions: list[KubeObject]) -> Entry:
    name, spec = name_of(csv), csv.get("spec") or {}
    noted = (csv["metadata"].get("annotations") or {}).get(ANNOTATION_PROPERTIES)
    given = _noted(name, noted) if noted else (*_derived(spec), *_inferred(csv, subscriptions))
    version = tolerant_version(str(spec["version"])) if spec.get("version") else None
    return Entry(name, SourceKey(EXISTING, namespace), version=version, properties=tuple(given))


def _noted(name: str, text: str) -> tuple[Property, ...]:
    try:
        value = orjson.loads(text)
    except ValueError as error:
        problem = f"failed to unmarshal properties annotation: {error}"
        raise ResolutionError(
            f"failed to retrieve properties of csv {quote(name)}: {problem}"
        ) from error
    found = value.get("properties") if isinstance(value, dict) else None
    return tuple(each for each in found or () if isinstance(each, dict))


def _derived(spec: Mapping[str, Any]) -> Iterator[Property]:
    crds, services = (
        spec.get("customresourcedefinitions") or {},
        spec.get("apiservicedefinitions") or {},
    )
    for key, kind in (("owned", "olm.gvk"), ("required", "olm.gvk.required")):
        for each in crds.get(key) or ():
            _, dot, group = each["name"].partition(".")
            if not dot:
                raise ResolutionError(f"error parsing crd name: {each['name']}")
            yield _api(kind, group, each)
        for each in services.get(key) or ():
            yield _api(kind, each.get("group", ""), each)


def _api(kind: str, group: str, described: Mapping[str, Any]) -> Property:
    value = {"group": group, "version": described.get("version"), "kind": described.get("kind")}
    return {"type": kind, "value": value}


def _inferred(csv: KubeObject, subscriptions: list[KubeObject]) -> Iterator[Property]:
    """The package that all Subscriptions name whose installed CSV it is."""
    packages = {
        each["spec"]["name"]
        for each in subscriptions
        if (each.get("status") or {}).get("installedCSV") == name_of(csv)
    }
    if len(packages) == 1:
        version = (csv.get("spec") or {}).get("version", "")
        value = {"packageName": packages.pop(), "version": version}
        yield {"type": "olm.package", "value": value}
