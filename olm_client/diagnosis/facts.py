"""What is read of a cluster for all checks: a value, so that checks are pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from api.objects import GVK, KubeObject, gvk_of, key_of, labels_of, name_of, namespace_of
from api.olm.v1 import names
from api.olm.v1.kinds import CATALOG, EXTENSION, OBJECT_SET

OURS = (EXTENSION, CATALOG, OBJECT_SET)
DEFINITION = GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
API_SERVICE = GVK("apiregistration.k8s.io", "v1", "APIService")
NAMESPACE = GVK("", "v1", "Namespace")
SERVICE = GVK("", "v1", "Service")
SERVICE_ACCOUNT = GVK("", "v1", "ServiceAccount")
SECRET = GVK("", "v1", "Secret")
CONFIG_MAP = GVK("", "v1", "ConfigMap")
POD = GVK("", "v1", "Pod")
DEPLOYMENT = GVK("apps", "v1", "Deployment")
LEASE = GVK("coordination.k8s.io", "v1", "Lease")
BUDGET = GVK("policy", "v1", "PodDisruptionBudget")
ENDPOINT_SLICE = GVK("discovery.k8s.io", "v1", "EndpointSlice")
VALIDATING, MUTATING = (
    GVK("admissionregistration.k8s.io", "v1", f"{what}WebhookConfiguration")
    for what in ("Validating", "Mutating")
)
CLUSTER_ROLE_BINDING = GVK("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding")


class Fact(StrEnum):
    """What checks ask for, by name."""

    EXTENSIONS = "extensions"
    CATALOGS = "catalogs"
    OBJECT_SETS = "revisions"
    DEFINITIONS = "definitions"
    """All CustomResourceDefinitions, without their schemas but for ours."""
    API_SERVICES = "API services"
    NAMESPACES = "namespaces"
    WEBHOOKS = "webhook configurations"
    SERVICES = "services"
    """Those that webhooks, conversions and API services name, with their EndpointSlices."""
    DEPLOYMENTS = "deployments"
    """Of OLM, of extensions, and in the namespaces of `SERVICES`."""
    ACCOUNTS = "service accounts"
    """Those that extensions name."""
    LEASES = "leases"
    """Of OLM's programs, with the pods that hold them."""
    CERTIFICATES = "certificates"
    """Secrets and ConfigMaps that serve or trust; without private keys."""
    OWNED = "objects of extensions"
    """The metadata of everything with the label of an owner."""
    STUCK = "objects that are being deleted"
    """The metadata of what definitions and namespaces wait for that are being deleted."""
    BINDINGS = "role bindings"
    BUDGETS = "disruption budgets"
    ANSWERS = "answers of catalogd"
    REGISTRIES = "answers of registries"
    RIGHTS = "your rights"


@dataclass(frozen=True, slots=True)
class Lack:
    """Why a fact is not known, or not whole; `why` names the permission that is missing."""

    message: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said that was asked: an HTTP status, or `fault`, or both.

    `subject` is the catalog or the registry; `proxied`: asked through the API server.
    """

    subject: str
    address: str
    status: int = 0
    fault: str = ""
    proxied: bool = False
    untrusted: bool = False
    """Whether its certificate is not one that is trusted here."""

    @property
    def answers(self) -> bool:
        """Whether anybody answers at all."""
        return self.status > 0


@dataclass(frozen=True, slots=True)
class Right:
    """A permission of the user: for which commands, and whether it is there."""

    verb: str
    resource: str
    namespace: str
    allowed: bool
    commands: str


_BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The cluster at a moment. `objects` by fact; `lacks`: what is not known, and why.

    `server`, `version`, `user`, `groups`: how the API server was reached, its version, who asked.
    `unreadable`: definitions whose objects the server cannot list, with its message.
    """

    server: str = ""
    version: str = ""
    user: str = ""
    now: datetime = _BEGINNING
    objects: Mapping[Fact, Sequence[KubeObject]] = field(default_factory=dict)
    lacks: Mapping[Fact, Sequence[Lack]] = field(default_factory=dict)
    answers: Sequence[Answer] = ()
    registries: Sequence[Answer] = ()
    rights: Sequence[Right] = ()
    unreadable: Mapping[str, str] = field(default_factory=dict)

    def all(self, fact: Fact, kind: GVK | None = None) -> list[KubeObject]:
        """The objects of a fact, or those of one kind."""
        found = self.objects.get(fact, ())
        return [obj for obj in found if kind is None or gvk_of(obj) == kind]

    def find(self, fact: Fact, kind: GVK, name: str, namespace: str = "") -> KubeObject | None:
        """One object, None if it is not there."""
        of_name = (obj for obj in self.all(fact, kind) if name_of(obj) == name)
        return next((obj for obj in of_name if namespace_of(obj) == namespace), None)

    @property
    def is_installed(self) -> bool:
        """Whether OLM's kinds are there."""
        return any(self.find(Fact.DEFINITIONS, DEFINITION, crd_name(kind)) for kind in OURS)

    def owned_by(self, fact: Fact, kind: str, owner: str) -> list[KubeObject]:
        """The objects of a fact that carry the labels of an owner."""
        wanted = {names.LABEL_OWNER_KIND: kind, names.LABEL_OWNER_NAME: names.label_value(owner)}
        return [obj for obj in self.all(fact) if wanted.items() <= labels_of(obj).items()]


def crd_name(kind: GVK) -> str:
    """The name of the definition of one of our kinds."""
    return f"{kind.kind.lower()}s.{kind.group}"


def unique(objects: Iterable[KubeObject]) -> list[KubeObject]:
    """The objects, each once."""
    return list({key_of(obj): obj for obj in objects}.values())
