"""The mutating webhook: sets the name label on ClusterCatalogs. The decision is pure."""

import base64
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response

from api.olm.v1.names import LABEL_METADATA_NAME, label_value

PATH = "/mutate-olm-operatorframework-io-v1-clustercatalog"
MAX_REVIEW_BYTES = 8 << 20
"""The API server's own limit of an object is below 2 MiB."""


def label_patch(obj: dict[str, Any]) -> list[dict[str, Any]]:
    """The JSON patch that makes the name label right; empty if it is."""
    metadata = obj.get("metadata") or {}
    name, labels = metadata.get("name"), metadata.get("labels")
    if not name:
        return []
    label = label_value(name)
    if labels is None:
        return [{"op": "add", "path": "/metadata/labels", "value": {LABEL_METADATA_NAME: label}}]
    if labels.get(LABEL_METADATA_NAME) == label:
        return []
    key = LABEL_METADATA_NAME.replace("~", "~0").replace("/", "~1")
    return [{"op": "add", "path": f"/metadata/labels/{key}", "value": label}]


def review(request: Any) -> dict[str, Any]:
    """The answer to an AdmissionReview. Raises KeyError, TypeError when it is none."""
    asked = request["request"]
    response: dict[str, Any] = {"uid": asked["uid"], "allowed": True}
    patch = label_patch(asked.get("object") or {})
    if patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(orjson.dumps(patch)).decode()
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": response,
    }


def webhook_router() -> APIRouter:
    """The route of the webhook."""
    router = APIRouter()

    @router.post(PATH)
    async def mutate(request: Request) -> Response:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_REVIEW_BYTES:
                return Response("review is too large\n", status_code=413)
        try:
            answer = review(orjson.loads(body))
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            return Response("no AdmissionReview\n", status_code=400)
        return Response(orjson.dumps(answer), media_type="application/json")

    return router
