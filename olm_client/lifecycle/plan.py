"""What an extension would change, gathered; and what of it stands in the way. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from olm_client.crds.report import Comparison
from olm_client.field_manager import APPLY
from olm_client.lifecycle.changes import Action, Change, FieldChange
from olm_client.lifecycle.commands import upgrade_command
from olm_client.lifecycle.instances import Instances
from olm_client.lifecycle.obstacle import UNSERVED, Obstacle
from olm_content.crds.findings import SWITCH_OFF, report
from olm_content.rights import Document, NeededRule
from operator_controller.apply.revisions import BundleIdentity


class Rights(NamedTuple):
    """What the account lacks (operator-controller's report, empty if nothing), and what it needs
    more and less than for what is installed. `unknown` is why the first is not known.
    `grants_help` is False where nothing is lacked but kinds that the cluster does not serve.
    `meanwhile` and `afterwards` are the account with the least rights until the update is through,
    and after it.
    """

    missing: str = ""
    grants_help: bool = True
    unknown: str = ""
    added: Sequence[NeededRule] = ()
    removed: Sequence[NeededRule] = ()
    meanwhile: Sequence[Document] = ()
    afterwards: Sequence[Document] = ()


class Plan(NamedTuple):
    """The answer for one extension.

    `spec` is how its spec would change, `installed` and `bundle` are the bundles before and after,
    each None if there is none. `faults` were found apart from the objects. `deletions_unknown` is
    why the content of the installed revision is not known. `notes` are worth knowing, and stop
    nothing.
    """

    extension: str
    package: str
    new: bool
    spec: Sequence[FieldChange] = ()
    namespace: str = ""
    account: str = ""
    installed: BundleIdentity | None = None
    bundle: BundleIdentity | None = None
    catalog: str = ""
    changes: Sequence[Change] = ()
    instances: Sequence[Instances] = ()
    definitions: Comparison | None = None
    crds_enforced: bool = True
    rights: Rights = Rights()
    images_added: Sequence[str] = ()
    images_removed: Sequence[str] = ()
    faults: Sequence[Obstacle] = ()
    deletions_unknown: str = ""
    notes: Sequence[str] = ()

    @property
    def obstacles(self) -> list[Obstacle]:
        """Everything that operator-controller would stop at, in the order in which it would."""
        found = list(self.faults)
        if self.rights.missing:
            hint = self.grant_hint if self.rights.grants_help else UNSERVED
            found.append(Obstacle(self.rights.missing, hint=hint))
        findings = self.definitions.findings if self.definitions else ()
        if findings and self.crds_enforced:
            found.append(Obstacle(report(findings), hint=SWITCH_OFF))
        return found + [_refused(each) for each in self.changes if each.action is Action.REFUSED]

    @property
    def moves(self) -> bool:
        """Whether another bundle would be installed than there is."""
        if self.bundle is None:
            return False
        return self.installed is None or not self.installed.is_version_of(self.bundle)

    @property
    def upgrade_command(self) -> str:
        """The `olm upgrade` that makes this change of the spec; empty where none does."""
        if self.new:
            return ""
        return upgrade_command(self.extension, ((each.path, each.new) for each in self.spec))

    @property
    def grant_hint(self) -> str:
        """How the account gets the rights that it lacks."""
        command = self.upgrade_command
        first = f"{command} --grant\nor " if command else ""
        return f"grant them: {first}{self._rbac}"

    @property
    def _rbac(self) -> str:
        options = [
            ("--version", self.bundle.version if self.bundle else ""),
            ("--update-from", self.installed.version if self.installed else ""),
            ("--extension", self.extension),
            ("--install-namespace", self.namespace),
            ("--service-account", self.account),
        ]
        given = " ".join(f"{option} {value}" for option, value in options if value)
        return f"olm rbac {self.package} {given} | {APPLY}"


def _refused(change: Change) -> Obstacle:
    named = change.key.name in change.message
    return Obstacle(change.message if named else f"{change.key}: {change.message}", change.hint)
