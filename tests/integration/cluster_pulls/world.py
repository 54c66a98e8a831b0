"""A cluster to which OpenShift's kinds come and go, and what a test makes in it."""

import asyncio
import json
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from api.objects import KubeObject, condition, is_true
from e2e.harness.controlplane import wait_until
from e2e.harness.images import catalog_image
from e2e.harness.push import Published
from e2e.harness.registry import Registry
from e2e.olm.api import PATIENCE_SECONDS, Api, catalog_path
from e2e.olm.manifests import catalog, namespace
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm
from olm_runtime.clocks import utc_now

DEFINITIONS = Path(__file__).with_name("definitions.yaml")
CONTENT = {"foo/index.yaml": b"schema: olm.package\nname: foo\n"}
CONFIG, OPERATOR = "config.openshift.io", "operator.openshift.io"
KINDS = {
    "ImageDigestMirrorSet": (CONFIG, "v1", "imagedigestmirrorsets", "imageDigestMirrors"),
    "ImageTagMirrorSet": (CONFIG, "v1", "imagetagmirrorsets", "imageTagMirrors"),
    "ImageContentSourcePolicy": (
        OPERATOR,
        "v1alpha1",
        "imagecontentsourcepolicies",
        "repositoryDigestMirrors",
    ),
}


async def eventually(holds: Callable[[], bool]) -> None:
    """Waits until something is so. Raises TimeoutError."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            if holds():
                return
            await asyncio.sleep(0.05)


def names_none(apis: KubeObject | None) -> bool:
    """Whether a list of API groups has none of these kinds'."""
    groups = (apis or {}).get("groups") or ()
    return not {CONFIG, OPERATOR} & {group["name"] for group in groups}


class World:
    """What a test makes in the cluster, and takes away at its end."""

    def __init__(self, olm: Olm, api: Api, registry: Registry) -> None:
        self.olm = olm
        self.api = api
        self.registry = registry
        self.name = f"t-{secrets.token_hex(4)}"
        self.source = f"{self.name}.invalid"
        """A registry that does not exist."""
        self.mirror = f"{registry.address}/copies"
        """Where copies of what it had are."""
        self._made: list[str] = []

    def serve_kinds(self) -> None:
        """Has the API server serve OpenShift's kinds."""
        self.olm.control_plane.apply(DEFINITIONS)

    def withdraw_kinds(self) -> None:
        """Has it serve them no more, nor name them."""
        self.olm.control_plane.delete(DEFINITIONS)
        self.api.wait("/apis", names_none, what="the groups are not named any more")

    def apply(self, path: str, manifests: str | KubeObject) -> None:
        """Creates or changes objects; the one at the path is deleted again."""
        self._made.append(path)
        text = manifests if isinstance(manifests, str) else json.dumps(manifests)
        self.olm.control_plane.apply(text)

    def apply_catalog(self, reference: str) -> None:
        """Creates the test's ClusterCatalog."""
        self.apply(catalog_path(self.name), catalog(self.name, reference))

    def wait_serving(self) -> None:
        """Until the catalog serves what its reference says."""
        self.api.wait_condition(catalog_path(self.name), "Serving", "True")

    def wait_retrying(self, text: str) -> None:
        """Until it says that it cannot be pulled, and this."""
        path = catalog_path(self.name)
        self.api.wait_condition(path, "Progressing", "True", message=text)

    def wait_refused(self, reference: str, text: str) -> None:
        """Until the test's ClusterCatalog cannot be pulled, and says this.

        It is made anew where it could: catalogd hears of what forbids it by other watches.
        """

        def is_refused() -> bool:
            found = self.api.get(catalog_path(self.name)) or {}
            if is_true(found, "Serving"):
                self.delete_catalog()
                self.apply_catalog(reference)
            return text in (condition(found, "Progressing") or {}).get("message", "")

        self.apply_catalog(reference)
        wait_until(is_refused, what=text)

    def publish(self, registry: Registry | None = None) -> Published:
        """A catalog in a registry that exists, as `copies/NAME:v1`."""
        home = registry or self.registry
        return home.push(catalog_image(CONTENT), f"copies/{self.name}", tag="v1")

    def delete_catalog(self) -> None:
        """Deletes the test's ClusterCatalog, to begin anew."""
        self.api.delete(catalog_path(self.name))
        self.api.wait_gone(catalog_path(self.name))

    def mirrors(self, kind: str, *mirrors: str, source: str = "", policy: str = "") -> None:
        """Applies an object of a kind with one source."""
        group, version, _, field = KINDS[kind]
        given = {"mirrorSourcePolicy": policy} if policy else {}
        entry = {"source": source or self.source, "mirrors": list(mirrors), **given}
        obj: dict[str, Any] = {
            "apiVersion": f"{group}/{version}",
            "kind": kind,
            "metadata": {"name": self.name},
            "spec": {field: [entry]},
        }
        self.apply(self._path(kind), obj)

    def inject(self, where: str, *, name: str = "", labelled: bool = True, pem: str) -> None:
        """A ConfigMap with CAs, as OpenShift fills it in."""
        meta: dict[str, Any] = {"name": name or self.name, "namespace": where}
        if labelled:
            meta["labels"] = {"config.openshift.io/inject-trusted-cabundle": "true"}
        data = {"ca-bundle.crt": f"# Főtanúsítvány\n{pem}"}
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}
        self.apply(f"/api/v1/namespaces/{where}/configmaps/{meta['name']}", obj)

    def registry_ca(self) -> str:
        """The CA of the registry."""
        assert self.registry.ca_file is not None
        return self.registry.ca_file.read_text()

    def make_namespace(self, name: str) -> None:
        """A namespace, if there is none of that name."""
        self.olm.control_plane.apply(namespace(name))

    def proxy(self, *, trusted_ca: str = "", **status: str) -> None:
        """Has the cluster's proxy say this."""
        spec = {"trustedCA": {"name": trusted_ca}}
        meta = {"name": "cluster"}
        obj = {"apiVersion": f"{CONFIG}/v1", "kind": "Proxy", "metadata": meta, "spec": spec}
        path = f"/apis/{CONFIG}/v1/proxies/cluster"
        self.apply(path, obj)
        self.api.replace(f"{path}/status", {**(self.api.get(path) or {}), "status": status})

    def remove(self, kind: str) -> None:
        """Deletes it again."""
        self.api.delete(self._path(kind))

    def hold_lease(self, name: str) -> None:
        """Has somebody lead who is not there, for as long as a test may take."""
        now = f"{utc_now():%Y-%m-%dT%H:%M:%S.%fZ}"
        spec = {"holderIdentity": "nobody", "leaseDurationSeconds": 3600, "renewTime": now}
        meta = {"name": name, "namespace": SYSTEM_NAMESPACE}
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta}
        self.olm.control_plane.apply(json.dumps(lease | {"spec": spec}))

    def let_read(self, account: str) -> None:
        """Lets an account of the namespace `default` read the kinds, as catalogd may."""
        self.bind("catalogd-manager-role", account)

    def bind(self, role: str, account: str, namespace: str = "") -> str:
        """Gives an account of the namespace `default` a role, there or everywhere; its path."""
        group = "rbac.authorization.k8s.io"
        kind = "RoleBinding" if namespace else "ClusterRoleBinding"
        obj = {
            "apiVersion": f"{group}/v1",
            "kind": kind,
            "metadata": {"name": self.name, **({"namespace": namespace} if namespace else {})},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": account}],
        }
        where = f"namespaces/{namespace}/" if namespace else ""
        path = f"/apis/{group}/v1/{where}{kind.lower()}s/{self.name}"
        self.apply(path, obj)
        return path

    def _path(self, kind: str) -> str:
        group, version, plural, _ = KINDS[kind]
        return f"/apis/{group}/{version}/{plural}/{self.name}"

    def close(self) -> None:
        """Deletes everything."""
        for path in reversed(self._made):
            self.olm.control_plane.remove(path)
            self.api.wait_gone(path)
