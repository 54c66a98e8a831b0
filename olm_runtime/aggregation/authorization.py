"""Whether somebody may do something: asked of the API server, and known for a short while."""

from collections.abc import Callable

import orjson

from olm_runtime.aggregation.attributes import Attributes
from olm_runtime.aggregation.front_proxy import Identity
from olm_runtime.aggregation.remembered import Remembered
from olm_runtime.kube.client import KubeClient

MASTERS = "system:masters"
"""May everything, as on every API server."""


class Authorizer:
    """Asks by SubjectAccessReview."""

    def __init__(
        self,
        client: KubeClient,
        *,
        allowed_seconds: float,
        denied_seconds: float,
        always_allowed: tuple[str, ...],
        clock: Callable[[], float],
    ) -> None:
        """For so long an answer holds. `always_allowed` are paths for everybody; `*` ends some."""
        self._client = client
        self._seconds = {True: allowed_seconds, False: denied_seconds}
        self._always = always_allowed
        self._answers: Remembered[tuple[bool, str]] = Remembered(clock)

    def is_for_all(self, path: str) -> bool:
        """Whether everybody may get a path."""
        return any(
            path.startswith(each[:-1]) if each.endswith("*") else path == each
            for each in self._always
        )

    async def judge(self, identity: Identity, wanted: Attributes) -> tuple[bool, str]:
        """Whether he may, and why or why not. Raises ApiError."""
        if MASTERS in identity.groups:
            return True, ""
        spec = {**identity.reviewed(), **wanted.reviewed()}
        key = orjson.dumps(spec).decode(errors="replace")
        return await self._answers.get(key, lambda: self._review(spec))

    async def _review(self, spec: dict[str, object]) -> tuple[tuple[bool, str], float]:
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": spec,
        }
        status = (await self._client.create(review, field_manager=""))["status"]
        allowed = bool(status.get("allowed"))
        return (allowed, status.get("reason") or ""), self._seconds[allowed]
