"""What `upgrade` asks of a cluster: the merge patch of a ClusterVersion, or why there is none.

Source of the rules: upstream's notes, section 16.2.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from api.objects import condition
from cluster_version.client_output.objects import (
    TRUE,
    Json,
    available_updates,
    newness,
    not_recommended_updates,
    part,
    reason_and_message,
)
from cluster_version.client_output.upgrade_view import Warn
from olm_content.formats.go_text import quote
from olm_content.versions import VersionError, parse_version
from olm_runtime.errors import TerminalError

MULTI = "Multi"
_DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")
_PULL_SPEC = re.compile(r"[\w.-]+(?::\d+)?(?:/[a-z0-9._-]+)*(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?")
_LAST_PART_TAG = re.compile(r":[^/@]+(@|$)")

_CLEAR_ALONE = "--clear may not be specified with any other flags"
_MULTI_ALONE = "--to-multi-arch may not be used with --to, --to-image, or --to-latest"
_ONE_TARGET = "only one of --to or --to-image may be provided"
_VERSION = "--to must be a semantic version (e.g. 4.0.1 or 4.1.0-nightly-20181104): "
_IMAGE = "--to-image must be a valid image pull spec: "
_TAG_REFUSED = (
    "--to-image must be a by-digest pull spec, unless --force is also set, because release images "
    "that are not accessed via digest cannot be verified by the cluster.  Even when --force is "
    "set, using tags is not recommended, although we continue to allow it for backwards "
    "compatibility"
)
_TAG_FORCED = (
    "warning: Using by-tag pull specs is dangerous, and while we still allow it in combination "
    "with --force for backward compatibility, it would be much safer to pass a by-digest pull "
    "spec instead"
)
_FORCED = (
    "warning: --force overrides cluster verification of your supplied release image and waives "
    "any update precondition failures. Only use this if you are testing unsigned release images "
    "or you are working around a known bug in the cluster-version operator and you have verified "
    "the authenticity of the provided image yourself."
)
_EXPLICIT_ALLOWED = (
    "warning: The requested upgrade image is not one of the available updates. You have used "
    "--allow-explicit-upgrade for the update to proceed anyway"
)
_MULTI_REQUESTED = "info: Update to multi cluster architecture has already been requested"


@dataclass(frozen=True, slots=True)
class Request:
    """What people ask for: one target, or `clear`, and what they accept."""

    to: str = ""
    to_image: str = ""
    to_latest: bool = False
    to_multi_arch: bool = False
    clear: bool = False
    force: bool = False
    allow_explicit_upgrade: bool = False
    allow_upgrade_with_warnings: bool = False
    allow_not_recommended: bool = False

    @property
    def asks(self) -> bool:
        """Whether anything is asked for at all."""
        return any((self.to, self.to_image, self.to_latest, self.to_multi_arch, self.clear))


@dataclass(frozen=True, slots=True)
class Answer:
    """What is printed once the patch is written; no patch where there is nothing to do."""

    text: str
    patch: dict[str, Any] | None = None


def checked(request: Request, warn: Warn) -> None:
    """Looks at a request alone. Raises TerminalError when it contradicts itself."""
    has_target = bool(request.to or request.to_image or request.to_latest)
    if request.clear and (has_target or request.to_multi_arch):
        raise TerminalError(_CLEAR_ALONE)
    if request.to_multi_arch and has_target:
        raise TerminalError(_MULTI_ALONE)
    if request.to and request.to_image:
        raise TerminalError(_ONE_TARGET)
    if request.to:
        _check_version(request.to)
    if request.to_image:
        _check_image(request, warn)


def _check_version(text: str) -> None:
    try:
        parse_version(text)
    except VersionError as error:
        raise TerminalError(f"{_VERSION}{error.message}") from error


def _check_image(request: Request, warn: Warn) -> None:
    image = request.to_image
    digest = _DIGEST.search(image)
    tagged = _LAST_PART_TAG.search(image.removesuffix(digest[0]) if digest else image)
    if not _PULL_SPEC.fullmatch(image):
        is_upper = _PULL_SPEC.fullmatch(image.lower())
        problem = "repository name must be lowercase" if is_upper else "invalid reference format"
        raise TerminalError(f"{_IMAGE}{problem}")
    if "/" not in image:
        raise TerminalError(f"{_IMAGE}no registry or repository specified")
    if not digest and not tagged:
        raise TerminalError(f"{_IMAGE}no tag or digest specified")
    if tagged and not request.force:
        raise TerminalError(_TAG_REFUSED)
    if tagged:
        warn(_TAG_FORCED)


def answer(cluster_version: Json, request: Request, warn: Warn) -> Answer:
    """What is to be done for a checked request. Raises TerminalError when it is refused."""
    if request.clear:
        return _cleared(cluster_version)
    if request.to_multi_arch:
        return _multi(cluster_version, request, warn)
    return _update(cluster_version, request, warn)


def _cleared(cluster_version: Json) -> Answer:
    wanted = part(cluster_version, "spec").get("desiredUpdate")
    if wanted is None:
        return Answer("info: No update in progress\n")
    current = part(cluster_version, "status", "desired")
    retained = _patch(cluster_version, Request(), {}) if wanted.get("acceptRisks") else None
    patch = retained or {"spec": {"desiredUpdate": None}}
    if _same(wanted, current):
        return Answer(f"Cleared the update field, still at {_name(current)}\n", patch)
    return Answer(f"Cancelled requested upgrade to {_name(wanted)}\n", patch)


def _same(wanted: Json, current: Json) -> bool:
    """Whether two name one release: by image where both name one, else by version."""
    for field in ("image", "version"):
        if wanted.get(field) and current.get(field):
            return bool(wanted[field] == current[field])
    return False


def _name(release: Json) -> str:
    return release.get("version") or release.get("image") or "<unknown>"


def _multi(cluster_version: Json, request: Request, warn: Warn) -> Answer:
    if part(cluster_version, "spec", "desiredUpdate").get("architecture") == MULTI:
        raise TerminalError(_MULTI_REQUESTED)
    _check_state(cluster_version, request, warn)
    if request.force:
        warn(_FORCED)
    version = part(cluster_version, "status", "desired").get("version") or ""
    patch = _patch(cluster_version, request, {"version": version, "image": ""}, MULTI)
    return Answer("Requested update to multi cluster architecture\n", patch)


def _update(cluster_version: Json, request: Request, warn: Warn) -> Answer:
    current = part(cluster_version, "status", "desired")
    if request.to and request.to == current.get("version"):
        return Answer(f"info: Cluster is already at version {request.to}\n")
    if request.to_image and request.to_image == current.get("image"):
        return Answer(f"info: Cluster is already at {request.to_image}\n")
    target = _target(cluster_version, request, warn)
    if target is None:
        at = current.get("version") or ""
        return Answer(f"info: Cluster is already at the latest available version {at}\n")
    if request.force:
        warn(_FORCED)
    _check_state(cluster_version, request, warn)
    named = target.get("version") or f"release image {target['image']}"
    return Answer(f"Requested update to {named}\n", _patch(cluster_version, request, target))


def _target(cluster_version: Json, request: Request, warn: Warn) -> Json | None:
    """The release asked for; None for the latest when there is no newer. Raises TerminalError."""
    listed = available_updates(cluster_version)
    risky = not_recommended_updates(cluster_version)
    accepted = risky if request.allow_not_recommended else ()
    if request.to_latest:
        every = [*((release, None) for release in listed), *accepted]
        if not every:
            _check_up_to_date(cluster_version, request)
            return None
        release, why = max(every, key=lambda each: newness(each[0]))
        if why is not None:
            _accept(release, why, warn)
        return release
    found = next((each for each in listed if _is_asked(each, request)), None)
    if found is not None:
        return {**found, "image": request.to_image or found.get("image") or ""}
    found = _conditional(risky, request, warn)
    if found is not None:
        return found
    if request.to_image and request.allow_explicit_upgrade:
        warn(_EXPLICIT_ALLOWED)
        return {"version": "", "image": request.to_image}
    known = sorted([*listed, *(release for release, _ in accepted)], key=newness, reverse=True)
    raise TerminalError(_unknown(cluster_version, known, request))


def _check_up_to_date(cluster_version: Json, request: Request) -> None:
    """Raises TerminalError unless the cluster knows that it has the latest."""
    retrieved = condition(cluster_version, "RetrievedUpdates")
    if request.allow_not_recommended or (retrieved and retrieved["status"] != TRUE):
        raise TerminalError(_unknown(cluster_version, (), request))


def _is_asked(release: Json, request: Request) -> bool:
    """Whether a listed release is meant; equal digests on two registries are one image."""
    if request.to:
        return bool(release.get("version") == request.to)
    listed, digest = release.get("image") or "", _DIGEST.search(request.to_image)
    if digest is not None:
        return bool(listed.endswith(digest[0]))
    return bool(request.to_image and listed == request.to_image)


def _conditional(updates: Sequence[tuple[Json, Json]], request: Request, warn: Warn) -> Json | None:
    """The conditional update asked for. Raises TerminalError when its risk is not accepted."""
    for release, why in updates:
        if not _is_asked(release, request):
            continue
        if not request.allow_not_recommended:
            risk = f"{why['type']}={why['status']}"
            raise TerminalError(
                f"the update {release.get('version') or ''} is not one of the recommended updates, "
                f"but is available as a conditional update. To accept the {risk} risk and to "
                f"proceed with update use --allow-not-recommended.\n{reason_and_message(why)}\n"
            )
        _accept(release, why, warn)
        return release
    return None


def _accept(release: Json, why: Json, warn: Warn) -> None:
    warn(
        "warning: with --allow-not-recommended you have accepted the risks with "
        f"{release.get('version') or ''} and bypassed {why['type']}={why['status']} "
        f"{why.get('reason') or ''}: {why.get('message') or ''}"
    )


def _unknown(cluster_version: Json, known: Sequence[Json], request: Request) -> str:
    """Why there is no such target, and what to do next."""
    flag = "--allow-explicit-upgrade" if request.to_image else "--to-image"
    next_step = f"{flag} to continue with {'an' if request.to_latest else 'the'} update"
    retrieved = condition(cluster_version, "RetrievedUpdates")
    if retrieved and retrieved["status"] != TRUE:
        lines = reason_and_message(retrieved)
        return f"cannot refresh available updates:\n{lines}\n\nspecify {next_step}."
    if known:
        versions = ", ".join(str(each.get("version") or "") for each in known)
        return f"the update is not one of the possible targets: {versions}. specify {next_step}."
    kinds = "recommended or conditional" if request.allow_not_recommended else "recommended"
    return f"no {kinds} updates, specify {next_step} or wait for new updates to be available."


def _check_state(cluster_version: Json, request: Request, warn: Warn) -> None:
    """Raises TerminalError when the cluster is in no state for an update."""
    blocked = _blocked(cluster_version)
    if not blocked:
        return
    if not request.allow_upgrade_with_warnings:
        raise TerminalError(
            f"{blocked}\n\nIf you want to upgrade anyway, use --allow-upgrade-with-warnings."
        )
    warn(f"warning: --allow-upgrade-with-warnings is bypassing: {blocked}")


def _blocked(cluster_version: Json) -> str:
    """What of the state of the cluster speaks against an update; empty if nothing does."""
    desired = part(cluster_version, "status", "desired")
    target = (
        desired.get("version")
        or desired.get("image")
        or "ClusterVersion status.desired has neither a version nor image; please open a bug"
    )
    states = {
        "Invalid": "the cluster version object is invalid, you must correct the invalid state "
        "first",
        "Failing": f"the cluster is experiencing an error reconciling {quote(target)}",
        "Progressing": "the cluster is already upgrading",
    }
    found = ((text, condition(cluster_version, type_)) for type_, text in states.items())
    return "\n\n".join(
        f"{text}:\n\n{reason_and_message(each)}"
        for text, each in found
        if each and each["status"] == TRUE
    )


def _patch(
    cluster_version: Json, request: Request, target: Json, architecture: str = ""
) -> dict[str, Any]:
    """With all fields, so that none of an earlier request stays; but risks stay accepted."""
    wanted = {
        "architecture": architecture,
        "force": request.force,
        "image": target.get("image") or "",
        "version": target.get("version") or "",
    }
    accepted = part(cluster_version, "spec", "desiredUpdate").get("acceptRisks")
    return {"spec": {"desiredUpdate": wanted | ({"acceptRisks": accepted} if accepted else {})}}
