"""Asks what e2e/gitops says; tests are left out where it can be neither found nor built."""

import re
from collections.abc import Sequence

from api.objects import KubeObject
from e2e.harness.errors import BinaryUnavailable, BuildFailed
from e2e.olm.gitops import Health, health_of
from tests.requirements import leave_out

CURRENT = Health("Current", "Healthy", "Current")
IN_PROGRESS = Health("InProgress", "Progressing", "InProgress")
FAILED = Health("Failed", "Degraded", "Failed")
SUSPENDED = Health("Current", "Suspended", "Current")
ENDING = Health("Terminating", "Progressing", "InProgress")

_UNREACHABLE = re.compile(r"dial tcp|no such host|i/o timeout|connection refused|\b40[34] \w+")
"""What Go says where there is no way to its modules: no fault of ours."""


def judged(objects: Sequence[KubeObject]) -> list[Health]:
    """The health of each object."""
    try:
        return health_of(objects)
    except BinaryUnavailable as error:
        leave_out("gitops", str(error))
    except BuildFailed as error:
        if not _UNREACHABLE.search(str(error)):
            raise
        leave_out("gitops", f"the modules of GitOps tools cannot be fetched: {error}")
