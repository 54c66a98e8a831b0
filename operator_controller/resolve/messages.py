"""The texts of errors, upstream's word for word: users and tools search for them."""

from collections.abc import Iterable

from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter
from olm_content.formats.go_text import listed, quote
from operator_controller.resolve.request import Request


def invalid_range(version: str, fault: str) -> str:
    """The range cannot be parsed."""
    return f"desired version range {quote(version)} is invalid: {fault}"


def invalid_selector(fault: str) -> str:
    """The selector of catalogs is invalid."""
    return f"desired catalog selector is invalid: {fault}"


def unreadable_installed(installed: BundleMetadata, fault: str) -> str:
    """The version of the installed bundle cannot be parsed, so nothing is known to follow it."""
    failed = (
        "failed to get version and release of installed bundle"
        if installed.release is None
        else "failed to parse installed bundle version and release"
    )
    return f"error walking catalogs: error finding upgrade edges: {failed}: {fault}"


def unavailable(package: str, catalog: str, fault: str) -> str:
    """A catalog whose content is needed is not known."""
    return (
        f"error walking catalogs: error getting package {quote(package)} "
        f"from catalog {quote(catalog)}: {fault}"
    )


def not_one(request: Request, catalogs: Iterable[str]) -> str:
    """No bundle, or several of equal rank: `catalogs` have the bundles that are left."""
    found = sorted(catalogs)
    installed = request.installed
    parts = [
        f"error upgrading from currently installed version {quote(installed.version)}:"
        if installed
        else "",
        "found bundles" if len(found) > 1 else "no bundles found",
        *_constraints(request.desired),
        f"in multiple catalogs with the same priority {listed(found)}" if len(found) > 1 else "",
    ]
    return " ".join(filter(None, parts))


def _constraints(desired: CatalogFilter) -> tuple[str, str, str]:
    return (
        f"for package {quote(desired.package_name)}",
        f"matching version {quote(desired.version)}" if desired.version else "",
        f"in channels {listed(desired.channels)}" if desired.channels else "",
    )


def unreadable_version(bundle: str, fault: str) -> str:
    """The bundle that would be chosen has no version that can be read."""
    return f"error getting resolved bundle version for bundle {quote(bundle)}: {fault}"


def unsupported_dependency(bundle: str, kind: str) -> str:
    """The bundle that would be chosen asks for other content."""
    return (
        f"validating bundle {quote(bundle)}: bundle {quote(bundle)} has a dependency declared "
        f"via property {quote(kind)} which is currently not supported"
    )
