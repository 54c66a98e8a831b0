"""How healthy GitOps tools take our objects to be, in every state that they have.

The objects are read from the API server, or are its answers to writes that nobody has seen yet; the
verdicts are by the tools' own evaluation of what docs/how-to/gitops.md has users configure.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from api.objects import KubeObject, condition
from api.olm.v1.names import ANNOTATION_SUSPEND
from e2e.harness.images import build_image
from e2e.harness.registry import Registry
from e2e.olm.api import OLM, Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.gitops import Health
from e2e.olm.manifests import installer, namespace
from e2e.olm.programs import Olm
from tests.integration.health import CURRENT, ENDING, FAILED, IN_PROGRESS, SUSPENDED, judged

pytestmark = pytest.mark.integration

MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}


class Idle(BundleSpec):
    """A bundle whose operator is available without a pod."""

    def _csv(self) -> dict[str, Any]:
        csv = super()._csv()
        csv["spec"]["install"]["spec"]["deployments"][0]["spec"]["replicas"] = 0
        return csv


@dataclass
class Observer:
    """Gathers states of objects, and has all of them judged at once."""

    api: Api
    olm: Olm
    seen: list[tuple[str, KubeObject, Health]] = field(default_factory=list)

    def note(self, state: str, obj: KubeObject | None, expected: Health) -> None:
        assert obj is not None, state
        self.seen.append((state, obj, expected))

    def wait(self, path: str, state: str, reason: str, expected: Health, **others: str) -> None:
        """Notes an object once Progressing has a reason, and `others` have a status."""

        def holds(obj: KubeObject | None) -> bool:
            found = {kind: (condition(obj or {}, kind) or {}) for kind in ("Progressing", *others)}
            progressing = found["Progressing"]
            return (
                progressing.get("reason") == reason
                and progressing["observedGeneration"] == (obj or {})["metadata"]["generation"]
                and all(found[kind].get("status") == status for kind, status in others.items())
            )

        self.note(state, self.api.wait(path, holds, what=f"{state}: {reason}"), expected)

    def unseen(self, method: str, path: str, body: KubeObject, state: str) -> None:
        """Notes the answer to a write, which no controller has acted on."""
        headers = MERGE_PATCH if method == "PATCH" else {}
        with self.olm.control_plane.client() as client:
            answer = client.request(method, path, json=body, headers=headers)
        self.note(state, answer.raise_for_status().json(), IN_PROGRESS)

    def judge(self) -> None:
        found = judged([obj for _, obj, _ in self.seen])
        states = [state for state, _, _ in self.seen]
        expected = [health for _, _, health in self.seen]
        assert dict(zip(states, found, strict=True)) == dict(zip(states, expected, strict=True))


@pytest.fixture
def observer(api: Api, olm: Olm) -> Observer:
    return Observer(api, olm)


@pytest.fixture
def leftovers(olm: Olm) -> Iterator[list[str]]:
    """The API paths of objects that are deleted after the test."""
    found: list[str] = []
    yield found
    for path in found:
        olm.control_plane.remove(path)


def extension(name: str, version: str) -> KubeObject:
    return {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": name},
        "spec": {
            "namespace": name,
            "serviceAccount": {"name": "installer"},
            "source": {
                "sourceType": "Catalog",
                "catalog": {"packageName": name, "version": version},
            },
        },
    }


def asking_for(version: str) -> dict[str, Any]:
    return {"spec": {"source": {"catalog": {"version": version}}}}


def test_extensions_and_their_object_sets(
    observer: Observer,
    olm: Olm,
    api: Api,
    package: str,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
    leftovers: list[str],
) -> None:
    path, sets = extension_path(package), f"{OLM}/clusterobjectsets/{package}-"
    old = BundleSpec(package=package, version="1.0.0")
    serve_catalog(package, publish_catalog(old, Idle(package=package, version="1.1.0")))
    leftovers.append(path)
    observer.unseen(
        "POST", f"{OLM}/clusterextensions", extension(package, "1.0.0"), "extension, created"
    )
    observer.wait(path, "extension without a namespace", "Retrying", IN_PROGRESS)
    account = "---".join((namespace(package), installer(package)))
    olm.control_plane.apply(account)
    observer.wait(path, "extension, no pod", "Succeeded", IN_PROGRESS, Available="False")
    observer.wait(f"{sets}1", "object set, no pod", "Succeeded", IN_PROGRESS, Available="False")
    observer.unseen("PATCH", path, asking_for("1.1.0"), "extension, changed")
    observer.wait(path, "extension, updated", "Succeeded", CURRENT, Available="True")
    observer.wait(f"{sets}2", "object set, rolled out", "Succeeded", CURRENT, Available="True")
    observer.wait(f"{sets}1", "object set, archived", "Archived", CURRENT)

    config = {"configType": "Inline", "inline": {"unknown": "key"}}
    api.patch(path, {"spec": {"config": config}})
    observer.wait(path, "extension, wrong configuration", "InvalidConfiguration", FAILED)
    api.patch(path, {"spec": {"config": None, "serviceAccount": None}})
    observer.wait(path, "extension without an account", "Blocked", FAILED)
    account_again = {"serviceAccount": {"name": "installer"}}
    api.patch(path, {"spec": account_again | asking_for("9.x")["spec"]})
    observer.wait(path, "extension, no such version", "Retrying", IN_PROGRESS, Installed="True")
    api.patch(path, {"metadata": {"annotations": {ANNOTATION_SUSPEND: "true"}}})
    observer.wait(path, "extension, suspended", "Suspended", SUSPENDED)
    observer.wait(f"{sets}2", "object set, suspended", "Suspended", SUSPENDED)
    notes = {"annotations": {ANNOTATION_SUSPEND: None}, "finalizers": ["example.com/held"]}
    api.patch(path, {"metadata": notes})
    api.delete(path)
    observer.note("extension, deleted", api.get(path), ENDING)
    api.patch(path, {"metadata": {"finalizers": None}})
    observer.judge()


def test_catalogs(
    observer: Observer,
    api: Api,
    package: str,
    registry: Registry,
    publish_catalog: Callable[..., str],
    leftovers: list[str],
) -> None:
    path, reference = catalog_path(package), f"{registry.address}/catalogs/{package}"
    leftovers.append(catalog_path(package))
    wanted = {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterCatalog",
        "metadata": {"name": package},
        "spec": {"source": {"type": "Image", "image": {"ref": f"{reference}:none"}}},
    }
    observer.unseen("POST", f"{OLM}/clustercatalogs", wanted, "catalog, created")
    observer.wait(path, "catalog without an image", "Retrying", IN_PROGRESS)
    image = publish_catalog(BundleSpec(package=package, version="1.0.0"))
    observer.unseen("PATCH", path, of_image(image), "catalog, changed")
    observer.wait(path, "catalog, served", "Succeeded", CURRENT, Serving="True")
    api.patch(path, of_image(f"{reference}:none"))
    observer.wait(path, "catalog, old content", "Retrying", IN_PROGRESS, Serving="True")
    api.patch(path, {"spec": {"availabilityMode": "Unavailable"}})
    observer.wait(path, "catalog, disabled", "Succeeded", SUSPENDED, Serving="False")
    no_catalog = registry.push(build_image([{"a": b"b"}]), f"catalogs/{package}").reference
    api.patch(path, {"spec": {"availabilityMode": "Available"} | of_image(no_catalog)["spec"]})
    observer.wait(path, "catalog of a wrong image", "Blocked", FAILED)
    observer.judge()


def of_image(reference: str) -> dict[str, Any]:
    return {"spec": {"source": {"image": {"ref": reference}}}}
