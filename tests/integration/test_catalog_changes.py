"""New content reaches exactly the extensions whose package changed, as the metrics count."""

import time
from collections import Counter
from collections.abc import Iterator

import pytest

from e2e.harness.images import catalog_image
from e2e.harness.metrics import summed
from e2e.harness.ports import free_port
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import PublishedBundle, catalog_files, package_blobs
from e2e.olm.manifests import catalog, installer, namespace
from e2e.olm.programs import Olm
from tests.integration.clusters import own_control_plane, own_olm
from tests.integration.scraping import Scraper, account, may_read_metrics

pytestmark = pytest.mark.integration

EXTENSIONS = 20
CHANGED = 3
HOME = "everyone"
QUIET_SECONDS = 3.0


control_plane = own_control_plane()
olm = own_olm()


class Reconciles:
    """How often each extension was reconciled: each time it is refused is counted."""

    def __init__(self, scraper: Scraper, token: str) -> None:
        self._scraper = scraper
        self._token = token

    def counted(self) -> Counter[str]:
        text = self._scraper.scrape(self._token).raise_for_status().text
        name, reason = "operator_controller_extension_errors_total", "InvalidConfiguration"
        return summed(text, name, "extension", reason=reason)

    def at_rest(self) -> Counter[str]:
        """The counts once they stay."""
        before, since = self.counted(), time.monotonic()
        while time.monotonic() - since < QUIET_SECONDS:
            time.sleep(0.2)
            now = self.counted()
            if now != before:
                before, since = now, time.monotonic()
        return before


@pytest.fixture
def reconciles(olm: Olm) -> Iterator[Reconciles]:
    scraper = Scraper(olm, free_port("127.0.0.1"))
    olm.stop_operator_controller()
    olm.start_operator_controller(*scraper.flags)
    with account(olm) as token, may_read_metrics(olm):
        yield Reconciles(scraper, token)


def name_of(number: int) -> str:
    return f"pkg-{number:03}"


def extension(package: str) -> str:
    """One that is resolved and pulled, and then refused for its configuration: at rest, cheaply."""
    return f"""
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {{name: {package}}}
spec:
  namespace: {HOME}
  serviceAccount: {{name: installer}}
  config: {{configType: Inline, inline: {{nobody: knows}}}}
  source: {{sourceType: Catalog, catalog: {{packageName: {package}}}}}
"""


def publish(registry: Registry, image: str, changed: int) -> str:
    """A catalog of all packages, of which the first `changed` have another version."""
    packages = []
    for number in range(EXTENSIONS):
        version = "1.1.0" if number < changed else "1.0.0"
        package = name_of(number)
        bundle = PublishedBundle(package, f"{package}.v{version}", version, image)
        packages.append(package_blobs([bundle]))
    pushed = registry.push(catalog_image(catalog_files(packages)), "many", tag=f"t{changed}")
    return pushed.tag_reference


def test_of_many_extensions_those_are_reconciled_whose_package_changed(
    olm: Olm, reconciles: Reconciles, registry: Registry
) -> None:
    image = BundleSpec(package="all", version="1.0.0").publish(registry).image
    olm.control_plane.apply(namespace(HOME) + "---" + installer(HOME))
    olm.control_plane.apply(catalog("many", publish(registry, image, 0)))
    with Api(olm.control_plane) as api:
        api.wait_condition(catalog_path("many"), "Serving", "True")
        olm.control_plane.apply("---".join(map(extension, map(name_of, range(EXTENSIONS)))))
        for number in range(EXTENSIONS):
            path = extension_path(name_of(number))
            api.wait_condition(path, "Progressing", "False", timeout=300)
        before = reconciles.at_rest()
        assert len(before) == EXTENSIONS

        old = resolved(api)
        changed = {name_of(number) for number in range(CHANGED)}
        olm.control_plane.apply(catalog("many", publish(registry, image, CHANGED)))
        api.wait(catalog_path("many"), lambda _: resolved(api) != old, what="new content")
        api.wait(
            catalog_path("many"),
            lambda _: set(reconciles.counted() - before) >= changed,
            what="those are reconciled whose package changed",
        )
        assert set(reconciles.at_rest() - before) == changed


def resolved(api: Api) -> str:
    found = api.get(catalog_path("many")) or {}
    source = (found.get("status") or {}).get("resolvedSource") or {}
    return str((source.get("image") or {}).get("ref"))
