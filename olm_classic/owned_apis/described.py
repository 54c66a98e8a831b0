"""What a ClusterServiceVersion says that its Deployments serve.

Names are upstream's (notes, section 12), but for Deployments with dots in their names: a Service
cannot be called so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, name_of, namespace_of

DEFAULT_PORT = 443
CONVERSION = "ConversionWebhook"
VALIDATING, MUTATING = "ValidatingAdmissionWebhook", "MutatingAdmissionWebhook"

Description = Mapping[str, Any]
"""Of an API service or webhook, as the ClusterServiceVersion has it."""


@dataclass(frozen=True, slots=True)
class Serving:
    """A Deployment with all that it serves."""

    namespace: str
    deployment: str
    api_services: Sequence[Description] = ()
    webhooks: Sequence[Description] = ()

    @property
    def service(self) -> str:
        """The name of its Service."""
        return service_of(self.deployment)

    @property
    def secret(self) -> str:
        """The name of the Secret with its certificate."""
        return f"{self.service}-cert"

    @property
    def dns_names(self) -> tuple[str, ...]:
        """How it is called."""
        inside = f"{self.service}.{self.namespace}"
        return (inside, f"{inside}.svc", f"{inside}.svc.cluster.local")

    @property
    def conversions(self) -> Iterator[Description]:
        """The webhooks that convert between versions of definitions."""
        return (each for each in self.webhooks if each["type"] == CONVERSION)

    @property
    def admissions(self) -> Iterator[Description]:
        """The others, which may refuse and change objects."""
        return (each for each in self.webhooks if each["type"] != CONVERSION)

    @property
    def ports(self) -> list[dict[str, Any]]:
        """The ports of its Service: one a container port, by number."""
        found = {}
        for each in (*self.api_services, *self.webhooks):
            port = port_of(each)
            target = each.get("targetPort") or port
            found[port] = {"name": str(port), "port": port, "targetPort": target}
        return [found[port] for port in sorted(found)]


def service_of(deployment: str) -> str:
    """The name of the Service of a Deployment."""
    return f"{deployment.replace('.', '-')}-service"


def port_of(description: Description) -> int:
    """Where an API service or webhook is served."""
    return int(description.get("containerPort") or DEFAULT_PORT)


def api_service_name(description: Description) -> str:
    """The name of an APIService."""
    return f"{description['version']}.{description['group']}"


def servings(csv: KubeObject) -> list[Serving]:
    """The Deployments that serve something, by name; none for a webhook without Deployment."""
    spec = csv["spec"]
    owned = (spec.get("apiservicedefinitions") or {}).get("owned") or ()
    webhooks = spec.get("webhookdefinitions") or ()
    names = {each.get("deploymentName") for each in (*owned, *webhooks)}
    return [
        Serving(namespace_of(csv), name, _of(name, owned), _of(name, webhooks))
        for name in sorted(filter(None, names))
    ]


def _of(deployment: str, descriptions: Iterable[Description]) -> list[Description]:
    return [each for each in descriptions if each.get("deploymentName") == deployment]


def conversion_problem(csv: KubeObject) -> str:
    """Why its conversion webhooks cannot be used; empty if they can."""
    converting = [each for serving in servings(csv) for each in serving.conversions]
    if not converting:
        return ""
    modes = {each["type"] for each in csv["spec"].get("installModes") or () if each["supported"]}
    if modes != {"AllNamespaces"}:
        return (
            "unable to manage conversion webhook: CSVs with conversion webhooks must support only "
            "AllNamespaces"
        )
    described = csv["spec"].get("customresourcedefinitions") or {}
    owned = {each["name"] for each in described.get("owned") or ()}
    for each in converting:
        names = each.get("conversionCRDs") or ()
        if not names:
            return f"conversion webhook {each['generateName']} must name at least one CRD"
        for name in names:
            if name not in owned:
                return f"csv {name_of(csv)} does not own CRD {name}"
    return ""


def converted(csv: KubeObject) -> dict[str, tuple[Serving, Description]]:
    """The definitions that its webhooks convert, by name."""
    return {
        name: (serving, each)
        for serving in servings(csv)
        for each in serving.conversions
        for name in each.get("conversionCRDs") or ()
    }
