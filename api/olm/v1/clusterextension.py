"""ClusterExtension: a package from a catalog, to be installed and kept up to date."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.conditions import UNOBSERVED, Conditions, ObservedGeneration
from api.metadata import LabelSelector, ObjectMeta
from api.olm.v1 import names
from api.olm.v1.common import LABEL, SUBDOMAIN, subdomain
from api.olm.v1.install_options import InstallOptions
from api.olm.v1.versions import BUNDLE_RELEASE, BUNDLE_VERSION, VERSION_RANGE
from api.schema import (
    ANY_FIELDS,
    ATOMIC_MAP,
    INT32,
    Doc,
    Presence,
    Rule,
    between,
    immutable,
    list_map,
    matches,
    max_items,
    max_length,
    min_length,
    min_properties,
    union_member,
)


class SourceType(StrEnum):
    """Where content comes from."""

    CATALOG = "Catalog"


class UpgradeConstraintPolicy(StrEnum):
    """Whose word counts when choosing the next version."""

    CATALOG_PROVIDED = "CatalogProvided"
    SELF_CERTIFIED = "SelfCertified"


class ConfigType(StrEnum):
    """Where the configuration of a bundle stands."""

    INLINE = "Inline"


class ServiceAccountReference(Struct, frozen=True, kw_only=True):
    """The identity with which an extension is managed."""

    name: Annotated[
        str,
        Doc(
            """
            Name of a ServiceAccount in the namespace given by spec.namespace. It may be removed
            later, but not changed to another one.
            """
        ),
        min_length(1),
        max_length(253),
        immutable("name is immutable once set but may be cleared"),
        subdomain("name"),
    ] = ""


class CatalogFilter(Struct, frozen=True, kw_only=True):
    """Which bundles of which catalogs may be installed."""

    package_name: Annotated[
        str,
        Doc("Name of the package to install, as the catalog has it. It cannot be changed."),
        max_length(253),
        immutable("packageName is immutable"),
        subdomain("packageName"),
    ]
    version: Annotated[
        str,
        Doc(
            """
            Version, or range of versions, that may be installed. The highest one that the other
            fields allow is taken; newer ones in the range are installed as they are published.
            Without it every version may be taken.

            "1.4.2" pins one version. ">=1.4 <2" joins conditions with AND (a comma does the same),
            "<1.4 || >=1.6" with OR. "1.4.x", "~1.4.2" (patches) and "^1.4.2" (up to the next
            major version) are short forms. Ranges with a hyphen are not known here.
            """
        ),
        max_length(64),
        matches(VERSION_RANGE, "invalid version expression"),
    ] = ""
    channels: Annotated[
        tuple[
            Annotated[
                str,
                max_length(253),
                matches(SUBDOMAIN, "channels entries must be valid DNS1123 subdomains"),
            ],
            ...,
        ],
        Doc(
            """
            Channels of the package to take bundles from; a bundle in any one of them will do.
            Without it every channel counts. Together with version both must allow a bundle.
            """
        ),
        max_items(256),
    ] = ()
    selector: Annotated[
        LabelSelector,
        Doc(
            """
            Labels of the ClusterCatalogs to look into; without it, all of them. To name one
            catalog use the label olm.operatorframework.io/metadata.name, which each one has.
            """
        ),
        ATOMIC_MAP,
    ] = field(default_factory=LabelSelector)
    upgrade_constraint_policy: Annotated[
        UpgradeConstraintPolicy,
        Doc(
            """
            CatalogProvided: update only along the edges (replaces, skips, skipRange) that the
            author of the package published.

            SelfCertified: go to any version that the other fields allow, also to a lower one.
            Nobody has tested that step: data may be lost.
            """
        ),
        Presence.DEFAULTED,
    ] = UpgradeConstraintPolicy.CATALOG_PROVIDED


class Source(Struct, frozen=True, kw_only=True):
    """Where the content of an extension comes from."""

    source_type: Annotated[
        SourceType, Doc("Kind of source. Catalog, the only one, needs the field catalog.")
    ]
    catalog: Annotated[
        CatalogFilter,
        Doc("Which bundle to take from the ClusterCatalogs of the cluster."),
        Presence.NOT_REQUIRED,
    ]


class Config(Struct, frozen=True, kw_only=True):
    """Configuration of the bundle."""

    config_type: Annotated[
        ConfigType, Doc("Where the configuration stands. Inline, the only one: in this object.")
    ]
    inline: Annotated[
        Mapping[str, Any],
        Doc(
            """
            The configuration. The bundle says which keys there are; a bundle in the registry+v1
            format knows watchNamespace and deploymentConfig. What it does not know is refused in
            the condition Progressing, with reason InvalidConfiguration.
            """
        ),
        min_properties(1),
        ANY_FIELDS,
        Presence.NOT_REQUIRED,
    ]


class ClusterExtensionSpec(Struct, frozen=True, kw_only=True):
    """What shall be installed, where, and by whom."""

    namespace: Annotated[
        str,
        Doc(
            """
            Namespace for the objects of the extension that say no other, and for the
            ServiceAccount. It must exist: it is never created. It cannot be changed.
            """
        ),
        max_length(63),
        immutable("namespace is immutable"),
        matches(LABEL, "namespace must be a valid DNS1123 label"),
    ]
    source: Annotated[
        Source,
        Doc("Where the content comes from."),
        union_member("catalog", of="sourceType", when="Catalog"),
    ]
    service_account: Annotated[
        ServiceAccountReference | None,
        Doc(
            """
            Identity with which everything for this extension is read, created, updated and
            removed. It needs the permissions for that; what it lacks is listed in the condition
            Progressing before anything is written.

            Without it nothing is installed, unless the administrator allowed operator-controller
            to act with its own identity.
            """
        ),
        min_properties(1),
    ] = None
    install: Annotated[
        InstallOptions | None,
        Doc("How the content is installed."),
        Rule(
            "has(self.preflight)",
            "at least one of [preflight] are required when install is specified",
        ),
    ] = None
    config: Annotated[
        Config | None,
        Doc("Configuration of the bundle; without it the bundle's own defaults apply."),
        union_member("inline", of="configType", when="Inline"),
    ] = None
    progress_deadline_minutes: Annotated[
        int | None,
        Doc(
            """
            Minutes after which a version that still does not become available is reported as
            failed (Progressing is False with reason ProgressDeadlineExceeded). Without it there
            is no end to waiting.
            """
        ),
        INT32,
        between(10, 720),
    ] = None

    @property
    def service_account_name(self) -> str:
        """Name of the service account, empty when none is given."""
        return self.service_account.name if self.service_account else ""

    @property
    def crd_upgrade_safety_enforced(self) -> bool:
        """Whether updates of CRDs are checked: yes, unless switched off."""
        return not self.install or self.install.preflight.crd_upgrade_safety.enforced


class BundleMetadata(Struct, frozen=True, kw_only=True):
    """What identifies a bundle."""

    name: Annotated[
        str,
        Doc("Name of the bundle, as the catalog has it."),
        subdomain("packageName"),  # sic: the published message says packageName here
    ]
    version: Annotated[
        str,
        Doc("Version of the bundle (semver.org)."),
        matches(BUNDLE_VERSION, "version must be well-formed semver"),
    ]
    release: Annotated[
        str | None,
        Doc(
            """
            Distinguishes bundles of the same version that were published one after the other;
            a higher one is preferred. Absent when the bundle has none.
            """
        ),
        max_length(20),
        matches(
            BUNDLE_RELEASE,
            "release must be empty or consist of dot-separated identifiers"
            " (numeric without leading zeros, or alphanumeric)",
        ),
    ] = None


class InstallStatus(Struct, frozen=True, kw_only=True):
    """What is installed."""

    bundle: Annotated[BundleMetadata, Doc("The installed bundle.")]


class RevisionStatus(Struct, frozen=True, kw_only=True):
    """One revision that is installed or being rolled out."""

    name: Annotated[str, Doc("Name of the ClusterObjectSet.")]
    conditions: Annotated[
        Conditions,
        Doc("Progressing and Available of a revision that has not been rolled out so far."),
    ] = ()


class ClusterExtensionStatus(Struct, frozen=True, kw_only=True):
    """What was found and done."""

    conditions: Annotated[
        Conditions,
        Doc(
            """
            Installed: whether a bundle is installed; it stays True while an update fails.

            Progressing: True with reason Succeeded in steady state, with RollingOut during an
            update and with Retrying after an error that may pass. False when only a person can
            help; the message says with what. Unknown with reason Suspended while the annotation
            olm.operatorframework.io/suspend is set: nothing is written then.

            Available: whether the objects of the installed bundle work.

            Deprecated, and in particular PackageDeprecated, ChannelDeprecated and
            BundleDeprecated: whether the author advises against what is installed or asked for.
            Unknown when no catalog could be asked.
            """
        ),
    ] = ()
    observed_generation: ObservedGeneration = UNOBSERVED
    install: Annotated[InstallStatus | None, Doc("What is installed.")] = None
    active_revisions: Annotated[
        tuple[RevisionStatus, ...],
        Doc("ClusterObjectSets of this extension that are installed or being rolled out."),
        list_map("name"),
    ] = ()


class ClusterExtension(Struct, frozen=True, kw_only=True):
    """A package that is installed from a catalog and kept up to date.

    Say in spec.source which package, channel and versions are wanted, and in spec.namespace and
    spec.serviceAccount where and with which rights it is installed. The conditions Installed and
    Progressing report the result.
    """

    metadata: Annotated[ObjectMeta, Presence.NOT_REQUIRED]
    spec: Annotated[
        ClusterExtensionSpec,
        Doc("What shall be installed, where, and with which rights."),
        Presence.NOT_REQUIRED,
    ]
    status: Annotated[
        ClusterExtensionStatus, Doc("What is installed, and what is going on."), Presence.DEFAULTED
    ] = field(default_factory=ClusterExtensionStatus)

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.API_VERSION)
