"""What is wished of a cluster: a release, a channel, optional parts, and what is left alone."""

from enum import StrEnum
from typing import Annotated

from msgspec import Struct

from api.openshift.config.v1.releases import Architecture
from api.schema import (
    ATOMIC_LIST,
    Doc,
    Key,
    Rule,
    list_map,
    max_items,
    max_length,
    min_items,
    min_length,
)

MAX_ACCEPTED_RISKS = 1000
MAX_STORES = 32


class Capability(StrEnum):
    """An optional part of a cluster."""

    SAMPLES = "openshift-samples"
    BAREMETAL = "baremetal"
    MARKETPLACE = "marketplace"
    CONSOLE = "Console"
    INSIGHTS = "Insights"
    STORAGE = "Storage"
    CSI_SNAPSHOT = "CSISnapshot"
    NODE_TUNING = "NodeTuning"
    MACHINE_API = "MachineAPI"
    BUILD = "Build"
    DEPLOYMENT_CONFIG = "DeploymentConfig"
    IMAGE_REGISTRY = "ImageRegistry"
    OLM = "OperatorLifecycleManager"
    CLOUD_CREDENTIAL = "CloudCredential"
    INGRESS = "Ingress"
    CLOUD_CONTROLLER_MANAGER = "CloudControllerManager"
    OLM_V1 = "OperatorLifecycleManagerV1"
    CLUSTER_API = "ClusterAPI"
    COMPATIBILITY_REQUIREMENTS = "CompatibilityRequirements"


class CapabilitySet(StrEnum):
    """The optional parts that clusters of a version had when it came out."""

    NONE = "None"
    V4_11 = "v4.11"
    V4_12 = "v4.12"
    V4_13 = "v4.13"
    V4_14 = "v4.14"
    V4_15 = "v4.15"
    V4_16 = "v4.16"
    V4_17 = "v4.17"
    V4_18 = "v4.18"
    CURRENT = "vCurrent"


class UpdateMode(StrEnum):
    """How far an update goes."""

    PREFLIGHT = "Preflight"


class AcceptedRisk(Struct, frozen=True, kw_only=True):
    """A known issue in spite of which an update is wished."""

    name: Annotated[str, Doc("Name of the risk."), min_length(1), max_length(256)]


class DesiredUpdate(Struct, frozen=True, kw_only=True):
    """The release that is wished, by version or by image."""

    version: Annotated[
        str,
        Doc("Version to go to; without an image it must be an available update."),
    ] = ""
    image: Annotated[str, Doc("Release image to go to, whatever its version is.")] = ""
    architecture: Annotated[
        Architecture | None,
        Doc("Multi leads to the image of several architectures of the current version."),
    ] = None
    force: Annotated[
        bool,
        Doc(
            "Go on though the image cannot be verified, or something speaks against the update."
            " The image runs with all rights: be sure of where it comes from."
        ),
    ] = False
    accept_risks: Annotated[
        tuple[AcceptedRisk, ...],
        Doc("Known issues in spite of which the update is wished."),
        list_map("name"),
        min_items(1),
        max_items(MAX_ACCEPTED_RISKS),
    ] = ()
    mode: Annotated[
        UpdateMode | None, Doc("Preflight: find out what speaks against it, and go no further.")
    ] = None


class CapabilitiesSpec(Struct, frozen=True, kw_only=True):
    """Which optional parts are wished. None that is enabled can be taken away again."""

    baseline_capability_set: Annotated[
        CapabilitySet | None, Doc("Set to begin with; vCurrent where it is not given.")
    ] = None
    additional_enabled_capabilities: Annotated[
        tuple[Capability, ...], Doc("Parts beside those of the set."), ATOMIC_LIST
    ] = ()


class ConfigMapName(Struct, frozen=True, kw_only=True):
    """A ConfigMap of namespace openshift-config."""

    name: Annotated[str, Doc("Name of the ConfigMap.")]


class SignatureStore(Struct, frozen=True, kw_only=True):
    """Where signatures of releases are looked for."""

    url: Annotated[
        str, Doc("Address of the store."), Rule("isURL(self)", "url must be a valid absolute URL")
    ]
    ca: Annotated[
        ConfigMapName | None,
        Doc("ConfigMap of openshift-config whose key ca.crt holds the certificates to trust."),
    ] = None


class ComponentOverride(Struct, frozen=True, kw_only=True):
    """An object of the release that is left alone."""

    kind: Annotated[str, Doc("Kind of the object.")]
    group: Annotated[str, Doc("API group of the object; empty for the core group.")]
    namespace: Annotated[str, Doc("Namespace of the object; empty if it has none.")]
    name: Annotated[str, Doc("Name of the object.")]
    unmanaged: Annotated[bool, Doc("Whether the object is left alone.")]


class ClusterVersionSpec(Struct, frozen=True, kw_only=True):
    """What is wished of the cluster."""

    cluster_id: Annotated[
        str, Key("clusterID"), Doc("What the cluster is known by: a random UUID (RFC 4122).")
    ]
    desired_update: Annotated[
        DesiredUpdate | None,
        Doc(
            """
            Release to go to; without it the cluster stays at the one that it has.

            An image goes before a version. By version alone, the release is looked up among the
            available updates.
            """
        ),
        Rule(
            "!has(self.architecture) || !has(self.image)"
            " || self.architecture == '' || self.image == ''",
            "cannot set both Architecture and Image",
        ),
        Rule(
            "!has(self.architecture) || self.architecture == ''"
            " || (has(self.version) && self.version != '')",
            "Version must be set if Architecture is set",
        ),
    ] = None
    upstream: Annotated[
        str, Doc("Address of the update service; a built-in one where it is not given.")
    ] = ""
    channel: Annotated[str, Doc("Channel whose updates are looked at; without it none are.")] = ""
    capabilities: Annotated[CapabilitiesSpec | None, Doc("Which optional parts are wished.")] = None
    signature_stores: Annotated[
        tuple[SignatureStore, ...],
        Doc("Stores that are asked for signatures, in place of the built-in ones."),
        list_map("url"),
        max_items(MAX_STORES),
    ] = ()
    overrides: Annotated[
        tuple[ComponentOverride, ...],
        Doc(
            "Objects of the release that are left alone. They keep the cluster at its minor"
            " version."
        ),
        list_map("kind", "group", "namespace", "name"),
    ] = ()
