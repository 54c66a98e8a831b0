from collections.abc import Callable, Iterator
from typing import Any

import pytest

from olm_content.bundle.model import (
    ClusterServiceVersion,
    DeploymentTemplate,
    RegistryV1,
    Webhook,
    WebhookType,
)
from olm_content.render import validators
from olm_content.render.validators import VALIDATORS, validate

VALIDATING, MUTATING, CONVERSION = (
    WebhookType.VALIDATING,
    WebhookType.MUTATING,
    WebhookType.CONVERSION,
)


def webhook(name: str, kind: WebhookType = VALIDATING, on: str = "op", **fields: Any) -> Webhook:
    return Webhook(kind.value, name, on, 443, fields)


def bundle(
    *,
    package: str = "p",
    deployments: tuple[str, ...] = ("op",),
    webhooks: tuple[Webhook, ...] = (),
    owned: tuple[str, ...] = (),
    crds: tuple[str, ...] = (),
    others: tuple[dict[str, Any], ...] = (),
    modes: tuple[str, ...] = ("AllNamespaces",),
) -> RegistryV1:
    csv = ClusterServiceVersion(
        name="n",
        annotations={},
        install_modes=frozenset(modes),
        deployments=tuple(DeploymentTemplate(name, {}, {}) for name in deployments),
        permissions=(),
        cluster_permissions=(),
        webhooks=webhooks,
        owned_crds=owned,
        owned_api_services=(),
    )
    definitions = tuple({"metadata": {"name": name}} for name in crds)
    return RegistryV1(package, csv, definitions, others)


SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    r"for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
REGISTRATION = "admissionregistration.k8s.io"
FORBIDDEN = 'webhook "w" contains forbidden rule: admission webhook rules cannot reference '


@pytest.mark.parametrize(
    ("validator", "given", "faults"),
    [
        (
            validators.duplicate_deployments,
            bundle(deployments=("b", "a", "b", "a", "c")),
            [
                "cluster service version contains duplicate strategy deployment spec 'a'",
                "cluster service version contains duplicate strategy deployment spec 'b'",
            ],
        ),
        (
            validators.bad_deployment_names,
            bundle(deployments=("ok.name", "Bad", "b" * 254)),
            [
                f"invalid cluster service version strategy deployment name 'Bad': {SUBDOMAIN_RULE}",
                (
                    f"invalid cluster service version strategy deployment name '{'b' * 254}': "
                    "must be no more than 253 characters"
                ),
            ],
        ),
        (
            validators.duplicate_crds,
            bundle(crds=("a", "a", "b")),
            ["bundle contains duplicate custom resource definition 'a'"],
        ),
        (
            validators.missing_owned_crds,
            bundle(owned=("b", "a", "here"), crds=("here",)),
            [
                (
                    "cluster service definition references owned custom resource definition "
                    "'a' not found in bundle"
                ),
                (
                    "cluster service definition references owned custom resource definition "
                    "'b' not found in bundle"
                ),
            ],
        ),
        (validators.empty_package_name, bundle(package=""), ["package name is empty"]),
        (
            validators.conversion_needs_all_namespaces,
            bundle(webhooks=(webhook("w", CONVERSION),), modes=("OwnNamespace", "AllNamespaces")),
            [
                (
                    'bundle contains conversion webhook "w" and supports install modes '
                    "[AllNamespaces OwnNamespace] - conversion webhooks are only supported for "
                    "bundles that only support AllNamespaces install mode"
                )
            ],
        ),
        (
            validators.webhooks_without_deployment,
            bundle(webhooks=(webhook("b", on="y"), webhook("a", on="x"), webhook("c"))),
            [
                (
                    "webhook of type 'ValidatingAdmissionWebhook' with name 'a' references "
                    "non-existent deployment 'x'"
                ),
                (
                    "webhook of type 'ValidatingAdmissionWebhook' with name 'b' references "
                    "non-existent deployment 'y'"
                ),
            ],
        ),
        (
            validators.duplicate_webhooks,
            bundle(webhooks=(webhook("w"), webhook("w", MUTATING), webhook("w"))),
            ["duplicate webhook 'w' of type 'ValidatingAdmissionWebhook'"],
        ),
        (
            validators.bad_webhook_names,
            bundle(webhooks=(webhook("w-"),)),
            [
                "webhook of type 'ValidatingAdmissionWebhook' has invalid name 'w-': "
                + SUBDOMAIN_RULE
            ],
        ),
        (
            validators.shared_conversions,
            bundle(
                webhooks=(
                    webhook("b", CONVERSION, conversionCRDs=["c", "d"]),
                    webhook("a", CONVERSION, conversionCRDs=["c"]),
                )
            ),
            ["conversion webhooks [a,b] reference same custom resource definition 'c'"],
        ),
        (
            validators.conversions_of_foreign_crds,
            bundle(webhooks=(webhook("w", CONVERSION, conversionCRDs=["c"]),)),
            ["conversion webhook 'w' references custom resource definition 'c' not owned bundle"],
        ),
        (
            validators.forbidden_webhook_rules,
            bundle(
                webhooks=(
                    webhook(
                        "w",
                        rules=[
                            {"apiGroups": ["olm.operatorframework.io", "apps", "*"]},
                            {
                                "apiGroups": [REGISTRATION],
                                "resources": ["MutatingWebhookConfigurations", "other", "*"],
                            },
                        ],
                    ),
                )
            ),
            [
                f'{FORBIDDEN}API group "olm.operatorframework.io"',
                f'{FORBIDDEN}API group "*"',
                (
                    f'{FORBIDDEN}resource "MutatingWebhookConfigurations" for API group '
                    f'"{REGISTRATION}"'
                ),
                f'{FORBIDDEN}resource "*" for API group "{REGISTRATION}"',
            ],
        ),
        (
            validators.unsupported_kinds,
            bundle(others=({"kind": "Pod", "metadata": {"name": "x"}}, {"kind": "Secret"})),
            ['unsupported resource "x" with kind "Pod"'],
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_each_fault_is_reported(
    validator: Callable[[RegistryV1], Iterator[str]], given: RegistryV1, faults: list[str]
) -> None:
    assert list(validator(given)) == faults


def test_a_sound_bundle_has_no_faults() -> None:
    sound = bundle(
        owned=("c",),
        crds=("c",),
        webhooks=(webhook("v"), webhook("c", CONVERSION, conversionCRDs=["c"])),
    )
    assert validate(sound) == []


def test_all_faults_are_collected_in_order() -> None:
    faults = validate(bundle(package="", deployments=("A",), others=({"kind": "Pod"},)))
    assert [fault.split(" ")[0] for fault in faults] == ["invalid", "package", "unsupported"]


def test_the_list_of_validators_is_complete_and_in_order() -> None:
    assert [validator.__name__ for validator in VALIDATORS] == [
        "duplicate_deployments",
        "bad_deployment_names",
        "duplicate_crds",
        "missing_owned_crds",
        "empty_package_name",
        "conversion_needs_all_namespaces",
        "webhooks_without_deployment",
        "duplicate_webhooks",
        "bad_webhook_names",
        "shared_conversions",
        "conversions_of_foreign_crds",
        "forbidden_webhook_rules",
        "unsupported_kinds",
    ]
