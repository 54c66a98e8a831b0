"""Phases of objects, and the order in which they are removed."""

from hypothesis import given
from hypothesis import strategies as st

from api.objects import KubeObject, name_of
from olm_rollout.adoption import Policy
from olm_rollout.phases import Phase, content_digest, removal_order


def obj(kind: str = "ConfigMap", name: str = "x", *, group: str = "", ns: str = "") -> KubeObject:
    api_version = f"{group}/v1" if group else "v1"
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": ns},
    }


def test_objects_without_a_policy_are_protected() -> None:
    phase = Phase("a", (obj(), obj()), (Policy.NONE,))
    assert [phase.policy_of(i) for i in range(2)] == [Policy.NONE, Policy.PREVENT]


def test_the_digest_differs_by_content_and_phase() -> None:
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
    an_operator = (
        [obj("ServiceAccount", "account")],
        [crd("one"), crd("two")],
        [obj("Service", "service")],
        [deployment("operator")],
        [obj("ValidatingWebhookConfiguration", "hook", group="admissionregistration.k8s.io")],
    )
    assert removed(*an_operator) == [
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


def test_definitions_with_and_after_workloads_go_before_them() -> None:
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
