"""When an image is looked at again, and what becomes of the pods that look."""

import copy
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.objects import KubeObject, labels_of, name_of
from olm_classic.catalog_sources.polling import DEFAULT_INTERVAL, Poll, interval_of, poll
from olm_classic.catalog_sources.serving import choose
from tests.unit.olm_classic.catalog_sources.cases import NOW, pod, source

EVERY = timedelta(seconds=600)


def interval(text: str, **spec: Any) -> Any:
    strategy = {"registryPoll": {"interval": text}}
    return interval_of(source(**{"image": "a", "updateStrategy": strategy, **spec}).spec)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("45m", 2700),
        ("30m0s", 1800),
        ("1h1.5s", 3601.5),
        ("+.5h", 1800),
        ("1500ms", 1.5),
        ("0", 1),
        ("-5m", 1),
        ("1us", 1),
        ("-0", 1),
    ],
)
def test_intervals(text: str, seconds: float) -> None:
    found = interval(text)
    assert found.every == timedelta(seconds=seconds)
    assert not found.problem


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", 'time: invalid duration ""'),
        ("often", 'time: invalid duration "often"'),
        ("12", 'time: missing unit in duration "12"'),
        ("1h2", 'time: missing unit in duration "1h2"'),
        ("45mError.code", 'time: unknown unit "mError" in duration "45mError.code"'),
        (".", 'time: invalid duration "."'),
        ("2d", 'time: unknown unit "d" in duration "2d"'),
        ("999999999999999h", 'time: invalid duration "999999999999999h"'),
    ],
)
def test_intervals_that_say_nothing(text: str, fault: str) -> None:
    found = interval(text)
    assert found.every == DEFAULT_INTERVAL
    assert found.problem == (
        "error parsing spec.updateStrategy.registryPoll.interval. Using the default value of"
        f" 15m0s instead. Error: {fault}"
    )


def test_only_images_are_polled() -> None:
    assert interval("1m", image="", address="a:1") is None
    assert interval("1m", sourceType="configmap", configMap="a") is None
    assert interval_of(source(image="a").spec) is None
    assert interval_of(source(image="a", updateStrategy={}).spec) is None


def decide(serving: KubeObject, *updates: KubeObject, last: float | None = None) -> Poll:
    return poll(
        serving,
        updates,
        container="registry-server",
        every=EVERY,
        last=None if last is None else NOW - timedelta(seconds=last),
        now=NOW,
    )


def test_when_an_image_is_looked_at() -> None:
    assert decide(pod(age=599)) == Poll(again=1.0)
    assert decide(pod(age=600)).start
    assert decide(pod(age=6000), last=100) == Poll(again=500.0)
    assert decide(pod(age=10), last=601).start


def test_what_becomes_of_an_update_pod() -> None:
    serving, update = pod(age=6000), pod("u", age=5)
    assert decide(serving, update) == Poll(delete=(update,))
    other = pod("u", age=5, image_id="sha256:2")
    assert decide(serving, other) == Poll(promote=other)
    starting = pod("u", age=5, ready=False, image_id="")
    assert decide(serving, starting) == Poll(again=30.0)
    stuck = pod("u", age=601, ready=False, image_id="")
    assert decide(serving, stuck) == Poll(
        delete=(stuck,), failure="it was not ready within 10 minutes"
    )
    stale = pod("u", age=5, image_id="sha256:2", spec_hash="h0")
    assert decide(serving, stale) == Poll(delete=(stale,))
    failed = pod("u", age=5, ready=False, phase="Failed", message="evicted")
    assert decide(serving, failed) == Poll(delete=(failed,), failure="evicted")
    waiting = {"reason": "CreateContainerError", "message": "no command specified"}
    files_alone = {"name": "registry-server", "state": {"waiting": waiting}}
    unfit = pod("u", age=5, ready=False, containerStatuses=[files_alone])
    message = "CreateContainerError (no command specified)"
    assert decide(serving, unfit) == Poll(delete=(unfit,), failure=message)
    going = copy.deepcopy(update)
    going["metadata"]["deletionTimestamp"] = going["metadata"]["creationTimestamp"]
    assert decide(serving, going).start


def test_a_serving_pod_that_never_ran_is_replaced_by_one_that_does() -> None:
    update = pod("u", age=5, image_id="sha256:2")
    assert decide(pod(age=6000, ready=False, image_id=""), update).promote == update


def test_content_that_is_extracted_is_compared_by_its_own_image() -> None:
    def extracted(image_id: str) -> KubeObject:
        statuses = [{"name": "extract-content", "imageID": image_id}]
        return pod(f"p{image_id}", initContainerStatuses=statuses)

    decided = poll(
        extracted("1"),
        [extracted("2")],
        container="extract-content",
        every=EVERY,
        last=None,
        now=NOW,
    )
    assert decided.promote is not None


PODS = st.builds(
    pod,
    st.sampled_from("abcdef"),
    age=st.integers(0, 10_000).map(float),
    ready=st.booleans(),
    image_id=st.sampled_from(["", "1", "2"]),
    spec_hash=st.sampled_from(["h1", "h2"]),
)


@given(
    PODS, st.lists(PODS, max_size=4, unique_by=name_of), st.none() | st.integers(0, 2000).map(float)
)
def test_every_decision_leads_on(
    serving: KubeObject, updates: list[KubeObject], last: float | None
) -> None:
    """There is something to do now, or later; and nothing is both promoted and deleted."""
    decided = decide(serving, *updates, last=last)
    acts = decided.start or decided.promote or decided.delete
    assert acts or (decided.again is not None and decided.again > 0)
    assert decided.promote not in decided.delete
    assert not (decided.start and updates)


@given(st.lists(PODS, max_size=5, unique_by=name_of))
def test_one_pod_serves(pods: list[KubeObject]) -> None:
    decided = choose(pods, pod("wanted"), NOW)
    wanted = [each for each in pods if labels_of(each)["olm.pod-spec-hash"] == "h1"]
    assert (decided.pod in wanted) is bool(wanted)
    assert decided.pod is not None or not wanted
    assert len(decided.delete) == len(pods) - bool(wanted)
    assert decided.pod not in decided.delete


def test_a_pod_that_ends_at_once_is_not_made_again_at_once() -> None:
    ended = pod(age=3, ready=False, phase="Failed")
    assert choose([ended], pod("wanted"), NOW).again == 7.0
    conditions = [{"type": "DisruptionTarget", "status": "True"}]
    condemned = pod(age=3, conditions=conditions)
    assert choose([condemned], pod("wanted"), NOW).delete == (condemned,)
    old = pod(age=30, ready=False, phase="Failed")
    assert choose([old], pod("wanted"), NOW).delete == (old,)


def test_pods_with_other_images_are_replaced() -> None:
    edited = pod()
    edited["spec"]["containers"][0]["image"] = "example.com/other"
    decided = choose([edited], pod("wanted"), NOW)
    assert decided.pod is None
    assert decided.delete == (edited,)
