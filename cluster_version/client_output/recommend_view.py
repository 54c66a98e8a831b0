"""What `recommend` prints: which updates a cluster has, and what speaks against each of them.

Source of the rules: upstream's notes, section 16.3.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from api.objects import condition
from cluster_version.client_output.alerts import Finding
from cluster_version.client_output.objects import (
    FALSE,
    RECOMMENDED,
    TRUE,
    UNKNOWN,
    Json,
    indented,
    newness,
    part,
    reason_and_message,
)
from cluster_version.client_output.upgrade_view import CELL, NOTHING_AVAILABLE
from olm_content.versions import VersionError, parse_version

Warn = Callable[[str], None]
Minor = tuple[int, int]

SHOWN = 2
"""How many updates of a minor version are shown unless all are asked for."""
_CONCERN = "in updating this cluster to later releases"
_RISK = "ConditionalUpdateRisk"
"""The issue of an update that is not recommended."""
_NO_ISSUES = "no known issues relevant to this cluster"


@dataclass
class Page:
    """What is printed; `error` says why the version that was asked for is not to be taken."""

    text: str = ""
    issues: set[str] = field(default_factory=set)
    error: str | None = None
    accepted: Collection[str] = ()
    """Names of issues that the administrator takes."""

    def concern(self, issue: str) -> str:
        """Notes an issue. Returns the word before what is said of one that is accepted."""
        self.issues.add(issue)
        return "accepted " if issue in self.accepted else ""


def recommendations(
    cluster_version: Json,
    warn: Warn,
    *,
    findings: Sequence[Finding] = (),
    accepted: Collection[str] = (),
    outdated: bool = False,
    version: str | None = None,
) -> Page:
    """The updates of a cluster by minor version, or what is known of one version.

    `outdated` shows each minor version's older updates, too; `accepted` names issues that are no
    error of a version.
    """
    page = Page(accepted=accepted)
    page.text += "".join(_state(cluster_version, page, warn))
    page.text += "".join(_checked(findings, page))
    page.text += "".join(_source(cluster_version, page, warn))
    updates = updates_of(cluster_version, warn)
    if version is not None:
        _of_one(version, updates, page)
    elif updates:
        page.text += "".join(_by_minor(updates, outdated=outdated))
    else:
        page.text += NOTHING_AVAILABLE
    return page


def _state(cluster_version: Json, page: Page, warn: Warn) -> Iterator[str]:
    failing = condition(cluster_version, "Failing")
    if failing is None:
        warn(
            f"{page.concern('Failing')}warning: No current Failing info, see "
            "`oc describe clusterversion` for more details."
        )
    elif failing["status"] != FALSE:
        taken = page.concern("Failing")
        yield f"{taken}Failing={failing['status']}:\n\n{reason_and_message(failing)}\n\n"
    running = condition(cluster_version, "Progressing")
    if running and running["status"] == TRUE and running.get("message"):
        yield (
            f"{page.concern('Progressing')}info: An update is in progress.  You may wish to let "
            "this update complete before requesting a new update.\n"
            f"  {indented(running['message'])}\n\n"
        )


def _checked(findings: Sequence[Finding], page: Page) -> Iterator[str]:
    good = sorted(f"{each.type} ({each.reason})" for each in findings if each.good)
    bad = [each for each in findings if not each.good]
    page.issues.update(each.issue for each in bad)
    if good:
        yield f"The following conditions found no cause for concern {_CONCERN}: "
        yield f"{', '.join(good)}\n\n"
    taken = sorted(each.type for each in bad if each.issue in page.accepted)
    if taken:
        yield f"The following conditions found cause for concern {_CONCERN}, but were explicitly "
        yield f"accepted via --accept: {', '.join(taken)}\n\n"
    others = sorted(each.type for each in bad if each.issue not in page.accepted)
    if not others:
        return
    yield f"The following conditions found cause for concern {_CONCERN}: "
    yield f"{', '.join(others)}\n\n"
    for each in bad:
        yield f"{each.type}={each.status}:\n\n  Reason: {each.reason}\n"
        yield f"  Message: {indented(each.message)}\n\n"


def _source(cluster_version: Json, page: Page, warn: Warn) -> Iterator[str]:
    retrieved = condition(cluster_version, "RetrievedUpdates")
    if retrieved and retrieved["status"] != TRUE:
        page.issues.add("CannotRetrieveUpdates")
        warn(f"warning: Cannot refresh available updates:\n{reason_and_message(retrieved)}\n")
    spec = part(cluster_version, "spec")
    if not spec.get("channel"):
        return
    upstream = spec.get("upstream")
    unset = "Upstream update service is unset, so the cluster will use an appropriate default."
    yield f"Upstream update service: {upstream}\n" if upstream else f"{unset}\n"
    channels = part(cluster_version, "status", "desired").get("channels") or ()
    others = f" (available channels: {', '.join(channels)})" if channels else ""
    yield f"Channel: {spec['channel']}{others}\n"


@dataclass(frozen=True)
class Update:
    """A release that the cluster can be updated to."""

    release: Json
    why: Json | None
    """The condition that says what speaks against it."""

    @property
    def version(self) -> str:
        """Its version."""
        return str(self.release["version"])

    @property
    def minor(self) -> Minor:
        """The first two numbers of its version."""
        return _minor(self.version)


def _minor(version: str) -> Minor:
    """Raises VersionError."""
    parsed = parse_version(version)
    return parsed.major, parsed.minor


def updates_of(cluster_version: Json, warn: Warn) -> Sequence[Update]:
    """All updates, the newest first; those without a semantic version are warned of."""
    status = part(cluster_version, "status")
    conditional = status.get("conditionalUpdates") or []
    images = {part(each, "release").get("image") for each in conditional}
    available = status.get("availableUpdates") or ()
    listed = conditional + [{"release": each} for each in available if each["image"] not in images]
    blocked = _minor_updates_blocked(cluster_version, warn)
    found = []
    for each in listed:
        release = part(each, "release")
        version = str(release.get("version") or "")
        try:
            minor = _minor(version)
        except VersionError as error:
            warn(f'warning: Cannot parse SemVer available update "{version}": {error}')
            continue
        risky = blocked if blocked and minor > blocked[0] else None
        found.append(Update(release, _why(each, risky[1] if risky else None)))
    return sorted(found, key=lambda each: newness(each.release), reverse=True)


def _minor_updates_blocked(cluster_version: Json, warn: Warn) -> tuple[Minor, Json] | None:
    """The running minor version and the condition that keeps the cluster in it."""
    upgradeable = condition(cluster_version, "Upgradeable")
    if not upgradeable or upgradeable["status"] != FALSE:
        return None
    version = str(part(cluster_version, "status", "desired").get("version") or "")
    try:
        return _minor(version), upgradeable
    except VersionError as error:
        warn(
            "warning: Cannot inject Upgradeable=False as a conditional update risk: cannot parse "
            f'SemVer version "{version}": {error}\n\n{reason_and_message(upgradeable).lstrip()}\n'
        )
        return None


def _why(update: Json, blocked: Json | None) -> Json | None:
    """What speaks against an update; `blocked` is the condition that concerns all of its minor."""
    risks = update.get("risks") or []
    judged = condition({"status": update}, RECOMMENDED)
    text = (blocked or {}).get("message") or ""
    if blocked and not any(text in str(each.get("message") or "") for each in risks):
        verdict = {"status": FALSE, "reason": blocked.get("reason") or "", "message": text}
        if judged and judged["status"] != TRUE:
            return verdict | {
                "reason": "MultipleReasons",
                "message": f"{text}\n\n{judged.get('message') or ''}",
            }
        return verdict
    if not risks or (judged and judged["status"] == TRUE):
        return None
    return judged or _unjudged(update, risks)


def _unjudged(update: Json, risks: Sequence[Json]) -> Json:
    names = ", ".join([""] * len(risks) + sorted(str(each.get("name")) for each in risks))
    version = part(update, "release").get("version")
    text = f"Conditional update to {version} has risks ({names}), but no conditions."
    return {"status": UNKNOWN, "reason": "NoConditions", "message": text}


def _of_one(version: str, updates: Sequence[Update], page: Page) -> None:
    major, minor = _minor(version)
    of_major = [each for each in updates if each.minor[0] == major]
    of_minor = [each for each in of_major if each.minor[1] == minor]
    found = next((each for each in of_minor if each.version == version), None)
    if found is None:
        which = "" if not updates else f" to {major}" if not of_major else f" to {major}.{minor}"
        nothing = f"no updates{which}" if not of_minor else f"no update to {version}"
        release = "" if of_minor else f" {version}"
        page.error = (
            f"{nothing} available, so cannot display context for the requested release{release}"
        )
        return
    taken = page.concern(_RISK) if found.why else ""
    page.text += "\n" + _one(found, accepted=bool(taken))
    refused = page.issues.difference(page.accepted)
    if refused:
        page.error = (
            "issues that apply to this cluster but which were not included in --accept: "
            + ",".join(sorted(refused))
        )
    elif page.issues:
        others = ",".join(sorted(page.issues))
        page.text += f"Update to {version} has {_NO_ISSUES} other than the accepted {others}.\n"


def _one(update: Update, *, accepted: bool) -> str:
    where = f"Image: {update.release.get('image') or ''}\nRelease URL: "
    where += f"{update.release.get('url') or ''}\n"
    if update.why is None:
        return f"Update to {update.version} has {_NO_ISSUES}.\n{where}"
    reason = update.why.get("reason") or ""
    return (
        f"Update to {update.version} {RECOMMENDED}={update.why['status']}:\n{where}"
        f"Reason: {f'accepted {reason} via {_RISK}' if accepted else reason}\n"
        f"Message: {indented(update.why.get('message') or '')}\n"
    )


def _by_minor(updates: Sequence[Update], *, outdated: bool) -> Iterator[str]:
    for (major, minor), group in groupby(updates, key=lambda each: each.minor):
        listed = list(group)
        yield f"\nUpdates to {major}.{minor}:\n"
        if outdated:
            yield _table([_row(each) for each in listed])
        else:
            yield from _newest(listed, f"{major}.{minor}")


def _row(update: Update) -> tuple[str, str]:
    reason = _NO_ISSUES if update.why is None else update.why.get("reason") or ""
    return f"  {update.version}", reason


def _table(rows: Sequence[tuple[str, str]], *, heading: bool = True) -> str:
    shown = [("  VERSION", "ISSUES"), *rows] if heading else rows
    width = max(CELL, *(len(first) + 1 for first, _ in shown))
    return "".join(f"{first:<{width}}{second}\n" for first, second in shown)


def _newest(updates: Sequence[Update], minor: str) -> Iterator[str]:
    """The newest ones; those that something speaks against are blocks between empty lines."""
    after_block, heading = False, True
    for update in updates[:SHOWN]:
        if after_block or update.why:
            yield "\n"
        if update.why:
            yield f"  Version: {update.version}\n  Image: {update.release.get('image') or ''}\n"
            text = (update.why.get("message") or "").strip()
            yield f"{reason_and_message({**update.why, 'message': text})}\n"
        else:
            yield _table([_row(update)], heading=heading or after_block)
            heading = False
        after_block = update.why is not None
    older = len(updates) - SHOWN
    if older > 0:
        if after_block or updates[SHOWN].why:
            yield "\n"
        yield f"And {older} older {minor} updates you can see with '--show-outdated-releases' or "
        yield "'--version VERSION'.\n"
