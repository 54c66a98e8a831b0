"""Which versions an extension can go to: in one step, and in several. Pure."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from api.olm.v1.clusterextension import BundleMetadata
from olm_content.fbc.model import Bundle, Package
from olm_content.versions import parse_version
from operator_controller.resolve.successors import Installed, may_follow, read_installed

SHOWN = 8
"""Versions that a text names before it only counts the rest."""


@dataclass(frozen=True, slots=True)
class Ways:
    """What can be reached from the installed bundle by the update graph.

    `steps` has by the name of a bundle the versions on the shortest way to it, its own last;
    the highest version first.
    """

    installed: str
    steps: Mapping[str, tuple[str, ...]]

    def text(self) -> str:
        """What can be reached, in a line."""
        first = [steps[-1] for steps in self.steps.values() if len(steps) == 1]
        later = [steps for steps in self.steps.values() if len(steps) > 1]
        if not first:
            return f"no update leads on from {self.installed}"
        said = f"from {self.installed} an update leads to {_listed(first)}"
        return f"{said}; then to {_listed([each[-1] for each in later])}" if later else said


def ways_from(
    installed: BundleMetadata, packages: Sequence[Package], channels: Sequence[str]
) -> Ways:
    """Those that the packages of catalogs offer, in these channels (none: all).

    Raises VersionError for an installed version that cannot be read.
    """
    begin = read_installed(installed)
    bundles = {
        bundle.name: bundle
        for package in packages
        for bundle in package.bundles
        if bundle.version is not None and _counts(package, bundle, channels)
    }
    steps: dict[str, tuple[str, ...]] = {}
    queue: deque[tuple[Installed, tuple[str, ...]]] = deque([(begin, ())])
    while queue:
        here, so_far = queue.popleft()
        for bundle in _following(here, packages, channels):
            if bundle.name in steps or bundle.name not in bundles or bundle.name == installed.name:
                continue
            steps[bundle.name] = (*so_far, str(bundle.version))
            queue.append((_as_installed(bundle), steps[bundle.name]))
    by_version = sorted(bundles.values(), key=_key, reverse=True)
    return Ways(
        installed.version,
        {each.name: steps[each.name] for each in by_version if each.name in steps},
    )


def _following(
    here: Installed, packages: Sequence[Package], channels: Sequence[str]
) -> Iterator[Bundle]:
    for package in packages:
        for bundle in package.bundles:
            edges = package.edges.get(bundle.name, ())
            entries = (e.entry for e in edges if not channels or e.channel in channels)
            if bundle.name != here.name and may_follow(bundle, entries, here):
                yield bundle


def _as_installed(bundle: Bundle) -> Installed:
    if bundle.version is None:
        raise ValueError(f"{bundle.name} has no version")
    text = str(bundle.version)
    return Installed(bundle.name, parse_version(text), bundle.version)


def _counts(package: Package, bundle: Bundle, channels: Sequence[str]) -> bool:
    edges = package.edges.get(bundle.name, ())
    return not channels or any(edge.channel in channels for edge in edges)


def _key(bundle: Bundle) -> tuple[object, ...]:
    return bundle.version.key if bundle.version else ()


def _listed(versions: Sequence[str]) -> str:
    more = f" and {len(versions) - SHOWN} more" if len(versions) > SHOWN else ""
    return ", ".join(versions[:SHOWN]) + more
