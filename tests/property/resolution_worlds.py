"""Random requests and catalogs, small and crowded, so that every rule meets every other often."""

import dataclasses
from functools import cache
from random import Random

from msgspec.structs import replace

from api.metadata import LabelSelector, LabelSelectorRequirement
from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter, UpgradeConstraintPolicy
from olm_content.fbc.model import Bundle, Channel, Deprecation, Entry, Package
from olm_content.versions import parse_bundle_version
from olm_runtime.errors import OLMError
from operator_controller.resolve import CatalogContent, Request
from operator_controller.resolve.change import named

VERSIONS = ["0.9.0", "1.0.0", "1.0.0+2", "1.1.0-rc.1", "1.1.0", "2.0.0", "2.0.0-0", "3.0.0"]
CHANNELS = ["alpha", "stable", "fast"]
RANGES = [
    "",
    "",
    ">=1",
    "<2",
    "1.x",
    "~1.1",
    ">=1.0.0-0",
    "2.0.0",
    "!=1.1",
    "<1 || >2",
    "9.x",
    ">>",
]
SKIPS = ["", "", "<2.0.0", ">=1.0.0 <3.0.0", "^1", "1.x"]
SELECTORS = [
    LabelSelector(),
    LabelSelector(),
    LabelSelector(match_labels={"tier": "gold"}),
    LabelSelector(match_labels=named("a")),
    LabelSelector(
        match_expressions=(LabelSelectorRequirement(key="tier", operator="DoesNotExist"),)
    ),
    LabelSelector(match_expressions=(LabelSelectorRequirement(key="tier", operator="Is"),)),
]


def name_of(version: str) -> str:
    return f"p.v{version}"


def world_of(seed: int) -> tuple[Request, list[CatalogContent]]:
    """The case of that number, the same every time."""
    random = Random(seed)
    return _request(random), [_catalog(random, name) for name in "abc"[: random.randint(0, 3)]]


def sound_world_of(seed: int) -> tuple[Request, list[CatalogContent]]:
    """The same with nothing wrong in the request or in a bundle, and all catalogs asked.

    In every other case an entry is there twice, or another one of its name.
    """
    request, world = world_of(seed)
    version = request.desired.version.replace(">>", "")
    desired = replace(request.desired, version=version, selector=LabelSelector())
    installed = request.installed and replace(
        request.installed, version=request.installed.name.removeprefix(name_of(""))
    )
    return Request(desired, installed), [
        catalog._replace(package=catalog.package and _sound(catalog.package, seed % 2))
        for catalog in world
    ]


def _sound(package: Package, twice: int) -> Package:
    bundles = (_bundle_of(bundle.name.removeprefix(name_of(""))) for bundle in package.bundles)
    more = package.channels[-1].entries[:twice] if package.channels else ()
    channels = (Channel(each.name, (*each.entries, *more)) for each in package.channels)
    return dataclasses.replace(package, bundles=tuple(bundles), channels=tuple(channels))


@cache
def _bundle_of(version: str) -> Bundle:
    return Bundle(name_of(version), f"image:{version}", parse_bundle_version(version))


def _request(random: Random) -> Request:
    desired = CatalogFilter(
        package_name="p",
        version=random.choice(RANGES),
        channels=tuple(random.sample(CHANNELS, random.choice([0, 0, 1, 2]))),
        selector=random.choice(SELECTORS),
        upgrade_constraint_policy=random.choice(list(UpgradeConstraintPolicy)),
    )
    installed = random.choice([None, *VERSIONS])
    if installed is None:
        return Request(desired)
    version = installed if random.random() < 0.95 else "not a version"
    return Request(desired, BundleMetadata(name=name_of(installed), version=version))


def _catalog(random: Random, name: str) -> CatalogContent:
    return CatalogContent(
        name=name,
        priority=random.randint(-1, 1),
        labels={
            **named(name),
            **({"tier": random.choice(["gold", "lead"])} if random.random() < 0.5 else {}),
        },
        package=_package(random) if random.random() < 0.85 else None,
        unavailable=OLMError("down") if random.random() < 0.15 else None,
    )


def _package(random: Random) -> Package:
    bundles = [
        _bundle(random, version) for version in random.sample(VERSIONS, random.randint(0, 6))
    ]
    deprecated = random.sample(VERSIONS, random.choice([0, 0, 1, 3]))
    channels = random.sample(CHANNELS, random.randint(0, 3))
    return Package(
        name="p",
        default_channel=random.choice(CHANNELS),
        channels=tuple(Channel(name, _entries(random)) for name in channels),
        bundles=tuple(bundles),
        deprecations=tuple(Deprecation("olm.bundle", name_of(v), "old") for v in deprecated),
    )


def _bundle(random: Random, version: str) -> Bundle:
    bundle = _bundle_of(version)
    chance = random.random()
    if chance < 0.08:
        return bundle._replace(dependencies=("olm.gvk.required",))
    if chance < 0.12:
        return bundle._replace(version=None, version_fault="No Major.Minor.Patch elements found")
    return bundle


def _entries(random: Random) -> tuple[Entry, ...]:
    return tuple(
        Entry(
            name_of(version),
            replaces=name_of(random.choice(VERSIONS)) if random.random() < 0.6 else "",
            skips=tuple(map(name_of, random.sample(VERSIONS, random.choice([0, 0, 1, 2])))),
            skip_range=random.choice(SKIPS),
        )
        for version in random.sample(VERSIONS, random.randint(0, 6))
    )
