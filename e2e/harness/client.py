"""The tests' own HTTP clients: of a kube-apiserver, and of what speaks plain HTTP."""

import time
from typing import Any

import httpx

PATIENCE_SECONDS = 60.0
"""In which an answer comes, whatever else the machine does."""
POLL_SECONDS = 0.05
"""What the server says to wait, a second, is for clients who are many."""


class KubeClient(httpx.Client):
    """Asks again when it is asked to, as clients of Kubernetes do.

    An API server that reads a changed definition answers 429 for each of its objects.
    """

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """The answer; 429 only if it is that for long. Errors: httpx.HTTPError."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = super().send(request, **options)
            if answer.status_code != httpx.codes.TOO_MANY_REQUESTS or time.monotonic() > deadline:
                return answer
            answer.close()
            time.sleep(POLL_SECONDS)


def plain_client(*, timeout: float = PATIENCE_SECONDS) -> httpx.Client:
    """A client for plain HTTP: without the trusted roots, which take 25 ms of a processor."""
    return httpx.Client(timeout=timeout, verify=False, trust_env=False)
