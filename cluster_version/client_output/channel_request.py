"""What `channel` asks of a cluster: to take updates from another channel, or from none.

Source of the rules: upstream's notes, section 16.2.
"""

from cluster_version.client_output.objects import Json, part
from cluster_version.client_output.upgrade_request import Answer
from cluster_version.client_output.upgrade_view import Warn
from olm_runtime.errors import TerminalError


def channel_answer(cluster_version: Json, channel: str, warn: Warn, *, explicit: bool) -> Answer:
    """The change to a channel, an empty one clears it; `explicit` accepts one that is not known.

    Raises TerminalError for a channel that the running release is not in.
    """
    current = part(cluster_version, "spec").get("channel") or ""
    known = part(cluster_version, "status", "desired").get("channels") or ()
    others = f" (available channels: {', '.join(known)})" if known else ""
    if channel == current:
        state = f"already in {channel}{others}" if channel else "in no channel already"
        return Answer(f"info: Cluster is {state}\n")
    if not channel:
        warn(
            f'warning: Clearing channel "{current}"; cluster will no longer request available '
            "update recommendations."
        )
        return Answer("Cleared the channel\n", _patch(channel))
    if channel not in known:
        _check_foreign(channel, list(known), warn, explicit=explicit)
    return Answer(f"Requested channel {channel}\n", _patch(channel))


def _check_foreign(channel: str, known: list[str], warn: Warn, *, explicit: bool) -> None:
    """Without known channels, as in a cluster that was in none, nothing can be checked."""
    if not known:
        warn(f'warning: No channels of the current version are known, "{channel}" is unchecked.')
        return
    text = (
        f'requested channel "{channel}" is not one of the available channels ({", ".join(known)})'
    )
    if not explicit:
        raise TerminalError(f"the {text}, you must pass --allow-explicit-channel to continue")
    warn(f"warning: The {text}. You have used --allow-explicit-channel to proceed anyway.")


def _patch(channel: str) -> dict[str, dict[str, str | None]]:
    return {"spec": {"channel": channel or None}}
