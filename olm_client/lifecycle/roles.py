"""Writes the roles of an extension's account for a change, and takes back what is over after it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from api.objects import gvk_of, name_of, namespace_of
from api.olm.v1.kinds import EXTENSION
from olm_client.history import read_record
from olm_client.lifecycle.applying import Applied, Hints, apply_all
from olm_client.lifecycle.plan import Rights
from olm_content.rights import Document
from olm_content.rights.installer import is_written_by_olm
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient

SETTLE_SECONDS = 0.5
_THERE = ("Namespace", "ServiceAccount")

Note = Callable[[Applied], None]
Echo = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of the service account `account` of an extension, and its rights for a change.

    `hint` says how somebody who may write roles grants them.
    """

    extension: str
    account: str
    rights: Rights
    hint: str

    async def grant(self, kube: KubeClient, note: Note) -> None:
        """Writes them so that they suffice during the change. Raises TerminalError."""
        await self._write(kube, self.rights.meanwhile, note)

    async def check_alone(self, kube: KubeClient) -> None:
        """Raises TerminalError where they are those of other extensions, too."""
        if others := await self._sharing(kube):
            raise TerminalError(
                f"service account {self.account} is that of {', '.join(others)}, too: roles for "
                f"{self.extension} alone would take their rights",
                hint="add to its roles by hand what is missing: "
                f"olm plan {self.extension} --details",
            )

    async def take_back(self, kube: KubeClient, seconds: float, echo: Echo, note: Note) -> None:
        """Takes away the rights that only the change needed, once nothing uses them any more.

        Roles that somebody else wrote, or that other extensions use, too, are left alone.
        """
        if not await self._are_own(kube) or await self._sharing(kube):
            return
        if await _until_alone(kube, self.extension, seconds):
            echo("rights that only the update needed are taken back:")
            await self._write(kube, self.rights.afterwards, note)
        else:
            echo("note: the old version is still being removed; its rights stay until olm rbac")

    async def _sharing(self, kube: KubeClient) -> list[str]:
        """The other extensions whose accounts have the same name: their ClusterRole is the same."""
        found, _ = await kube.list_all(EXTENSION)
        return [
            name_of(raw)
            for raw in found
            if name_of(raw) != self.extension
            and (raw["spec"].get("serviceAccount") or {}).get("name") == self.account
        ]

    async def _are_own(self, kube: KubeClient) -> bool:
        """Whether `olm` wrote any of them, which it may so write anew."""
        for document in self.rights.afterwards:
            if document.rules:
                obj = document.obj
                live = await kube.find(gvk_of(obj), name_of(obj), namespace_of(obj))
                if live is not None and is_written_by_olm(live):
                    return True
        return False

    async def _write(self, kube: KubeClient, roles: Sequence[Document], note: Note) -> None:
        """Writes roles and their bindings; the account itself is there."""
        hints = Hints(
            forbidden=f"somebody who may write roles can do it: {self.hint}",
            conflict="somebody else keeps it otherwise: change it there, or give the extension an "
            "account of its own (spec.serviceAccount)",
        )
        objects = [each.obj for each in roles if each.obj["kind"] not in _THERE]
        async for applied in apply_all(kube, objects, hints):
            note(applied)


async def _until_alone(kube: KubeClient, extension: str, seconds: float) -> bool:
    """Waits until what only older revisions had is removed; False if that takes longer."""
    try:
        async with asyncio.timeout(seconds):
            while True:
                record = await read_record(kube, extension)
                if len(record.revisions.unfinished) <= 1:
                    return True
                await asyncio.sleep(SETTLE_SECONDS)
    except TimeoutError:
        return False
