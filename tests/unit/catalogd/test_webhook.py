"""The label that admission sets."""

import base64
import json
from typing import Any

import httpx
import pytest

from api.olm.v1.names import label_value
from api.wire import read
from catalogd.http.app import webhook_app
from catalogd.http.webhook import MAX_REVIEW_BYTES, PATH, Metadata, label_patch

KEY = "olm.operatorframework.io/metadata.name"


@pytest.mark.parametrize(
    ("metadata", "patch"),
    [
        ({"name": "c"}, [{"op": "add", "path": "/metadata/labels", "value": {KEY: "c"}}]),
        (
            {"name": "c", "labels": {"a": "b"}},
            [
                {
                    "op": "add",
                    "path": "/metadata/labels/olm.operatorframework.io~1metadata.name",
                    "value": "c",
                }
            ],
        ),
        ({"name": "c", "labels": {KEY: "c"}}, []),
        ({"name": "c" * 64, "labels": {KEY: label_value("c" * 64)}}, []),
        ({"generateName": "c-"}, []),
        ({}, []),
    ],
)
def test_the_label_is_the_name(metadata: dict[str, Any], patch: list[Any]) -> None:
    assert label_patch(read(Metadata, metadata)) == patch


def client(app: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://catalogd")


async def test_a_review_is_answered_with_its_uid_and_patch() -> None:
    asked = {"request": {"uid": "42", "object": {"metadata": {"name": "c"}}}}
    async with client(webhook_app()) as http:
        answer = (await http.post(PATH, json=asked)).json()
    response = answer["response"]
    assert answer["kind"] == "AdmissionReview"
    assert (response["uid"], response["allowed"]) == ("42", True)
    assert json.loads(base64.b64decode(response["patch"]))[0]["value"] == {KEY: "c"}


async def test_what_needs_no_change_is_allowed_without_a_patch() -> None:
    asked = {"request": {"uid": "42", "operation": "DELETE", "object": None}}
    async with client(webhook_app()) as http:
        answer = (await http.post(PATH, json=asked)).json()
    assert answer["response"] == {"uid": "42", "allowed": True}


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"request":null}', b'{"request":{"uid":1}}', b"nonsense"]
)
async def test_what_is_no_review_is_a_bad_request(body: bytes) -> None:
    async with client(webhook_app()) as http:
        assert (await http.post(PATH, content=body)).status_code == 400


async def test_a_review_of_any_size_is_not_read() -> None:
    async with client(webhook_app()) as http:
        answer = await http.post(PATH, content=b" " * (MAX_REVIEW_BYTES + 1))
    assert answer.status_code == 413


async def test_there_is_nothing_else() -> None:
    async with client(webhook_app()) as http:
        assert (await http.get("/")).text == "404 page not found\n"
        assert (await http.get(PATH)).text == "Method Not Allowed\n"
