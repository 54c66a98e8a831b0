"""What the newest revision of an extension should hold, and the ClusterObjectSet that says so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject
from api.olm.v1 import names
from olm_content.bundle.properties import noted
from olm_rollout.ownership import controller_reference
from olm_rollout.phases import Phase, content_digest
from operator_controller.apply.owners import owner_labels
from operator_controller.apply.revisions import BundleIdentity, Revision


@dataclass(frozen=True, slots=True)
class Content:
    """The objects of a revision, and the properties of their bundle as JSON text or empty."""

    phases: tuple[Phase, ...]
    properties: str


@dataclass(frozen=True, slots=True)
class Desired:
    """What the newest revision of an extension should hold.

    `properties` are those of the bundle, as JSON text; empty if it has none. `from_helm`: upstream
    installed it as a Helm release.
    """

    extension: str
    extension_uid: str
    namespace: str
    service_account: tuple[str, str] | None
    bundle: BundleIdentity
    inputs: str
    phases: tuple[Phase, ...]
    generation: int
    progress_deadline_minutes: int | None = None
    properties: str = ""
    from_helm: bool = False


def holds(latest: Revision, desired: Desired) -> bool:
    """Whether the newest revision has what is desired, under other annotations perhaps.

    A new version is a revision of its own also when nothing in it is new, as upstream has it: so
    it is in the history, and can be rolled back.
    """
    same = latest.bundle.is_version_of(desired.bundle)
    return same and latest.content == content_digest(desired.phases)


def revision_annotations(desired: Desired) -> dict[str, str]:
    """The annotations that say what a revision holds and who applies it."""
    bundle = desired.bundle
    notes = {
        names.ANNOTATION_BUNDLE_NAME: bundle.name,
        names.ANNOTATION_PACKAGE_NAME: bundle.package,
        names.ANNOTATION_BUNDLE_VERSION: bundle.version,
        names.ANNOTATION_BUNDLE_REFERENCE: bundle.image,
        names.ANNOTATION_RENDER_INPUTS: desired.inputs,
        names.ANNOTATION_CONTENT_DIGEST: content_digest(desired.phases),
        names.ANNOTATION_EXTENSION_GENERATION: str(desired.generation),
        names.ANNOTATION_INSTALL_NAMESPACE: desired.namespace,
    }
    if bundle.release is not None:
        notes[names.ANNOTATION_BUNDLE_RELEASE] = bundle.release
    if desired.properties:
        notes[names.ANNOTATION_BUNDLE_PROPERTIES] = noted(desired.properties)
    if desired.service_account:
        notes |= account_annotations(*desired.service_account)
    return notes


def account_annotations(namespace: str, name: str) -> dict[str, str]:
    """The annotations that say as which service account a revision is applied."""
    return {
        names.ANNOTATION_SERVICE_ACCOUNT_NAMESPACE: namespace,
        names.ANNOTATION_SERVICE_ACCOUNT_NAME: name,
    }


def revision_object(
    desired: Desired, number: int, phases: Sequence[Mapping[str, Any]], *, cause: str
) -> KubeObject:
    """The ClusterObjectSet of a new revision; `phases` as packed for its spec."""
    spec: dict[str, Any] = {
        "lifecycleState": "Active",
        "revision": number,
        "collisionProtection": "Prevent",
        "phases": list(phases),
    }
    if desired.progress_deadline_minutes:
        spec["progressDeadlineMinutes"] = desired.progress_deadline_minutes
    labels = owner_labels(names.CLUSTER_EXTENSION, desired.extension)
    if desired.from_helm:
        labels[names.LABEL_MIGRATED_FROM_HELM] = "true"
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.CLUSTER_OBJECT_SET,
        "metadata": {
            "name": revision_name(desired.extension, number),
            "labels": labels,
            "annotations": revision_annotations(desired) | {names.ANNOTATION_CAUSE: cause},
            "ownerReferences": [
                controller_reference(
                    names.API_VERSION,
                    names.CLUSTER_EXTENSION,
                    desired.extension,
                    desired.extension_uid,
                )
            ],
        },
        "spec": spec,
    }


def revision_name(extension: str, number: int) -> str:
    """`<extension>-<number>`, within the length of object names."""
    return names.shortened(extension, names.MAX_NAME - len(str(number)) - 1) + f"-{number}"
