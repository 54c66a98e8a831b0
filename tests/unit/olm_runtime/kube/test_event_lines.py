"""Events of a watch, however they come in parts."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olm_runtime.kube.errors import GoneError
from olm_runtime.kube.event_lines import complete_lines, event_of

EVENTS = st.lists(st.text(max_size=20), max_size=8).map(
    lambda texts: [{"type": "ADDED", "object": {"data": text}} for text in texts]
)


@given(events=EVENTS, data=st.data())
def test_events_are_the_same_in_whatever_parts_they_come(
    events: list[dict[str, Any]], data: st.DataObject
) -> None:
    sent = b"".join(json.dumps(each).encode() + b"\n" for each in events)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(sent)), max_size=10)) | {0, len(sent)})
    pending, found = bytearray(), []
    for begin, end in pairwise(cuts):
        lines = complete_lines(pending, sent[begin:end])
        found += [event_of(line) for line in reversed(lines)]
    assert found == events
    assert not pending


def test_empty_lines_are_no_events() -> None:
    assert complete_lines(bytearray(), b"\n\n") == []


def test_an_error_of_the_server_is_raised() -> None:
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    line = bytearray(json.dumps({"type": "ERROR", "object": status}).encode())
    with pytest.raises(GoneError, match="too old"):
        event_of(line)
