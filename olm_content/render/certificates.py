"""How webhooks get serving certificates: a strategy per provider, the same Secret for all.

Every provider puts certificate and key into one Secret per deployment that serves webhooks,
and a CA bundle into whatever calls them. Providers differ in who does it, which objects and
annotations ask for it, and nothing else:

- cert-manager: an Issuer and a Certificate; its CA injector reads an annotation.
- OpenShift service-ca: annotations only.
- self: the Secret without a certificate, and annotations. When a revision is rolled out,
  `operator_controller.certificates` puts certificate and key into the Secret of the Service, and
  its CA into `caBundle` where the other annotation asks for it.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from api.objects import TLS_CERTIFICATE, TLS_PRIVATE_KEY, KubeObject, annotations_of
from api.olm.v1 import names
from olm_content.render.names import object_name
from olm_content.render.options import CertificateProvider

CERT_MANAGER_INJECT = "cert-manager.io/inject-ca-from"
SERVICE_CA_INJECT = "service.beta.openshift.io/inject-cabundle"
SERVICE_CA_SECRET = "service.beta.openshift.io/serving-cert-secret-name"  # noqa: S105 - a name

VALIDITY, RENEW_BEFORE = "17520h0m0s", "24h0m0s"


class Serving(NamedTuple):
    """The names around one deployment that serves webhooks."""

    service: str
    namespace: str

    @property
    def secret(self) -> str:
        """The Secret with certificate and key, also the name of the certificate itself."""
        return object_name(self.service, "cert")

    @property
    def dns_names(self) -> tuple[str, str, str]:
        """The names callers use for the service."""
        short = f"{self.service}.{self.namespace}"
        return short, f"{short}.svc", f"{short}.svc.cluster.local"


def serving_of(deployment_name: str, namespace: str) -> Serving:
    """The names for a deployment; its name may have dots, a service's may not."""
    return Serving(object_name(deployment_name.replace(".", "-"), "service"), namespace)


class Strategy(NamedTuple):
    """What one provider needs on the generated objects, and further objects."""

    caller_annotations: Callable[[Serving], dict[str, str]]
    service_annotations: Callable[[Serving], dict[str, str]]
    additional_objects: Callable[[Serving], list[KubeObject]]


def strategy_of(provider: CertificateProvider) -> Strategy:
    """The strategy of a provider."""
    return _STRATEGIES[provider]


def _nothing(_: Serving) -> dict[str, str]:
    return {}


def _no_objects(_: Serving) -> list[KubeObject]:
    return []


def _qualified_secret(serving: Serving) -> str:
    return f"{serving.namespace}/{serving.secret}"


def _cert_manager_objects(serving: Serving) -> list[KubeObject]:
    issuer = object_name(serving.secret, "selfsigned-issuer")
    spec: dict[str, Any] = {
        "secretName": serving.secret,
        "commonName": serving.dns_names[0],
        "usages": ["server auth"],
        "dnsNames": list(serving.dns_names),
        "issuerRef": {"name": issuer},
        "duration": VALIDITY,
        "renewBefore": RENEW_BEFORE,
    }
    return [
        _cert_manager_object("Issuer", issuer, serving.namespace, {"selfSigned": {}}),
        _cert_manager_object("Certificate", serving.secret, serving.namespace, spec),
    ]


def _cert_manager_object(kind: str, name: str, namespace: str, spec: dict[str, Any]) -> KubeObject:
    return {
        "apiVersion": "cert-manager.io/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def _empty_secret(serving: Serving) -> list[KubeObject]:
    """Part of the content so that it is owned, restored, allowed and removed like all of it."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": serving.secret, "namespace": serving.namespace},
            "type": "kubernetes.io/tls",
            "data": {TLS_CERTIFICATE: "", TLS_PRIVATE_KEY: ""},
        }
    ]


_STRATEGIES = {
    CertificateProvider.CERT_MANAGER: Strategy(
        caller_annotations=lambda serving: {CERT_MANAGER_INJECT: _qualified_secret(serving)},
        service_annotations=_nothing,
        additional_objects=_cert_manager_objects,
    ),
    CertificateProvider.OPENSHIFT_SERVICE_CA: Strategy(
        caller_annotations=lambda _: {SERVICE_CA_INJECT: "true"},
        service_annotations=lambda serving: {SERVICE_CA_SECRET: serving.secret},
        additional_objects=_no_objects,
    ),
    CertificateProvider.SELF: Strategy(
        caller_annotations=lambda serving: {names.ANNOTATION_INJECT_CA: _qualified_secret(serving)},
        service_annotations=lambda serving: {names.ANNOTATION_SERVING_SECRET: serving.secret},
        additional_objects=_empty_secret,
    ),
}

_SIGNS = {
    names.ANNOTATION_INJECT_CA: CertificateProvider.SELF,
    SERVICE_CA_INJECT: CertificateProvider.OPENSHIFT_SERVICE_CA,
    CERT_MANAGER_INJECT: CertificateProvider.CERT_MANAGER,
}
"""By what a caller of webhooks shows whose certificates it trusts.

Ours comes first: authors leave annotations of the others on definitions.
"""
_CALLERS = (
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "CustomResourceDefinition",
)


def provider_in(objects: Iterable[KubeObject]) -> CertificateProvider | None:
    """Who issues the certificates in what was rendered; None where no webhook needs any."""
    callers = sorted(
        (obj for obj in objects if obj["kind"] in _CALLERS and _calls(obj)),
        key=lambda obj: _CALLERS.index(obj["kind"]),
    )
    shown = (annotations_of(caller).keys() for caller in callers)
    return next(
        (provider for notes in shown for sign, provider in _SIGNS.items() if sign in notes), None
    )


def _calls(obj: KubeObject) -> bool:
    if obj["kind"] != "CustomResourceDefinition":
        return True
    return (obj["spec"].get("conversion") or {}).get("strategy") == "Webhook"
