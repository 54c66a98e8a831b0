"""Pull secrets to credentials."""

import base64
import json
from typing import Any

import pytest

from olm_runtime.registry.pull_secrets import ObjectName, own_service_account, registry_auths


def secret(key: str, content: Any) -> dict[str, Any]:
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return {"data": {key: base64.b64encode(text).decode()}}


@pytest.mark.parametrize(
    ("given", "auths"),
    [
        (
            secret(".dockerconfigjson", {"auths": {"r": {"auth": "x", "email": "e", "no": 1}}}),
            {"r": {"auth": "x", "email": "e"}},
        ),
        (secret(".dockercfg", {"r": {"auth": "x"}}), {"r": {"auth": "x"}}),
        (secret(".dockercfg", {"r": {"identitytoken": "x"}}), {"r": {"identitytoken": "x"}}),
        (secret(".dockerconfigjson", {"credsStore": "x", "credHelpers": {"r": "x"}}), {}),
        (secret(".dockerconfigjson", b"junk"), {}),
        (secret(".dockerconfigjson", []), {}),
        (secret(".dockercfg", {"r": "text"}), {}),
        (secret("other", {}), {}),
        ({}, {}),
    ],
)
def test_a_secret_gives_what_can_be_read(given: dict[str, Any], auths: dict[str, Any]) -> None:
    assert registry_auths(given) == auths


def token(sub: str) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"sub": sub}).encode()).decode().rstrip("=")
    return f"header.{claims}.signature"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (token("system:serviceaccount:ns:name"), ObjectName("ns", "name")),
        (token("someone"), None),
        (token("a:b:c:d"), None),
        ("junk", None),
        ("a.b.c", None),
    ],
)
def test_the_token_says_whose_it_is(text: str, found: ObjectName | None) -> None:
    assert own_service_account(text) == found
