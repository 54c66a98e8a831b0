"""The mutating webhook: sets the name label on ClusterCatalogs. The decision is pure."""

import base64
from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import Struct
from starlette.middleware import Middleware
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from api.olm.v1.names import LABEL_METADATA_NAME, label_value
from api.wire import read

PATH = "/mutate-olm-operatorframework-io-v1-clustercatalog"
MAX_REVIEW_BYTES = 8 << 20
"""The API server's own limit of an object is below 2 MiB."""


class Metadata(Struct, frozen=True):
    """What the webhook looks at of an object's metadata."""

    name: str | None = None
    labels: Mapping[str, str] | None = None


class ReviewedObject(Struct, frozen=True):
    """A ClusterCatalog as it is to be stored."""

    metadata: Metadata = Metadata()


class AdmissionRequest(Struct, frozen=True):
    """What the API server asks; a deletion has no object."""

    uid: str
    object: ReviewedObject | None = None


class AdmissionReview(Struct, frozen=True):
    """A question of the API server."""

    request: AdmissionRequest


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


def respond(request: AdmissionRequest) -> dict[str, Any]:
    """The review that answers: allowed, with the changes in base64, if there are any."""
    response: dict[str, Any] = {"uid": request.uid, "allowed": True}
    patch = label_patch(request.object.metadata) if request.object else []
    if patch:
        encoded = base64.b64encode(orjson.dumps(patch)).decode()
        response |= {"patchType": "JSONPatch", "patch": encoded}
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": response,
    }


def webhook_route() -> Route:
    """The route of the webhook."""
    limit = Middleware(RequestBodyLimitMiddleware, max_body_size=MAX_REVIEW_BYTES)
    return Route(PATH, _mutate, methods=["POST"], middleware=[limit])


async def _mutate(request: Request) -> Response:
    body = await request.body()
    try:
        review = read(AdmissionReview, orjson.loads(body))
    except ValueError:
        return PlainTextResponse("no AdmissionReview\n", 400)
    return Response(orjson.dumps(respond(review.request)), media_type="application/json")
