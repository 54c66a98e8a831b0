"""An install that `olm` is asked about: the bundle, the place, the account and its least rights."""

from dataclasses import dataclass
from functools import cached_property

from api.objects import KubeObject
from api.olm.v1 import names
from olm_client.bundle_files import loaded
from olm_client.bundle_rendering import DEFAULT_PROVIDER, rendered
from olm_client.catalogs.offered import Catalogs, Options, read_catalogs
from olm_client.inline_config import read_config
from olm_client.rbac.source import Source, is_bundle, read_bundle_of, read_from_catalogs
from olm_content.bundle.model import RegistryV1
from olm_content.names import ANNOTATION_SUGGESTED_NAMESPACE
from olm_content.render.kinds import placed
from olm_content.rights import Account, Needed, guessed_kinds, least, needs_of

_SUFFIX = "-installer"


@dataclass(frozen=True)
class Asked:
    """The command line; what it refers to is read when it is needed, catalogs once."""

    target: str | None
    options: Options

    @cached_property
    def package(self) -> str | None:
        """The package that is asked about, None for bundles."""
        return None if self.target is None or is_bundle(self.target) else self.target

    @cached_property
    def catalogs(self) -> Catalogs | None:
        """Where versions are looked for."""
        return read_catalogs(self.package, self.options) if self.package else None

    def source(self, which: str) -> Source:
        """A version of the package; without a package, a bundle."""
        if self.catalogs is None:
            return read_bundle_of(which, self.options)
        return read_from_catalogs(self.catalogs, which, self.options)

    def main(self) -> Source:
        """What the account is for."""
        return self.source(self.options["versions"] if self.package else str(self.target))

    @property
    def provider(self) -> str:
        """Who issues certificates."""
        found = self.catalogs.provider if self.catalogs else None
        chosen: str = self.options["certificate_provider"] or (found or DEFAULT_PROVIDER).value
        return chosen


@dataclass(frozen=True, slots=True)
class Install:
    """How a bundle is to be installed: by which extension, as which account."""

    extension: str
    account: Account
    asked: Asked

    @classmethod
    def of(cls, asked: Asked, source: Source, account: str = "") -> "Install":
        """Names that are not asked for are the bundle's, or follow from the package's."""
        options, bundle = asked.options, bundle_of(source)
        extension = options["extension"] or bundle.package_name
        suggested = bundle.csv.annotations.get(ANNOTATION_SUGGESTED_NAMESPACE)
        namespace = options["install_namespace"] or suggested or bundle.package_name
        name = account or options["service_account"] or _default_account(extension)
        return cls(extension, Account(namespace, name), asked)

    def objects(self, source: Source) -> list[KubeObject]:
        """What installing creates."""
        options = self.asked.options
        objects = rendered(
            files=source.files,
            install_namespace=self.account.namespace,
            watch_namespace=options["watch_namespace"] or "",
            provider=self.asked.provider,
            config=read_config(options["config_file"]),
        )
        return [placed(obj) for obj in objects]

    def needed(self, source: Source) -> Needed:
        """The least that installing needs."""
        objects = self.objects(source)
        return least(needs_of(objects, guessed_kinds(objects), self.extension))

    def title(self, source: Source) -> str:
        """What is installed, and how, in a line."""
        origin = f" from catalog {source.catalog}" if source.catalog else ""
        return (
            f"{bundle_of(source).csv.name}{origin}: ClusterExtension {self.extension}, "
            f"namespace {self.account.namespace}, service account {self.account.name}"
        )


def _default_account(extension: str) -> str:
    return names.shortened(extension, names.MAX_NAME - len(_SUFFIX)) + _SUFFIX


def bundle_of(source: Source) -> RegistryV1:
    """The bundle of a source, parsed once. Raises BundleError."""
    return loaded(tuple(source.files.items()))
