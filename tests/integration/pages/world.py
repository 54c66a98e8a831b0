"""What the pages are followed in: names, bundles, a catalog."""

from e2e.demo.bundles import own, publish
from e2e.harness.images import build_image, catalog_image
from e2e.harness.registry import Registry
from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.pages import HOW_TO, Step, steps

PUBLIC, MIRROR, PROXY = "registry.example.com", "mirror.example.org", "proxy.example.com:3128"
HELLO, GREETER = "hello-operator", "greeter"
FEWER = {"catalogd": {"replicas": 1}, "operatorController": {"replicas": 1}}
"""Each pod costs a process."""
NO_NETWORK = {"webhook": {"enabled": False}}
"""Here no Service leads anywhere, and the API server would wait for the webhook."""
LAST = "Uninstall"


def publish_catalog(registry: Registry) -> None:
    """The operator of the pages, with its own image, and another package; and a small catalog."""
    hello = list(map(dict, package_blobs(publish(registry, own()))))
    operator = registry.push(build_image([{"operator": b"hello"}]), "hello/operator", tag="v1")
    related = [{"name": "operator", "image": operator.reference}]
    hello = [b | {"relatedImages": related} if "image" in b else b for b in hello]
    greeter = package_blobs([spec.publish(registry) for spec in GREETERS])
    image = catalog_image(catalog_files([hello, greeter]))
    registry.push(image, "team/my-catalog", tag="latest")
    hammer = package_blobs([BundleSpec(package="hammer", version="1.0.0").publish(registry)])
    registry.push(catalog_image(catalog_files([hammer])), "team/tools", tag="latest")


GREETERS = [
    BundleSpec(package=GREETER, version="1.0.0"),
    BundleSpec(package=GREETER, version="1.1.0", configmaps=("settings", "extra")),
    BundleSpec(package=GREETER, version="1.2.0"),
]


def page(name: str, *, only: str = "", but: str = "") -> list[Step]:
    """The steps of a page that need no pods, or of one section, or without one."""
    found = [step for step in steps(HOW_TO / f"{name}.md") if not (step.pods or step.minutes)]
    return [s for s in found if (not only or s.section == only) and (not but or s.section != but)]
