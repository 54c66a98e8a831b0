"""Which worker runs which tests, where there are several."""

from xdist.scheduler import LoadFileScheduling

OWN_CLUSTER = {
    f"tests/integration/{folder}"
    for folder in (
        "catalogd",
        "classic",
        "cluster_pulls",
        "cluster_updates",
        "cluster_version",
        "cluster_version_operator",
        "console",
        "console_alone",
        "doctor",
        "faults",
        "node_updates",
        "object_sets",
        "olm_operator",
        "pages",
    )
}
"""Folders with a control plane or a browser of their own."""


class FolderScheduling(LoadFileScheduling):
    """A file stays with one worker, and so does a folder whose cluster each would start anew."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        folder = file.rpartition("/")[0]
        return folder if folder in OWN_CLUSTER else file
