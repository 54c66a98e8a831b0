"""What the console shows on its pictures: a catalog with many packages, and operators of both OLMs.

All is made here or brought about by our programs; what a node would do is written by hand.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from e2e.demo.bundles import own, publish
from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.fbc import PublishedBundle, catalog_files, package_blobs
from e2e.olm.graph_server import GraphServer
from e2e.olm.manifests import catalog, extension
from e2e.olm.programs import CONFIG, DEFINITIONS
from olm_runtime.clocks import utc_now

SECONDS = 90.0
OLD, NEW = "4.20.3", "4.20.5"
RISKY = "4.20.6"
CLASSIC = "operators.coreos.com"
OPENSHIFT = "config.openshift.io"
OF_RELEASE = {"include.release.openshift.io/self-managed-high-availability": "true"}
_PACKAGES = (
    ("amber-postgres", "Amber Postgres", "Database", "Amber Data", "Deep Insights", "#b45309"),
    ("birch-cache", "Birch Cache", "Database", "Birch Labs", "Full Lifecycle", "#15803d"),
    ("cobalt-metrics", "Cobalt Metrics", "Monitoring", "Cobalt", "Auto Pilot", "#1d4ed8"),
    ("delta-mesh", "Delta Mesh", "Networking", "Delta Networks", "Seamless Upgrades", "#7c3aed"),
    ("ember-queue", "Ember Queue", "Streaming & Messaging", "Ember", "Full Lifecycle", "#be123c"),
    ("fjord-backup", "Fjord Backup", "Storage", "Fjord Systems", "Seamless Upgrades", "#0e7490"),
    ("garnet-vault", "Garnet Vault", "Security", "Garnet", "Deep Insights", "#9f1239"),
    ("harbor-ci", "Harbor Pipelines", "Developer Tools", "Harbor", "Basic Install", "#475569"),
)  # fmt: skip
_SAYS = {
    "Database": "Runs databases: makes, backs up, restores and updates them.",
    "Monitoring": "Collects figures of what runs in a cluster, and tells when they are bad.",
    "Networking": "Encrypts and routes what services say to each other.",
    "Streaming & Messaging": "Runs queues and topics for services that must not wait.",
    "Storage": "Copies volumes to object storage, and brings them back.",
    "Security": "Keeps secrets and certificates, and changes them in time.",
    "Developer Tools": "Builds and ships from a repository.",
}


def publish_all(registry: Registry) -> None:
    """Two catalogs, and the bundles of the one package that can be installed."""
    made = [publish(registry, own()), *(list(_made_up(each)) for each in _PACKAGES)]
    files = catalog_files(_with_icon(package_blobs(each)) for each in made)
    registry.push(catalog_image(files), "demo/catalog", tag="latest")
    partner = catalog_files([package_blobs(_made_up(_PACKAGES[0]))])
    registry.push(catalog_image(partner), "demo/partner", tag="latest")


def _made_up(about: tuple[str, ...]) -> Iterator[PublishedBundle]:
    package, title, category, provider, level, _ = about
    for version in ("1.0.0", "1.1.0", "2.0.0"):
        metadata = {
            "displayName": title,
            "description": _SAYS[category],
            "provider": {"name": provider},
            "annotations": {
                "categories": category,
                "capabilities": level,
                "description": _SAYS[category],
            },
            "installModes": [{"type": "AllNamespaces", "supported": True}],
        }
        image = f"registry.example.com/{package}@sha256:{'0' * 64}"
        yield PublishedBundle(package, f"{package}.v{version}", version, image, metadata)


def _with_icon(blobs: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    about, *rest = blobs
    colours = {each[0]: each[5] for each in _PACKAGES}
    letter, colour = about["name"][0].upper(), colours.get(about["name"], "#0066cc")
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40"'
        f' rx="8" fill="{colour}"/><text x="20" y="28" font-size="22" font-family="sans-serif"'
        f' text-anchor="middle" fill="#fff">{letter}</text></svg>'
    )
    data = base64.b64encode(svg.encode()).decode()
    icon = {"base64data": data, "mediatype": "image/svg+xml"}
    return [{**about, "icon": icon}, *(_with_api(each) for each in rest)]


def _with_api(blob: Mapping[str, Any]) -> Mapping[str, Any]:
    """What opm would find in the bundle of the one operator that has one."""
    if blob["schema"] != "olm.bundle" or blob["package"] != "hello-operator":
        return blob
    kind = {"group": "hello.example.com", "version": "v1alpha1", "kind": "Greeting"}
    return {**blob, "properties": [*blob["properties"], {"type": "olm.gvk", "value": kind}]}


def add_catalogs(control_plane: ControlPlane, registry: Registry, api: Api) -> None:
    """One that has all, one that has something newer, one whose image is not there."""
    images = {"community": "demo/catalog", "partner": "demo/partner", "team": "demo/nothing"}
    for name, image in images.items():
        control_plane.apply(catalog(name, f"{registry.address}/{image}:latest"))
    for name in ("community", "partner"):
        api.wait_condition(catalog_path(name), "Serving", "True", timeout=SECONDS)


def hinder(control_plane: ControlPlane, api: Api) -> None:
    """An extension that asks for what no catalog has."""
    control_plane.apply(extension("birch-cache", "3.x", namespace="cache", catalog="community"))
    api.wait_condition(extension_path("birch-cache"), "Progressing", "True", timeout=SECONDS)


def run_pods(control_plane: ControlPlane, api: Api, namespace: str) -> None:
    """What a kubelet would say of the pods of a namespace."""
    for pod in api.list(f"/api/v1/namespaces/{namespace}/pods"):
        now = utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": now}
        status = {"phase": "Running", "conditions": [ready]}
        _patch_status(control_plane, f"pod/{pod['metadata']['name']}", status, "-n", namespace)


def add_classic(control_plane: ControlPlane) -> None:
    """A team's namespace: an operator that runs, and an update that waits for somebody."""
    kinds = ("catalogsources", "operatorgroups", "subscriptions", "installplans",
             "clusterserviceversions")  # fmt: skip
    _define(control_plane, "classic", CLASSIC, kinds)
    control_plane.kubectl("create", "namespace", "team-a")
    make = _Maker(control_plane, f"{CLASSIC}/v1alpha1", "team-a")
    source = {"sourceType": "grpc", "address": "catalog.team-a.svc:50051",
              "displayName": "Team catalog", "publisher": "Team A"}  # fmt: skip
    make("CatalogSource", "team", source,
         {"connectionState": {"lastObservedState": "READY", "address": source["address"],
                              "lastConnect": "2026-01-01T08:00:00Z"}})  # fmt: skip
    group = _Maker(control_plane, f"{CLASSIC}/v1", "team-a")
    group("OperatorGroup", "team", {"targetNamespaces": ["team-a"]},
          {"namespaces": ["team-a"], "lastUpdated": "2026-01-01T00:00:00Z"})  # fmt: skip
    make("Subscription", "ember-queue",
         {"name": "ember-queue", "channel": "stable", "source": "team",
          "sourceNamespace": "team-a", "installPlanApproval": "Manual"},
         {"installedCSV": "ember-queue.v1.1.0", "currentCSV": "ember-queue.v2.0.0",
          "state": "UpgradePending", "lastUpdated": "2026-01-01T00:00:00Z",
          "installPlanRef": {"name": "install-x7k2q", "namespace": "team-a"}})  # fmt: skip
    make("ClusterServiceVersion", "ember-queue.v1.1.0",
         {"displayName": "Ember Queue", "version": "1.1.0",
          "install": {"strategy": "deployment", "spec": {"deployments": []}}},
         {"phase": "Succeeded", "reason": "InstallSucceeded",
          "message": "install strategy completed with no errors"})  # fmt: skip
    steps = [
        {"resolving": "ember-queue.v2.0.0", "status": "Unknown",
         "resource": {"group": group_, "version": version, "kind": kind, "name": name,
                      "sourceName": "team", "sourceNamespace": "team-a", "manifest": "{}"}}
        for group_, version, kind, name in (
            (CLASSIC, "v1alpha1", "ClusterServiceVersion", "ember-queue.v2.0.0"),
            ("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "queues.ember.example.com"),
            ("", "v1", "ServiceAccount", "ember-queue"),
            ("rbac.authorization.k8s.io", "v1", "ClusterRole", "ember-queue.v2.0.0-7d9f"),
            ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "ember-queue.v2.0.0-7d9f"),
        )
    ]  # fmt: skip
    make("InstallPlan", "install-x7k2q",
         {"approval": "Manual", "approved": False,
          "clusterServiceVersionNames": ["ember-queue.v2.0.0"]},
         {"phase": "RequiresApproval", "catalogSources": [], "plan": steps})  # fmt: skip


def add_cluster_version(control_plane: ControlPlane, updates: GraphServer) -> None:
    """A cluster that has updates, one of them with a risk."""
    _define(control_plane, "cluster-version", OPENSHIFT, ("clusterversions", "clusteroperators"))
    releases = {name: _release(name) for name in ("4.20.2", OLD, NEW, RISKY)}
    risk = {"name": "SlowDisks", "url": "https://docs.example.com/slow-disks",
            "message": "Nodes with slow disks may take an hour to come back.",
            "matchingRules": [{"type": "Always"}]}  # fmt: skip
    nodes = [{"version": name, "payload": each["image"]} for name, each in releases.items()]
    edge = {"from": OLD, "to": RISKY}
    updates.graph = {
        "nodes": nodes,
        "edges": [[0, 1], [0, 2], [1, 2], [2, 3]],
        "conditionalEdges": [{"edges": [edge], "risks": [risk]}],
    }  # fmt: skip
    make = _Maker(control_plane, f"{OPENSHIFT}/v1", "")
    begun, ended = "2026-01-01T08:00:00Z", "2026-01-01T08:41:00Z"
    run = {"state": "Completed", "verified": True, "startedTime": begun, "completionTime": ended}
    conditions = [
        {"type": kind, "status": status, "lastTransitionTime": ended, "reason": "AsExpected",
         "message": message}
        for kind, status, message in (
            ("Available", "True", f"Done applying {OLD}"),
            ("Failing", "False", ""),
            ("Progressing", "False", f"Cluster version is {OLD}"),
            ("RetrievedUpdates", "True", ""),
        )
    ]  # fmt: skip
    against = {"type": "Recommended", "status": "False", "reason": "SlowDisks",
               "message": risk["message"], "lastTransitionTime": ended}  # fmt: skip
    make("ClusterVersion", "version",
         {"clusterID": "00000000-0000-4000-8000-000000000000", "channel": "stable-4.20",
          "upstream": f"{updates.address}/graph"},
         {"desired": {**releases[OLD], "channels": ["stable-4.20", "fast-4.20", "candidate-4.20"]},
          "history": [releases[OLD] | run, releases["4.20.2"] | run],
          "observedGeneration": 1, "versionHash": "", "availableUpdates": [releases[NEW]],
          "conditionalUpdates": [{"release": releases[RISKY], "risks": [risk],
                                  "conditions": [against]}],
          "conditions": conditions})  # fmt: skip
    for name in ("authentication", "dns", "ingress", "network", "storage"):
        make("ClusterOperator", name, {},
             {"versions": [{"name": "operator", "version": OLD}],
              "conditions": [{"type": kind, "status": status, "lastTransitionTime": ended}
                             for kind, status in (("Available", "True"), ("Degraded", "False"),
                                                  ("Progressing", "False"))]})  # fmt: skip


def _release(version: str) -> dict[str, str]:
    digest = version.replace(".", "").ljust(64, "0")
    return {"version": version, "image": f"registry.example.com/release@sha256:{digest}"}


class _Maker:
    """Creates objects with their status."""

    def __init__(self, control_plane: ControlPlane, api_version: str, namespace: str) -> None:
        self._control_plane = control_plane
        self._api_version = api_version
        self._namespace = namespace

    def __call__(self, kind: str, name: str, spec: dict[str, Any], status: dict[str, Any]) -> None:
        where = {"namespace": self._namespace} if self._namespace else {}
        metadata = {"name": name, "annotations": OF_RELEASE, **where}
        obj = {"apiVersion": self._api_version, "kind": kind, "spec": spec, "metadata": metadata}
        self._control_plane.kubectl("create", "-f", "-", stdin=json.dumps(obj))
        options = ("-n", self._namespace) if self._namespace else ()
        _patch_status(self._control_plane, f"{kind.lower()}/{name}", status, *options)


def _patch_status(control_plane: ControlPlane, what: str, status: Any, *options: str) -> None:
    patch = json.dumps({"status": status})
    control_plane.kubectl(
        "patch", what, *options, "--subresource=status", "--type=merge", "-p", patch
    )


def _define(control_plane: ControlPlane, folder: str, group: str, kinds: tuple[str, ...]) -> None:
    files = [CONFIG / "crd" / folder / f"{group}_{each}.yaml" for each in kinds]
    control_plane.apply("\n---\n".join(each.read_text() for each in files))
    with Api(control_plane) as api:
        for each in kinds:
            api.wait_condition(f"{DEFINITIONS}/{each}.{group}", "Established", "True")
