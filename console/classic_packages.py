"""The packages that OLM Classic can install, as package-server lists them."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from api.objects import labels_of, name_of
from console.kinds import PACKAGE_MANIFEST
from console.users import User
from olm_classic.kinds import SUBSCRIPTION
from olm_runtime.errors import OLMError
from olm_runtime.kube.errors import ForbiddenError

_WORK = "packages of OLM Classic"


@dataclass(frozen=True, slots=True, order=True)
class ClassicPackage:
    """One of them, and the CatalogSource that has it."""

    name: str
    namespace: str
    catalog: str

    @property
    def path(self) -> str:
        """The page that installs it."""
        return f"/classic/packages/{quote(self.namespace, safe='')}/{quote(self.name, safe='')}"


async def classic_packages(user: User) -> Sequence[ClassicPackage]:
    """All of them; none where OLM Classic or package-server is not there. Raises OLMError."""
    for kind in (SUBSCRIPTION, PACKAGE_MANIFEST):
        if not await user.serves(kind):
            return ()
    answer = await user.works.begin(_WORK, lambda: _listed(user))
    if isinstance(answer, OLMError):
        raise answer
    return answer


async def classic_names(user: User) -> frozenset[str]:
    """The names of those that a user can see; who may list none sees none."""
    try:
        return frozenset(each.name for each in await classic_packages(user))
    except ForbiddenError:
        return frozenset()


async def path_to_install(user: User, package: str) -> str:
    """The page that installs a package by OLM Classic; empty where none of its catalogs has it."""
    try:
        found = [each for each in await classic_packages(user) if each.name == package]
    except ForbiddenError:
        return ""
    return found[0].path if found else ""


async def _listed(user: User) -> list[ClassicPackage] | OLMError:
    """By their metadata: what packages say of themselves takes megabytes."""
    # late: it brings the registry API's messages, which a cluster without OLM Classic never needs
    from olm_classic.package_manifests.manifests import CATALOG_LABEL, CATALOG_NAMESPACE_LABEL

    try:
        found, _ = await user.kube.list_all(PACKAGE_MANIFEST, metadata_only=True)
    except OLMError as error:
        return error
    return sorted(
        {
            ClassicPackage(name_of(each), labels[CATALOG_NAMESPACE_LABEL], labels[CATALOG_LABEL])
            for each in found
            if {CATALOG_LABEL, CATALOG_NAMESPACE_LABEL} <= (labels := labels_of(each)).keys()
        }
    )
