"""Definitions compared by name."""

from olm_client.crds.report import Comparison, Definitions, ServedChange
from olm_content.crds import check
from olm_content.crds.versions import served_changes
from olm_runtime.errors import TerminalError


def compare(old: Definitions, new: Definitions, *, all_new: bool = False) -> Comparison:
    """Definitions of the same name are compared.

    Raises TerminalError where there are none, unless all of NEW may be new and all of OLD go.
    """
    both = sorted(old.keys() & new.keys())
    if not both and not (all_new and (old or new)):
        raise TerminalError(
            "OLD and NEW have no CustomResourceDefinition in common",
            hint=f"OLD has {_listed(old)}; NEW has {_listed(new)}",
        )
    return Comparison(
        findings=tuple(finding for name in both for finding in check(old[name], new[name])),
        compared=both,
        added=sorted(new.keys() - old.keys()),
        removed=sorted(old.keys() - new.keys()),
        served=tuple(
            ServedChange(name, version, served)
            for name in both
            for version, served in served_changes(old[name], new[name])
        ),
    )


def _listed(found: Definitions) -> str:
    return ", ".join(sorted(found)) or "none"
