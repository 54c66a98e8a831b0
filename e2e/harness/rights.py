"""Waits for rights to be in force: the API server's authorizer hears of bindings by watches."""

import time
from typing import Any

import httpx

RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
PATIENCE_SECONDS, POLL_SECONDS = 120.0, 0.02


def wait_granted(client: httpx.Client, binding: dict[str, Any]) -> None:
    """Waits until a RoleBinding or ClusterRoleBinding counts, by the first right that it gives.

    One without subjects, or to a role that is not there or gives nothing, is not waited for.
    Errors: TimeoutError.
    """
    asked = _first_right(client, binding)
    if asked is not None:
        _wait(client, asked, allowed=True)


def wait_revoked(client: httpx.Client, user: str, **right: str) -> None:
    """Waits until a user no longer has a right: what a SubjectAccessReview's `resourceAttributes`
    have.

    Errors: TimeoutError.
    """
    _wait(client, {"user": user, "resourceAttributes": right}, allowed=False)


def _wait(client: httpx.Client, asked: dict[str, Any], *, allowed: bool) -> None:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": asked,
    }
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        answer = client.post(REVIEWS, json=review).raise_for_status().json()
        if bool(answer["status"]["allowed"]) is allowed:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"allowed is not {allowed} after {PATIENCE_SECONDS:.0f} s: {asked}")
        time.sleep(POLL_SECONDS)


def _first_right(client: httpx.Client, binding: dict[str, Any]) -> dict[str, Any] | None:
    space = binding["metadata"].get("namespace", "")
    reference, subjects = binding["roleRef"], binding.get("subjects")
    if not subjects:
        return None
    inside = f"/namespaces/{space}/roles" if reference["kind"] == "Role" else "/clusterroles"
    found = client.get(f"{RBAC}{inside}/{reference['name']}")
    if found.status_code == httpx.codes.NOT_FOUND:
        return None
    rules = found.raise_for_status().json().get("rules") or ()
    rule = next((each for each in rules if each.get("resources")), None)
    if rule is None:
        return None
    return {**_who(subjects[0], space), "resourceAttributes": _what(rule) | {"namespace": space}}


def _who(subject: dict[str, Any], space: str) -> dict[str, Any]:
    name = subject["name"]
    if subject["kind"] == "Group":
        return {"user": "anyone", "groups": [name]}
    if subject["kind"] == "ServiceAccount":
        return {"user": f"system:serviceaccount:{subject.get('namespace', space)}:{name}"}
    return {"user": name}


def _what(rule: dict[str, Any]) -> dict[str, str]:
    resource, _, part = rule["resources"][0].partition("/")
    return {
        "verb": rule["verbs"][0],
        "group": rule["apiGroups"][0],
        "resource": resource,
        "subresource": part,
        "name": next(iter(rule.get("resourceNames") or ("",))),
    }
