"""ClusterServiceVersion: one version of an operator, what it takes to run, and how it is.

Parts that only people and consoles read are structs of `olm_content.kube_types`, not models.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.metadata import ObjectMeta
from api.operators import names
from api.operators.common import GroupVersionKind, Icon
from api.operators.v1alpha1.csv_apis import (
    APIServiceDefinitions,
    CustomResourceDefinitions,
    WebhookDescription,
)
from api.operators.v1alpha1.csv_status import ClusterServiceVersionStatus
from api.schema import Doc, Embedded, Key, Rule, matches, max_length

RELEASE = (
    max_length(20),
    matches(
        r"^[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*$",
        "release version must be composed of dot-separated identifiers containing only"
        " alphanumerics and hyphens",
    ),
    Rule(
        "!self.split('.').exists(x, x.matches('^0[0-9]+$'))",
        "numeric identifiers in release version must not have leading zeros",
    ),
)


class DeploymentTemplate(Struct, frozen=True, kw_only=True):
    """A Deployment of the operator."""

    name: Annotated[str, Doc("Name of the Deployment.")]
    spec: Annotated[Mapping[str, Any], Doc("Spec of the Deployment."), Embedded("DeploymentSpec")]
    label: Annotated[Mapping[str, str], Doc("Labels of the Deployment.")] = field(
        default_factory=dict
    )


class Permissions(Struct, frozen=True, kw_only=True):
    """What a ServiceAccount of the operator may do."""

    service_account_name: Annotated[str, Doc("Name of the ServiceAccount.")]
    rules: Annotated[
        tuple[Annotated[Mapping[str, Any], Embedded("PolicyRule")], ...], Doc("Its rules.")
    ]


class InstallStrategySpec(Struct, frozen=True, kw_only=True):
    """The Deployments of the operator, and what their ServiceAccounts may do."""

    deployments: Annotated[tuple[DeploymentTemplate, ...], Doc("The Deployments.")]
    permissions: Annotated[
        tuple[Permissions, ...], Doc("Rights in the namespaces that the operator works in.")
    ] = ()
    cluster_permissions: Annotated[
        tuple[Permissions, ...], Doc("Rights in the whole cluster.")
    ] = ()


class InstallStrategy(Struct, frozen=True, kw_only=True):
    """How the operator is installed."""

    strategy: Annotated[str, Doc("deployment, the only one there is.")]
    spec: Annotated[
        InstallStrategySpec | None,
        Doc("The Deployments of the operator, and what their ServiceAccounts may do."),
    ] = None


class InstallMode(Struct, frozen=True, kw_only=True):
    """Whether the operator can work in such a set of namespaces."""

    type: Annotated[str, Doc("OwnNamespace, SingleNamespace, MultiNamespace or AllNamespaces.")]
    supported: Annotated[bool, Doc("Whether it can.")]


class Maintainer(Struct, frozen=True, kw_only=True):
    """Somebody who looks after the operator."""

    name: Annotated[str, Doc("Name to show.")] = ""
    email: Annotated[str, Doc("Where to write to.")] = ""


class Link(Struct, frozen=True, kw_only=True):
    """A page about the operator."""

    name: Annotated[str, Doc("Name to show.")] = ""
    url: Annotated[str, Doc("Address of the page.")] = ""


class RelatedImage(Struct, frozen=True, kw_only=True):
    """An image that the operator uses, for mirrors."""

    name: Annotated[str, Doc("What it is for.")]
    image: Annotated[str, Doc("Reference of the image.")]


class Cleanup(Struct, frozen=True, kw_only=True):
    """What is asked for when the operator is removed."""

    enabled: Annotated[bool, Doc("Not used.")]


class ClusterServiceVersionSpec(Struct, frozen=True, kw_only=True):
    """What the operator is, what it takes to run it, and what it provides."""

    display_name: Annotated[str, Doc("Name to show.")]
    install: Annotated[InstallStrategy, Doc("How the operator is installed.")]
    version: Annotated[str, Doc("Version of the operator, a semantic version.")] = ""
    release: Annotated[str, Doc("Which build of this version it is."), *RELEASE] = ""
    replaces: Annotated[str, Doc("The ClusterServiceVersion that this one upgrades from.")] = ""
    skips: Annotated[
        tuple[str, ...], Doc("Further ones that may be upgraded from, and are passed over.")
    ] = ()
    install_modes: Annotated[
        tuple[InstallMode, ...], Doc("In which sets of namespaces the operator can work.")
    ] = ()
    customresourcedefinitions: Annotated[
        CustomResourceDefinitions, Doc("Kinds, defined in the cluster, that it has or needs.")
    ] = field(default_factory=CustomResourceDefinitions)
    apiservicedefinitions: Annotated[
        APIServiceDefinitions, Doc("Kinds of aggregated API servers that it has or needs.")
    ] = field(default_factory=APIServiceDefinitions)
    webhookdefinitions: Annotated[
        tuple[WebhookDescription, ...], Doc("Webhooks that it serves.")
    ] = ()
    native_apis: Annotated[
        tuple[GroupVersionKind, ...],
        Key("nativeAPIs"),
        Doc("Kinds that the API server itself must serve."),
    ] = ()
    min_kube_version: Annotated[str, Doc("The oldest version of Kubernetes that will do.")] = ""
    related_images: Annotated[tuple[RelatedImage, ...], Doc("Images that the operator uses.")] = ()
    description: Annotated[str, Doc("What the operator does, in Markdown.")] = ""
    keywords: Annotated[tuple[str, ...], Doc("Words to find it by.")] = ()
    maintainers: Annotated[tuple[Maintainer, ...], Doc("Who looks after it.")] = ()
    provider: Annotated[Link | None, Doc("Who publishes it.")] = None
    links: Annotated[tuple[Link, ...], Doc("Pages about it.")] = ()
    icon: Annotated[tuple[Icon, ...], Doc("Pictures to show.")] = ()
    maturity: Annotated[str, Doc("How far developed it is.")] = ""
    labels: Annotated[Mapping[str, str], Doc("Labels that its objects have.")] = field(
        default_factory=dict
    )
    annotations: Annotated[Mapping[str, str], Doc("Annotations that its objects have.")] = field(
        default_factory=dict
    )
    selector: Annotated[
        Mapping[str, Any] | None, Doc("Its objects, by their labels."), Embedded("LabelSelector")
    ] = None
    cleanup: Annotated[Cleanup | None, Doc("What is asked for when the operator is removed.")] = (
        None
    )


class ClusterServiceVersion(Struct, frozen=True, kw_only=True):
    """One version of an operator: what it takes to run it, what it provides, and how it is."""

    metadata: ObjectMeta
    spec: Annotated[
        ClusterServiceVersionSpec,
        Doc("What the operator is, what it takes to run it, and what it provides."),
    ]
    status: Annotated[ClusterServiceVersionStatus, Doc("How the operator is.")] = field(
        default_factory=ClusterServiceVersionStatus
    )

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.V1ALPHA1)
