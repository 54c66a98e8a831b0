"""What a pull spec in a catalog may be: an image reference as container tools take it.

Unlike what is pulled from, it may be a short name: the default registry and tag are added.
"""

import re

from olm_runtime.errors import TerminalError
from olm_runtime.images.reference import parse_ref

_ONLY_A_DIGEST = re.compile(r"[a-f0-9]{64}")


def pull_spec_fault(text: str) -> str:
    """What is wrong with the pull spec; empty when nothing is, or when there is none."""
    if not text:
        return ""
    if _ONLY_A_DIGEST.fullmatch(text):
        return "cannot specify 64-byte hexadecimal strings"
    domain, slash, rest = text.partition("/")
    qualified = slash and ("." in domain or ":" in domain or domain in {"localhost", "docker.io"})
    if not qualified and not (slash and domain != domain.lower()):
        domain, rest = "docker.io", text
    if domain == "docker.io" and "/" not in rest:
        rest = f"library/{rest}"
    if "@" not in rest and ":" not in rest:
        rest += ":latest"
    elif "@" in rest and rest.endswith("@"):
        return "invalid reference format"
    try:
        parse_ref(f"{domain}/{rest}")
    except TerminalError as error:
        return error.message.rpartition('": ')[2]
    return ""
