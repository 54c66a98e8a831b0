"""The APIs of a ClusterServiceVersion: kinds that it has or needs, webhooks that it serves."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Struct

from api.schema import INT32, Doc, Embedded, Key, Presence, between


class APIDescription(Struct, frozen=True, kw_only=True):
    """A kind, and what consoles show of it."""

    name: Annotated[str, Doc("Name of the definition.")]
    version: Annotated[str, Doc("Version of the kind.")]
    kind: Annotated[str, Doc("Name of the kind.")]
    display_name: Annotated[str, Doc("Name to show.")] = ""
    description: Annotated[str, Doc("What objects of the kind are.")] = ""
    resources: Annotated[
        tuple[Annotated[Mapping[str, Any], Embedded("APIResourceReference")], ...],
        Doc("Kinds of the objects that stand behind one of this kind."),
    ] = ()
    status_descriptors: Annotated[
        tuple[Annotated[Mapping[str, Any], Embedded("StatusDescriptor")], ...],
        Doc("How fields of the status are shown."),
    ] = ()
    spec_descriptors: Annotated[
        tuple[Annotated[Mapping[str, Any], Embedded("SpecDescriptor")], ...],
        Doc("How fields of the spec are shown."),
    ] = ()
    action_descriptors: Annotated[
        tuple[Annotated[Mapping[str, Any], Embedded("ActionDescriptor")], ...],
        Doc("What can be done with an object."),
    ] = ()


class CRDDescription(APIDescription, frozen=True, kw_only=True):
    """A kind that a CustomResourceDefinition defines."""


class APIServiceDescription(APIDescription, frozen=True, kw_only=True):
    """A kind that an aggregated API server serves."""

    group: Annotated[str, Doc("Group of the kind.")]
    deployment_name: Annotated[str, Doc("The Deployment that serves an owned kind.")] = ""
    container_port: Annotated[int, Doc("Port on which it does."), INT32] = 0


class CustomResourceDefinitions(Struct, frozen=True, kw_only=True):
    """Kinds, defined in the cluster, that the operator has or needs."""

    owned: Annotated[tuple[CRDDescription, ...], Doc("Kinds that it brings.")] = ()
    required: Annotated[tuple[CRDDescription, ...], Doc("Kinds that must be there.")] = ()


class APIServiceDefinitions(Struct, frozen=True, kw_only=True):
    """Kinds of aggregated API servers that the operator has or needs."""

    owned: Annotated[tuple[APIServiceDescription, ...], Doc("Kinds that it serves.")] = ()
    required: Annotated[tuple[APIServiceDescription, ...], Doc("Kinds that must be served.")] = ()


class WebhookType(StrEnum):
    """What a webhook is for."""

    VALIDATING = "ValidatingAdmissionWebhook"
    MUTATING = "MutatingAdmissionWebhook"
    CONVERSION = "ConversionWebhook"


class WebhookDescription(Struct, frozen=True, kw_only=True):
    """A webhook that the operator serves."""

    generate_name: Annotated[str, Doc("What the name of its configuration begins with.")]
    type: Annotated[WebhookType, Doc("What it is for.")]
    admission_review_versions: Annotated[tuple[str, ...], Doc("Versions of reviews it takes.")]
    side_effects: Annotated[str, Doc("Whether a call has effects: None or NoneOnDryRun.")]
    deployment_name: Annotated[str, Doc("The Deployment that serves it.")] = ""
    container_port: Annotated[
        int, Doc("Port of the Service."), INT32, between(1, 65535), Presence.DEFAULTED
    ] = 443
    target_port: Annotated[
        int | str | None, Doc("Port of the pods, by number or name; containerPort without it.")
    ] = None
    rules: Annotated[
        tuple[Annotated[Mapping[str, Any], Embedded("RuleWithOperations")], ...],
        Doc("Requests that it is asked about."),
    ] = ()
    failure_policy: Annotated[str, Doc("Fail or Ignore: what comes of a failed call.")] = ""
    match_policy: Annotated[str, Doc("Exact or Equivalent: how rules match.")] = ""
    object_selector: Annotated[
        Mapping[str, Any] | None, Doc("Objects, by labels."), Embedded("LabelSelector")
    ] = None
    timeout_seconds: Annotated[int | None, Doc("Seconds that a call may take."), INT32] = None
    reinvocation_policy: Annotated[
        str, Doc("Never or IfNeeded: whether it is asked again after others changed an object.")
    ] = ""
    webhook_path: Annotated[str, Doc("Path of the calls.")] = ""
    conversion_crds: Annotated[
        tuple[str, ...],
        Key("conversionCRDs"),
        Doc("CustomResourceDefinitions whose objects it converts."),
    ] = ()
