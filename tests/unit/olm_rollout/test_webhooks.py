"""Which webhooks an error of the API server is about, and which objects configure them."""

import pytest

from api.objects import KubeObject
from olm_rollout.webhooks import configures, is_configuration, uncallable

GROUP = "admissionregistration.k8s.io"
NO_ANSWER = (
    'Internal error occurred: failed calling webhook "{}": failed to call webhook: Post '
    '"https://web.ns.svc:443/x?timeout=10s": dial tcp 10.0.0.1:443: connect: connection refused'
)


@pytest.mark.parametrize(
    ("message", "webhooks"),
    [
        (f"ConfigMap ns/a: {NO_ANSWER.format('a.io')}", {"a.io"}),
        (f"{NO_ANSWER.format('a.io')}\n{NO_ANSWER.format('b.io')}", {"a.io", "b.io"}),
        ('admission webhook "a.io" denied the request: no', set()),
        ("connection refused", set()),
    ],
)
def test_a_webhook_that_cannot_be_called_is_none_that_says_no(
    message: str, webhooks: set[str]
) -> None:
    assert uncallable(message) == webhooks


@pytest.mark.parametrize(
    ("api_version", "kind", "expected"),
    [
        (f"{GROUP}/v1", "ValidatingWebhookConfiguration", True),
        (f"{GROUP}/v1beta1", "MutatingWebhookConfiguration", True),
        (f"{GROUP}/v1", "ValidatingAdmissionPolicy", False),
        ("example.com/v1", "ValidatingWebhookConfiguration", False),
    ],
)
def test_what_configures_webhooks(api_version: str, kind: str, *, expected: bool) -> None:
    assert is_configuration({"apiVersion": api_version, "kind": kind}) is expected


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        ({"webhooks": [{"name": "a.io"}, {"name": "b.io"}]}, True),
        ({"webhooks": [{"name": "a.io"}]}, False),
        ({"webhooks": None}, False),
        ({}, False),
    ],
)
def test_a_webhook_is_found_by_its_name(obj: KubeObject, *, expected: bool) -> None:
    assert configures(obj, {"b.io", "c.io"}) is expected
