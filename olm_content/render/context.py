"""What every generator is given: the bundle and the options, questions already answered."""

from typing import Any, NamedTuple

from olm_content.bundle.model import RegistryV1, Webhook
from olm_content.render.certificates import Serving, Strategy, serving_of
from olm_content.render.options import ALL_NAMESPACES


class Context(NamedTuple):
    """A bundle, checked, and what it is rendered for."""

    bundle: RegistryV1
    install_namespace: str
    target_namespaces: tuple[str, ...]
    certificates: Strategy | None
    deployment_config: dict[str, Any]

    @property
    def watches_all(self) -> bool:
        """Whether the operator watches every namespace."""
        return self.target_namespaces == (ALL_NAMESPACES,)

    def serving(self, webhook: Webhook) -> Serving:
        """The names around the deployment that serves a webhook."""
        return serving_of(webhook.deployment_name, self.install_namespace)

    def caller_annotations(self, serving: Serving) -> dict[str, str]:
        """What makes the certificate provider put its CA into a caller of the service."""
        return self.certificates.caller_annotations(serving) if self.certificates else {}
