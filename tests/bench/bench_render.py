"""How long reading and rendering a real bundle takes, stage by stage.

Run: python -m tests.bench.bench_render [FOLDER OF BUNDLES]
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from olm_client.bundle_files import read_bundle
from olm_content.bundle.reader import load
from olm_content.formats.kube_yaml import load_all
from olm_content.render.install import InstallRequest, install_objects
from olm_content.render.options import CertificateProvider
from olm_runtime.errors import OLMError

DEFAULT = Path(__file__).parents[3] / "shared" / "corpus" / "bundles"
REQUEST = InstallRequest(
    install_namespace="install-ns", certificate_provider=CertificateProvider.CERT_MANAGER
)


def parse(files: dict[str, bytes]) -> None:
    """YAML alone."""
    for data in files.values():
        for _ in load_all(data):
            pass


def parse_and_type(files: dict[str, bytes]) -> None:
    """YAML, then types."""
    load(files)


def everything(files: dict[str, bytes]) -> None:
    """From bytes to objects."""
    install_objects(load(files), REQUEST)


def measure(stage: Callable[[dict[str, bytes]], None], bundles: list[dict[str, bytes]]) -> float:
    """Seconds for all bundles; refused ones count too."""
    begin = time.perf_counter()
    for files in bundles:
        try:
            stage(files)
        except OLMError:
            continue
    return time.perf_counter() - begin


def main() -> None:
    """Print one line per stage."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    bundles = [read_bundle(path.parent) for path in sorted(root.rglob("manifests"))]
    megabytes = sum(len(data) for files in bundles for data in files.values()) / 1e6
    for stage in (parse, parse_and_type, everything):
        seconds = measure(stage, bundles)
        each = 1000 * seconds / len(bundles)
        print(f"{stage.__name__:15} {each:6.1f} ms a bundle {megabytes / seconds:6.1f} MB/s")


if __name__ == "__main__":
    main()
