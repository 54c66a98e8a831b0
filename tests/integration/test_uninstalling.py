"""Installing a published operator and uninstalling it leaves nothing.

A sample of the corpus by default; all bundles with the faults (`make faults`).
"""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.objects import name_of
from e2e.harness.images import bundle_image, catalog_image, read_folder
from e2e.harness.registry import Registry
from e2e.olm.api import OLM, Api, catalog_path
from e2e.olm.dump import Dump, differences, dump, settled_dump
from e2e.olm.fbc import PublishedBundle, bundle_facts, catalog_files, package_blobs
from e2e.olm.manifests import catalog
from e2e.olm.programs import Olm
from e2e.olm.warm import warm_program
from olm_content.bundle.model import InstallMode
from olm_content.bundle.reader import load

pytestmark = pytest.mark.corpus

CATALOG = "leaving"
SECONDS = 180
AT_ONCE = 3
NO_BUNDLES = {"rabbitmq-messaging-topology-operator/1.19.1"}
"""Folders without the annotations that make a bundle of them."""
NOT_HERE = {
    "prometheusoperator.0.37.0",  # needs a kind that Kubernetes serves no more
    # Bring a Service with the name of their webhook's; upstream refuses duplicates, too.
    "opentelemetry-operator.v0.157.0",
    "opentelemetry-operator.v0.158.0",
}
"""They cannot be installed; what was begun has to go all the same."""
SAMPLE = ("kube-green", "prometheus")
"""With webhooks and an aggregated role; with many definitions, watching its own namespace."""
BEFORE = {"cert-manager", "prometheus"}
"""They bring kinds of which others make objects, and webhooks for them that nobody answers here."""
MONITORING = (
    "monitoring.coreos.com_prometheusrules.yaml",
    "monitoring.coreos.com_servicemonitors.yaml",
)


@dataclass(frozen=True)
class Case:
    """A bundle of a catalog; `own_namespace`: it has to be told to watch that."""

    catalog: str
    published: PublishedBundle
    own_namespace: bool

    @property
    def name(self) -> str:
        return f"left-{self.published.package}"


@pytest.fixture(scope="module")
def rounds(corpus: Path) -> list[list[Path]]:
    """The folders of all bundles; in a round there is one of each package."""
    packages = [
        [folder for folder in sorted(package.iterdir()) if is_bundle(folder)]
        for package in sorted((corpus / "bundles").iterdir())
    ]
    most = max(map(len, packages))
    return [[folders[n] for folders in packages if n < len(folders)] for n in range(most)]


def is_bundle(folder: Path) -> bool:
    return f"{folder.parent.name}/{folder.name}" not in NO_BUNDLES


Serve = Callable[[Iterable[Path]], list[Case]]


@pytest.fixture
def serve(olm: Olm, registry: Registry) -> Iterator[Serve]:
    """Pushes bundles and serves a catalog of them."""
    names: list[str] = []

    def served(folders: Iterable[Path]) -> list[Case]:
        name = f"{CATALOG}-{len(names)}"
        names.append(name)
        cases = [read_case(folder, registry, name) for folder in folders]
        blobs = [package_blobs([case.published]) for case in cases]
        image = registry.push(catalog_image(catalog_files(blobs)), "leaving/catalog", tag=name)
        olm.control_plane.apply(catalog(name, image.tag_reference))
        with Api(olm.control_plane) as api:
            api.wait_condition(catalog_path(name), "Serving", "True")
        return cases

    yield served
    for name in names:
        olm.control_plane.remove(catalog_path(name))


def read_case(folder: Path, registry: Registry, catalog: str) -> Case:
    pushed = registry.push(bundle_image(folder), f"leaving/{folder.parent.name}")
    own = not load(read_folder(folder)).csv.supports(InstallMode.ALL_NAMESPACES)
    return Case(catalog, bundle_facts(folder, pushed.reference), own)


@dataclass(frozen=True)
class User:
    """Runs `olm` for each of many cases, a few at once."""

    olm: Olm
    folder: Path

    def each(self, cases: Sequence[Case], *command: str) -> list[Any]:
        """What the commands answer; `{}` in them stands for the extension."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(lambda case: self.answer(command, case), cases))

    def answer(self, command: Sequence[str], case: Case) -> Any:
        words = [word.format(case.name) for word in command]
        if command[0] == "install":
            words += [case.published.package, f"--version={case.published.version}"]
            words += [f"--catalog={case.catalog}"]
            words += ["--watch-namespace", case.name] if case.own_namespace else []
        argv = [warm_program("olm"), *words, "-o", "json"]
        done = subprocess.run(
            [*argv, f"--kubeconfig={self.olm.control_plane.kubeconfig}"],
            env=os.environ | {"SSL_CERT_FILE": self.trusted, "XDG_CACHE_HOME": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
            timeout=2 * SECONDS,
        )
        assert done.returncode == 0, f"{argv}: {done.stderr}"
        return json.loads(done.stdout)

    @property
    def trusted(self) -> str:
        path = self.folder / "ca.pem"
        if not path.exists():
            files = [self.olm.catalogs_ca, *self.olm.registry_cas.iterdir()]
            path.write_bytes(b"".join(file.read_bytes() for file in files))
        return str(path)


@pytest.fixture(scope="module")
def user(olm: Olm, tmp_path_factory: pytest.TempPathFactory) -> User:
    return User(olm, tmp_path_factory.mktemp("user"))


@pytest.mark.integration
def test_a_sample_leaves_nothing(
    olm: Olm, user: User, serve: Serve, rounds: list[list[Path]]
) -> None:
    chosen = [folder for folder in rounds[1] if folder.parent.name in SAMPLE]
    assert len(chosen) == len(SAMPLE)
    leaves_nothing(olm, user, serve(chosen))


@pytest.mark.faults
@pytest.mark.parametrize("number", range(3))
def test_every_bundle_leaves_nothing(
    corpus: Path, olm: Olm, user: User, serve: Serve, rounds: list[list[Path]], number: int
) -> None:
    assert len(rounds) == 3
    first = [folder for folder in rounds[number] if folder.parent.name in BEFORE]
    leaves_nothing(olm, user, serve(first))
    others = [folder for folder in rounds[number] if folder not in first]
    with monitored(olm, corpus / "bundles" / "prometheus" / "0.56.3" / "manifests"):
        leaves_nothing(olm, user, serve(others))


@contextmanager
def monitored(olm: Olm, manifests: Path) -> Iterator[None]:
    """The definitions of which several bundles bring objects."""
    definitions = "\n---\n".join((manifests / name).read_text() for name in MONITORING)
    olm.control_plane.apply(definitions)
    try:
        yield
    finally:
        olm.control_plane.delete(definitions)


def leaves_nothing(olm: Olm, user: User, cases: Sequence[Case]) -> None:
    before = settled_dump(olm.control_plane, timeout=SECONDS)
    try:
        come_and_go(olm, user, cases, before)
    finally:  # what fails here is not to hinder those that follow
        user.each(still_there(olm, cases), "uninstall", "{}", "--yes", f"--timeout={SECONDS}")


def still_there(olm: Olm, cases: Sequence[Case]) -> list[Case]:
    with Api(olm.control_plane) as api:
        present = {name_of(each) for each in api.list(f"{OLM}/clusterextensions")}
    return [case for case in cases if case.name in present]


def come_and_go(olm: Olm, user: User, cases: Sequence[Case], before: Dump) -> None:
    asked = ("install", "--extension={}", "--namespace={}")
    user.each([case for case in cases if case.published.name in NOT_HERE], *asked)
    installable = [case for case in cases if case.published.name not in NOT_HERE]
    user.each(installable, *asked, "--wait", f"--timeout={SECONDS}")
    during = dump(olm.control_plane)
    previews = user.each(cases, "uninstall", "{}", "--preview")
    removed = user.each(cases, "uninstall", "{}", "--yes", f"--timeout={SECONDS}")
    assert all(each["gone"] for each in removed)
    assert [each["account"]["kept"] for each in removed] == [[] for _ in cases]
    for preview, result in zip(previews, removed, strict=True):
        assert preview["account"] == result["account"]
        assert preview["account"]["deleted"]
    assert differences(before, during), "a dump that sees nothing would prove nothing"
    assert left(olm, before) == []


def left(olm: Olm, before: Dump) -> list[str]:
    """What is not as it was, once the garbage collector and the API server's own work are done."""
    deadline = time.monotonic() + SECONDS
    while found := differences(before, dump(olm.control_plane)):
        if time.monotonic() > deadline:
            return found
        time.sleep(1.0)
    return []
