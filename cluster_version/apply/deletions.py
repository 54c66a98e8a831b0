"""Which objects a process has asked to delete. Source of the rules: upstream's notes, 10.1."""

from api.objects import KubeObject
from cluster_version.payload.manifests import Identity, identity_of
from olm_content.formats.go_text import quote


class Deletions:
    """What was asked for once is not asked for again, whether or not it comes back."""

    def __init__(self) -> None:
        self._is_gone: dict[Identity, bool] = {}

    def is_known(self, manifest: KubeObject) -> bool:
        """Whether the deletion of an object was asked for, or found done."""
        return identity_of(manifest) in self._is_gone

    def asked(self, manifest: KubeObject) -> None:
        """The API server has taken the request."""
        self._is_gone[identity_of(manifest)] = False

    def seen(self, manifest: KubeObject, live: KubeObject | None) -> None:
        """The object was looked for: one that is gone stays so, even if it comes back."""
        if live is None:
            self._is_gone[identity_of(manifest)] = True

    def in_progress(self) -> tuple[str, ...]:
        """The objects that were asked to go and are still there, as messages name them."""
        return tuple(_shown(each) for each, is_gone in self._is_gone.items() if not is_gone)


def _shown(identity: Identity) -> str:
    place = f"{identity.namespace}/" if identity.namespace else ""
    return f"{identity.kind} {quote(place + identity.name)}"
