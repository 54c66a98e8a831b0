"""The types of Kubernetes' objects that bundles contain, made of Kubernetes' OpenAPI.

The models of the package `kubernetes` are that OpenAPI. It does not say all that Go's decoder does;
the tables below add what is missing, by the names of fields, or of structs and fields.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

from kubernetes.client import models

TARGET = Path(__file__).parents[1] / "olm_content" / "kube_types" / "kubernetes_types.py"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


ROOTS = ("V1DeploymentSpec", "V1CustomResourceDefinition", "V1PolicyRule", "V1RuleWithOperations")
"""All types that these refer to are written."""

INT64 = _names(
    """activeDeadlineSeconds deletionGracePeriodSeconds expirationSeconds fsGroup generation
    maxItems maxLength maxProperties minItems minLength minProperties runAsGroup runAsUser seconds
    supplementalGroups terminationGracePeriodSeconds tolerationSeconds"""
)
"""Integers of 64 bits; others have 32."""

QUANTITIES = _names("divisor limits overhead requests sizeLimit")
"""Texts that are quantities."""

VALUES = _names(
    """CustomResourceColumnDefinition.priority CustomResourceDefinition.status
    DeploymentSpec.strategy PodTemplateSpec.spec acceptedNames caBundle
    chapAuthDiscovery chapAuthSession creationTimestamp deprecated exclusiveMaximum
    exclusiveMinimum failureThreshold generation hostIPC hostNetwork hostPID hostPort
    initialDelaySeconds lastTransitionTime metadata minReadySeconds nullable partition paused
    periodSeconds preserveUnknownFields readOnly resources sslEnabled stdin stdinOnce
    successThreshold timeoutSeconds tty uniqueItems x-kubernetes-embedded-resource
    x-kubernetes-int-or-string"""
)
"""Optional fields that are no pointers, though they are no texts: empty is as good as absent."""

POINTERS = _names(
    """$ref AzureDiskVolumeSource.fsType AzureDiskVolumeSource.kind AzureDiskVolumeSource.readOnly
    CSIVolumeSource.fsType CSIVolumeSource.readOnly ClusterTrustBundleProjection.name
    ClusterTrustBundleProjection.signerName Container.restartPolicy DeploymentSpec.selector
    EphemeralContainer.restartPolicy HostPathVolumeSource.type PodDNSConfigOption.value
    PodSpec.resources RuleWithOperations.scope ScaleIOVolumeSource.secretRef ServiceReference.path
    TypedObjectReference.namespace ValidationRule.reason WebhookClientConfig.url apiGroup
    cachingMode default deprecationWarning example fieldsV1 fsGroupChangePolicy gmsaCredentialSpec
    gmsaCredentialSpecName hostnameOverride initiatorName labelSelectorPath localhostProfile
    maxSurge maxUnavailable mountPropagation nodeAffinityPolicy nodeTaintsPolicy podGroupName
    preemptionPolicy procMount recursiveReadOnly resourceClaimName resourceClaimTemplateName
    runAsUserName runtimeClassName seLinuxChangePolicy service sizeLimit stopSignal
    storageClassName supplementalGroupsPolicy volumeAttributesClassName volumeMode
    x-kubernetes-list-type x-kubernetes-map-type"""
)
"""Fields that are pointers, though they are texts or required: empty and absent differ."""

WRITTEN = _names(
    "acceptedNames GRPCAction.service acceptedNames apiGroup conditions sources storedVersions"
)
"""Optional fields that are written when they are empty."""

OMITTED = _names(
    """ContainerRestartRuleOnExitCodes.operator PodCertificateProjection.signerName
    action keyType"""
)
"""Required fields that are not written when they are empty."""

EXACT = {
    "CustomResourceSubresources.status": "*CustomResourceSubresourceStatus",
    "HTTPGetAction.port": "!intstr",
    "JSONSchemaProps.items": "*schema|list",
    "TCPSocketAction.port": "!intstr",
    "additionalItems": "*schema|bool",
    "additionalProperties": "*schema|bool",
    "dependencies": "{}schema|strings",
    "maxSurge": "*intstr",
    "maxUnavailable": "*intstr",
}
"""What has alternatives, or no fields, is an object to OpenAPI."""

LATER = _names(
    """EmptyDirVolumeSource.mode GRPCAction.mode HTTPGetAction.protocol bindMountOptions defaultUser
    evictionResponders observedGeneration KeyToPath.user DownwardAPIVolumeFile.user
    ClusterTrustBundleProjection.user PodCertificateProjection.user
    ServiceAccountTokenProjection.user"""
)
"""Newer than what upstream's programs are built with: Go's decoder drops them."""

_SCALARS = {
    "str": "str",
    "bool": "bool",
    "int": "int32",
    "float": "float",
    "bytes": "bytes",
    "datetime": "time",
    "object": "any",
}
_CONTAINERS = (
    (re.compile(r"List\[(.*)\]"), "[]"),
    (re.compile(r"Dict\[str, (.*)\]"), "{}"),
)
_GROUP_AND_VERSION = re.compile(r"^[A-Za-z]*?V1(?=[A-Z])")

Struct = dict[str, str]
"""Notations by the names of fields."""


def type_files() -> dict[Path, str]:
    """The generated module by its path."""
    before = _read(TARGET.read_text(encoding="utf-8")) if TARGET.is_file() else {}
    structs = sorted(_structs().items())
    lines = [_line(name, fields, before.get(name, ())) for name, fields in structs]
    return {TARGET: f'{_HEADER}{"".join(lines)}"""\n'}


_HEADER = '''"""Types of Kubernetes. Generated from its OpenAPI by `make generate`. Do not edit.

In the notation of `go_types`. Fields stand in the order of Go's structs, which OpenAPI does not
know: the order in this file stays as it is, and new fields come last.
"""

KUBERNETES_TYPES = """
'''


def _structs() -> dict[str, Struct]:
    found: dict[str, Struct] = {}
    pending = list(ROOTS)
    while pending:
        name = pending.pop()
        model = getattr(models, name)
        struct = _struct_name(name)
        if struct in found:
            continue
        found[struct] = {}
        kinds, infos = model.openapi_types.items(), model.model_fields.values()
        for (attribute, kind), info in zip(kinds, infos, strict=True):
            field = model.attribute_map[attribute]
            if not {field, f"{struct}.{field}"} & LATER:
                required = info.is_required()
                found[struct][field] = _notation(struct, field, kind, required=required)
                pending += re.findall(r"\b[A-Za-z]*V1[A-Z]\w*", kind)
    return found


def _struct_name(model: str) -> str:
    return _GROUP_AND_VERSION.sub("", model)


def _notation(struct: str, field: str, kind: str, *, required: bool) -> str:
    names = {field, f"{struct}.{field}"}
    for name in names & EXACT.keys():
        return EXACT[name]
    shown = _type(field, kind)
    scalar = shown in ("str", "any", "quantity")
    by_default = not required and not scalar and not shown.startswith(("[]", "{}"))
    pointer = "*" if names & POINTERS or (by_default and not names & VALUES) else ""
    written = "!" if names & WRITTEN or (required and not names & OMITTED) else ""
    return f"{written}{pointer}{shown}"


def _type(field: str, kind: str) -> str:
    for container, mark in _CONTAINERS:
        if found := container.fullmatch(kind):
            return mark + _type(field, found[1])
    if kind == "int" and field in INT64:
        return "int"
    if kind == "str" and field in QUANTITIES:
        return "quantity"
    return _SCALARS.get(kind) or _struct_name(kind)


def _read(module: str) -> dict[str, tuple[str, ...]]:
    """The names of the fields of each struct in the module, in their order."""
    _, _, table = module.partition(_HEADER.splitlines()[-1])
    lines = re.sub(r"\n +", " ", table).splitlines()
    return {
        name: tuple(entry.partition("=")[0] for entry in fields.split())
        for name, _, fields in (line.partition(":") for line in lines)
    }


def _line(name: str, fields: Struct, order: Sequence[str]) -> str:
    known = [field for field in order if field in fields]
    entries = [f"{field}={fields[field]}" for field in dict.fromkeys([*known, *sorted(fields)])]
    text = " ".join([f"{name}:", *entries])
    return fill(text, 100, subsequent_indent="    ", break_on_hyphens=False) + "\n"
