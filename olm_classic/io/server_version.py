"""The version of the API server, asked for when somebody needs it and what is known is old."""

import asyncio
from dataclasses import dataclass

from olm_runtime.kube.client import KubeClient

FRESH_SECONDS = 300.0


@dataclass(slots=True)
class ServerVersion:
    """What the server said last."""

    client: KubeClient
    _known: str = ""
    _asked: float | None = None

    async def git_version(self) -> str:
        """The version as of git, for example `v1.33.1`. Raises ApiError."""
        now = asyncio.get_running_loop().time()
        if self._asked is None or now - self._asked > FRESH_SECONDS:
            answer = await self.client.request("GET", "/version")
            self._known, self._asked = str(answer.get("gitVersion") or ""), now
        return self._known
