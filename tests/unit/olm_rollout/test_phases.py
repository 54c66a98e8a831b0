"""The order in which objects are applied."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.objects import GVK, KubeObject, gvk_of, key_of, name_of
from api.olm.v1.clusterobjectset import MAX_PHASES
from olm_rollout.adoption import Policy
from olm_rollout.phases import PHASES, Phase, content_digest, into_phases, phase_of, removal_order

ORDER = [
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
    assert [name for name, _ in PHASES] == ORDER


def test_no_kind_is_in_two_phases() -> None:
    kinds = [kind for _, kinds in PHASES for kind in kinds]
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
    assert phase_of(GVK(group, "v1", kind)) == expected


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


def test_objects_without_a_policy_are_protected() -> None:
    phase = Phase("a", (obj(), obj()), (Policy.NONE,))
    assert [phase.policy_of(i) for i in range(2)] == [Policy.NONE, Policy.PREVENT]


KINDS = [(group, kind) for _, kinds in PHASES for group, kind in sorted(kinds)]
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
    ranks = [ORDER.index(phase_of(gvk_of(o))) for o in applied]
    assert ranks == sorted(ranks)
    shuffled = list(some)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert content_digest(into_phases(shuffled)) == content_digest(phases)


def test_the_digest_tells_content_and_phase_apart() -> None:
    changed = {**obj(), "data": {"a": "1"}}
    digests = {
        content_digest([Phase("a", (obj(),))]),
        content_digest([Phase("b", (obj(),))]),
        content_digest([Phase("a", (changed,))]),
        content_digest([]),
    }
    assert len(digests) == 4


def crd(name: str) -> KubeObject:
    return obj("CustomResourceDefinition", name, group="apiextensions.k8s.io")


def deployment(name: str) -> KubeObject:
    return obj("Deployment", name, group="apps")


def removed(*phases: list[KubeObject]) -> list[list[str]]:
    """The names of the objects, phase by phase in the order of removal."""
    given_phases = [Phase(f"phase-{n}", tuple(objects)) for n, objects in enumerate(phases)]
    return [[name_of(o) for o in phase.objects] for phase in removal_order(given_phases)]


def test_phases_are_removed_last_first() -> None:
    assert removed([obj(name="a")], [crd("b")], [obj(name="c")]) == [["c"], ["b"], ["a"]]


def test_definitions_go_before_workloads_and_all_that_they_need() -> None:
    an_extension = (
        [obj("ServiceAccount", "account")],
        [crd("one"), crd("two")],
        [obj("Service", "service")],
        [deployment("operator")],
        [obj("ValidatingWebhookConfiguration", "hook", group="admissionregistration.k8s.io")],
    )
    assert removed(*an_extension) == [
        ["hook"],
        ["one", "two"],
        ["operator"],
        ["service"],
        ["account"],
    ]


def test_what_was_applied_after_the_workloads_goes_before_the_definitions() -> None:
    assert removed([crd("definition")], [deployment("operator")], [obj("Thing", "thing")]) == [
        ["thing"],
        ["definition"],
        ["operator"],
    ]


def test_definitions_beside_and_after_workloads_go_before_them() -> None:
    assert removed([deployment("a"), crd("b")], [crd("c")]) == [["c"], ["b"], ["a"]]


@given(
    st.lists(
        st.lists(st.sampled_from(["CustomResourceDefinition", "Deployment", "ConfigMap"])),
        max_size=6,
    )
)
def test_everything_is_removed_once(kinds: list[list[str]]) -> None:
    groups = {"CustomResourceDefinition": "apiextensions.k8s.io", "Deployment": "apps"}
    phases = [
        [obj(kind, f"{n}-{m}", group=groups.get(kind, "")) for m, kind in enumerate(phase)]
        for n, phase in enumerate(kinds)
    ]
    found = [name for names in removed(*phases) for name in names]
    assert sorted(found) == sorted(f"{n}-{m}" for n, p in enumerate(kinds) for m in range(len(p)))
