"""The client of tests asks a kube-apiserver again that reads a changed definition."""

import httpx

from e2e.harness.client import KubeClient


def test_a_request_that_is_asked_to_come_again_does() -> None:
    answers = [httpx.Response(429), httpx.Response(429), httpx.Response(200, json={"items": []})]
    transport = httpx.MockTransport(lambda _: answers.pop(0))
    with KubeClient(base_url="https://kubernetes", transport=transport) as client:
        assert client.patch("/apis/a/v1/things/one", json={}).json() == {"items": []}
    assert not answers
