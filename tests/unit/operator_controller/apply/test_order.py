"""The order in which the objects of an extension are applied."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.objects import GVK, KubeObject, gvk_of, key_of, name_of
from api.olm.v1.clusterobjectset import MAX_PHASES
from olm_rollout.phases import content_digest
from operator_controller.apply.order import ORDER, into_phases

NAMES = [
    "namespaces",
    "policies",
    "identity",
    "configuration",
    "storage",
    "crds",
    "roles",
    "bindings",
    "infrastructure",
    "deploy",
    "scaling",
    "publish",
    "admission",
]


def obj(kind: str = "ConfigMap", name: str = "x", *, group: str = "", ns: str = "") -> KubeObject:
    api_version = f"{group}/v1" if group else "v1"
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": ns},
    }


def test_the_phases_are_upstreams_in_upstreams_order() -> None:
    assert [name for name, _ in ORDER.phases] == NAMES


def test_no_kind_is_in_two_phases() -> None:
    kinds = [kind for _, kinds in ORDER.phases for kind in kinds]
    assert len(kinds) == len(set(kinds))


@pytest.mark.parametrize(
    ("group", "kind", "expected"),
    [
        ("", "Namespace", "namespaces"),
        ("networking.k8s.io", "NetworkPolicy", "policies"),
        ("policy", "PodDisruptionBudget", "policies"),
        ("scheduling.k8s.io", "PriorityClass", "policies"),
        ("", "ServiceAccount", "identity"),
        ("", "Secret", "configuration"),
        ("", "ConfigMap", "configuration"),
        ("", "PersistentVolumeClaim", "storage"),
        ("storage.k8s.io", "StorageClass", "storage"),
        ("apiextensions.k8s.io", "CustomResourceDefinition", "crds"),
        ("rbac.authorization.k8s.io", "ClusterRole", "roles"),
        ("rbac.authorization.k8s.io", "RoleBinding", "bindings"),
        ("", "Service", "infrastructure"),
        ("cert-manager.io", "Certificate", "infrastructure"),
        ("apps", "Deployment", "deploy"),
        ("apps", "StatefulSet", "deploy"),
        ("example.com", "Whatever", "deploy"),
        ("example.com", "Service", "deploy"),
        ("autoscaling.k8s.io", "VerticalPodAutoscaler", "scaling"),
        ("monitoring.coreos.com", "ServiceMonitor", "publish"),
        ("console.openshift.io", "ConsolePlugin", "publish"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "admission"),
    ],
)
def test_the_phase_of_a_kind(group: str, kind: str, expected: str) -> None:
    assert ORDER.phase_of(GVK(group, "v1", kind)) == expected


def test_a_phase_holds_any_number_of_objects() -> None:
    [phase] = into_phases([obj(name=f"m{i:04}") for i in range(1200)])
    assert phase.name == "configuration"
    assert [name_of(o) for o in phase.objects] == [f"m{i:04}" for i in range(1200)]


def test_nothing_has_no_phases() -> None:
    assert into_phases([]) == ()


def test_objects_in_a_phase_are_sorted_by_kind_namespace_and_name() -> None:
    given_objects = [obj(name="b"), obj("Secret", "a"), obj(name="a", ns="z"), obj(name="a")]
    [phase] = into_phases(given_objects)
    assert [str(key_of(o)) for o in phase.objects] == [
        "ConfigMap a",
        "ConfigMap b",
        "ConfigMap z/a",
        "Secret a",
    ]


KINDS = [(group, kind) for _, kinds in ORDER.phases for group, kind in sorted(kinds)]
objects = st.lists(
    st.builds(
        lambda gk, name, ns: obj(gk[1], name, group=gk[0], ns=ns),
        st.sampled_from([*KINDS, ("example.com", "Other"), ("apps", "StatefulSet")]),
        st.text("abc", min_size=1, max_size=4),
        st.sampled_from(["", "ns", "other"]),
    ),
    max_size=150,
    unique_by=lambda o: str(key_of(o)) + str(gvk_of(o)),
)


@pytest.mark.property
@given(objects, st.randoms(use_true_random=False))
def test_phases_are_total_ordered_and_do_not_depend_on_the_order_given(
    some: list[KubeObject], random: object
) -> None:
    """Every object is in one phase, phases are never too many, and equal content is equal."""
    phases = into_phases(some)
    applied = [o for p in phases for o in p.objects]
    assert sorted(map(repr, applied)) == sorted(map(repr, some))
    assert all(p.objects for p in phases)
    assert len(phases) <= MAX_PHASES
    names = [p.name for p in phases]
    assert len(names) == len(set(names))
    ranks = [NAMES.index(ORDER.phase_of(gvk_of(o))) for o in applied]
    assert ranks == sorted(ranks)
    shuffled = list(some)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert content_digest(into_phases(shuffled)) == content_digest(phases)
