"""The content of a revision in Secrets, and back."""

import base64
import gzip
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.objects import KubeObject
from api.olm.v1.clusterobjectset import MAX_OBJECTS_PER_PHASE
from olm_rollout.adoption import Policy
from olm_rollout.phases import Phase
from operator_controller.apply.pack import Packed, is_content_of, pack, sanitised
from operator_controller.apply.stored import (
    MAX_OBJECT_BYTES,
    MAX_SECRET_BYTES,
    ContentError,
    content_key,
    decode,
    encode,
)
from operator_controller.apply.unpack import MissingContentError, refs, unpack

HOME = "olmv1-system"


def obj(name: str = "x", **data: str) -> KubeObject:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def noise(size: int) -> str:
    """Text that gzip cannot make much smaller."""
    return "".join(random.Random(1).choices("0123456789abcdefghijklmnopqrstuvwxyzABCDEF", k=size))


def by_name(packed: Packed) -> dict[tuple[str, str], KubeObject]:
    return {(s["metadata"]["namespace"], s["metadata"]["name"]): s for s in packed.secrets}


def spec_of(packed: Packed, **extra: Any) -> dict[str, Any]:
    return {"phases": list(packed.phases), "collisionProtection": "Prevent", **extra}


def test_secrets_are_immutable_typed_and_labelled() -> None:
    packed = pack("ext-1", "ext", HOME, [Phase("a", (obj(),))])
    [secret] = packed.secrets
    assert secret["immutable"] is True
    assert secret["type"] == "olm.operatorframework.io/object-data"
    assert secret["metadata"]["namespace"] == HOME
    assert secret["metadata"]["name"].startswith("ext-1-")
    assert len(secret["metadata"]["name"]) == len("ext-1-") + 16
    assert secret["metadata"]["labels"] == {
        "olm.operatorframework.io/revision-name": "ext-1",
        "olm.operatorframework.io/owner-name": "ext",
    }


def test_secrets_of_the_longest_name_have_names_and_labels_that_the_server_takes() -> None:
    revision = "e" * 251 + "-9"
    [secret] = pack(revision, "ext", HOME, [Phase("a", (obj(),))]).secrets
    assert len(secret["metadata"]["name"]) == 253
    assert len(secret["metadata"]["labels"]["olm.operatorframework.io/revision-name"]) == 63
    assert is_content_of(secret, revision)


def test_equal_objects_are_stored_once_and_named_by_their_content() -> None:
    packed = pack("ext-1", "ext", HOME, [Phase("a", (obj(),)), Phase("b", (obj(),))])
    [secret] = packed.secrets
    [key] = secret["data"]
    assert key == content_key(encode(obj()))
    assert len(key) == 43
    assert [p["objects"][0]["ref"]["key"] for p in packed.phases] == [key, key]


def test_the_same_content_has_the_same_secrets() -> None:
    phases = [Phase("a", tuple(obj(str(i)) for i in range(5)))]
    assert pack("r", "o", HOME, phases) == pack("r", "o", HOME, phases)


def test_secrets_are_split_below_the_limit() -> None:
    big = [obj(str(i), a=noise(400 * 1024)) for i in range(5)]
    packed = pack("r", "o", HOME, [Phase("a", tuple(big))])
    assert len(packed.secrets) == 3
    for secret in packed.secrets:
        assert sum(len(base64.b64decode(v)) for v in secret["data"].values()) <= MAX_SECRET_BYTES


def test_a_large_object_is_compressed() -> None:
    large = obj(a="x" * 2 * MAX_SECRET_BYTES)
    data = encode(large)
    assert data.startswith(b"\x1f\x8b")
    assert len(data) < 10_000
    assert decode(data) == large


def test_an_object_that_no_compression_makes_fit_is_refused_by_name() -> None:
    with pytest.raises(ContentError, match="ConfigMap huge is too large to store"):
        encode(obj("huge", a=noise(3 * MAX_SECRET_BYTES)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"{", "stored object is no JSON", id="no JSON"),
        pytest.param(b"[]", "stored object is no JSON object", id="no object"),
        pytest.param(b"\x1f\x8bxx", "cannot be decompressed", id="no gzip after all"),
        pytest.param(
            gzip.compress(b"x" * (MAX_OBJECT_BYTES + 1)),
            "larger than 10485760 bytes",
            id="content that grows without end",
        ),
    ],
)
def test_damaged_content(data: bytes, message: str) -> None:
    with pytest.raises(ContentError, match=message):
        decode(data)


def ref(name: str = "s", key: str = "k", namespace: str | None = "ns") -> dict[str, Any]:
    return {"ref": {"name": name, "key": key, **({"namespace": namespace} if namespace else {})}}


def secret(*, immutable: bool = True, **data: KubeObject) -> KubeObject:
    encoded = {k: base64.b64encode(json.dumps(v).encode()).decode() for k, v in data.items()}
    return {"kind": "Secret", "immutable": immutable, "data": encoded}


def phases_of(*entries: dict[str, Any], **phase: Any) -> list[dict[str, Any]]:
    return [{"name": "p", "objects": list(entries), **phase}]


def test_a_reference_without_a_namespace_is_to_the_system_namespace() -> None:
    phases = phases_of(ref(namespace=None), ref(namespace=""), ref("t"))
    assert refs(phases, HOME) == {(HOME, "s"), ("ns", "t")}
    [phase] = unpack(
        {"phases": phases_of(ref(namespace=None))}, {(HOME, "s"): secret(k=obj())}, HOME
    )
    assert phase.objects == (obj(),)


@pytest.mark.parametrize(
    ("entry", "secrets", "message"),
    [
        pytest.param(
            ref(), {}, 'resolving ref in phase "p": Secret ns/s not found', id="no Secret"
        ),
        pytest.param(
            ref(),
            {("ns", "s"): secret()},
            'resolving ref in phase "p": key "k" not found in Secret ns/s',
            id="no key",
        ),
    ],
)
def test_missing_content_may_still_come(
    entry: dict[str, Any], secrets: dict[tuple[str, str], KubeObject], message: str
) -> None:
    with pytest.raises(MissingContentError) as error:
        unpack({"phases": phases_of(entry)}, secrets, HOME)
    assert error.value.message == message


def tampered(packed: Packed) -> dict[tuple[str, str], KubeObject]:
    """The Secrets with another object under the first key."""
    secrets = by_name(packed)
    first = packed.secrets[0]
    [key, *_] = first["data"]
    other = base64.b64encode(encode(obj("other"))).decode()
    secrets[HOME, first["metadata"]["name"]] = {**first, "data": {**first["data"], key: other}}
    return secrets


@pytest.mark.parametrize("large", [False, True])
def test_content_under_a_digest_that_is_not_its_own_counts_as_missing(*, large: bool) -> None:
    packed = pack("r", "o", HOME, [Phase("a", (obj(a="x" * 2 * MAX_SECRET_BYTES * large),))])
    [secret] = packed.secrets
    [key] = secret["data"]
    with pytest.raises(MissingContentError) as error:
        unpack(spec_of(packed), tampered(packed), HOME)
    assert error.value.message == (
        f'resolving ref in phase "a": key "{key}" in Secret {HOME}/{secret["metadata"]["name"]} '
        "does not hold what it is the digest of"
    )


def test_a_key_that_is_no_digest_says_nothing_of_its_content() -> None:
    key = "k" * 42
    found = secret(k=obj())
    found["data"] = {key: found["data"]["k"]}
    [phase] = unpack({"phases": phases_of(ref(key=key))}, {("ns", "s"): found}, HOME)
    assert phase.objects == (obj(),)


def test_secrets_that_could_change_are_refused_all_at_once() -> None:
    secrets = {("ns", n): secret(immutable=n == "ok", k=obj()) for n in ("b", "a", "ok")}
    with pytest.raises(ContentError) as error:
        unpack({"phases": phases_of(ref("a"), ref("b"), ref("ok"))}, secrets, HOME)
    assert error.value.message == (
        "the following secrets are not immutable (referenced secrets must have immutable set to "
        "true): ns/a, ns/b"
    )


@pytest.mark.parametrize(
    ("entry", "phase", "whole", "expected"),
    [
        pytest.param("None", "IfNoController", "Prevent", Policy.NONE, id="the object's"),
        pytest.param(None, "IfNoController", "Prevent", Policy.IF_NO_CONTROLLER, id="the phase's"),
        pytest.param(None, None, "None", Policy.NONE, id="the whole set's"),
        pytest.param(None, None, None, Policy.PREVENT, id="the careful one"),
    ],
)
def test_whose_policy_counts(
    entry: str | None, phase: str | None, whole: str | None, expected: Policy
) -> None:
    inline = {"object": obj(), "collisionProtection": entry}
    spec = {
        "collisionProtection": whole,
        "phases": phases_of(inline, collisionProtection=phase),
    }
    [found] = unpack(spec, {}, HOME)
    assert found.policy_of(0) is expected


def test_only_what_is_ours_to_apply_holds() -> None:
    found = sanitised(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": "x",
                "namespace": "ns",
                "labels": {"a": "b"},
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
                "uid": "u",
                "finalizers": ["f"],
                "creationTimestamp": None,
                "managedFields": [],
            },
            "status": {"phase": "Active"},
            "data": {"a": "1"},
        }
    )
    assert found == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x", "namespace": "ns", "labels": {"a": "b"}},
        "data": {"a": "1"},
    }


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)
contents = st.lists(
    st.lists(
        st.builds(lambda name, spec: {**obj(name), "spec": spec}, st.text("ab", min_size=1),
                  json_values),
        max_size=4,
    ),
    max_size=4,
)  # fmt: skip


@pytest.mark.property
@given(contents)
def test_what_is_unpacked_is_what_was_packed(content: Sequence[Sequence[KubeObject]]) -> None:
    """A revision holds exactly the objects that it was made of, in their order."""
    phases = [Phase(f"p{i}", tuple(objects)) for i, objects in enumerate(content)]
    packed = pack("r", "o", HOME, phases)
    assert refs(packed.phases, HOME) == set(by_name(packed))
    found = unpack(spec_of(packed), by_name(packed), HOME)
    assert [(p.name, p.objects) for p in found] == [(p.name, p.objects) for p in phases]


@given(st.lists(st.integers(0, 40), min_size=0, max_size=300))
def test_any_number_of_objects_of_any_size_fits_and_comes_back(sizes: list[int]) -> None:
    """`phases[].objects` takes 50 entries."""
    objects = tuple(obj(f"m{i}", a="x" * size**2) for i, size in enumerate(sizes))
    packed = pack("ext-1", "ext", HOME, [Phase("a", objects)])
    [phase] = packed.phases
    assert len(phase["objects"]) <= MAX_OBJECTS_PER_PHASE
    [back] = unpack(spec_of(packed), by_name(packed), HOME)
    assert back.objects == objects
    assert {back.policy_of(i) for i in range(len(objects))} <= {Policy.PREVENT}


def test_twenty_mebibytes_in_a_thousand_objects_fit_into_secrets() -> None:
    objects = tuple(obj(f"m{i}", a=noise(20_000)) for i in range(1050))
    packed = pack("ext-1", "ext", HOME, [Phase("a", objects)])
    for secret in packed.secrets:
        stored = sum(len(base64.b64decode(v)) for v in secret["data"].values())
        assert stored <= MAX_SECRET_BYTES
    [back] = unpack(spec_of(packed), by_name(packed), HOME)
    assert back.objects == objects


def test_a_list_of_no_objects_is_refused() -> None:
    bad = {"apiVersion": "v1", "kind": "List", "items": ["x"]}
    spec = {"phases": [{"name": "a", "objects": [{"object": bad}]}]}
    with pytest.raises(ContentError, match="the items of a stored List are no objects"):
        unpack(spec, {}, HOME)
