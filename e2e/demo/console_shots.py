"""Pictures of the console's main pages, of a cluster that was made for them: `make console-shots`.

With DEMO_ONCE=0 the cluster and the console stay up until Ctrl-C.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

from e2e.demo import console_scene as scene
from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import Registry
from e2e.olm.api import Api
from e2e.olm.browser import CHROMIUM, FLAGS
from e2e.olm.graph_server import GraphServer
from e2e.olm.programs import Olm

FOLDER = Path(__file__).parents[2] / "docs" / "images"
WIDTH, HEIGHT = 1280, 800
SHOTS = {
    "overview": "/",
    "packages": "/packages",
    "package": "/packages/hello-operator?catalog=community",
    "definition": "/packages/hello-operator/definitions?catalog=community&path=spec",
    "install": "/packages/hello-operator/install?catalog=community&preview=yes&extension=greeter",
    "extension": "/extensions/hello",
    "upgrade": "/extensions/hello/upgrade",
    "catalogs": "/catalogs",
    "classic-plan": "/classic/plans/team-a/install-x7k2q",
    "cluster": "/cluster",
}


class Stage:
    """A cluster with something on each page."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.control_plane = stack.enter_context(ControlPlane(folder / "control-plane"))
        self.registry = stack.enter_context(Registry(folder / "registry"))
        self.olm = stack.enter_context(Olm(folder / "olm", self.control_plane, self.registry))
        self.updates = stack.enter_context(GraphServer())
        self.environment = os.environ | {
            "SSL_CERT_FILE": str(self._authorities()), "XDG_CACHE_HOME": str(folder / "cache"),
        }  # fmt: skip

    def _authorities(self) -> Path:
        file = self.folder / "ca.pem"
        sources = [self.olm.catalogs_ca, *self.olm.registry_cas.iterdir()]
        file.write_bytes(b"".join(each.read_bytes() for each in sources))
        return file

    def olm_command(self, *arguments: str) -> list[str]:
        """A command of `olm` for the cluster."""
        program = str(Path(sys.executable).with_name("olm"))
        return [program, *arguments, f"--kubeconfig={self.control_plane.kubeconfig}"]

    def fill(self) -> None:
        """What the pages show."""
        scene.publish_all(self.registry)
        with Api(self.control_plane) as api:
            scene.add_catalogs(self.control_plane, self.registry, api)
            command = self.olm_command(
                "install", "hello-operator", "--catalog=community", "--version=0.1.0",
                "--extension=hello", "--wait",
            )  # fmt: skip
            subprocess.run(command, env=self.environment, check=True, timeout=120)
            scene.run_pods(self.control_plane, api, "hello-operator")
            scene.hinder(self.control_plane, api)
        scene.add_classic(self.control_plane)
        scene.add_cluster_version(self.control_plane, self.updates)

    @contextmanager
    def console(self) -> Iterator[subprocess.Popen[str]]:
        """The console; the first line that it prints has the address that lets in."""
        command = self.olm_command("console", "--no-open", *sys.argv[1:])
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=30)


def _shoot(page: Page, address: str) -> None:
    page.goto(address)
    FOLDER.mkdir(exist_ok=True)
    for name, path in SHOTS.items():
        page.goto(path)
        page.evaluate("document.fonts.ready.then(() => true)")
        page.screenshot(path=FOLDER / f"console-{name}.png")


def main() -> None:
    """Makes all pictures."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background ignores the first
        signal.signal(number, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="olmv1-shots-") as folder, ExitStack() as stack:
        stage = Stage(Path(folder), stack)
        stage.fill()
        process = stack.enter_context(stage.console())
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        if os.environ.get("DEMO_ONCE") == "0":
            print(address, flush=True)
            for line in process.stdout:
                print(line, end="", flush=True)
            return
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            root = address.partition("/enter")[0]
            size = ViewportSize(width=WIDTH, height=HEIGHT)
            _shoot(browser.new_page(base_url=root, viewport=size), address)
            browser.close()


if __name__ == "__main__":
    main()
