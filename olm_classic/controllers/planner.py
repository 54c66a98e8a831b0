"""Makes the steps of a plan: unpacks the bundles that were chosen, or reads them in the catalog."""

import asyncio
from typing import Protocol

import click
import orjson

from api.objects import KubeObject, annotations_of
from olm_classic.controllers.namespace import Steps
from olm_classic.install_plans.lookups import (
    BundleLookup,
    Patience,
    Unpacked,
    UnpackFailed,
    Unpacking,
    lookup_of,
)
from olm_classic.install_plans.objects import InvalidBundleError
from olm_classic.install_plans.steps import lookups_of, steps_of
from olm_classic.io.registry import Connections, RegistryError
from olm_classic.resolve import Resolution
from olm_classic.subscriptions.conditions import ERROR_PREVENTED_UNPACKING
from olm_runtime.cli.values import parse_duration

ANNOTATION_TIMEOUT = "operatorframework.io/bundle-unpack-timeout"
ANNOTATION_RETRY = "operatorframework.io/bundle-unpack-min-retry-interval"

SHORTEST_RETRY_SECONDS = 1.0


class Unpacker(Protocol):
    """Unpacks bundles: `olm_classic.io.unpacking` itself, `olm_classic.io.unpack_jobs` by Jobs."""

    async def unpack(
        self, lookup: BundleLookup, patience: Patience
    ) -> Unpacked | Unpacking | UnpackFailed:
        """The objects of a bundle. Raises ApiError."""

    async def close(self) -> None:
        """Breaks off what is under way."""


class Planner:
    """Unpacks what it is asked for, and no longer than it may."""

    def __init__(self, unpacker: Unpacker, connections: Connections, *, seconds: float) -> None:
        """`seconds` until an unpacking is given up, unless an OperatorGroup has another time."""
        self._unpacker = unpacker
        self._connections = connections
        self._seconds = seconds

    async def steps(
        self, namespace: str, resolution: Resolution, groups: tuple[KubeObject, ...]
    ) -> Steps | Unpacking | UnpackFailed:
        """The steps, once all bundles are unpacked. Raises ApiError."""
        patience = Patience(
            _duration(groups, ANNOTATION_TIMEOUT, self._seconds),
            _retry(groups),
        )
        lookups = [lookup_of(each) for each in resolution.planned]
        found = await asyncio.gather(*(self._unpack(each, patience) for each in lookups))
        for each in found:
            if isinstance(each, UnpackFailed):
                return each
        waiting = [each for each in found if isinstance(each, Unpacking)]
        if waiting:
            messages = filter(None, (each.message for each in waiting))
            return Unpacking(" | ".join(messages), min(each.again for each in waiting))
        bundles = [each for each in found if isinstance(each, Unpacked)]
        try:
            steps = steps_of(bundles, resolution.generated, namespace)
        except InvalidBundleError as error:
            return UnpackFailed(ERROR_PREVENTED_UNPACKING, error.message)
        catalogs = dict.fromkeys(each.catalog.name for each in lookups)
        pulled = [each for each in bundles if each.config_map]
        return Steps(
            tuple(each.identifier for each in lookups),
            {
                "catalogSources": list(catalogs),
                "plan": steps,
                **({"bundleLookups": lookups_of(pulled)} if pulled else {}),
            },
        )

    async def _unpack(
        self, lookup: BundleLookup, patience: Patience
    ) -> Unpacked | Unpacking | UnpackFailed:
        if lookup.image:
            return await self._unpacker.unpack(lookup, patience)
        connection = self._connections.get((lookup.catalog.namespace, lookup.catalog.name))
        if connection is None:
            return Unpacking(f"catalogsource {lookup.catalog.name} is not connected")
        try:
            bundle = await connection.get_bundle(lookup.package, lookup.channel, lookup.identifier)
        except RegistryError as error:
            return Unpacking(error.message)
        texts = list(bundle.object) or [bundle.csvJson]
        return Unpacked(lookup, tuple(map(orjson.loads, texts)))


def _retry(groups: tuple[KubeObject, ...]) -> float:
    """After which the OperatorGroup wants a failure tried again; 0 where it does not say."""
    asked = _duration(groups, ANNOTATION_RETRY, 0.0)
    return max(asked, SHORTEST_RETRY_SECONDS) if asked else asked


def _duration(groups: tuple[KubeObject, ...], annotation: str, seconds: float) -> float:
    """What the OperatorGroup asks for; what cannot be read asks for nothing."""
    noted = next((annotations_of(each).get(annotation) for each in groups), None)
    if not noted:
        return seconds
    try:
        return parse_duration(noted)
    except click.BadParameter:
        return seconds
