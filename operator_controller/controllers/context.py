"""What a reconcile of a ClusterExtension knows as it goes on."""

from dataclasses import dataclass

from api.objects import KubeObject
from api.olm.v1.clusterextension import ClusterExtension
from olm_content.fbc.model import Deprecation
from olm_content.render.install import InstallRequest
from operator_controller.apply.desired import Desired
from operator_controller.apply.revisions import BundleIdentity, Revisions
from operator_controller.apply.suspension import Suspension
from operator_controller.resolve import Note


@dataclass(frozen=True, slots=True)
class Context:
    """What the steps have gathered so far about one extension.

    `lost`: somebody deleted content of the newest revision. `suspension`: None if it is not
    suspended.
    """

    raw: KubeObject
    extension: ClusterExtension
    revisions: Revisions | None = None
    bundle: BundleIdentity | None = None
    deprecations: tuple[Deprecation, ...] | None = None
    notes: tuple[Note, ...] = ()
    request: InstallRequest | None = None
    inputs: str = ""
    lost: bool = False
    desired: Desired | None = None
    suspension: Suspension | None = None

    @property
    def name(self) -> str:
        """The extension's name."""
        return self.extension.metadata.name

    @property
    def generation(self) -> int:
        """The generation of the extension's spec."""
        return self.extension.metadata.generation or 0

    @property
    def history(self) -> Revisions:
        """The revisions; none before they are read."""
        return self.revisions or Revisions()

    @property
    def chosen(self) -> BundleIdentity:
        """The bundle that `resolve` chose."""
        if self.bundle is None:
            raise RuntimeError("no step before this one chose a bundle")
        return self.bundle

    @property
    def leaves(self) -> bool:
        """Whether another version is wanted than the newest revision has, or an older one ends."""
        if self.history.superseded:
            return True
        latest, chosen = self.history.latest, self.bundle
        if latest is None or chosen is None:
            return False
        return not latest.bundle.is_version_of(chosen)

    @property
    def settled(self) -> bool:
        """Whether the newest revision was made of what would be rendered now, and still has it."""
        latest = self.history.latest
        return latest is not None and latest.inputs == self.inputs and not self.lost
