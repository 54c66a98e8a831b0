"""Annotations of nodes, and labels: a contract with clusters that upstream's programs configured.

Nodes carry how far their update is, so that it goes on after any end of the program.
"""

_PREFIX = "machineconfiguration.openshift.io/"

CURRENT = f"{_PREFIX}currentConfig"
"""Name of the configuration that a node has."""
DESIRED = f"{_PREFIX}desiredConfig"
"""Name of the one that it is brought to; the same once it is."""
STATE = f"{_PREFIX}state"
REASON = f"{_PREFIX}reason"
"""What went wrong, for people."""
BOOT_ID = f"{_PREFIX}bootIDBeforeUpdate"
"""Which start of the node was the last one before its update ran."""

DONE, WORKING, DEGRADED = "Done", "Working", "Degraded"

NODE_JOB = f"{_PREFIX}node"
"""Label of a Job: what it updates, by a sum over the name of the node."""
JOB_NODE = f"{_PREFIX}nodeName"
"""Annotation of a Job: the node that it updates."""
JOB_CONFIGURATION = f"{_PREFIX}config"
"""Annotation of a Job: the configuration that it brings a node to."""

ROLE_LABELS = ("node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane")
"""Of nodes of the control plane."""
ZONE_LABEL = "topology.kubernetes.io/zone"
MASTER, WORKER = "master", "worker"
"""Pools that every cluster has."""
