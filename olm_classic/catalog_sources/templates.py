"""Image references that follow the version of the cluster (`olm.catalogImageTemplate`). Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from api.conditions import Condition, ConditionStatus
from olm_runtime.errors import TerminalError
from olm_runtime.images.reference import parse_ref

ANNOTATION = "olm.catalogImageTemplate"
RESOLVED_TEMPLATES, RESOLVED_IMAGE = "TemplatesHaveResolved", "ResolvedImage"
CONDITIONS = frozenset({RESOLVED_TEMPLATES, RESOLVED_IMAGE})
_VARIABLE = re.compile(r"\{[A-Za-z0-9_]+\}")
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Resolved:
    """An image reference as far as its template could be filled in.

    unknown    variables that no value is known of, with their braces, sorted
    malformed  whether it is no reference, whatever these variables may be
    """

    image: str
    unknown: tuple[str, ...] = ()
    malformed: bool = False

    @property
    def usable(self) -> bool:
        """Whether the image can be run."""
        return not self.unknown and not self.malformed


def variables(git_version: str) -> dict[str, str]:
    """The values of a server's version such as `v1.33.1+k3s1`; none of one that says nothing."""
    found = _VERSION.match(git_version)
    if found is None:
        return {}
    names = ("{kube_major_version}", "{kube_minor_version}", "{kube_patch_version}")
    return dict(zip(names, found.groups(), strict=True))


def resolve(template: str, values: Mapping[str, str]) -> Resolved:
    """Fills in what is known."""
    image = _VARIABLE.sub(lambda found: values.get(found[0], found[0]), template)
    unknown = tuple(sorted(set(_VARIABLE.findall(image))))
    return Resolved(image, unknown, not _is_reference(_VARIABLE.sub("0", image)))


def conditions(resolved: Resolved) -> tuple[Condition, Condition]:
    """Both conditions."""
    if resolved.usable:
        reason, status = "AllTemplatesResolved", ConditionStatus.TRUE
        message = "catalog image reference was successfully resolved"
    else:
        reason, status = "UnableToResolve", ConditionStatus.FALSE
        message = f"cannot construct catalog image reference, because {_faults(resolved)}"
    return (
        Condition(type=RESOLVED_TEMPLATES, status=status, reason=reason, message=message),
        Condition(type=RESOLVED_IMAGE, status=status, reason=reason, message=resolved.image),
    )


def _faults(resolved: Resolved) -> str:
    quoted = ", ".join(f'"{variable}"' for variable in resolved.unknown)
    found = [f"variable(s) {quoted} could not be resolved"] if quoted else []
    found += ["one or more template(s) has improper syntax"] if resolved.malformed else []
    return " and ".join(found)


def _is_reference(text: str) -> bool:
    """Also of a short name, which the node completes, and without a tag."""
    return any(
        _is_full(f"{registry}{text}{tag}")
        for registry in ("", "docker.io/library/")
        for tag in ("", ":x")
    )


def _is_full(text: str) -> bool:
    try:
        parse_ref(text)
    except TerminalError:
        return False
    return True
