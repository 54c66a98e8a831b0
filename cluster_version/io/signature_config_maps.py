"""Signatures of release images in config maps of the cluster.

Source of the rules: upstream's notes, sections 6.2 and 6.4.
"""

import asyncio
import base64
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from api.objects import KubeObject
from cluster_version.signatures.configuration import CONFIG_MAP
from cluster_version.signatures.stores import LABEL, NAMESPACE
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient

_log = logging.getLogger(__name__)

LISTED_EVERY = 30.0
"""Seconds for which a list is not asked for again."""
MANAGED = "signatures-managed"


@dataclass(slots=True)
class SignatureConfigMaps:
    """The config maps with signatures: other people's, and the one that is written here."""

    client: KubeClient
    clock: Callable[[], float] = time.monotonic
    _found: Sequence[KubeObject] = ()
    _listed: float | None = field(default=None)

    async def list(self) -> Sequence[KubeObject]:
        """As they were half a minute ago, or later. Raises ApiError."""
        now = self.clock()
        if self._listed is None or now - self._listed >= LISTED_EVERY:
            self._found, _ = await self.client.list_all(CONFIG_MAP, NAMESPACE, labels=LABEL)
            self._listed = now
        return self._found

    async def keep(
        self,
        signatures: Callable[[], Mapping[str, Sequence[bytes]]],
        field_manager: str,
        seconds: float,
    ) -> NoReturn:
        """Writes what there is then again and again. What fails is logged."""
        while True:
            await asyncio.sleep(seconds)
            try:
                await self.write(signatures(), field_manager)
            except OLMError as error:
                _log.warning("cannot keep signatures: %s", error.message)

    async def write(self, signatures: Mapping[str, Sequence[bytes]], field_manager: str) -> None:
        """Keeps the signatures of verified images, by digest; writes nothing that is already so.

        Raises ApiError.
        """
        if not signatures:
            return
        wanted = _managed(signatures)
        live = await self.client.find(CONFIG_MAP, MANAGED, NAMESPACE)
        if live is None:
            await self.client.create(wanted, field_manager=field_manager)
        elif live.get("binaryData") != wanted["binaryData"]:
            version = live["metadata"]["resourceVersion"]
            metadata = wanted["metadata"] | {"resourceVersion": version}
            await self.client.update(wanted | {"metadata": metadata}, field_manager=field_manager)


def _managed(signatures: Mapping[str, Sequence[bytes]]) -> KubeObject:
    data = {
        f"{digest.replace(':', '-')}-{number}": base64.b64encode(signature).decode()
        for digest, found in signatures.items()
        for number, signature in enumerate(found)
    }
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": MANAGED, "namespace": NAMESPACE, "labels": {LABEL: ""}},
        "binaryData": data,
    }
