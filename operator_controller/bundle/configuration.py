"""The user's configuration of one extension: checked against what the bundle supports, parsed.

What `watchNamespace` may be follows from the install modes; `deploymentConfig` is OLM v0's
SubscriptionConfig. Messages are upstream's. All faults are told at once, and they are terminal:
only the user can change the configuration.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from api.v1.names import ANNOTATION_WATCH_NAMESPACE
from olm_shared.errors import TerminalError
from operator_controller.bundle import go_types
from operator_controller.bundle.config_check import (
    DEPLOYMENT_CONFIG,
    deployment_config_faults,
    missing,
    unknown,
    wrong_type,
)
from operator_controller.bundle.model import ClusterServiceVersion, InstallMode

REASON = "InvalidConfiguration"
WATCH_NAMESPACE = "watchNamespace"
DEPLOYMENT_CONFIG_FIELD = "deploymentConfig"

MAX_NAMESPACE_LENGTH = 63
NAMESPACE_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


class ConfigurationError(TerminalError):
    """The configuration does not fit the bundle; only its author can change that."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(
            f"invalid ClusterExtension configuration: {message}", reason=REASON, hint=hint
        )


@dataclass(frozen=True, slots=True)
class BundleConfig:
    """`watch_namespace` None: the bundle's default; `deployment_config` None: nothing to change."""

    watch_namespace: str | None = None
    deployment_config: dict[str, Any] | None = None


def parse(
    inline: Any,
    csv: ClusterServiceVersion,
    install_namespace: str,
    *,
    annotated_watch_namespace: str | None = None,
) -> BundleConfig:
    """The configuration in `spec.config.inline` for this operator in this namespace.

    `inline` is the JSON value, None when there is none. `annotated_watch_namespace` is the value
    of the extension's watch-namespace annotation: it counts when the field is not set, and both
    set to different values is an error. Raises ConfigurationError.
    """
    config = {} if inline is None else inline
    if not isinstance(config, dict):
        raise ConfigurationError("invalid configuration: input is not a valid JSON object")
    config = _with_annotation(config, annotated_watch_namespace)
    faults = list(_faults(config, csv, install_namespace))
    if faults:
        lines = "".join(f"\n  - {fault}" for fault in faults)
        told = faults[0] if len(faults) == 1 else f"multiple errors found:{lines}"
        raise ConfigurationError(f"invalid configuration: {told}")
    return BundleConfig(
        watch_namespace=config.get(WATCH_NAMESPACE),
        deployment_config=_deployment_config(config.get(DEPLOYMENT_CONFIG_FIELD)),
    )


def _with_annotation(config: dict[str, Any], annotated: str | None) -> dict[str, Any]:
    if annotated is None:
        return config
    inline = config.get(WATCH_NAMESPACE)
    if inline is None:
        return {**config, WATCH_NAMESPACE: annotated}
    if inline != annotated:
        raise ConfigurationError(
            f'{WATCH_NAMESPACE} is "{inline}" in the configuration and "{annotated}" in the '
            f"annotation {ANNOTATION_WATCH_NAMESPACE}",
            hint="keep one of the two; the configuration is the one to keep",
        )
    return config


def _deployment_config(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    try:
        read: dict[str, Any] = go_types.read(DEPLOYMENT_CONFIG, value)
    except go_types.ShapeError as error:
        raise ConfigurationError(f"invalid deploymentConfig: {error}") from error
    return read


def _faults(
    config: dict[str, Any], csv: ClusterServiceVersion, install_namespace: str
) -> Iterator[str]:
    own = csv.supports(InstallMode.OWN_NAMESPACE)
    single = csv.supports(InstallMode.SINGLE_NAMESPACE)
    known = {DEPLOYMENT_CONFIG_FIELD}
    if own or single:
        known.add(WATCH_NAMESPACE)
        if config.get(WATCH_NAMESPACE) is not None:
            yield from _namespace_faults(config[WATCH_NAMESPACE], csv, install_namespace)
        elif not csv.supports(InstallMode.ALL_NAMESPACES):
            yield missing(WATCH_NAMESPACE)
    deployment_config = config.get(DEPLOYMENT_CONFIG_FIELD)
    yield from deployment_config_faults(DEPLOYMENT_CONFIG_FIELD, deployment_config)
    yield from map(unknown, sorted(set(config) - known))


def _namespace_faults(
    value: Any, csv: ClusterServiceVersion, install_namespace: str
) -> Iterator[str]:
    if not isinstance(value, str):
        yield wrong_type(WATCH_NAMESPACE, value, "string")
        return
    field = f'field "{WATCH_NAMESPACE}"'
    if not value:
        yield f"{field} must have minimum length of 1 (len=0)"
    if len(value) > MAX_NAMESPACE_LENGTH:
        yield f"{field} must have maximum length of {MAX_NAMESPACE_LENGTH} (len={len(value)})"
    if not _NAMESPACE.fullmatch(value):
        yield f'{field} must match pattern "{NAMESPACE_PATTERN}"'
    if install_namespace:
        yield from _mode_faults(value, csv, install_namespace)


def _mode_faults(value: str, csv: ClusterServiceVersion, install_namespace: str) -> Iterator[str]:
    own = csv.supports(InstallMode.OWN_NAMESPACE)
    single = csv.supports(InstallMode.SINGLE_NAMESPACE)
    if own and not single and value != install_namespace:
        yield (
            f"{_bad_format('ownNamespaceInstallMode', value)}must be "
            f'"{install_namespace}" (the namespace where the operator is installed) because this '
            "operator only supports OwnNamespace install mode"
        )
    if single and not own and value == install_namespace:
        yield (
            f"{_bad_format('singleNamespaceInstallMode', value)}must be different from "
            f'"{install_namespace}" (the install namespace) because this operator uses '
            "SingleNamespace install mode to watch a different namespace"
        )


def _bad_format(name: str, value: str) -> str:
    return (
        f"invalid format for field \"{WATCH_NAMESPACE}\": '{value}' is not valid {name}: "
        f'invalid value "{value}": '
    )
