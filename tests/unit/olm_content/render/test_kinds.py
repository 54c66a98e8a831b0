"""What is in no namespace says none when it is applied."""

import pytest

from olm_content.render.kinds import placed


@pytest.mark.parametrize(
    ("kind", "preserved"),
    [
        ("ValidatingWebhookConfiguration", False),
        ("ClusterRole", False),
        ("CustomResourceDefinition", False),
        ("VerticalPodAutoscaler", True),
        ("ConfigMap", True),
    ],
)
def test_only_namespaced_kinds_keep_a_namespace(kind: str, *, preserved: bool) -> None:
    written = {"kind": kind, "metadata": {"name": "x", "namespace": "install"}}
    found = placed(written)
    assert ("namespace" in found["metadata"]) is preserved
    assert found["metadata"]["name"] == "x"
    assert written["metadata"] == {"name": "x", "namespace": "install"}
