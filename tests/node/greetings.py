"""What users of the greeter do and see."""

import json

from e2e.harness.controlplane import wait_until
from e2e.node.cluster import Node
from e2e.olm.api import Api

GREETINGS = "greetings.greeter.example.com"


def greeting(called: str, **spec: str) -> dict[str, object]:
    """A Greeting."""
    return {
        "apiVersion": "greeter.example.com/v1",
        "kind": "Greeting",
        "metadata": {"name": called, "namespace": "default"},
        "spec": spec,
    }


def greet(node: Node, called: str, /, **spec: str) -> None:
    """Applies a Greeting. Errors: CommandFailed with what a webhook said."""
    node.kubectl("apply", "-f", "-", stdin=json.dumps(greeting(called, **spec)))


def config_map(name: str) -> str:
    """Where the operator writes what it says."""
    return f"/api/v1/namespaces/default/configmaps/{name}"


def said(api: Api, name: str) -> str:
    """What it said; empty for nothing yet."""
    found = api.get(config_map(name))
    return found["data"]["text"] if found else ""


def wait_said(api: Api, name: str, text: str) -> None:
    """Waits until it says that."""
    wait_until(lambda: said(api, name) == text, what=f"{name}: {text}")
