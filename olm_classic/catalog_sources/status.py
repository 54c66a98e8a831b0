"""The status of a CatalogSource. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api import wire
from api.conditions import Conditions, merge_conditions
from api.operators.v1alpha1.catalogsource import (
    CatalogSource,
    CatalogSourceStatus,
    ConfigMapReference,
    ConnectionState,
    RegistryService,
)
from olm_classic.catalog_sources import templates
from olm_classic.catalog_sources.labels import PORT, service_name
from olm_classic.catalog_sources.templates import Resolved
from olm_classic.catalog_sources.validation import Reason, is_address


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong. `passing` is worth another try without anything having changed."""

    reason: Reason
    message: str
    passing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a reconcile found out about a catalog.

    image       of the template, if there is one
    problem     what is wrong; only the first of them is shown
    config_map  that is served
    created     when the server was made; None while there is none
    connection  to the server; None while there is none
    last_poll   when the image was last looked at
    """

    image: Resolved | None = None
    problem: Problem | None = None
    config_map: ConfigMapReference | None = None
    created: datetime | None = None
    connection: ConnectionState | None = None
    last_poll: datetime | None = None


def status_of(source: CatalogSource, found: Findings, now: datetime) -> Mapping[str, Any]:
    """The status, as JSON."""
    status = CatalogSourceStatus(
        reason=found.problem.reason if found.problem else "",
        message=found.problem.message if found.problem else "",
        config_map_reference=found.config_map,
        registry_service=_service(source, found.created) if found.created else None,
        connection_state=found.connection,
        latest_image_registry_poll=found.last_poll,
        conditions=_conditions(source, found.image, now),
    )
    return wire.write(status)


def _service(source: CatalogSource, created: datetime) -> RegistryService:
    if is_address(source.spec):
        return RegistryService(protocol="grpc", created_at=created)
    return RegistryService(
        protocol="grpc",
        service_name=service_name(source.metadata.name),
        service_namespace=source.metadata.namespace,
        port=str(PORT),
        created_at=created,
    )


def _conditions(source: CatalogSource, image: Resolved | None, now: datetime) -> Conditions:
    """Those of the template, and what anybody else has set."""
    old = source.status.conditions
    if image is None:
        return tuple(each for each in old if each.type not in templates.CONDITIONS)
    return merge_conditions(old, templates.conditions(image), now)
