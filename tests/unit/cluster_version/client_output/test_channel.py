"""What `channel` asks for."""

import pytest

from cluster_version.client_output.channel_request import channel_answer
from olm_runtime.errors import TerminalError

KNOWN = {"spec": {"channel": "fast"}, "status": {"desired": {"channels": ["fast", "stable"]}}}


def test_a_known_channel_is_set_without_warning() -> None:
    found = channel_answer(KNOWN, "stable", pytest.fail, explicit=False)
    assert found.patch == {"spec": {"channel": "stable"}}


def test_the_same_channel_changes_nothing() -> None:
    assert channel_answer(KNOWN, "fast", pytest.fail, explicit=False).patch is None


def test_a_foreign_channel_has_to_be_explicit() -> None:
    with pytest.raises(TerminalError, match="the requested channel"):
        channel_answer(KNOWN, "other", pytest.fail, explicit=False)
    warnings: list[str] = []
    found = channel_answer(KNOWN, "other", warnings.append, explicit=True)
    assert found.patch == {"spec": {"channel": "other"}}
    assert len(warnings) == 1


def test_no_name_clears_the_channel() -> None:
    warnings: list[str] = []
    found = channel_answer(KNOWN, "", warnings.append, explicit=False)
    assert found.patch == {"spec": {"channel": None}}
    assert 'Clearing channel "fast"' in warnings[0]
