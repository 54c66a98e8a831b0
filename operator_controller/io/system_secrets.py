"""The Secrets of the system namespace that are looked for by extension: their metadata, watched.

There are as many as revisions, and a list of those of one extension goes through all of them.
"""

from dataclasses import dataclass, field

from api.objects import GVK, KubeObject, labels_of
from api.olm.v1 import names
from olm_runtime.watch.informer import Selection
from olm_runtime.watch.packed_store import PackedStore
from olm_runtime.watch.store import Store
from operator_controller.apply.helm_release import INDEX_TYPE

SECRET = GVK("", "v1", "Secret")
CONTENT_ONLY = f"type={names.SECRET_TYPE_OBJECT_DATA}"

BY_LABEL = "label"
"""The index of both stores, by the value of the label that names the extension."""


def contents_in(namespace: str) -> Selection:
    """Those with content of revisions."""
    return Selection(SECRET, namespace, fields=CONTENT_ONLY, metadata_only=True)


def releases_in(namespace: str) -> Selection:
    """Those with the index of a Helm release of upstream's controller."""
    return Selection(SECRET, namespace, fields=f"type={INDEX_TYPE}", metadata_only=True)


@dataclass(frozen=True, slots=True)
class SystemSecrets:
    """What the stores of both selections have; a store that was not listed yet knows nothing."""

    contents: Store[KubeObject] = field(default_factory=PackedStore)
    releases: Store[KubeObject] = field(default_factory=PackedStore)

    def __post_init__(self) -> None:
        self.contents.add_index(BY_LABEL, lambda secret: _label(secret, names.LABEL_OWNER_NAME))
        self.releases.add_index(BY_LABEL, lambda secret: _label(secret, "name"))

    def content(self, namespace: str, name: str) -> KubeObject | None:
        """The metadata of one with content; None if none was seen."""
        return self.contents.get(name, namespace)

    def contents_of(self, extension: str) -> list[KubeObject] | None:
        """The metadata of all with content of an extension; None if that is not known."""
        if not self.contents.synced:
            return None
        return self.contents.by_index(BY_LABEL, names.label_value(extension))

    def may_have_release(self, extension: str) -> bool:
        """Whether there may be a Helm release of an extension."""
        if not self.releases.synced:
            return True
        return bool(self.releases.keys_by_index(BY_LABEL, names.label_value(extension)))


def _label(secret: KubeObject, key: str) -> list[str]:
    value = labels_of(secret).get(key)
    return [value] if value else []
