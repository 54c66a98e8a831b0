"""What the objects of each phase were when they were first read, so that nobody swaps them.

Digests are upstream's, so a ClusterObjectSet can pass from one controller to the other: SHA-256
of `{"name": ..., "objects": [...]}` as Go writes JSON.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from olm_content.formats import go_json
from olm_rollout.phases import Phase
from olm_runtime.errors import TerminalError

ObservedPhases = list[dict[str, str]]
"""As `status.observedPhases`: name and digest of each phase."""

_HTML = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)
_MAY_HOLD_FLOAT = re.compile(rb"[:,\[]-?[0-9]+[.eE][0-9+-]")


def observed_phases(phases: Sequence[Phase]) -> ObservedPhases:
    """The digests of phases as they are now."""
    return [{"name": phase.name, "digest": _digest(phase)} for phase in phases]


def check_unchanged(status: Mapping[str, Any], now: ObservedPhases) -> None:
    """Raises TerminalError, in upstream's words, where content is not what it was at first."""
    stored = status.get("observedPhases") or []
    if not stored:
        return
    if len(stored) != len(now):
        raise TerminalError(
            f"number of phases has changed (expected {len(stored)} phases, got {len(now)})"
        )
    expected = {phase["name"]: phase["digest"] for phase in stored}
    changed = [
        f'phase "{name}" (expected digest {expected[name]}, got {digest})'
        for name, digest in ((phase["name"], phase["digest"]) for phase in now)
        if expected.get(name, digest) != digest
    ]
    if changed:
        raise TerminalError(
            f"resolved content of {len(changed)} phase(s) has changed: {'; '.join(changed)}; "
            "a referenced object source may have been deleted and recreated with different content"
        )


def _digest(phase: Phase) -> str:
    return f"sha256:{hashlib.sha256(_go_json(phase)).hexdigest()}"


def _go_json(phase: Phase) -> bytes:
    """Fast where orjson writes what Go does: only numbers with a fraction may differ."""
    value = {"name": phase.name, "objects": list(phase.objects)}
    data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    if _MAY_HOLD_FLOAT.search(data):
        return go_json.dumps(value, sort_keys=True).encode()
    for character, escape in _HTML:
        data = data.replace(character, escape)
    return data
