"""Which bundle an extension should have: what catalogs offer, else a pinned revision. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from api.objects import KubeObject, labels_of
from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter
from olm_content.fbc.model import Deprecation
from olm_content.selectors import selects
from operator_controller.apply.history import pinned
from operator_controller.apply.revisions import BundleIdentity, Revision, Revisions
from operator_controller.resolve import (
    CatalogContent,
    Note,
    Request,
    Resolution,
    ResolutionError,
    resolve,
)


class Choice(NamedTuple):
    """A bundle, what its catalog says of going away (None if it is from none), and remarks.

    `catalog` is empty for a bundle of a pinned revision.
    """

    bundle: BundleIdentity
    deprecations: tuple[Deprecation, ...] | None = None
    notes: tuple[Note, ...] = ()
    catalog: str = ""


def choose(
    wanted: CatalogFilter,
    history: Revisions,
    catalogs: Sequence[KubeObject],
    contents: Sequence[CatalogContent],
) -> Choice:
    """Raises ResolutionError with an explanation.

    Without any catalog it is the bundle that is installed; without one that has the very version
    that the spec names, the one of a retained revision.
    """
    installed, retained = history.installed, pinned(wanted, history)
    request = Request(wanted, installed_of(installed))
    try:
        found = resolve(request, contents)
    except ResolutionError as error:
        if retained is not None:
            return Choice(retained)
        selected = any(selects(wanted.selector, labels_of(raw)) for raw in catalogs)
        unmet = installed and wanted.version not in ("", installed.bundle.version)
        if installed is None or selected or unmet:
            # Here, for it is a tenth of the resolver, and mostly there is a bundle.
            from operator_controller.resolve.change_text import explained

            raise explained(error, request, contents) from error
        return Choice(installed.bundle)
    # A range does not tell builds of one version apart, a retained revision does.
    other_build = retained is not None and retained.version != str(found.version)
    return Choice(
        bundle=retained if retained is not None and other_build else _identity(found),
        deprecations=found.deprecations,
        notes=found.findings.notes,
        catalog="" if other_build else found.catalog,
    )


def installed_of(revision: Revision | None) -> BundleMetadata | None:
    """What a revision holds, as requests for what may follow it say."""
    if revision is None:
        return None
    bundle = revision.bundle
    return BundleMetadata(name=bundle.name, version=bundle.version, release=bundle.release)


def _identity(found: Resolution) -> BundleIdentity:
    version = found.version
    return BundleIdentity(
        name=found.bundle,
        version=str(version),
        package=found.package,
        image=found.image,
        release=None if version.embedded else ".".join(version.release),
    )
