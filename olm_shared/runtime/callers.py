"""Who may read the metrics: asked of the API server, remembered for a short while."""

import hashlib
import time

from olm_shared.runtime.api_errors import ApiError
from olm_shared.runtime.kube import KubeClient

REMEMBER_SECONDS = 60.0
MAX_REMEMBERED = 256


class Callers:
    """Judges bearer tokens by TokenReview and SubjectAccessReview on `/metrics`."""

    def __init__(self, client: KubeClient, *, field_manager: str) -> None:
        self._client = client
        self._field_manager = field_manager
        self._verdicts: dict[str, tuple[int, float]] = {}

    async def judge(self, token: str) -> int:
        """The HTTP status for a caller: 200, 401, 403, or 500 if it cannot be found out."""
        key = hashlib.sha256(token.encode()).hexdigest()
        verdict, until = self._verdicts.get(key, (0, 0.0))
        if verdict and until > time.monotonic():
            return verdict
        try:
            verdict = await self._ask(token)
        except ApiError:
            return 500
        if len(self._verdicts) >= MAX_REMEMBERED:
            self._verdicts.clear()
        self._verdicts[key] = (verdict, time.monotonic() + REMEMBER_SECONDS)
        return verdict

    async def _ask(self, token: str) -> int:
        review = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        }
        status = (await self._client.create(review, field_manager=self._field_manager))["status"]
        if not status.get("authenticated"):
            return 401
        user = status["user"]
        access = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": user.get("username"),
                "groups": user.get("groups"),
                "uid": user.get("uid"),
                "extra": user.get("extra"),
                "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
            },
        }
        answer = await self._client.create(access, field_manager=self._field_manager)
        return 200 if answer["status"].get("allowed") else 403
