"""Who asks for a certificate or a CA bundle, and who gets one."""

import base64

import pytest

from api.objects import KubeObject
from olm_runtime.certificates.issuer import issuer
from olm_runtime.certificates.rotation import issued
from operator_controller.certificates.demands import demands, filled
from tests.unit.olm_runtime.certificates.cases import DNS_NAMES, LIFETIME, NOW
from tests.unit.operator_controller.certificates.cases import (
    INJECT,
    WHERE,
    configuration,
    definition,
    phases,
)
from tests.unit.operator_controller.certificates.cases import secret as empty_secret
from tests.unit.operator_controller.certificates.cases import service as asking_service

STORED = issued(issuer(LIFETIME)(DNS_NAMES, NOW))
BUNDLE = base64.b64encode(STORED.bundle).decode()


def fill(*objects: KubeObject) -> list[KubeObject]:
    return [
        o for phase in filled(phases(*objects), {WHERE: STORED}, {}).phases for o in phase.objects
    ]


def test_a_service_asks_for_its_own_names() -> None:
    assert demands(phases()) == {WHERE: DNS_NAMES}


def test_a_secret_that_is_not_of_the_revision_is_left_alone() -> None:
    assert demands(phases(asking_service(), configuration())) == {}


def test_secrets_get_the_certificate() -> None:
    (secret,) = fill(empty_secret())
    assert secret == {**empty_secret(), "data": STORED.data()}


@pytest.mark.parametrize("kind", ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"])
def test_every_webhook_of_a_configuration_gets_the_bundle(kind: str) -> None:
    asking = configuration(kind)
    asking["webhooks"].append({"name": "second", "clientConfig": {"service": {"name": "s"}}})
    (found,) = fill(asking)
    assert [w["clientConfig"]["caBundle"] for w in found["webhooks"]] == [BUNDLE, BUNDLE]
    assert "caBundle" not in asking["webhooks"][0]["clientConfig"], "the content stays as it is"


def test_conversion_webhooks_get_the_bundle() -> None:
    (found,) = fill(definition())
    client_config = found["spec"]["conversion"]["webhook"]["clientConfig"]
    assert client_config == {"service": {"name": "op-service"}, "caBundle": BUNDLE}
    assert found["spec"]["group"] == "example.com"


@pytest.mark.parametrize(
    "obj",
    [
        pytest.param(definition(conversion={"strategy": "None"}), id="a CRD without a webhook"),
        pytest.param(
            {**configuration(), "metadata": {"name": "hook"}}, id="a caller that does not ask"
        ),
        pytest.param(
            {
                **configuration(),
                "metadata": {"name": "h", "annotations": dict.fromkeys(INJECT, "other/secret")},
            },
            id="a caller of somebody else's",
        ),
        pytest.param(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "c", "namespace": "install", "annotations": dict(INJECT)},
            },
            id="an object that calls nobody",
        ),
    ],
)
def test_others_are_applied_as_they_are(obj: KubeObject) -> None:
    assert fill(obj) == [obj]
