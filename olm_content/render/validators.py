"""The checks a bundle passes before anything is generated from it.

Each takes the bundle and yields its faults, sorted where upstream's order is random. All run;
the texts are upstream's, so that what people find when they search for them fits.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from api.objects import name_of
from olm_content.bundle.model import InstallMode, RegistryV1, WebhookType
from olm_content.formats.go_text import quote
from olm_content.render.kinds import SUPPORTED_KINDS
from olm_content.render.options import go_list

Validator = Callable[[RegistryV1], Iterator[str]]

MAX_SUBDOMAIN_LENGTH = 253
SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_SUBDOMAIN = re.compile(SUBDOMAIN)

FORBIDDEN_GROUPS = ("olm.operatorframework.io", "*")
REGISTRATION_GROUP = "admissionregistration.k8s.io"
FORBIDDEN_REGISTRATIONS = (
    "*",
    "mutatingwebhookconfiguration",
    "mutatingwebhookconfigurations",
    "validatingwebhookconfiguration",
    "validatingwebhookconfigurations",
)


def validate(bundle: RegistryV1) -> list[str]:
    """Every fault of the bundle, in the order of VALIDATORS."""
    return [fault for validator in VALIDATORS for fault in validator(bundle)]


def duplicate_deployments(bundle: RegistryV1) -> Iterator[str]:
    """Deployments of one bundle have different names."""
    for name in _repeated(deployment.name for deployment in bundle.csv.deployments):
        yield f"cluster service version contains duplicate strategy deployment spec '{name}'"


def bad_deployment_names(bundle: RegistryV1) -> Iterator[str]:
    """Names of deployments are names that the API server takes."""
    for name in sorted({deployment.name for deployment in bundle.csv.deployments}):
        if problems := _subdomain_problems(name):
            yield (
                f"invalid cluster service version strategy deployment name '{name}': "
                f"{', '.join(problems)}"
            )


def duplicate_crds(bundle: RegistryV1) -> Iterator[str]:
    """A definition comes once."""
    for name in _repeated(map(name_of, bundle.crds)):
        yield f"bundle contains duplicate custom resource definition '{name}'"


def missing_owned_crds(bundle: RegistryV1) -> Iterator[str]:
    """What the operator says it owns is in the bundle."""
    for name in sorted(set(bundle.csv.owned_crds) - {name_of(crd) for crd in bundle.crds}):
        yield (
            "cluster service definition references owned custom resource definition "
            f"'{name}' not found in bundle"
        )


def empty_package_name(bundle: RegistryV1) -> Iterator[str]:
    """A bundle belongs to a package."""
    if not bundle.package_name:
        yield "package name is empty"


def conversion_needs_all_namespaces(bundle: RegistryV1) -> Iterator[str]:
    """Definitions are cluster-wide, so an operator that converts them has to be too."""
    modes = bundle.csv.install_modes
    if modes == {InstallMode.ALL_NAMESPACES.value}:
        return
    for webhook in bundle.csv.webhooks_of(WebhookType.CONVERSION):
        yield (
            f"bundle contains conversion webhook {quote(webhook.generate_name)} and supports "
            f"install modes {go_list(sorted(modes))} - conversion webhooks are only supported for "
            "bundles that only support AllNamespaces install mode"
        )


def webhooks_without_deployment(bundle: RegistryV1) -> Iterator[str]:
    """Somebody serves every webhook."""
    served_by = {deployment.name for deployment in bundle.csv.deployments}
    lost = [hook for hook in bundle.csv.webhooks if hook.deployment_name not in served_by]
    for hook in sorted(
        lost, key=lambda hook: (hook.deployment_name, hook.type, hook.generate_name)
    ):
        yield (
            f"webhook of type '{hook.type}' with name '{hook.generate_name}' references "
            f"non-existent deployment '{hook.deployment_name}'"
        )


def duplicate_webhooks(bundle: RegistryV1) -> Iterator[str]:
    """Webhooks of one type have different names."""
    counted = Counter((hook.type, hook.generate_name) for hook in bundle.csv.webhooks)
    for (kind, name), count in sorted(counted.items()):
        if count > 1:
            yield f"duplicate webhook '{name}' of type '{kind}'"


def bad_webhook_names(bundle: RegistryV1) -> Iterator[str]:
    """Names of webhooks are names that the API server takes."""
    for kind, name in sorted({(hook.type, hook.generate_name) for hook in bundle.csv.webhooks}):
        if problems := _subdomain_problems(name):
            yield f"webhook of type '{kind}' has invalid name '{name}': {','.join(problems)}"


def shared_conversions(bundle: RegistryV1) -> Iterator[str]:
    """One webhook converts a definition."""
    by_crd: dict[str, list[str]] = {}
    for hook in bundle.csv.webhooks_of(WebhookType.CONVERSION):
        for crd in hook.conversion_crds:
            by_crd.setdefault(crd, []).append(hook.generate_name)
    for crd, names in sorted(by_crd.items()):
        if len(names) > 1:
            yield (
                f"conversion webhooks [{','.join(sorted(names))}] reference same custom resource "
                f"definition '{crd}'"
            )


def conversions_of_foreign_crds(bundle: RegistryV1) -> Iterator[str]:
    """An operator converts only what it owns."""
    owned = set(bundle.csv.owned_crds)
    hooks = bundle.csv.webhooks_of(WebhookType.CONVERSION)
    for hook in sorted(hooks, key=lambda hook: hook.generate_name):
        for crd in sorted(hook.conversion_crds):
            if crd not in owned:
                yield (
                    f"conversion webhook '{hook.generate_name}' references custom resource "
                    f"definition '{crd}' not owned bundle"
                )


def forbidden_webhook_rules(bundle: RegistryV1) -> Iterator[str]:
    """No webhook stands between OLM and its own objects, or in front of other webhooks."""
    for hook in bundle.csv.webhooks:
        if hook.type == WebhookType.CONVERSION.value:
            continue
        for rule in hook.rules:
            prefix = (
                f"webhook {quote(hook.generate_name)} contains forbidden rule: admission webhook "
                "rules cannot reference"
            )
            for group in rule.get("apiGroups") or []:
                if group in FORBIDDEN_GROUPS:
                    yield f'{prefix} API group "{group}"'
                if group == REGISTRATION_GROUP:
                    for resource in _forbidden_registrations(rule):
                        yield f'{prefix} resource {quote(resource)} for API group "{group}"'


def _forbidden_registrations(rule: dict[str, Any]) -> list[str]:
    resources = rule.get("resources") or []
    return [resource for resource in resources if resource.lower() in FORBIDDEN_REGISTRATIONS]


def unsupported_kinds(bundle: RegistryV1) -> Iterator[str]:
    """Only kinds that bundles may bring; anything else would be installed unchecked."""
    for obj in bundle.others:
        if obj["kind"] not in SUPPORTED_KINDS:
            yield f"unsupported resource {quote(name_of(obj))} with kind {quote(obj['kind'])}"


VALIDATORS: tuple[Validator, ...] = (
    duplicate_deployments,
    bad_deployment_names,
    duplicate_crds,
    missing_owned_crds,
    empty_package_name,
    conversion_needs_all_namespaces,
    webhooks_without_deployment,
    duplicate_webhooks,
    bad_webhook_names,
    shared_conversions,
    conversions_of_foreign_crds,
    forbidden_webhook_rules,
    unsupported_kinds,
)


def _repeated(names: Iterator[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _subdomain_problems(name: str) -> list[str]:
    """What Kubernetes says about a text that should be a DNS subdomain (RFC 1123)."""
    problems = []
    if len(name) > MAX_SUBDOMAIN_LENGTH:
        problems.append(f"must be no more than {MAX_SUBDOMAIN_LENGTH} characters")
    if not _SUBDOMAIN.fullmatch(name):
        problems.append(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
            "'-' or '.', and must start and end with an alphanumeric character (e.g. "
            f"'example.com', regex used for validation is '{SUBDOMAIN}')"
        )
    return problems
