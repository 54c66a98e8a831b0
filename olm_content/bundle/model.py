"""What a registry+v1 bundle says, as the later stages need it.

The maps inside are plain JSON as read from the files; all of it is read-only by agreement.
"""

from enum import StrEnum
from typing import Any, NamedTuple

from api.objects import KubeObject, name_of


class InstallMode(StrEnum):
    """Which namespaces an operator can watch, in OLM's words."""

    ALL_NAMESPACES = "AllNamespaces"
    MULTI_NAMESPACE = "MultiNamespace"
    OWN_NAMESPACE = "OwnNamespace"
    SINGLE_NAMESPACE = "SingleNamespace"


class WebhookType(StrEnum):
    """What a webhook of a bundle is called for."""

    VALIDATING = "ValidatingAdmissionWebhook"
    MUTATING = "MutatingAdmissionWebhook"
    CONVERSION = "ConversionWebhook"


class Permission(NamedTuple):
    """Rules for a service account; `service_account` is as written, possibly empty."""

    service_account: str
    rules: tuple[dict[str, Any], ...] | None

    @classmethod
    def of(cls, fields: dict[str, Any]) -> "Permission":
        """The permission that fields of the install strategy say."""
        rules = tuple(fields["rules"]) if "rules" in fields else None
        return cls(fields["serviceAccountName"], rules)

    @property
    def account_name(self) -> str:
        """The service account's name; none written means the namespace's default one."""
        return self.service_account or "default"


class DeploymentTemplate(NamedTuple):
    """A deployment of the install strategy: its name, labels and `DeploymentSpec`."""

    name: str
    labels: dict[str, str]
    spec: dict[str, Any]

    @classmethod
    def of(cls, fields: dict[str, Any]) -> "DeploymentTemplate":
        """The deployment that fields of the install strategy say."""
        return cls(fields["name"], fields.get("label") or {}, fields.get("spec") or {})


class Webhook(NamedTuple):
    """A webhook definition; `fields` is the whole definition under its own names."""

    type: str
    generate_name: str
    deployment_name: str
    container_port: int
    fields: dict[str, Any]

    @classmethod
    def of(cls, fields: dict[str, Any]) -> "Webhook":
        """The webhook of a definition."""
        return cls(
            type=fields["type"],
            generate_name=fields["generateName"],
            deployment_name=fields.get("deploymentName", ""),
            container_port=fields.get("containerPort", 0),
            fields=fields,
        )

    @property
    def conversion_crds(self) -> list[str]:
        """Names of the definitions whose versions it converts."""
        crds: list[str] = self.fields.get("conversionCRDs") or []
        return crds

    @property
    def rules(self) -> list[dict[str, Any]]:
        """The admission rules: what requests it is asked about."""
        rules: list[dict[str, Any]] = self.fields.get("rules") or []
        return rules


class ClusterServiceVersion(NamedTuple):
    """The description of an operator, reduced to what installing it needs."""

    name: str
    annotations: dict[str, str]
    install_modes: frozenset[str]
    deployments: tuple[DeploymentTemplate, ...]
    permissions: tuple[Permission, ...]
    cluster_permissions: tuple[Permission, ...]
    webhooks: tuple[Webhook, ...]
    owned_crds: tuple[str, ...]
    owned_api_services: tuple[str, ...]

    @classmethod
    def of(cls, csv: KubeObject, annotations: dict[str, str]) -> "ClusterServiceVersion":
        """Of an object in its type; `annotations` count in place of its own."""
        spec = csv["spec"]
        strategy = (spec.get("install") or {}).get("spec") or {}
        modes = spec.get("installModes") or ()
        return cls(
            name=name_of(csv),
            annotations=annotations,
            install_modes=frozenset(mode["type"] for mode in modes if mode["supported"]),
            deployments=tuple(map(DeploymentTemplate.of, strategy.get("deployments") or ())),
            permissions=tuple(map(Permission.of, strategy.get("permissions") or ())),
            cluster_permissions=tuple(map(Permission.of, strategy.get("clusterPermissions") or ())),
            webhooks=tuple(map(Webhook.of, spec.get("webhookdefinitions") or ())),
            owned_crds=_owned_names(spec.get("customresourcedefinitions")),
            owned_api_services=_owned_names(spec.get("apiservicedefinitions")),
        )

    def supports(self, mode: InstallMode) -> bool:
        """Whether the operator declares the install mode as supported."""
        return mode.value in self.install_modes

    def webhooks_of(self, kind: WebhookType) -> tuple[Webhook, ...]:
        """The webhooks of one type, in the order written."""
        return tuple(webhook for webhook in self.webhooks if webhook.type == kind.value)


def _owned_names(descriptions: dict[str, Any] | None) -> tuple[str, ...]:
    return tuple(item["name"] for item in (descriptions or {}).get("owned") or ())


class RegistryV1(NamedTuple):
    """A bundle in registry+v1 format: the operator, its definitions, all other manifests."""

    package_name: str
    csv: ClusterServiceVersion
    crds: tuple[KubeObject, ...]
    others: tuple[KubeObject, ...]
