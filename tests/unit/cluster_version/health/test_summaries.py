"""Errors of a round as one."""

import pytest

from cluster_version.errors import Effect, Plural, UpdateError
from cluster_version.health.summaries import (
    NO_KIND,
    cause_of,
    in_short,
    summarize,
)
from cluster_version.health.tasks import described, not_applied
from cluster_version.payload.manifests import Manifest
from olm_runtime.errors import TransientError


def degraded(name: str, effect: Effect = Effect.FAIL_AFTER_INTERVAL) -> UpdateError:
    return UpdateError(
        f"Cluster operator {name} is degraded",
        reason="ClusterOperatorDegraded",
        effect=effect,
        names=[name],
        plural=Plural("ClusterOperatorsDegraded", "Cluster operators %s are degraded"),
    )


OTHER = TransientError("something else")


def test_no_error_is_none_and_one_is_itself() -> None:
    assert summarize([]) is None
    assert summarize([OTHER]) is OTHER


def test_components_are_reported_together() -> None:
    found = summarize([degraded("b"), degraded("a", Effect.FAIL)])
    assert isinstance(found, UpdateError)
    assert found.message == "Cluster operators a, b are degraded"
    assert (found.reason, found.name) == ("ClusterOperatorsDegraded", "a, b")
    assert found.effect is Effect.FAIL


def test_different_errors_are_listed_once_each() -> None:
    found = summarize([OTHER, degraded("a"), TransientError("something else")])
    assert isinstance(found, UpdateError)
    assert found.reason == "MultipleErrors"
    assert found.message.splitlines() == [
        "Multiple errors are preventing progress:",
        "* Cluster operator a is degraded",
        "* something else",
    ]


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        (404, "NotFound", "UpdatePayloadResourceNotFound"),
        (409, "AlreadyExists", "UpdatePayloadResourceNotFound"),
        (409, "Conflict", "UpdatePayloadResourceConflict"),
        (500, "InternalError", "UpdatePayloadClusterError"),
        (500, "ServerTimeout", "UpdatePayloadClusterOverloaded"),
        (502, "", "UpdatePayloadClusterDown"),
        (520, "", "UpdatePayloadClusterDown"),
        (429, "", "UpdatePayloadClusterOverloaded"),
        (400, "BadRequest", "UpdatePayloadFailed"),
        (0, "", "UpdatePayloadFailed"),
    ],
)
def test_answers_of_the_api_server_have_reasons(status: int, reason: str, expected: str) -> None:
    assert cause_of(status, reason).reason == expected


def test_a_manifest_is_reported_with_its_place() -> None:
    obj = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "one"}}
    found = not_applied(Manifest("file", obj), 3, 10, NO_KIND)
    assert found.message == f'Could not update thing "one" (3 of 10): {NO_KIND.text}'
    nameless = Manifest("file", {"kind": "Thing", "metadata": {"namespace": "place"}})
    assert described(nameless, 1, 1) == 'thing "place/file" (1 of 1)'


@pytest.mark.parametrize(
    ("reason", "name", "expected"),
    [
        ("ClusterOperatorDegraded", "a", "the cluster operator a is degraded"),
        ("ClusterOperatorDegraded", "", "a cluster operator is degraded"),
        ("WorkloadNotAvailable", "", "a workload has not yet rolled out"),
        ("UpdatePayloadNew", "", "the update could not be applied"),
        ("New", "a", "a has an unknown error: New"),
        ("New", "", "an unknown error has occurred: New"),
    ],
)
def test_reasons_in_a_few_words(reason: str, name: str, expected: str) -> None:
    assert in_short(reason, name) == expected
