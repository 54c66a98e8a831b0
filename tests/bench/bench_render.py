"""How long reading and rendering a real bundle takes, stage by stage; and `olm bundle render`.

Run: python -m tests.bench.bench_render [FOLDER OF BUNDLES]
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from olm_client.bundle_files import read_bundle
from olm_content.bundle.reader import load
from olm_content.formats.kube_yaml import load_all
from olm_content.render.install import InstallRequest, install_objects
from olm_content.render.options import CertificateProvider
from olm_runtime.errors import OLMError

DEFAULT = Path(__file__).parents[3] / "shared" / "corpus" / "bundles"
RUNS = 5
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


def batch(folders: Sequence[Path], processors: set[int]) -> float:
    """Seconds from the start of `olm bundle render --batch` to the last answer.

    Raises CalledProcessError, and RuntimeError where an answer is missing.
    """
    requests = "".join(
        json.dumps({"id": str(each), "dir": str(each), "installNamespace": "install-ns"}) + "\n"
        for each in folders
    )
    program = str(Path(sys.executable).with_name("olm"))
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)  # a child has the same
    begin = time.perf_counter()
    done = subprocess.run(
        [program, "bundle", "render", "--batch", "-"],
        input=requests,
        capture_output=True,
        text=True,
        check=True,
    )
    taken = time.perf_counter() - begin
    os.sched_setaffinity(0, before)
    if len(done.stdout.splitlines()) != len(folders):
        raise RuntimeError(f"not {len(folders)} answers: {done.stderr}")
    return taken


def main() -> None:
    """Print one line per stage, and two of the command."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    folders = [path.parent for path in sorted(root.rglob("manifests"))]
    bundles = [read_bundle(each) for each in folders]
    megabytes = sum(len(data) for files in bundles for data in files.values()) / 1e6
    for stage in (parse, parse_and_type, everything):
        seconds = measure(stage, bundles)
        each = 1000 * seconds / len(bundles)
        print(f"{stage.__name__:15} {each:6.1f} ms a bundle {megabytes / seconds:6.1f} MB/s")
    every = os.sched_getaffinity(0)
    for what, processors in (("as it comes", every), ("on one processor", {min(every)})):
        taken = sorted(batch(folders, processors) for _ in range(RUNS))
        print(f"--batch, {what:17}", *(f"{seconds:5.2f}" for seconds in taken), "s")


if __name__ == "__main__":
    main()
