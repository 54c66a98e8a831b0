"""Whether an update of an extension may come, and what keeps it from coming. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from msgspec import structs

from api.objects import KubeObject, condition, name_of
from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter, ClusterExtension
from api.olm.v1.conditions import ConditionType
from olm_client.lifecycle.commands import command_of_patch
from olm_client.lifecycle.overview import Phase, extension_state
from olm_client.lifecycle.ways import Ways, ways_from
from olm_content.fbc.model import Bundle, Package
from olm_content.selectors import selects
from olm_content.versions import VersionError, parse_bundle_version, parse_version
from operator_controller.resolve import (
    CatalogContent,
    Cause,
    Request,
    Resolution,
    ResolutionError,
    resolve,
)
from operator_controller.resolve.change_search import find_change_to
from operator_controller.resolve.explain import sentence


class Standing(StrEnum):
    """How an extension stands to the newest version that its catalogs have."""

    UNKNOWN = "Unknown"
    NOT_INSTALLED = "NotInstalled"
    SUSPENDED = "Suspended"
    HELD = "Held"
    UPDATES = "Updates"
    NEWEST = "Newest"

    @property
    def colour(self) -> str:
        """For terminals."""
        return "green" if self is Standing.NEWEST else "yellow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The answer for one extension; versions are empty where there is none.

    coming    what the spec comes to, if that is higher than what is installed
    step      the next version that the author offers, whatever the range
    newest    the highest version of the package in the catalogs that count
    reasons   what holds it, or is worth knowing
    commands  what helps, the first one best
    """

    extension: str
    package: str
    standing: Standing
    installed: str = ""
    coming: str = ""
    step: str = ""
    newest: str = ""
    reasons: Sequence[str] = ()
    commands: Sequence[str] = ()

    def facts(self) -> dict[str, Any]:
        """As data."""
        return {
            "extension": self.extension,
            "package": self.package,
            "standing": self.standing.value,
            "installed": self.installed,
            "coming": self.coming,
            "next": self.step,
            "newest": self.newest,
            "reasons": list(self.reasons),
            "commands": list(self.commands),
        }


def outlook(
    raw: KubeObject,
    extension: ClusterExtension,
    installed: BundleMetadata | None,
    contents: Sequence[CatalogContent],
    notes: Sequence[str] = (),
) -> Outlook:
    """The answer, from the extension, what it has installed, and what catalogs offer.

    `notes` are more that is worth knowing.
    """
    desired, state = extension.spec.source.catalog, extension_state(raw)
    found = Outlook(extension=name_of(raw), package=desired.package_name, standing=Standing.UNKNOWN)
    if installed is None:
        reason = state.message or "nothing is installed"
        return replace(found, standing=Standing.NOT_INSTALLED, reasons=[reason])
    found = replace(found, installed=installed.version)
    request = Request(desired, installed)
    try:
        coming, causes = _resolved(request, contents)
        newest = _newest(installed, packages_of(desired, contents))
    except (VersionError, ResolutionError) as error:
        return replace(found, reasons=[error.message])
    notes = [*_deprecation(raw), *notes]
    if newest is None:
        unread = [each.unavailable.message for each in contents if each.unavailable]
        standing = Standing.UNKNOWN if unread else Standing.NEWEST
        return replace(found, standing=standing, newest=found.installed, reasons=[*unread, *notes])
    found = replace(found, newest=str(newest.version))
    if coming is not None and _is_higher(coming, installed):
        found = replace(found, standing=Standing.UPDATES, coming=str(coming.version))
    else:
        found = replace(found, standing=Standing.HELD)
    why = []
    if found.coming != found.newest:
        steps = ways_of(desired, installed, contents).steps.get(newest.name, ())
        why = _why_not(newest, causes, request, steps)
    step = next_step(request, contents)
    found = replace(found, step=str(step.version.version) if step else "")
    commands = _commands(found, request, contents, newest)
    if state.phase is Phase.SUSPENDED:
        found = replace(found, standing=Standing.SUSPENDED)
    hindered = state.phase in (Phase.SUSPENDED, Phase.RETRYING, Phase.BLOCKED)
    first = [state.message.partition("\n")[0]] if hindered else []
    return replace(found, reasons=[*first, *why, *notes], commands=commands)


def packages_of(desired: CatalogFilter, contents: Sequence[CatalogContent]) -> list[Package]:
    """The package as the catalogs have it that an extension selects."""
    return [
        content.package
        for content in contents
        if content.package is not None and selects(desired.selector, content.labels)
    ]


def next_step(request: Request, contents: Sequence[CatalogContent]) -> Resolution | None:
    """What the newest update is whose range does not matter; None if there is none.

    A prerelease only counts where one is installed.
    """
    if request.installed is None:
        return None
    at_least = f">={request.installed.version.partition('+')[0]}"
    try:
        found = resolve(
            request._replace(desired=structs.replace(request.desired, version=at_least)), contents
        )
    except ResolutionError:
        return None
    return found if _is_higher(found, request.installed) else None


def is_pinned(desired: CatalogFilter) -> bool:
    """Whether one version is asked for, and no range."""
    try:
        parse_version(desired.version.removeprefix("="))
    except VersionError:
        return False
    return True


def comes(request: Request, contents: Sequence[CatalogContent]) -> bool:
    """Whether a request comes to a higher version than is installed."""
    try:
        found = resolve(request, contents)
    except ResolutionError:
        return False
    return request.installed is not None and _is_higher(found, request.installed)


def ways_of(
    desired: CatalogFilter, installed: BundleMetadata, contents: Sequence[CatalogContent]
) -> Ways:
    """What can be reached from what is installed. Raises VersionError."""
    return ways_from(installed, packages_of(desired, contents), desired.channels)


def _resolved(
    request: Request, contents: Sequence[CatalogContent]
) -> tuple[Resolution | None, Sequence[Cause]]:
    """Raises ResolutionError where nothing could be considered."""
    try:
        found = resolve(request, contents)
    except ResolutionError as error:
        if not error.findings.considered:
            raise
        return None, error.findings.causes
    return found, found.findings.causes


def _newest(installed: BundleMetadata, packages: Sequence[Package]) -> Bundle | None:
    """The highest version above the installed one, not deprecated; a prerelease only after one."""
    mine = parse_bundle_version(installed.version, installed.release)
    higher = [
        bundle
        for package in packages
        for bundle in package.bundles
        if bundle.version is not None
        and bundle.version.key > mine.key
        and bundle.name not in package.deprecated_bundles
        and (mine.version.prerelease or not bundle.version.version.prerelease)
    ]
    return max(higher, key=lambda each: each.version.key if each.version else (), default=None)


def _is_higher(found: Resolution, installed: BundleMetadata) -> bool:
    return found.version.key > parse_bundle_version(installed.version, installed.release).key


def _why_not(
    newest: Bundle, causes: Sequence[Cause], request: Request, steps: Sequence[str]
) -> list[str]:
    """`steps` are the versions on the way there, if there is one."""
    cause = next((cause for cause in causes if cause.bundle == newest.name), None)
    way = f"; the way there is {', '.join(steps)}" if len(steps) > 1 else ""
    return [f"{newest.version}: {sentence(cause, request)}{way}"] if cause else []


def _commands(
    found: Outlook, request: Request, contents: Sequence[CatalogContent], newest: Bundle
) -> list[str]:
    """The next step that the author offers; else the smallest change that gives the newest."""
    if found.coming or (found.step and is_pinned(request.desired)):
        return [f"olm upgrade {found.extension}"]
    if found.step:
        return [f"olm upgrade {found.extension} --version {found.step}"]
    if other := _other_channel(request, contents):
        channels, step = other
        said: list[tuple[str, object]] = [("channels", channels)]
        if request.desired.version and not is_pinned(request.desired):
            said.append(("version", str(step.version.version)))
        patch = {"spec": {"source": {"catalog": dict(said)}}}
        return [command_of_patch(found.extension, patch)]
    offering = [c.name for c in contents if c.package and newest in c.package.bundles]
    for catalog in offering:
        change = find_change_to(request, contents, catalog=catalog, bundle=newest.name)
        if change is not None and (command := command_of_patch(found.extension, change.patch())):
            return [command]
    return []


def _other_channel(
    request: Request, contents: Sequence[CatalogContent]
) -> tuple[list[str], Resolution] | None:
    """With which one more channel an update is offered, and which; None if with none."""
    desired = request.desired
    if not desired.channels:
        return None
    named = (c.name for package in packages_of(desired, contents) for c in package.channels)
    for name in sorted(set(named) - set(desired.channels)):
        channels = (*desired.channels, name)
        wider = request._replace(desired=structs.replace(desired, channels=channels))
        if (step := next_step(wider, contents)) is not None:
            return list(channels), step
    return None


def _deprecation(raw: KubeObject) -> list[str]:
    said: Mapping[str, Any] = condition(raw, ConditionType.DEPRECATED) or {}
    if said.get("status") != "True":
        return []
    return [f"deprecated: {line}" for line in str(said.get("message")).splitlines()]
