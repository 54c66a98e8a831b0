"""Makes the steps of a plan: unpacks the bundles that were chosen, or reads them in the catalog."""

import asyncio

import click
import orjson

from api.objects import KubeObject, annotations_of
from olm_classic.controllers.namespace import Steps
from olm_classic.install_plans.lookups import (
    BundleLookup,
    Unpacked,
    UnpackFailed,
    Unpacking,
    lookup_of,
)
from olm_classic.install_plans.objects import InvalidBundleError
from olm_classic.install_plans.steps import lookups_of, steps_of
from olm_classic.io.registry import Connections, RegistryError
from olm_classic.io.unpacking import Unpacker
from olm_classic.resolve import Resolution
from olm_classic.subscriptions.conditions import ERROR_PREVENTED_UNPACKING
from olm_runtime.cli.values import parse_duration

ANNOTATION_TIMEOUT = "operatorframework.io/bundle-unpack-timeout"


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
        seconds = _timeout(groups, self._seconds)
        lookups = [lookup_of(each) for each in resolution.planned]
        found = await asyncio.gather(*(self._unpack(each, seconds) for each in lookups))
        for each in found:
            if isinstance(each, UnpackFailed):
                return each
        waiting = [each.message for each in found if isinstance(each, Unpacking)]
        if waiting:
            return Unpacking(" | ".join(filter(None, waiting)))
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
        self, lookup: BundleLookup, seconds: float
    ) -> Unpacked | Unpacking | UnpackFailed:
        if lookup.image:
            return await self._unpacker.unpack(lookup, seconds)
        connection = self._connections.get((lookup.catalog.namespace, lookup.catalog.name))
        if connection is None:
            return Unpacking(f"catalogsource {lookup.catalog.name} is not connected")
        try:
            bundle = await connection.get_bundle(lookup.package, lookup.channel, lookup.identifier)
        except RegistryError as error:
            return Unpacking(error.message)
        texts = list(bundle.object) or [bundle.csvJson]
        return Unpacked(lookup, tuple(map(orjson.loads, texts)))


def _timeout(groups: tuple[KubeObject, ...], seconds: float) -> float:
    """What the OperatorGroup asks for; what cannot be read asks for nothing."""
    noted = next((annotations_of(each).get(ANNOTATION_TIMEOUT) for each in groups), None)
    if not noted:
        return seconds
    try:
        return parse_duration(noted)
    except click.BadParameter:
        return seconds
