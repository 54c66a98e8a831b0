"""Names of the cluster roles with which users are let to the APIs of an OperatorGroup."""

from olm_classic.hashes import text_hash

LEVELS = ("admin", "edit", "view")
MAX_NAME_LENGTH = 253


def cluster_role_name(namespace: str, group: str, level: str) -> str:
    """`olm.og.<group>.<level>-<hash>`; the group's name is cut so that the whole is a name."""
    begin, end = "olm.og.", f".{level}-{text_hash(f'{namespace}/{group}/{level}')}"
    return f"{begin}{group[: MAX_NAME_LENGTH - len(begin) - len(end)]}{end}"
