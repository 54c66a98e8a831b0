"""What the steps of a ClusterObjectSet hand on to each other."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from olm_rollout.phases import Phase
from olm_rollout.probes import Probes
from olm_rollout.progress import Progress
from olm_runtime.kube.client import KubeClient
from operator_controller.apply.observed import ObservedPhases
from operator_controller.apply.revisions import Revision, Revisions
from operator_controller.apply.suspension import Suspension


@dataclass(frozen=True, slots=True)
class RevisionContext:
    """What one reconcile of a revision has found so far.

    record      how a revision that nothing replaces left its objects
    leaving     it is deleted, or goes with its owner
    removed     its objects are: it is archived
    suspension  None if neither it nor its extension is suspended
    """

    revision: Revision
    siblings: Revisions = field(default_factory=Revisions)
    account: KubeClient | None = None
    probes: Probes | None = None
    observed: ObservedPhases = field(default_factory=list)
    phases: Sequence[Phase] = ()
    progress: Progress = field(default_factory=Progress)
    record: str = ""
    leaving: bool = False
    removed: bool = False
    suspension: Suspension | None = None
