"""What goes with an update although objects may be stored of it: definitions, served versions.

Neither is found by comparing definitions (`versions.check`): whether it matters depends on the
objects that there are, which somebody has to count.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from api.objects import GVK, KubeObject, is_true, metadata, name_of
from olm_content.crds.findings import Finding, Validator
from olm_content.formats.go_text import quote


class Going(NamedTuple):
    """A definition that goes, or a version of it that is no longer served.

    `cause`, and N objects `effect`. `kind` is what they can be read as now; None if as nothing.
    """

    crd: str
    validator: Validator
    kind: GVK | None
    cause: str
    effect: str
    version: str = ""


class Count(NamedTuple):
    """How many objects there are, or at least are; `names` are of a few.

    `fault` says why they could not be counted.
    """

    number: int = 0
    exact: bool = True
    names: tuple[str, ...] = ()
    fault: str = ""


def removed(live: KubeObject) -> Going | None:
    """A definition that is to be deleted; None where no object can be stored, or all go already."""
    if metadata(live).get("deletionTimestamp") or not is_true(live, "Established"):
        return None
    return _whole(name_of(live), _readable(live))


def unknown(crd: str, fault: str) -> Finding:
    """What stands against the deletion of a definition that cannot be looked at."""
    return _unknown(_whole(crd, None), fault)


def _whole(crd: str, kind: GVK | None) -> Going:
    cause, effect = "the bundle that comes does not have it", "would be deleted with it"
    return Going(crd, Validator.OBJECT_REMOVED, kind, cause, effect)


def unserved(live: KubeObject, new: KubeObject) -> Iterator[Going]:
    """Versions that `new` has but serves no longer, if objects may be stored in them.

    One that it does not have at all is no matter of counting: `versions.stored_versions_removed`.
    """
    crd, kind = name_of(live), _readable(live)
    served, stored = _served(new), (live.get("status") or {}).get("storedVersions") or ()
    if kind and not served:
        cause, effect = "no version would be served any more", "could no longer be read"
        yield Going(crd, Validator.STORED_VERSION_UNSERVED, kind, cause, effect)
        return
    for version in (str(version.get("name")) for version in _versions(new)):
        if version in _served(live) and version in stored and version not in served:
            cause = f"stored version {quote(version)} would no longer be served"
            effect = "may be stored in it"
            yield Going(crd, Validator.STORED_VERSION_UNSERVED, kind, cause, effect, version)


def everything_going(
    live: Mapping[str, KubeObject], new: Mapping[str, KubeObject]
) -> tuple[Going, ...]:
    """What goes when live definitions become the new ones; both by name."""
    found = [removed(crd) for name, crd in live.items() if name not in new]
    for name in live.keys() & new.keys():
        found += unserved(live[name], new[name])
    return in_order(filter(None, found))


def in_order(going: Iterable[Going]) -> tuple[Going, ...]:
    """The same order whatever order they were found in."""
    return tuple(sorted(going, key=lambda each: (each.crd, each.version)))


def finding(going: Going, count: Count) -> Finding | None:
    """What stands against it; None where there are no objects."""
    if count.fault:
        return _unknown(going, count.fault)
    if not count.number:
        return None
    problem = f"{going.cause}, and {_counted(count)} {going.effect}: {_named(count)}"
    return Finding(going.crd, going.validator, problem, going.version)


def _unknown(going: Going, fault: str) -> Finding:
    problem = f"{going.cause}; how many objects {going.effect} is not known: {fault}"
    return Finding(going.crd, going.validator, problem, going.version)


def _counted(count: Count) -> str:
    number = f"{count.number}" if count.exact else f"at least {count.number}"
    return f"{number} object{'s' * (count.number != 1)}"


def _named(count: Count) -> str:
    more = count.number - len(count.names)
    rest = f" and {more} more" if more else ""
    return ", ".join(count.names) + (rest if count.exact else " and more")


def _versions(crd: KubeObject) -> list[KubeObject]:
    return (crd.get("spec") or {}).get("versions") or []


def _served(crd: KubeObject) -> list[str]:
    """The version that is stored first: reading it takes the fewest conversions."""
    served = [version for version in _versions(crd) if version.get("served")]
    return [str(v.get("name")) for v in sorted(served, key=lambda v: not v.get("storage"))]


def _readable(crd: KubeObject) -> GVK | None:
    spec = crd.get("spec") or {}
    served = _served(crd)
    if not served:
        return None
    kind = (spec.get("names") or {}).get("kind")
    return GVK(str(spec.get("group") or ""), served[0], str(kind or ""))
