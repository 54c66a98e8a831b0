"""Install and update a real operator on an embedded control plane, and show it.

DEMO_BUNDLES=FOLDER[:FOLDER] adds packages, as PACKAGE/VERSION bundle folders.
"""

import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from e2e.demo.bundles import Versions, own, publish, real
from e2e.demo.environment import Environment
from e2e.demo.steps import DemoSteps, run_demo
from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path, conditions_text, extension_path
from e2e.olm.fbc import PublishedBundle, catalog_files, package_blobs
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import CONFIG, Olm

SAMPLE = CONFIG / "samples" / "hello-operator.yaml"
SAMPLE_REGISTRY = "registry.example.com"
INSTALL_SECONDS = 60.0
PREVIEW_BYTES = 400
BACK = "--version 0.1.0 --upgrade-constraint-policy SelfCertified --crd-upgrade-safety None"
"""What brings hello back to its first version: neither graph nor definition allow for it."""


class Demo(DemoSteps):
    """Our programs as processes next to a control plane and a registry."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        super().__init__(folder, stack)
        self.control_plane = ControlPlane(folder / "control-plane")
        self.registry = Registry(folder / "registry")
        self.olm = Olm(folder / "olm", self.control_plane, self.registry)

    def run(self) -> None:
        """All steps, in order."""
        self.start()
        real_ones = real()
        published = self.publish([own(), *real_ones])
        with Api(self.control_plane) as api:
            self.install_hello(api)
            self.overview(api)
            self.update_hello(api)
            for versions in real_ones:
                self.install_real(api, versions, published[versions.package])
        self.show("get", "clustercatalog,clusterextension")

    def start(self) -> None:
        """Control plane, registry, both programs."""
        self.stack.enter_context(self.control_plane)
        self.say(f"control plane: {self.control_plane.url}")
        self.stack.enter_context(self.registry)
        self.say(f"registry: {self.registry.url}")
        self.stack.enter_context(self.olm)
        self.say(f"catalogd: {self.olm.catalogs_url}; operator-controller: running")

    def publish(self, packages: list[Versions]) -> dict[str, list[PublishedBundle]]:
        """Bundle images, and a catalog image that names them."""
        published = {p.package: publish(self.registry, p) for p in packages}
        image = catalog_image(catalog_files(package_blobs(b) for b in published.values()))
        self.registry.push(image, "demo/catalog", tag="latest")
        count = sum(map(len, published.values()))
        self.say(f"pushed {count} bundles of {len(packages)} packages and a catalog")
        return published

    def install_hello(self, api: Api) -> None:
        """The sample, as an administrator would apply it."""
        text = SAMPLE.read_text().replace(SAMPLE_REGISTRY, self.registry.address)
        sample = self.folder / SAMPLE.name
        sample.write_text(text)
        print(f"\n$ kubectl apply -f {sample}")
        print(self.control_plane.kubectl("apply", "-f", str(sample)), flush=True)
        api.wait_condition(catalog_path("demo"), "Serving", "True", timeout=INSTALL_SECONDS)
        self.say("catalog: Serving")
        api.wait_installed("hello", "0.1.0", timeout=INSTALL_SECONDS)
        self.say("extension hello: 0.1.0 Installed")

    def overview(self, api: Api) -> None:
        """Prints what a user reads first."""
        self.show("get", "clustercatalog,clusterextension")
        no_pods = api.wait_condition(extension_path("hello"), "Available", "False")
        print(conditions_text(no_pods))
        print(NO_NODE)
        self.show_objects()
        self.curl("/catalogs/demo/api/v1/metas?schema=olm.channel&package=hello-operator")
        self.curl("/catalogs/demo/api/v1/all")

    def show_objects(self) -> None:
        """All objects of the extension, by its labels."""
        kinds = "deployments,serviceaccounts,configmaps,services,clusterroles,crds"
        self.show(
            "get", kinds, "--all-namespaces", "-l",
            "olm.operatorframework.io/owner-kind=ClusterExtension,"
            "olm.operatorframework.io/owner-name=hello", "-o", "name",
        )  # fmt: skip

    def curl(self, path: str) -> None:
        """What catalogd answers to a plain HTTPS request."""
        url = f"{self.olm.catalogs_url}{path}"
        print(f"\n$ curl --cacert {self.olm.catalogs_ca} '{url}'")
        text = self._fetch(url)
        print(text[:PREVIEW_BYTES] + ("..." if len(text) > PREVIEW_BYTES else ""), flush=True)

    def _fetch(self, url: str) -> str:
        """With curl where there is one, else with the same request."""
        curl = shutil.which("curl")
        if curl is None:
            with self.olm.client() as client:
                return client.get(url).raise_for_status().text
        argv = (curl, "--silent", "--show-error", "--fail", "--noproxy", "*")
        command = (*argv, "--cacert", str(self.olm.catalogs_ca), url)
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
        return done.stdout

    def update_hello(self, api: Api) -> None:
        """Another version is asked for; the objects follow."""
        print(
            "\n$ kubectl patch clusterextension hello --type=merge "
            """-p '{"spec":{"source":{"catalog":{"version":">=0.2.0"}}}}'"""
        )
        api.patch(
            extension_path("hello"), {"spec": {"source": {"catalog": {"version": ">=0.2.0"}}}}
        )
        api.wait_installed("hello", "0.2.0", timeout=INSTALL_SECONDS)
        api.wait_gone("/api/v1/namespaces/hello/configmaps/hello-operator-config")
        self.say("extension hello: 0.2.0 Installed; what only 0.1.0 had is gone")
        self.show_objects()

    def install_real(self, api: Api, versions: Versions, bundles: list[PublishedBundle]) -> None:
        """A published operator, with the documents' role for tests: everything allowed."""
        first, second = bundles
        name = versions.package
        self.control_plane.kubectl(
            "apply", "-f", "-", stdin=with_administrator(name, first.version)
        )
        api.wait_installed(name, first.version, timeout=INSTALL_SECONDS)
        self.say(f"extension {name}: {first.version} Installed")
        desired = {"spec": {"source": {"catalog": {"version": second.version}}}}
        api.patch(extension_path(name), desired)
        api.wait_installed(name, second.version, timeout=INSTALL_SECONDS)
        self.say(f"extension {name}: {second.version} Installed")

    @property
    def commands(self) -> list[str]:
        """What to try next."""
        return [
            "olm search hello",
            f"olm plan hello {BACK}",
            f"opm render {self.registry.address}/demo/catalog:latest",
        ]

    @property
    def notes(self) -> str:
        """What else to know."""
        return f"""\
The file sets PATH with olm, opm and kubectl, KUBECONFIG, and SSL_CERT_FILE with the CAs of catalogd
({self.olm.catalogs_ca}) and of the registry ({self.registry.ca_file}).
Then also: kubectl get clustercatalog,clusterextension; olm status hello; olm --help

{NO_NODE}
Logs: {self.olm.work_dir / "logs"}"""

    def environment(self) -> Environment:
        """For whoever goes on."""
        return Environment(
            folder=self.folder,
            kubeconfig=self.control_plane.kubeconfig,
            kubectl=self.control_plane.binaries.kubectl.argv,
            authorities={
                "CATALOGD_CA": self.olm.catalogs_ca,
                **({"REGISTRY_CA": self.registry.ca_file} if self.registry.ca_file else {}),
            },
            others={"CATALOGD": self.olm.catalogs_url, "REGISTRY": self.registry.address},
        )


NO_NODE = """\
No node runs pods here: Deployments stay at 0 available, so Available is False and olm status says
Degraded. On Linux, as root, make demo NODE=1 runs the pods, too."""


if __name__ == "__main__":
    sys.exit(run_demo(Demo))
