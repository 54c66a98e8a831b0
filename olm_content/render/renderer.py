"""A bundle to the objects to apply: check everything, then generate everything."""

from collections.abc import Callable, Iterator

from api.objects import KubeObject
from olm_content.bundle.model import RegistryV1
from olm_content.render import rbac, webhooks
from olm_content.render.additional import additional_objects
from olm_content.render.certificates import strategy_of
from olm_content.render.context import Context
from olm_content.render.deployments import deployments
from olm_content.render.options import RenderError, RenderOptions, target_namespaces
from olm_content.render.validators import validate

Generator = Callable[[Context], Iterator[KubeObject]]

GENERATORS: tuple[Generator, ...] = (
    rbac.service_accounts,
    rbac.namespaced_permissions,
    rbac.cluster_permissions,
    webhooks.crds,
    additional_objects,
    deployments,
    webhooks.validating_webhooks,
    webhooks.mutating_webhooks,
    webhooks.services,
    webhooks.certificates,
)


def render(bundle: RegistryV1, options: RenderOptions) -> list[KubeObject]:
    """The objects of a bundle, in the order of GENERATORS; same input, same output.

    They share parts with the bundle: read-only by agreement. Raises RenderError with every
    fault of the bundle, one a line, or with the first fault of the options.
    """
    if faults := validate(bundle):
        raise RenderError("\n".join(faults))
    provider = options.certificate_provider
    context = Context(
        bundle=bundle,
        install_namespace=options.install_namespace,
        target_namespaces=target_namespaces(bundle.csv, options),
        certificates=strategy_of(provider) if provider else None,
        deployment_config=options.deployment_config or {},
    )
    return [obj for generator in GENERATORS for obj in generator(context)]
