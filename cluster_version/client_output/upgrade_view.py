"""What `upgrade` prints of a ClusterVersion when nothing is asked of it.

Source of the rules: upstream's notes, section 16.1, and for the form of the updates that are not
recommended the document, section 2.3.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

from api.objects import condition
from cluster_version.client_output.objects import (
    FALSE,
    TRUE,
    UNKNOWN,
    Json,
    available_updates,
    not_recommended_updates,
    part,
    reason_and_message,
)

Warn = Callable[[str], None]
"""Writes one warning to standard error."""

CELL = 14
"""How wide the column of versions is at least, with the indent and the padding."""
NOTHING_AVAILABLE = (
    "No updates available. You may still upgrade to a specific release image with --to-image "
    "or wait for new updates to be available.\n"
)
NONE_NOT_RECOMMENDED = (
    "No updates which are not recommended based on your cluster configuration are available.\n"
)


class Form(StrEnum):
    """The heading of the updates that are not recommended; the document's has one more line."""

    DOCUMENT = "Supported but not recommended updates:"
    CURRENT = "Updates with known issues:"


def overview(
    cluster_version: Json, warn: Warn, *, form: Form = Form.DOCUMENT, not_recommended: bool = False
) -> str:
    """The state of a cluster's version and its updates; `not_recommended` shows those, too."""
    return "".join(
        (
            *_failing(cluster_version, warn),
            *_progress(cluster_version, warn),
            "\n",
            *_obstacles(cluster_version),
            *_source(cluster_version),
            *_available(cluster_version, warn),
            *_not_recommended(cluster_version, form, shown=not_recommended),
        )
    )


def _missing(type_: str, warn: Warn) -> None:
    warn(f"warning: No current {type_} info, see `oc describe clusterversion` for more details.")


def _failing(cluster_version: Json, warn: Warn) -> Iterator[str]:
    found = condition(cluster_version, "Failing")
    if found is None:
        _missing("Failing", warn)
    elif found["status"] != FALSE:
        yield f"Failing={found['status']}:\n\n{reason_and_message(found)}\n\n"


def _progress(cluster_version: Json, warn: Warn) -> Iterator[str]:
    found = condition(cluster_version, "Progressing")
    message = (found or {}).get("message")
    if found is None or not message:
        _missing("Progressing", warn)
    else:
        running = found["status"] == TRUE
        yield f"info: An upgrade is in progress. {message}\n" if running else f"{message}\n"


def _obstacles(cluster_version: Json) -> Iterator[str]:
    upgradeable = condition(cluster_version, "Upgradeable")
    if upgradeable and upgradeable["status"] == FALSE:
        yield f"Upgradeable=False\n\n{reason_and_message(upgradeable)}\n\n"
    accepted = condition(cluster_version, "ReleaseAccepted")
    if accepted and accepted["status"] != TRUE:
        yield f"ReleaseAccepted={accepted['status']}\n\n{reason_and_message(accepted)}\n\n"


def _source(cluster_version: Json) -> Iterator[str]:
    """Where updates come from; without a channel from nowhere."""
    spec = part(cluster_version, "spec")
    if not spec.get("channel"):
        return
    upstream = spec.get("upstream")
    unset = "Upstream is unset, so the cluster will use an appropriate default."
    yield f"Upstream: {upstream}\n" if upstream else f"{unset}\n"
    channels = part(cluster_version, "status", "desired").get("channels") or ()
    others = f" (available channels: {', '.join(channels)})" if channels else ""
    yield f"Channel: {spec['channel']}{others}\n"


def _available(cluster_version: Json, warn: Warn) -> Iterator[str]:
    updates = available_updates(cluster_version)
    retrieved = condition(cluster_version, "RetrievedUpdates")
    failed = retrieved if retrieved and retrieved["status"] == FALSE else None
    if updates:
        yield f"\nRecommended updates:\n\n{_table(updates)}"
    elif not failed:
        yield NOTHING_AVAILABLE
    if failed:
        verb = "refresh" if updates else "display"
        warn(f"warning: Cannot {verb} available updates:\n{reason_and_message(failed)}\n")


def _table(updates: Sequence[Json]) -> str:
    rows = [("  VERSION", "IMAGE")]
    rows += [(f"  {each.get('version') or ''}", each.get("image") or "") for each in updates]
    width = max(CELL, *(len(version) + 1 for version, _ in rows))
    return "".join(f"{version:<{width}}{image}\n" for version, image in rows)


def _not_recommended(cluster_version: Json, form: Form, *, shown: bool) -> Iterator[str]:
    updates = not_recommended_updates(cluster_version)
    if shown and updates:
        yield f"\n{form}\n"
        yield from (_block(release, why, form) for release, why in updates)
    elif shown:
        yield f"\n{NONE_NOT_RECOMMENDED}"
    elif updates:
        unknown = any(why["status"] not in (TRUE, FALSE) for _, why in updates)
        inserted = f', or where the recommended status is "{UNKNOWN}",' if unknown else ""
        yield (
            f"\nAdditional updates which are not recommended{inserted} for your cluster "
            "configuration are available, to view those re-run the command with "
            "--include-not-recommended.\n"
        )


def _block(release: Json, why: Json, form: Form) -> str:
    verdict = f"  Recommended: {why['status']}\n" if form is Form.DOCUMENT else ""
    stripped = {**why, "message": (why.get("message") or "").strip()}
    return (
        f"\n  Version: {release.get('version') or ''}\n  Image: {release.get('image') or ''}\n"
        f"{verdict}{reason_and_message(stripped)}\n"
    )
