"""How extensions and catalogs do, by their conditions."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_client.lifecycle.overview import (
    Phase,
    State,
    catalog_facts,
    catalog_state,
    extension_facts,
    extension_state,
    source_text,
)


def cond(kind: str, status: str, reason: str = "", message: str = "", of: int = 2) -> Any:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": of,
    }


def extension(*conditions: Any, installed: str = "", deleting: bool = False) -> KubeObject:
    meta = {"name": "ext", "generation": 2}
    bundle = {"bundle": {"name": f"p.v{installed}", "version": installed}}
    return {
        "metadata": meta | ({"deletionTimestamp": "2026-01-01T00:00:00Z"} if deleting else {}),
        "spec": {"namespace": "ns", "source": {"catalog": {"packageName": "p", "version": "1.x"}}},
        "status": {"conditions": list(conditions), **({"install": bundle} if installed else {})},
    }


DONE = cond("Progressing", "True", "Succeeded", "desired state reached")
THERE = cond("Installed", "True", "Succeeded")
ROLLING = cond("Progressing", "True", "RollingOut", "Revision 1.0.0 is rolling out.")
RETRYING = cond("Progressing", "True", "Retrying", "no rights\nmore\nhint: grant them")


@pytest.mark.parametrize(
    ("raw", "state"),
    [
        pytest.param(extension(DONE, THERE), State(Phase.INSTALLED), id="all is well"),
        pytest.param(
            extension(DONE, cond("Available", "False", "ProbeFailure", "0/1 available")),
            State(Phase.DEGRADED, "0/1 available"),
            id="installed, but does not work",
        ),
        pytest.param(
            extension(
                cond("Progressing", "Unknown", "Suspended", "suspended: why\nhint: to go on"), THERE
            ),
            State(Phase.SUSPENDED, "suspended: why", "to go on"),
            id="suspended",
        ),
        pytest.param(
            extension(DONE, cond("Deprecated", "True", "Deprecated", "use q")),
            State(Phase.INSTALLED, "deprecated: use q"),
            id="deprecated",
        ),
        pytest.param(
            extension(ROLLING),
            State(Phase.INSTALLING, "Revision 1.0.0 is rolling out."),
            id="the first one rolls out",
        ),
        pytest.param(
            extension(ROLLING, THERE),
            State(Phase.UPDATING, "Revision 1.0.0 is rolling out."),
            id="another one rolls out",
        ),
        pytest.param(
            extension(RETRYING, THERE),
            State(Phase.RETRYING, "no rights\nmore", "grant them"),
            id="something may pass; the hint is apart",
        ),
        pytest.param(
            extension(cond("Progressing", "False", "Blocked", "no account")),
            State(Phase.BLOCKED, "no account"),
            id="a person has to help",
        ),
        pytest.param(
            extension(cond("Progressing", "True", "Succeeded", of=1)),
            State(Phase.PENDING, "operator-controller has not looked at it yet"),
            id="the condition is of an older spec",
        ),
        pytest.param(
            extension(),
            State(Phase.PENDING, "operator-controller has not looked at it yet"),
            id="nobody said anything",
        ),
        pytest.param(extension(DONE, deleting=True), State(Phase.DELETING), id="it is deleted"),
        pytest.param(
            extension(cond("Progressing", "True", "Retrying", "held by f", of=1), deleting=True),
            State(Phase.DELETING, "held by f"),
            id="its deletion is held up",
        ),
    ],
)
def test_where_an_extension_stands(raw: KubeObject, state: State) -> None:
    assert extension_state(raw) == state


@pytest.mark.parametrize(
    ("spec", "conditions", "phase"),
    [
        ({}, [DONE, cond("Serving", "True")], Phase.SERVING),
        ({}, [], Phase.UNPACKING),
        ({}, [RETRYING, cond("Serving", "True")], Phase.RETRYING),
        ({}, [cond("Progressing", "False", "Blocked", "bad ref")], Phase.BLOCKED),
        ({"availabilityMode": "Unavailable"}, [DONE], Phase.OFF),
    ],
)
def test_where_a_catalog_stands(spec: Any, conditions: list[Any], phase: Phase) -> None:
    raw = {"metadata": {"name": "c"}, "spec": spec, "status": {"conditions": conditions}}
    assert catalog_state(raw).phase is phase


def test_an_object_that_nobody_read_is_reported_too() -> None:
    assert extension_facts({"metadata": {"name": "e"}})["phase"] == "Pending"
    assert catalog_facts({"metadata": {"name": "c"}})["phase"] == "Unpacking"


def test_facts_are_those_of_the_object() -> None:
    facts = extension_facts(extension(RETRYING, THERE, installed="1.0.0"))
    assert facts == {
        "name": "ext",
        "package": "p",
        "namespace": "ns",
        "version": "1.0.0",
        "bundle": "p.v1.0.0",
        "wanted": "1.x",
        "phase": "Retrying",
        "message": "no rights\nmore",
        "hint": "grant them",
    }


def test_the_request_in_words() -> None:
    assert source_text(extension()) == "package p, version 1.x, any channel, CatalogProvided"
