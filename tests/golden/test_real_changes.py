"""Suggested changes over every package of the real catalog: each gives the bundle that it names."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter
from olm_content.fbc.documents import parse
from olm_content.fbc.model import Package
from operator_controller.catalog import build_package
from operator_controller.resolve import CatalogContent, Findings, Request, ResolutionError, resolve
from operator_controller.resolve.change import Change, NoChange, named
from operator_controller.resolve.change_search import find_change, find_change_to

pytestmark = pytest.mark.corpus


def packages(corpus: Path) -> Iterator[Package]:
    for folder in sorted((corpus / "catalog").iterdir()):
        for file in folder.glob("catalog.*"):
            blobs = [orjson.loads(b.raw) for b in parse(file.read_bytes(), path=file.name)]
            package = build_package(folder.name, blobs)
            assert package
            yield package


def requests(package: Package) -> Iterator[Request]:
    """From nothing, and from old, middle and newest bundles, satisfiable or not."""
    readable = sorted((b for b in package.bundles if b.version), key=lambda b: b.version.key)  # type: ignore[union-attr]
    spread = {readable[0].name, readable[len(readable) // 2].name, readable[-1].name}
    installed = [None] + [
        BundleMetadata(name=b.name, version=str(b.version)) for b in readable if b.name in spread
    ]
    for version in ("", "9999.x", "<0.0.1", ">>"):
        for channels in ((), ("no-such-channel",), (package.default_channel,)):
            desired = CatalogFilter(package_name=package.name, version=version, channels=channels)
            yield from (Request(desired, bundle) for bundle in installed)


def outcome(request: Request, world: list[CatalogContent]) -> tuple[str, Findings]:
    try:
        found = resolve(request, world)
    except ResolutionError as error:
        return "", error.findings
    return found.bundle, found.findings


def test_what_is_advised_resolves_for_all_packages(corpus: Path) -> None:
    advised = 0
    for package in packages(corpus):
        world = [CatalogContent(name="real", labels=named("real"), package=package)]
        for request in requests(package):
            bundle, findings = outcome(request, world)
            reasons = Counter(cause.bundle for cause in findings.causes)
            if findings.causes:
                assert reasons == Counter(b.name for b in package.bundles)
            if bundle:
                continue
            advice = find_change(request, world)
            if advice is NoChange.NOT_INSTALLABLE:
                assert all(b.dependencies or b.version is None for b in package.bundles)
                continue
            assert isinstance(advice, Change), (package.name, request, advice)
            got, _ = outcome(request._replace(desired=advice.after), world)
            assert got == advice.bundle
            advised += 1
    assert advised > 500


def test_every_bundle_of_every_package_can_be_had(corpus: Path) -> None:
    """Where it has no unsupported dependency: a change is reported for it, and comes to it."""
    for package in packages(corpus):
        world = [CatalogContent(name="real", labels=named("real"), package=package)]
        newest = max(b.version.key for b in package.bundles if b.version)
        (head,) = [b for b in package.bundles if b.version and b.version.key == newest][:1]
        held = BundleMetadata(name=head.name, version=str(head.version))
        request = Request(CatalogFilter(package_name=package.name), held)
        for bundle in package.bundles:
            change = find_change_to(request, world, catalog="real", bundle=bundle.name)
            if bundle.dependencies or bundle.version is None:
                assert change is None
                continue
            assert change, (package.name, bundle.name)
            assert outcome(request._replace(desired=change.after), world)[0] == bundle.name
