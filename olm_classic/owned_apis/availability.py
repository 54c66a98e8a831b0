"""What the API server says of the API services of operators. Pure."""

from api.objects import KubeObject, condition

REFUSED = ("FailedDiscoveryCheck", "bad status from")
"""Reason and words of the condition where the operator answers, but serves no such API."""


def refusal(api_service: KubeObject | None) -> str:
    """Why an API is not served by an operator that runs; empty where it is, or may be soon."""
    found = condition(api_service or {}, "Available")
    if found is None or found["status"] != "False" or found["reason"] != REFUSED[0]:
        return ""
    message = str(found.get("message") or "")
    return message if REFUSED[1] in message else ""
