"""What the cluster itself says about pulling images: proxies, CAs and mirrors. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from olm_runtime.images.mirror_sets import MirrorEntry, read_entry
from olm_runtime.proxies import Proxies


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """What holds for all pulls in the cluster; nothing where it says nothing.

    `ca_file` is the path of the CAs to trust in addition to all others; empty if there are none.
    """

    mirrors: tuple[MirrorEntry, ...] = ()
    proxies: Proxies = field(default_factory=Proxies)
    ca_file: str = ""


def read_settings(fields: Mapping[str, Any]) -> ClusterSettings:
    """Settings from their own JSON. Raises TypeError, ValueError for anything else."""
    proxies = fields.get("proxies", {})
    return ClusterSettings(
        mirrors=tuple(read_entry(entry) for entry in fields.get("mirrors", ())),
        proxies=Proxies(**{**proxies, "exceptions": tuple(proxies.get("exceptions", ()))}),
        ca_file=fields.get("ca_file", ""),
    )
