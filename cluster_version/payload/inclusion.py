"""Which manifests of a release are for a cluster, by their annotations.

Source of the rules: upstream's notes, section 5.5.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, annotations_of, gvk_of, metadata, name_of, namespace_of
from cluster_version.names import (
    CAPABILITY,
    EXCLUDE_PREFIX,
    FEATURE_GATE,
    FEATURE_SET,
    INCLUDE_PREFIX,
    MAJOR_VERSION,
)
from olm_content.formats.go_text import quote
from olm_content.versions import fits

DEFAULT_FEATURE_SET = "Default"
"""What annotations call the feature set that a cluster does not name."""
FEATURE_SETS = (
    "CustomNoUpgrade",
    DEFAULT_FEATURE_SET,
    "DevPreviewNoUpgrade",
    "OKD",
    "TechPreviewNoUpgrade",
)
_VERSIONED = frozenset(
    {("apiextensions.k8s.io", "CustomResourceDefinition"), ("config.openshift.io", "FeatureGate")}
)
"""Groups and kinds that may be of some major versions only."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The capabilities that a cluster knows, and those of them that it has."""

    known: Collection[str]
    enabled: Collection[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a cluster asks of manifests; None asks for nothing.

    exclude        the identifier under which manifests may exclude themselves
    feature_set    empty for the default one
    profile        the cluster profile
    feature_gates  those that are enabled
    major_version  of the release
    overrides      of the ClusterVersion: objects that somebody else manages
    any_capability whether a capability that is not known is no reason to leave a manifest out
    """

    exclude: str | None = None
    feature_set: str | None = None
    profile: str | None = None
    feature_gates: Collection[str] | None = None
    major_version: int | None = None
    capabilities: Capabilities | None = None
    overrides: Sequence[Mapping[str, Any]] = ()
    any_capability: bool = False


def left_out(manifest: KubeObject, filters: Filters) -> str:
    """The first reason why a manifest is not for the cluster; empty if it is."""
    annotations = metadata(manifest).get("annotations")
    if annotations is None or not all(isinstance(each, str) for each in annotations.values()):
        return "no annotations"
    return next(filter(None, _reasons(manifest, annotations, filters)), "")


def _reasons(
    manifest: KubeObject, annotations: Mapping[str, str], filters: Filters
) -> Iterator[str]:
    if filters.exclude is not None:
        yield _excluded(annotations, f"{EXCLUDE_PREFIX}{filters.exclude}")
    if filters.feature_set is not None and filters.feature_gates is not None:
        yield _set_and_gate(annotations)
    if filters.feature_set is not None:
        yield _other_feature_set(annotations, filters.feature_set or DEFAULT_FEATURE_SET)
    if filters.feature_gates is not None:
        yield _other_gates(annotations, filters.feature_gates)
    if filters.major_version is not None:
        yield _other_major(manifest, annotations, filters.major_version)
    if filters.profile is not None:
        yield _other_profile(annotations, f"{INCLUDE_PREFIX}{filters.profile}")
    if filters.capabilities is not None:
        yield _lacks(annotations, filters.capabilities, any_capability=filters.any_capability)
    yield _overridden(manifest, filters.overrides)


def _excluded(annotations: Mapping[str, str], key: str) -> str:
    return f"{key}=true" if annotations.get(key) == "true" else ""


def _set_and_gate(annotations: Mapping[str, str]) -> str:
    if FEATURE_SET not in annotations or FEATURE_GATE not in annotations:
        return ""
    return (
        "both feature set and feature gate annotations are present: manifests may specify either "
        "a feature set or a feature gate, but not both"
    )


def _other_feature_set(annotations: Mapping[str, str], wanted: str) -> str:
    text = annotations.get(FEATURE_SET)
    if text is None:
        return ""
    named = text.split(",")
    for name in named:
        if name not in FEATURE_SETS:
            known = ",".join(FEATURE_SETS)
            problem = f"unrecognized value {quote(name)} in {FEATURE_SET}={text}"
            return f"{problem}; known values are: {known}"
    if wanted in named:
        return ""
    return f"{quote(wanted)} is required, and {FEATURE_SET}={','.join(sorted(set(named)))}"


def _other_gates(annotations: Mapping[str, str], enabled: Collection[str]) -> str:
    for name, is_wanted in _requirements(annotations.get(FEATURE_GATE, "")):
        if is_wanted and name not in enabled:
            return f"feature gate {name} is required but not enabled"
        if not is_wanted and name in enabled:
            return f"feature gate {name} is enabled but manifest requires it to be disabled"
    return ""


def _requirements(text: str) -> Iterator[tuple[str, bool]]:
    """What a list names, and whether it is wanted; a hyphen in front says that it is not."""
    for item in text.split(","):
        if name := item.strip():
            yield name.removeprefix("-"), not name.startswith("-")


def _other_major(manifest: KubeObject, annotations: Mapping[str, str], major: int) -> str:
    text = annotations.get(MAJOR_VERSION)
    if text is None:
        return ""
    gvk = gvk_of(manifest)
    if (gvk.group, gvk.kind) not in _VERSIONED:
        return "major version filtering is only supported for feature gates and custom resources"
    listed: dict[bool, set[int]] = {True: set(), False: set()}
    for word, is_wanted in _requirements(text):
        if problem := _no_number(word):
            kind = "included" if is_wanted else "excluded"
            return f"invalid {kind} major version {quote(word)} in annotation: {problem}"
        listed[is_wanted].add(int(word))
    included, excluded = listed[True], listed[False]
    if both := included & excluded:
        numbers = " ".join(map(str, sorted(both)))
        return f"inclusion and exclusion requirements overlap: [{numbers}]"
    if major in excluded:
        return f"major version {major} matches excluded version {major}"
    if included and major not in included:
        return f"major version {major} does not match any required versions"
    return ""


def _no_number(word: str) -> str:
    """Why a word is no number of 64 bits, as Go says it."""
    if not (word.isascii() and word.isdecimal()):
        return f"strconv.ParseUint: parsing {quote(word)}: invalid syntax"
    return "" if fits(word) else f"strconv.ParseUint: parsing {quote(word)}: value out of range"


def _other_profile(annotations: Mapping[str, str], key: str) -> str:
    value = annotations.get(key)
    if value is None:
        return f"{key} unset"
    return "" if value == "true" else f"unrecognized value {key}={value}"


def capabilities_of(manifest: KubeObject) -> list[str]:
    """The capabilities that a manifest belongs to."""
    return _named_capabilities(annotations_of(manifest))


def _named_capabilities(annotations: Mapping[str, str]) -> list[str]:
    text = annotations.get(CAPABILITY)
    return text.split("+") if text else []


def _lacks(annotations: Mapping[str, str], has: Capabilities, *, any_capability: bool) -> str:
    named = _named_capabilities(annotations)
    unknown = [] if any_capability else [name for name in named if name not in has.known]
    if unknown:
        return f"unrecognized capability names: {', '.join(unknown)}"
    disabled = [name for name in named if name not in has.enabled]
    return f"disabled capabilities: {', '.join(disabled)}" if disabled else ""


def _overridden(manifest: KubeObject, overrides: Sequence[Mapping[str, Any]]) -> str:
    """The first override of an object decides; one of the cluster has no namespace."""
    namespace, gvk = namespace_of(manifest), gvk_of(manifest)
    own = (gvk.group, gvk.kind, name_of(manifest), namespace)
    for override in overrides:
        place = (override.get("namespace") or "") if namespace else ""
        named = (override.get("group") or "", override["kind"], override["name"], place)
        if named == own:
            return "overridden" if override.get("unmanaged") else ""
    return ""
