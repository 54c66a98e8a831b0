"""Which bundles the demo shows: its own operator, and real ones where there are some."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from api.objects import KubeObject, gvk_of, name_of
from e2e.harness.images import bundle_image, read_folder
from e2e.harness.registry import Registry
from e2e.olm.fbc import PublishedBundle, bundle_facts
from olm_content.bundle.reader import load
from olm_content.crds import check
from olm_content.render.install import InstallRequest, install_objects
from olm_runtime.errors import OLMError

OWN_BUNDLES = Path(__file__).parent / "bundles"
CORPUS_BUNDLES = Path(__file__).parents[3] / "shared" / "corpus" / "bundles"
MAX_REAL_PACKAGES = 3
SERVED_GROUPS = frozenset(
    {
        "",
        "apiextensions.k8s.io",
        "apps",
        "networking.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "scheduling.k8s.io",
    }
)
"""API groups of the kinds in bundles that a control plane serves by itself."""


@dataclass(frozen=True, slots=True)
class Versions:
    """Two consecutive versions of a package: folders of bundles."""

    package: str
    first: Path
    second: Path


def own() -> Versions:
    """The operator that was written for the demo."""
    folder = OWN_BUNDLES / "hello-operator"
    return Versions("hello-operator", folder / "0.1.0", folder / "0.2.0")


def real() -> list[Versions]:
    """Packages below DEMO_BUNDLES, as PACKAGE/VERSION folders, that can be installed here."""
    given = os.environ.get("DEMO_BUNDLES")
    roots = [Path(part) for part in given.split(os.pathsep)] if given else [CORPUS_BUNDLES]
    found = (versions for root in roots if root.is_dir() for versions in _pairs(root))
    chosen = [versions for versions in found if _installs(versions)]
    return chosen if given else chosen[:MAX_REAL_PACKAGES]


def publish(registry: Registry, versions: Versions) -> list[PublishedBundle]:
    """Pushes both bundle images."""
    return [
        bundle_facts(
            folder,
            registry.push(bundle_image(folder), f"bundles/{versions.package}").reference,
        )
        for folder in (versions.first, versions.second)
    ]


def _pairs(root: Path) -> Iterator[Versions]:
    for package in sorted(path for path in root.iterdir() if path.is_dir()):
        folders = [path for path in package.iterdir() if (path / "manifests").is_dir()]
        ordered = sorted(folders, key=lambda path: _numbers(path.name))
        if len(ordered) > 1:
            yield Versions(package.name, *ordered[-2:])


def _numbers(version: str) -> list[tuple[int, str]]:
    return [
        (int(part), "") if part.isdigit() else (0, part)
        for part in version.replace("-", ".").split(".")
    ]


def _installs(versions: Versions) -> bool:
    """Whether both versions can be installed with what is served here, one after the other."""
    try:
        first, second = (load(read_folder(f)) for f in (versions.first, versions.second))
        request = InstallRequest(install_namespace="default", certificate_provider=None)
        objects = install_objects(first, request) + install_objects(second, request)
    except OLMError:
        return False
    served = all(gvk_of(obj).group in SERVED_GROUPS for obj in objects)
    return served and not _unsafe(first.crds, second.crds)


def _unsafe(old: Sequence[KubeObject], new: Sequence[KubeObject]) -> bool:
    """Whether the update would be refused for a change of a CustomResourceDefinition."""
    known = {name_of(crd): crd for crd in old}
    return any(check(known[name_of(crd)], crd) for crd in new if name_of(crd) in known)
