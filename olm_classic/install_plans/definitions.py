"""What an update of a CustomResourceDefinition asks of the objects that there are. Pure."""

import hashlib
from collections.abc import Iterable, Sequence

from api.objects import GVK, KubeObject, annotations_of, metadata, name_of
from api.operators.names import ANNOTATION_INSTALLED_ALONGSIDE
from olm_content.crds.stored import Examined, Question


def installed_alongside(crd: KubeObject, live: KubeObject | None, csv: str) -> KubeObject:
    """The definition, annotated with `namespace/name` of the CSV whose plan applies it.

    What other plans noted on the live definition stays.
    """
    noted = {
        key: value
        for key, value in annotations_of(live or {}).items()
        if key.startswith(ANNOTATION_INSTALLED_ALONGSIDE)
    }
    if csv not in noted.values():
        noted[ANNOTATION_INSTALLED_ALONGSIDE + hashlib.sha256(csv.encode()).hexdigest()[:16]] = csv
    meta = metadata(crd) | {"annotations": {**annotations_of(crd), **noted}}
    return {**crd, "metadata": meta}


def questions_of(live: KubeObject, new: KubeObject) -> list[Question]:
    """What objects have to be valid in: versions that both serve, and whose schema is another."""
    before, spec = _served(live), live["spec"]
    kind = str(spec["names"]["kind"])
    return [
        Question(name_of(new), GVK(str(spec["group"]), name, kind), name, schema)
        for name, schema in _served(new).items()
        if name in before and before[name] != schema
    ]


def why_restrictive(crd: str, kind: str, group: str, examined: Sequence[Examined]) -> str:
    """Why objects that there are forbid the update; empty if none does."""
    begin = f'error validating existing CRs against new CRD\'s schema for "{crd}": '
    for each in examined:
        if each.invalid:
            example = each.examples[0]
            fault = example.fault
            details = f"{fault.field or 'object'}: {fault.detail or fault.reason}"
            gvk = f"{group}/{each.version}, Kind={kind}"
            return (
                f'{begin}error validating {gvk} "{example.name}": '
                f"updated validation is too restrictive: {details}"
            )
        if each.stopped:
            return f"{begin}{each.stopped}"
    return ""


def removed_versions(live: KubeObject, new: KubeObject) -> list[str]:
    """Versions that objects are, or were, stored in, and that the new definition has not."""
    names = {each["name"] for each in new["spec"]["versions"]}
    stored = (live.get("status") or {}).get("storedVersions") or ()
    return [version for version in stored if version not in names]


def may_be_migrated(live: KubeObject, version: str) -> bool:
    """Whether objects can be written anew so that none is stored in a version any more.

    Not while it is served, or objects are still stored in it: documents, deprecating a version.
    """
    found = [each for each in live["spec"]["versions"] if each["name"] == version]
    return not any(each.get("served") or each.get("storage") for each in found)


def data_loss(crd: str, version: str) -> str:
    """Why a version cannot go."""
    return (
        f'risk of data loss updating "{crd}": new CRD removes version {version} '
        "that is listed as a stored version on the existing CRD"
    )


def converts_by_webhook(crd: KubeObject) -> bool:
    """Whether a webhook converts its objects between versions."""
    return bool((crd["spec"].get("conversion") or {}).get("strategy") == "Webhook")


def _served(crd: KubeObject) -> dict[str, KubeObject]:
    return {
        each["name"]: (each.get("schema") or {}).get("openAPIV3Schema") or {}
        for each in crd["spec"]["versions"]
        if each.get("served")
    }


def owner_conflict(csv: KubeObject, existing: Iterable[KubeObject], namespace: str) -> str:
    """Why a CSV that came as a dependency may not be made next to those of its namespace, if so.

    An operator that owns one of its definitions already was not asked to give it up.
    """
    owners: dict[str, list[str]] = {}
    for each in existing:
        for crd in _owned_by(each):
            owners.setdefault(crd, []).append(name_of(each))
    for crd in _owned_by(csv):
        found = sorted(owners.get(crd, ()))
        if len(found) > 1:
            names = " ".join(found)
            return f"Existing CSVs [{names}] in namespace {namespace} all claim to own CRD {crd}"
        if found and found != [name_of(csv)]:
            return f"pre-existing CRD owners found for owned CRD(s) of dependent CSV {name_of(csv)}"
    return ""


def _owned_by(csv: KubeObject) -> list[str]:
    described = (csv.get("spec") or {}).get("customresourcedefinitions") or {}
    return [str(each["name"]) for each in described.get("owned") or ()]
