"""What installing a package writes: found first, then checked against what is there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api import wire
from api.objects import KubeObject, name_of
from api.olm.v1.clusterextension import ClusterExtension
from api.olm.v1.kinds import EXTENSION
from api.wire import InvalidObjectError
from olm_client.catalogs.bundle_source import read_offered
from olm_client.catalogs.choice import Form, chosen
from olm_client.catalogs.offered import Catalogs
from olm_client.lifecycle.applying import check_acceptable
from olm_client.lifecycle.changes import value_text
from olm_client.lifecycle.given_fields import spec_fields_of
from olm_client.lifecycle.overview import installed_bundle
from olm_client.lifecycle.spec_fields import differences, new_extension
from olm_client.rbac.install import Asked, Install
from olm_client.rbac.source import Source, is_bundle, resolved
from olm_content.rights import Document, as_rules, installer
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be written, in this order; the extension comes last."""

    title: str
    bundle: str
    version: str
    catalog: str
    documents: Sequence[Document]

    @property
    def objects(self) -> list[KubeObject]:
        """All of it."""
        return [document.obj for document in self.documents]

    @property
    def extension(self) -> KubeObject:
        """The ClusterExtension."""
        return self.documents[-1].obj

    @property
    def name(self) -> str:
        """Its name."""
        return name_of(self.extension)


def is_elsewhere(given: Mapping[str, Any]) -> bool:
    """Whether --catalog means a folder or an image, and not a ClusterCatalog."""
    return given["catalog"] is not None and chosen(given["catalog"]).form is not Form.CLUSTER


def order_of(package: str, given: Mapping[str, Any]) -> Order:
    """Raises OLMError where nothing can be installed, saying what could be."""
    if is_bundle(package):
        raise TerminalError(
            f"{package} is no package's name",
            hint="bundles are installed from catalogs: olm search WORDS finds packages",
        )
    elsewhere = is_elsewhere(given)
    fields = spec_fields_of({**given, "catalog": None} if elsewhere else given)
    catalogs = (given["catalog"],) if given["catalog"] else ()
    name = given["extension"] or package
    asked = Asked(package, {**given, "extension": name, "catalogs": catalogs})
    desired = _read(new_extension(package, name, "default", "default", fields)).spec.source.catalog
    found = resolved(desired, asked.catalogs or Catalogs(package, ()), asked.options)
    source = Source(read_offered(found.image, found.catalog, asked.options), found.catalog)
    install = Install.of(asked, source)
    account = install.account
    documents = [] if given["no_account"] else installer(account, as_rules(install.needed(source)))
    own = new_extension(package, name, account.namespace, account.name, fields)
    return Order(
        title=install.title(source),
        bundle=found.bundle,
        version=str(found.version),
        catalog=found.catalog,
        documents=[*documents, Document(own)],
    )


def _read(raw: KubeObject) -> ClusterExtension:
    try:
        return ClusterExtension.from_object(raw)
    except InvalidObjectError as error:
        raise TerminalError(str(error)) from error


async def to_write(kube: KubeClient, order: Order) -> list[KubeObject]:
    """The objects that are not there as they should be. Raises TerminalError if they cannot be."""
    live = await kube.find(EXTENSION, order.name)
    if live is None:
        await check_acceptable(kube, order.extension)
        return order.objects
    if _read(live).spec != _read(order.extension).spec:
        raise TerminalError(
            f"ClusterExtension {order.name} is there already, and asks for something else:\n"
            + "\n".join(_differences(live, order.extension)),
            hint=f"see what a change would do: olm plan {order.name} --version ...; "
            "another --extension installs beside it",
        )
    # Its account may need rights for what is installed too; the roles here are for one version.
    return [live] if installed_bundle(live) else order.objects


def _differences(live: KubeObject, desired: KubeObject) -> Iterator[str]:
    """With the fields that have a default as if they were set."""
    old, new = (wire.write(_read(raw).spec) for raw in (live, desired))
    for path, before, after in differences(old, new, "spec"):
        yield f"  {path}: {value_text(before)} -> {value_text(after)}"
