"""The user's configuration of one extension: checked against what the bundle supports, parsed.

What `watchNamespace` may be follows from the install modes; `deploymentConfig` is OLM v0's
SubscriptionConfig. Messages are upstream's. All faults are reported at once, and they are terminal:
only the user can change the configuration.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from api.olm.v1.names import ANNOTATION_WATCH_NAMESPACE
from olm_content.bundle.config_check import (
    DEPLOYMENT_CONFIG,
    FAILED,
    Fault,
    deployment_config_faults,
    details,
    group,
    lines,
    missing,
    unknown,
    wrong_type,
)
from olm_content.bundle.model import ClusterServiceVersion, InstallMode
from olm_content.formats.go_text import quote, quote_single
from olm_content.kube_types import go_types
from olm_runtime.errors import TerminalError

REASON = "InvalidConfiguration"
PREFIX = "invalid ClusterExtension configuration: "
WATCH_NAMESPACE = "watchNamespace"
DEPLOYMENT_CONFIG_FIELD = "deploymentConfig"

MAX_NAMESPACE_LENGTH = 63
NAMESPACE_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_NAMESPACE = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"


class ConfigurationError(TerminalError):
    """The configuration does not fit the bundle; only its author can change that."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, reason=REASON, hint=hint)


class BundleConfig(NamedTuple):
    """`watch_namespace` None: the bundle's default; `deployment_config` None: nothing to change."""

    watch_namespace: str | None = None
    deployment_config: dict[str, Any] | None = None


def parse(
    inline: Any,
    csv: ClusterServiceVersion,
    install_namespace: str,
    *,
    annotated_watch_namespace: str | None = None,
    with_deployment_config: bool = True,
) -> BundleConfig:
    """The configuration in `spec.config.inline` for this operator in this namespace.

    `inline` is the JSON value, None when there is none. `annotated_watch_namespace` is the value
    of the extension's watch-namespace annotation: it counts when the field is not set, and both
    set to different values is an error. Without `with_deployment_config` that field is unknown.
    Raises ConfigurationError.
    """
    config = {} if inline is None else inline
    if not isinstance(config, dict):
        raise _refused([wrong_type("", config, "object")])
    config = _with_annotation(config, annotated_watch_namespace)
    known = {DEPLOYMENT_CONFIG_FIELD} if with_deployment_config else set()
    if faults := list(_faults(config, known, csv, install_namespace)):
        raise _refused(faults)
    return BundleConfig(
        watch_namespace=config.get(WATCH_NAMESPACE),
        deployment_config=_deployment_config(config.get(DEPLOYMENT_CONFIG_FIELD)),
    )


def _refused(faults: list[Fault]) -> ConfigurationError:
    """Upstream's sentences; where one of them names no field, the hint does."""
    sentences = list(lines(faults))
    text = (
        sentences[0]
        if len(sentences) == 1
        else "multiple errors found:\n  - " + "\n  - ".join(sentences)
    )
    hint = "\n".join(details(faults)) if FAILED in sentences else ""
    return ConfigurationError(f"{PREFIX}invalid configuration: {text}", hint=hint)


def _with_annotation(config: dict[str, Any], annotated: str | None) -> dict[str, Any]:
    if annotated is None:
        return config
    inline = config.get(WATCH_NAMESPACE)
    if inline is None:
        return {**config, WATCH_NAMESPACE: annotated}
    if inline != annotated:
        raise ConfigurationError(
            f'{PREFIX}{WATCH_NAMESPACE} is "{inline}" in the configuration and "{annotated}" in '
            f"the annotation {ANNOTATION_WATCH_NAMESPACE}",
            hint="keep one of the two; the configuration is the one to keep",
        )
    return config


def _deployment_config(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    try:
        read: dict[str, Any] = go_types.read(DEPLOYMENT_CONFIG, value)
    except go_types.ShapeError as error:
        raise ConfigurationError(
            f"invalid deploymentConfig: failed to unmarshal deploymentConfig: {error.problem}",
            hint=f"{DEPLOYMENT_CONFIG_FIELD}.{error}",
        ) from error
    # An empty selector replaces that of the bundle, so it has to stay.
    return read if value.get("nodeSelector") != {} else {**read, "nodeSelector": {}}


def _faults(
    config: dict[str, Any], known: set[str], csv: ClusterServiceVersion, install_namespace: str
) -> Iterator[Fault]:
    """`known` are the fields that every bundle has."""
    own = csv.supports(InstallMode.OWN_NAMESPACE)
    single = csv.supports(InstallMode.SINGLE_NAMESPACE)
    optional = csv.supports(InstallMode.ALL_NAMESPACES)
    if own or single:
        known = known | {WATCH_NAMESPACE}
        if WATCH_NAMESPACE not in config and not optional:
            yield missing(WATCH_NAMESPACE)
    if DEPLOYMENT_CONFIG_FIELD in known & config.keys():
        yield from deployment_config_faults(
            DEPLOYMENT_CONFIG_FIELD, config[DEPLOYMENT_CONFIG_FIELD]
        )
    if WATCH_NAMESPACE in known & config.keys():
        value = config[WATCH_NAMESPACE]
        found = group(_namespace_faults(value, csv, install_namespace))
        yield from _nor_null(value, found) if optional else found
    yield from map(unknown, sorted(config.keys() - known))


def _nor_null(value: Any, faults: tuple[Fault, ...]) -> Iterator[Fault]:
    """What may also be left out or null, and is neither that nor right."""
    if faults and value is not None:
        causes = (wrong_type(WATCH_NAMESPACE, value, "null"), *faults)
        named = tuple(details(faults))
        yield Fault(f'invalid value for field "{WATCH_NAMESPACE}"', causes, named)


def _namespace_faults(
    value: Any, csv: ClusterServiceVersion, install_namespace: str
) -> Iterator[Fault]:
    if not isinstance(value, str):
        yield wrong_type(WATCH_NAMESPACE, value, "string")
        return
    if install_namespace and (problem := _mode_problem(value, csv, install_namespace)):
        yield Fault(f'invalid format for field "{WATCH_NAMESPACE}": {problem}')
        return
    field = f'field "{WATCH_NAMESPACE}" must'
    if not value:
        yield Fault(f"{field} have minimum length of 1 (len=0)")
    if len(value) > MAX_NAMESPACE_LENGTH:
        yield Fault(f"{field} have maximum length of {MAX_NAMESPACE_LENGTH} (len={len(value)})")
    if not re.fullmatch(_NAMESPACE, value):
        yield Fault(f'{field} match pattern "{NAMESPACE_PATTERN}"')


def _mode_problem(value: str, csv: ClusterServiceVersion, install_namespace: str) -> str:
    own = csv.supports(InstallMode.OWN_NAMESPACE)
    single = csv.supports(InstallMode.SINGLE_NAMESPACE)
    shown, place = quote(value), quote(install_namespace)
    if own and not single and value != install_namespace:
        return (
            f"{quote_single(value)} is not valid ownNamespaceInstallMode: invalid value {shown}: "
            f"must be {place} (the namespace where the operator is installed) because this "
            "operator only supports OwnNamespace install mode"
        )
    if single and not own and value == install_namespace:
        return (
            f"{quote_single(value)} is not valid singleNamespaceInstallMode: invalid value "
            f"{shown}: must be different from {place} (the install namespace) because this "
            "operator uses SingleNamespace install mode to watch a different namespace"
        )
    return ""
