"""`kubectl olm` as krew installs it, from an index in the layout of this repository."""

import io
import os
import re
import subprocess
import sys
import tarfile
import threading
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from config.krew.__main__ import MANIFEST, manifest
from e2e.demo.bundles import own
from e2e.harness.binaries import control_plane_binaries, krew_binary
from e2e.harness.errors import HarnessError
from e2e.harness.images import read_folder
from e2e.olm.fbc import PublishedBundle, catalog_files, package_blobs
from olm_content.bundle.reader import load
from tests.requirements import leave_out

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
HELLO = "hello-operator"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

Kubectl = Callable[..., str]


@pytest.fixture(scope="module")
def krew() -> str:
    try:
        return krew_binary().argv[0]
    except HarnessError as error:
        leave_out("krew", f"there is no krew: {error}")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The index that `make krew` writes, for this machine alone, and the archive served."""
    folder = tmp_path_factory.mktemp("published")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    where = ("--compression=1", f"--output={folder}")
    given = (f"--python={PYTHON}", "--platform=linux/amd64", *where)
    url = f"--url=http://127.0.0.1:{server.server_port}"
    run(sys.executable, "-m", "config.krew", *given, url, cwd=ROOT)
    try:
        yield folder
    finally:
        server.shutdown()
        server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing of it."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name upstream
        """Nothing."""


def run(*argv: str | Path, **how: object) -> str:
    done = subprocess.run(
        [str(word) for word in argv],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        **how,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, f"{argv}: {done.stdout}\n{done.stderr}"
    return str(done.stdout)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def kubectl(
    krew: str, published: Path, home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Kubectl:
    """kubectl of somebody who has installed the plugin from the index."""
    bin_folder = home / "krew" / "bin"
    # kubectl warns of a second plugin of that name, which whoever works on this one may have.
    path = [
        each for each in os.environ["PATH"].split(":") if not Path(each, "kubectl-olm").exists()
    ]
    environment = {
        "HOME": str(home),
        "KREW_ROOT": str(home / "krew"),
        "PATH": ":".join([str(bin_folder), *path]),
        "OLM_PYTHON": sys.executable,
    }
    index = tmp_path_factory.mktemp("index")
    (index / "plugins").mkdir()
    (index / "plugins" / "olm.yaml").write_bytes((published / "plugins" / "olm.yaml").read_bytes())
    author = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    run("git", "init", "--quiet", cwd=index)
    run("git", "add", ".", cwd=index)
    run("git", *author, "commit", "--quiet", "-m", "olm", cwd=index)
    run(krew, "index", "add", "own", f"file://{index}", env=environment)
    run(krew, "install", "own/olm", env=environment, cwd=home)
    program = control_plane_binaries().kubectl.argv
    return lambda *words: run(*program, *words, env=environment, cwd=home)


def test_it_is_a_plugin_of_kubectl(kubectl: Kubectl) -> None:
    assert "/krew/bin/kubectl-olm" in kubectl("plugin", "list")
    assert kubectl("olm", "version", "match", ">=1 <2", "1.4.0") == "1.4.0 is in >=1 <2\n"
    assert kubectl("olm", "--help").startswith("Usage: kubectl olm ")


def test_it_finds_and_renders_without_a_cluster(kubectl: Kubectl, tmp_path: Path) -> None:
    bundle = own().first
    name = load(read_folder(bundle)).csv.name
    image = "registry.example.com/hello:v0.1.0"
    blobs = package_blobs([PublishedBundle(HELLO, name, "0.1.0", image)])
    for path, content in catalog_files([blobs]).items():
        file = tmp_path / "catalog" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    assert HELLO in kubectl("olm", "search", "hello", "--catalog", str(tmp_path / "catalog"))
    rendered = kubectl("olm", "bundle", "render", str(bundle), "--install-namespace=apps")
    assert "kind: Deployment" in rendered


def test_every_command_has_what_it_imports(kubectl: Kubectl, home: Path) -> None:
    """In one process; what is started for a command is seen above."""
    assert "uninstall" in kubectl("olm", "--help")
    [lib] = (home / "krew" / "store" / "olm").glob("*/lib")
    run(sys.executable, "-I", "-S", "-c", IMPORT_ALL, str(lib / PYTHON), str(lib / "any"))


IMPORT_ALL = """
import importlib, pkgutil, sys
sys.path[:0] = sys.argv[1:]
for package in ("olm_cli", "olm_client"):
    found = importlib.import_module(package)
    for module in pkgutil.walk_packages(found.__path__, f"{package}."):
        importlib.import_module(module.name)
"""


def test_it_has_our_packages_and_nothing_of_tests(published: Path) -> None:
    kinds, records = set(), []
    with tarfile.open(next(published.glob("*.tar.gz")), "r|gz") as archive:
        for entry in archive:
            kinds.add(entry.type)
            if re.search(r"/olmv1-[^/]+/RECORD$", entry.name):
                records.append((archive.extractfile(entry) or io.BytesIO()).read().decode())
    [record] = records
    listed = record.splitlines()
    assert kinds == {tarfile.REGTYPE}, "krew unpacks nothing else"
    folders = {line.partition("/")[0] for line in listed if "dist-info" not in line}
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    assert folders - {"..", "bin"} == set(ours["root_packages"])


def test_the_index_is_the_repositorys_with_the_digests(published: Path) -> None:
    [archive] = published.glob("*.tar.gz")
    written = yaml.safe_load((published / "plugins" / "olm.yaml").read_text())
    [platform] = written["spec"]["platforms"]
    again = manifest({"linux/amd64": archive}, platform["uri"].rpartition("/")[0])
    assert written == again
    original = yaml.safe_load(MANIFEST.read_text())
    assert {**written["spec"], "platforms": []} == {**original["spec"], "platforms": []}
