"""The mutating webhook: sets the name label on ClusterCatalogs. The decision is pure."""

import base64
from typing import Any, Literal

import orjson
from fastapi import APIRouter
from pydantic import BaseModel

from api.olm.v1.names import LABEL_METADATA_NAME, label_value

PATH = "/mutate-olm-operatorframework-io-v1-clustercatalog"
MAX_REVIEW_BYTES = 8 << 20
"""The API server's own limit of an object is below 2 MiB."""


class Metadata(BaseModel):
    """What the webhook looks at of an object's metadata."""

    name: str | None = None
    labels: dict[str, str] | None = None


class ReviewedObject(BaseModel):
    """A ClusterCatalog as it is to be stored."""

    metadata: Metadata = Metadata()


class AdmissionRequest(BaseModel):
    """What the API server asks; a deletion has no object."""

    uid: str
    object: ReviewedObject | None = None


class AdmissionReview(BaseModel):
    """A question of the API server."""

    request: AdmissionRequest


class AdmissionResponse(BaseModel):
    """The answer: allowed, with the changes in base64, if there are any."""

    uid: str
    allowed: bool = True
    patchType: Literal["JSONPatch"] | None = None  # noqa: N815 - Kubernetes' name
    patch: str | None = None


class AnsweredReview(BaseModel):
    """The review with its answer."""

    apiVersion: str = "admission.k8s.io/v1"  # noqa: N815 - Kubernetes' name
    kind: str = "AdmissionReview"
    response: AdmissionResponse


def label_patch(metadata: Metadata) -> list[dict[str, Any]]:
    """The JSON patch that makes the name label right; empty if it is."""
    if not metadata.name:
        return []
    label = label_value(metadata.name)
    if metadata.labels is None:
        return [{"op": "add", "path": "/metadata/labels", "value": {LABEL_METADATA_NAME: label}}]
    if metadata.labels.get(LABEL_METADATA_NAME) == label:
        return []
    key = LABEL_METADATA_NAME.replace("~", "~0").replace("/", "~1")
    return [{"op": "add", "path": f"/metadata/labels/{key}", "value": label}]


def respond(request: AdmissionRequest) -> AdmissionResponse:
    """The answer to what the API server asks."""
    patch = label_patch(request.object.metadata) if request.object else []
    if not patch:
        return AdmissionResponse(uid=request.uid)
    encoded = base64.b64encode(orjson.dumps(patch)).decode()
    return AdmissionResponse(uid=request.uid, patchType="JSONPatch", patch=encoded)


def webhook_router() -> APIRouter:
    """The route of the webhook."""
    router = APIRouter()

    @router.post(PATH, response_model_exclude_none=True, max_body_size=MAX_REVIEW_BYTES)
    async def mutate(review: AdmissionReview) -> AnsweredReview:
        return AnsweredReview(response=respond(review.request))

    return router
