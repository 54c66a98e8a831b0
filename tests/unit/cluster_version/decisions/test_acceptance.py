"""The way of a release to being applied."""

from typing import Any

import pytest

from api.conditions import ConditionStatus
from cluster_version.decisions import acceptance
from cluster_version.decisions.acceptance import Acceptance, Event, Progress, Retrieved, Step
from cluster_version.decisions.target import Target
from cluster_version.payload.contents import Payload
from cluster_version.payload.release import Release

IMAGE = "registry/release@sha256:1"
TARGET = Target("1.0.1", IMAGE)
NAMED = f'version="1.0.1" image="{IMAGE}"'
LOADED = f'Payload loaded {NAMED} architecture="amd64"'
VERIFIED = Retrieved(verified=True)


def payload(version: str = "1.0.1") -> Payload:
    return Payload(Release(version, IMAGE), "amd64", (), "hash")


def cluster_version(*available: str, current: str = "1.0.0") -> dict[str, Any]:
    return {
        "spec": {"channel": "fast"},
        "status": {
            "desired": {"version": current, "image": "registry/release@sha256:0"},
            "availableUpdates": [{"version": each, "image": IMAGE} for each in available],
        },
    }


def reasons(progress: Progress) -> list[tuple[str, bool]]:
    return [(event.reason, event.warns) for event in progress.events]


def fields_of(progress: Progress) -> tuple[str, str, str]:
    found = progress.acceptance.condition
    return found.status, found.reason, found.message


def test_while_it_is_retrieved_nothing_is_known() -> None:
    begun = acceptance.begun(TARGET)
    message = f"Retrieving and verifying payload {NAMED}"
    assert fields_of(begun) == ("Unknown", "RetrievePayload", message)
    assert begun.events == (Event("RetrievePayload", message),)


def test_the_event_of_a_failed_retrieval_says_why() -> None:
    failed = acceptance.not_retrieved(TARGET, "cannot be verified", ("no key", "no store"))
    message = f"Retrieving payload failed {NAMED} failure=cannot be verified"
    assert fields_of(failed) == ("False", "RetrievePayload", message)
    assert failed.events == (
        Event("RetrievePayloadFailed", f"{message} // no key // no store", warns=True),
    )


def test_what_is_no_release_is_reported() -> None:
    failed = acceptance.not_loaded(TARGET, VERIFIED, "no such file")
    message = f"Loading payload failed {NAMED} failure=no such file"
    assert fields_of(failed) == ("False", "LoadPayload", message)
    assert reasons(failed) == [("LoadPayloadFailed", True)]


def test_another_version_than_was_asked_for_is_refused() -> None:
    judged = acceptance.judged(TARGET, VERIFIED, payload("1.0.2"), cluster_version("1.0.1"))
    assert fields_of(judged) == (
        "False",
        "VerifyPayloadVersion",
        (
            f"Verifying payload failed {NAMED} failure=release image version 1.0.2 does not match "
            "the expected upstream version 1.0.1"
        ),
    )
    assert reasons(judged) == [("VerifyPayloadVersionFailed", True)]


def test_a_release_is_accepted() -> None:
    judged = acceptance.judged(TARGET, VERIFIED, payload(), cluster_version("1.0.1"))
    assert fields_of(judged) == ("True", "PayloadLoaded", LOADED)
    assert reasons(judged) == [("PreconditionsPassed", False), ("PayloadLoaded", False)]
    assert judged.acceptance.retrieved.verified
    assert judged.acceptance.risks == ""


def test_the_version_of_an_image_is_learnt() -> None:
    unknown = Target(image=IMAGE)
    judged = acceptance.judged(unknown, VERIFIED, payload(), cluster_version("1.0.1"))
    assert fields_of(judged) == ("True", "PayloadLoaded", LOADED)
    assert judged.acceptance.target == TARGET


def test_what_blocks_is_reported_and_can_be_forced() -> None:
    late = Target("3.0.0", IMAGE)
    judged = acceptance.judged(late, VERIFIED, payload("3.0.0"), cluster_version("3.0.0"))
    assert judged.acceptance.step is Step.PRECONDITIONS
    assert judged.acceptance.message.startswith(
        f'Preconditions failed for payload loaded version="3.0.0" image="{IMAGE}": Precondition '
        '"ClusterVersionGiantHop" failed because of "MajorVersionUpdate": 3.0.0 has a larger'
    )
    assert reasons(judged) == [("PreconditionBlock", True)]
    forced = Target("3.0.0", IMAGE, force=True)
    judged = acceptance.judged(forced, VERIFIED, payload("3.0.0"), cluster_version("3.0.0"))
    assert judged.acceptance.status is ConditionStatus.TRUE
    assert judged.acceptance.risks.startswith("Forced through blocking failures: Precondition")
    assert reasons(judged)[0] == ("PreconditionWarn", True)


def test_risks_are_recorded_with_a_release_that_was_forced() -> None:
    target = Target("1.0.1", IMAGE, force=True)
    risk = "cannot be verified"
    retrieved = Retrieved(risk=risk)
    events = acceptance.loading(target, retrieved)
    assert [(event.reason, event.warns) for event in events] == [
        ("RetrievePayload", True),
        ("LoadPayload", False),
    ]
    judged = acceptance.judged(target, retrieved, payload(), cluster_version())
    first, second = judged.acceptance.risks.split("\n")
    assert first == risk
    assert 'failed because of "UnknownUpdate"' in second


def test_of_the_own_release_nothing_is_asked() -> None:
    own = Target("4.0.0", IMAGE)
    judged = acceptance.judged(own, Retrieved(local=True), payload("4.0.0"), cluster_version())
    assert judged.acceptance.status is ConditionStatus.TRUE
    assert reasons(judged) == [("PayloadLoaded", False)]


def accepted(target: Target) -> Acceptance:
    given = acceptance.judged(target, VERIFIED, payload(target.version), None)
    return given.acceptance


@pytest.mark.parametrize(
    ("tried", "message"),
    [
        (acceptance.not_retrieved(Target("9.0.0", "x@sha256:9"), "no"), f"Payload loaded {NAMED}"),
        (acceptance.not_retrieved(Target("1.0.1", "m@sha256:1"), "no"), f"Payload loaded {NAMED}"),
        (Progress(accepted(TARGET), ()), LOADED),
    ],
)
def test_taking_a_request_back_reports_what_is_applied(tried: Progress, message: str) -> None:
    back = acceptance.taken_back(tried.acceptance, accepted(TARGET))
    assert (back.target, back.status, back.message) == (TARGET, ConditionStatus.TRUE, message)
    assert back.retrieved.verified
