"""Pull secrets of the cluster as a docker configuration file, refreshed before it is used.

Sources, later ones winning for the same registry: the imagePullSecrets of the program's own
service account, in their order, then the global pull secret. Asking anew before each pull needs no
watch, and cannot miss a change.
"""

import asyncio
import base64
import logging
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import orjson

from api.objects import GVK, KubeObject
from olm_runtime.disk import disk_errors
from olm_runtime.kube.access import SERVICE_ACCOUNT_FOLDER
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ForbiddenError

SECRET = GVK("", "v1", "Secret")
SERVICE_ACCOUNT = GVK("", "v1", "ServiceAccount")
LOGIN_FIELDS = ("auth", "email", "identitytoken")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ObjectName:
    """A namespaced name."""

    namespace: str
    name: str


def own_service_account(token: str) -> ObjectName | None:
    """Whom a service account's token is for: the claim `sub`; None if it is no such token."""
    try:
        payload = token.split(".")[1]
        claims = orjson.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        kind, account, namespace, name = str(claims["sub"]).split(":")
    except (IndexError, ValueError, KeyError, TypeError):
        return None
    is_account = (kind, account) == ("system", "serviceaccount")
    return ObjectName(namespace, name) if is_account else None


def registry_auths(secret: KubeObject) -> dict[str, dict[str, str]]:
    """The credentials in a secret by registry: `.dockerconfigjson` or `.dockercfg`.

    What cannot be read counts as nothing: one broken secret must not lock out the others.
    """
    data = secret.get("data") or {}
    try:
        if ".dockerconfigjson" in data:
            auths = orjson.loads(base64.b64decode(data[".dockerconfigjson"])).get("auths")
        else:
            auths = orjson.loads(base64.b64decode(data.get(".dockercfg", "e30=")))
    except (ValueError, AttributeError):
        return {}
    entries = auths.items() if isinstance(auths, dict) else ()
    return {str(key): _login(entry) for key, entry in entries if isinstance(entry, dict)}


class PullSecrets:
    """Keeps one docker configuration file up to date."""

    def __init__(
        self,
        client: KubeClient,
        *,
        global_secret: ObjectName | None,
        account: ObjectName | None,
        prefix: str,
    ) -> None:
        """The file is in a folder of the process's own, named with `prefix`."""
        self._client = client
        self._global = global_secret
        self._account = account
        self._prefix = prefix
        self._folder: Path | None = None
        self._content = b""

    @classmethod
    def of_this_program(
        cls, client: KubeClient, *, global_secret: tuple[str, str] | None, prefix: str
    ) -> Self:
        """Those of the pod's own service account, and the global one (namespace, name)."""
        token = SERVICE_ACCOUNT_FOLDER / "token"
        return cls(
            client,
            global_secret=ObjectName(*global_secret) if global_secret else None,
            account=own_service_account(token.read_text()) if token.exists() else None,
            prefix=prefix,
        )

    @property
    def file(self) -> Path | None:
        """The docker configuration file, as of the last refresh; None without secrets."""
        return self._folder / "auth.json" if self._folder and self._content else None

    async def refresh(self) -> None:
        """Reads the secrets; the file changes only if they did.

        When the API server does not answer, the last known credentials stay. Raises DiskError.
        """
        if self._global is None and self._account is None:
            return
        try:
            auths = await self._auths()
        except ApiError as error:
            log.warning("pull secrets cannot be read, the last known ones are used: %s", error)
            return
        content = orjson.dumps({"auths": auths}) if auths else b""
        if content != self._content:
            with disk_errors("keep the credentials of registries", self._folder):
                await asyncio.to_thread(self._write, content)

    def close(self) -> None:
        """Removes the file."""
        if self._folder is not None:
            (self._folder / "auth.json").unlink(missing_ok=True)
            self._folder.rmdir()
            self._folder = None

    async def _auths(self) -> dict[str, dict[str, str]]:
        auths: dict[str, dict[str, str]] = {}
        for key in [*await self._account_secrets(), *filter(None, [self._global])]:
            try:
                secret = await self._client.find(SECRET, key.name, key.namespace)
            except ForbiddenError:
                log.warning(
                    "pull secret %s/%s may not be read: name it in the chart's imagePullSecrets",
                    key.namespace,
                    key.name,
                )
                continue
            if secret is None:
                log.warning("pull secret %s/%s does not exist", key.namespace, key.name)
            else:
                auths |= registry_auths(secret)
        return auths

    async def _account_secrets(self) -> list[ObjectName]:
        if self._account is None:
            return []
        namespace = self._account.namespace
        found = await self._client.find(SERVICE_ACCOUNT, self._account.name, namespace)
        references = (found or {}).get("imagePullSecrets") or []
        return [ObjectName(namespace, r["name"]) for r in references if r.get("name")]

    def _write(self, content: bytes) -> None:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix=self._prefix))
        target = self._folder / "auth.json"
        if content:
            aside = self._folder / "auth.json.new"
            with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.truncate()
                file.write(content)
            aside.replace(target)
        else:
            target.unlink(missing_ok=True)
        self._content = content


def _login(entry: Mapping[str, Any]) -> dict[str, str]:
    return {field: str(entry[field]) for field in LOGIN_FIELDS if field in entry}
