"""ClusterCatalog: an image with a file-based catalog, to be served in the cluster."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.conditions import UNOBSERVED, Conditions, ObservedGeneration
from api.metadata import ObjectMeta
from api.olm.v1 import image_rules as ref
from api.olm.v1 import names
from api.schema import (
    INT32,
    Doc,
    Presence,
    Rule,
    between,
    max_length,
    union_member,
)

LOWEST_PRIORITY, HIGHEST_PRIORITY = -(2**31), 2**31 - 1


class SourceType(StrEnum):
    """Where a catalog comes from."""

    IMAGE = "Image"


class AvailabilityMode(StrEnum):
    """Whether a catalog takes part."""

    UNAVAILABLE = "Unavailable"
    AVAILABLE = "Available"


class ImageSource(Struct, frozen=True, kw_only=True):
    """The image that holds the catalog."""

    ref: Annotated[
        str,
        Doc(
            """
            Reference of the image: registry, repository, and a tag or a digest, for example
            quay.io/operatorhubio/catalog:latest. A tag can move (see pollIntervalMinutes), a
            digest always names the same content.
            """
        ),
        max_length(1000),
        ref.DOMAIN,
        ref.NAME,
        ref.DIGEST_OR_TAG,
        ref.TAG_LENGTH,
        ref.TAG,
        ref.DIGEST_ALGORITHM,
        ref.DIGEST_LENGTH,
        ref.DIGEST_HEX,
    ]
    poll_interval_minutes: Annotated[
        int | None,
        Doc(
            """
            Minutes between two looks at the registry for new content of the tag. Without it the
            registry is asked once. A digest cannot be polled.
            """
        ),
        between(1),
    ] = None


class CatalogSource(Struct, frozen=True, kw_only=True):
    """Where the catalog comes from."""

    type: Annotated[SourceType, Doc("Kind of source. Image, the only one, needs the field image.")]
    image: Annotated[
        ImageSource,
        Doc("The image that holds the catalog."),
        Rule(
            f"!has(self.pollIntervalMinutes) || !({ref.has_digest('self.ref')})",
            "cannot specify pollIntervalMinutes while using digest-based image",
        ),
        Presence.NOT_REQUIRED,
    ]


class ClusterCatalogSpec(Struct, frozen=True, kw_only=True):
    """Which catalog is served, and how it ranks."""

    source: Annotated[
        CatalogSource,
        Doc("Where the catalog comes from."),
        union_member("image", of="type", when="Image", called="source type"),
    ]
    priority: Annotated[
        int,
        Doc(
            """
            Rank among catalogs that offer the same package: the highest number is taken. Two
            catalogs of the same rank are ambiguous, which an extension reports and does not guess.
            """
        ),
        INT32,
        between(LOWEST_PRIORITY, HIGHEST_PRIORITY),
        Presence.DEFAULTED,
    ] = 0
    availability_mode: Annotated[
        AvailabilityMode,
        Doc(
            """
            Available: the content is fetched and served.

            Unavailable: as if the catalog were not there. Its content is removed, what is
            installed from it stays.
            """
        ),
        Presence.DEFAULTED,
    ] = AvailabilityMode.AVAILABLE


class ResolvedImage(Struct, frozen=True, kw_only=True):
    """The image that was unpacked."""

    ref: Annotated[
        str,
        Doc("Reference by digest of the image that was unpacked."),
        max_length(1000),
        ref.DOMAIN,
        ref.NAME,
        ref.DIGEST,
        ref.DIGEST_ALGORITHM,
        ref.DIGEST_LENGTH,
        ref.DIGEST_HEX,
    ]


class ResolvedSource(Struct, frozen=True, kw_only=True):
    """What the source stood for when it was unpacked."""

    type: Annotated[SourceType, Doc("Kind of source.")]
    image: Annotated[ResolvedImage, Doc("The image that was unpacked.")]


class CatalogURLs(Struct, frozen=True, kw_only=True):
    """Where the content is served."""

    base: Annotated[
        str,
        Doc(
            """
            Address inside the cluster. Append /api/v1/all for the whole catalog as JSON lines, or
            /api/v1/metas with the parameters schema, package and name for a part of it.
            """
        ),
        max_length(525),
        Rule("isURL(self)", "must be a valid URL"),
        Rule(
            "!isURL(self) || url(self).getScheme() in ['http', 'https']",
            "scheme must be either http or https",
        ),
    ]


class ClusterCatalogStatus(Struct, frozen=True, kw_only=True):
    """What was fetched and is served."""

    conditions: Annotated[
        Conditions,
        Doc(
            """
            Serving: whether the content can be asked for. It stays True with the old content
            while new content is fetched. False with reason UserSpecifiedUnavailable when
            spec.availabilityMode says so.

            Progressing: True with reason Succeeded when the content is up to date, with Retrying
            after an error that may pass. False with reason Blocked when only a person can help.

            Refreshed: the answer to the annotation olm.operatorframework.io/refresh-requested-at,
            which asks for a look at the registry at once. True with reason Updated or Unchanged,
            False while the registry could not be asked.
            """
        ),
    ] = ()
    observed_generation: ObservedGeneration = UNOBSERVED
    resolved_source: Annotated[
        ResolvedSource | None,
        Doc("The source of what is served, by digest."),
    ] = None
    urls: Annotated[CatalogURLs | None, Doc("Where the content is served.")] = None
    last_unpacked: Annotated[
        datetime | None, Doc("When the content that is served was unpacked.")
    ] = None


class ClusterCatalog(Struct, frozen=True, kw_only=True):
    """A catalog of packages, fetched as an image and served to the cluster.

    ClusterExtensions are installed from it. Each one gets the label
    olm.operatorframework.io/metadata.name with its own name, for selectors.
    """

    metadata: ObjectMeta
    spec: Annotated[ClusterCatalogSpec, Doc("Which catalog is served, and how it ranks.")]
    status: Annotated[
        ClusterCatalogStatus, Doc("What was fetched, and where it is served."), Presence.DEFAULTED
    ] = field(default_factory=ClusterCatalogStatus)

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.API_VERSION)
