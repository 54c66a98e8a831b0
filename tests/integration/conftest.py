"""The product running over the session's control plane and registry."""

import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.registry import PasswordAuth, Registry
from e2e.olm.api import Api, catalog_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.daemons import fork_daemons
from e2e.olm.fbc import PublishedBundle, catalog_files, package_blobs
from e2e.olm.manifests import catalog
from e2e.olm.programs import Olm
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from opm.__main__ import cli
from tests.integration.clusters import own_olm
from tests.integration.logs import tracebacks

fork_daemons()

HERE = Path(__file__).parent
LONGEST = (
    "pages",
    "faults",
    "olm_operator",
    "object_sets",
    "classic",
    "cluster_version_operator",
    "test_preflight",
    "console",
    "console_alone",
    "catalogd",
    "doctor",
    "test_least_rights",
    "test_extensions",
    "from_upstream",
    "test_installing",
    "cluster_pulls",
    "cluster_version",
    "node_updates",
    "test_krew",
    "test_catalog_changes",
    "test_opm_catalogs",
    "test_real_bundles",
    "test_stored_objects",
    "test_opm_indexes",
    "cluster_updates",
    "test_chart_install",
    "test_own_release",
)
"""Files and folders that take a minute or more, the longest first. Each stays with one worker."""


KINDS = ("integration", "pages", "faults")


class Folder(pytest.Package):
    """A folder, at whose end ends what lasts for a package: else it would last for the session."""

    def setup(self) -> None:
        """Nothing: there is no `__init__.py`."""


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Clusters that nobody uses any more take as much processor time as a few tests."""
    return Folder.from_parent(parent, path=path) if path.parent == HERE else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long is begun first; the order is else as it was.

    A test without a mark would be left out by every run without a word.
    """
    here = [item for item in items if item.path.is_relative_to(HERE)]
    unmarked = {item.path for item in here if not any(map(item.get_closest_marker, KINDS))}
    if unmarked:
        names = ", ".join(sorted(str(path.relative_to(HERE)) for path in unmarked))
        raise pytest.UsageError(f"tests without any mark of {', '.join(KINDS)}: {names}")
    ranks = {name: rank for rank, name in enumerate(LONGEST)}

    def rank(item: pytest.Item) -> int:
        first = item.path.relative_to(HERE).parts[0].removesuffix(".py")
        return ranks.get(first, len(ranks))

    if len(here) == len(items):
        items.sort(key=rank)


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[KubeClient]:
    """The programs' own client, as the administrator."""
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as connected:
        yield connected


@pytest.fixture(scope="session", autouse=True)
def no_tracebacks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """After all tests: no program wrote a traceback into its log, whatever was done to it."""
    yield
    found = tracebacks(tmp_path_factory.getbasetemp())
    assert not found, "\n\n".join(found)


olm = own_olm("session")


@pytest.fixture
def api(olm: Olm) -> Iterator[Api]:
    """The API server of the running product."""
    with Api(olm.control_plane) as api:
        yield api


@pytest.fixture
def package() -> str:
    """A package name of the test's own; extension and namespace are called the same."""
    return f"pkg-{secrets.token_hex(4)}"


@pytest.fixture
def mirror(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A second registry, with a password, or as the test's parameter says."""
    auth = getattr(request, "param", PasswordAuth())
    with Registry(tmp_path / "mirror", auth=auth) as running:
        yield running


Opm = Callable[..., Result]


@pytest.fixture
def opm(
    tmp_path: Path, registry: Registry, mirror: Registry, monkeypatch: pytest.MonkeyPatch
) -> Opm:
    """`opm` of a user who trusts both registries and is logged in at the mirror."""
    authorities = [r.ca_file.read_bytes() for r in (registry, mirror) if r.ca_file]
    (tmp_path / "ca.pem").write_bytes(b"".join(authorities))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("REGISTRY_AUTH_FILE", str(tmp_path / "auth.json"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: str = "") -> Result:
        return CliRunner().invoke(cli, arguments, input=stdin)

    login = run("login", mirror.address, "-u", "user", "--password-stdin", stdin="password\n")
    assert login.exit_code == 0, login.output
    return run


PublishCatalog = Callable[..., str]


@pytest.fixture(scope="session")
def publish_catalog(registry: Registry) -> PublishCatalog:
    """Pushes a catalog of one package's bundles; its reference by tag."""

    def publish(*bundles: BundleSpec | PublishedBundle, tag: str = "latest") -> str:
        published = [b.publish(registry) if isinstance(b, BundleSpec) else b for b in bundles]
        image = catalog_image(catalog_files([package_blobs(published)]))
        name = f"catalogs/{published[0].package}"
        return registry.push(image, name, tag=tag).tag_reference

    return publish


@pytest.fixture
def serve_catalog(olm: Olm, api: Api) -> Iterator[Callable[[str, str], None]]:
    """Applies a ClusterCatalog, waits until it serves; deletes it after the test."""
    names: list[str] = []

    def serve(name: str, image: str) -> None:
        names.append(name)
        olm.control_plane.apply(catalog(name, image))
        api.wait_condition(catalog_path(name), "Serving", "True")

    yield serve
    for name in names:
        olm.control_plane.remove(catalog_path(name))
        api.wait_gone(catalog_path(name))
