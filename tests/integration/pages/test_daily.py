"""Follows the pages for those who use the product every day."""

import logging
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.demo.bundles import own
from e2e.olm.api import Api
from e2e.olm.pages import DOCS
from e2e.olm.reader import Reader
from tests.integration.pages.world import GREETER, HELLO, page

pytestmark = pytest.mark.pages

LOGGER = logging.getLogger(__name__)
TASKS = DOCS / "tasks.md"
MINUTES = ("make demo", "make test")
ANSWERS = ("olm crd check", "olm doctor", "olm upgrade --check")
"""Of these exit code 1 is an answer, not a failure."""
OTHERS_RUN = ("helm install",)
"""By install.md, and what those before it need to run at all."""

TRUE_PROGRAMS = f'PATH="{Path(sys.executable).parent}:$PATH"; '
"""In place of those that are imported already: users wait for the start too."""
CATALOG_FOLDER = (
    "mkdir -p catalog && opm render --output=yaml registry.example.com/team/my-catalog:latest "
    "> catalog/catalog.yaml"
)
"""What find-extensions.md makes."""


@pytest.fixture(scope="module")
def uninstalled(reader: Reader) -> Iterator[None]:
    """What install.md has installed is there again after the last test of this module."""
    reader.run("kubectl get clustercatalog my-catalog -o yaml > my-catalog.yaml")
    remove(reader, HELLO, GREETER)
    yield
    reader.follow(page("install", only="See that it works"))


@pytest.fixture
def without_extensions(reader: Reader, uninstalled: None) -> Iterator[None]:
    """Nothing is installed from the catalog, which is there again afterwards."""
    yield
    remove(reader, HELLO, GREETER)
    serving = "kubectl wait --for=condition=Serving clustercatalog/my-catalog --timeout=120s"
    done = reader.run(f"kubectl replace --force -f my-catalog.yaml && {serving}")
    assert done.returncode == 0, done.stderr


def remove(reader: Reader, *extensions: str) -> None:
    for extension in extensions:
        reader.run(f"olm resume {extension}; olm uninstall {extension} --yes --wait")


def test_find_extensions(reader: Reader) -> None:
    reader.follow(page("find-extensions"))


def test_manage_catalogs(reader: Reader) -> None:
    reader.follow(page("manage-catalogs"))
    reader.follow(page("../reference/catalogd"))


def test_reference(reader: Reader) -> None:
    reader.follow(page("../reference/olm"))
    reader.run(f"kubectl apply -f - <<'YAML'\n{GREETING}\nYAML")
    reader.follow(page("../reference/crd-upgrade-safety"))
    reader.run("kubectl delete greetings.hello.example.com --all --all-namespaces")


GREETING = f"""
apiVersion: hello.example.com/v1alpha1
kind: Greeting
metadata: {{name: hi, namespace: {HELLO}}}
spec: {{text: Good morning}}
"""


def test_gitops(reader: Reader) -> None:
    """Argo CD's own ConfigMap is there, as its installation makes it."""
    reader.run("kubectl create namespace argocd && kubectl -n argocd create configmap argocd-cm")
    reader.follow(page("gitops"))


def test_quick_start(reader: Reader, without_extensions: None) -> None:
    reader.run("kubectl delete clustercatalog my-catalog")
    reader.follow(page("../quick-start"))


def test_readme(reader: Reader, without_extensions: None) -> None:
    reader.follow(page("../../README"))


def tasks() -> list[tuple[str, str]]:
    """Each task, and the command of it."""
    row = re.compile(r"^\| ([\w ,]+) \| `(.+)` \| ", re.MULTILINE)
    return [(task, command.replace("\\|", "|")) for task, command in row.findall(TASKS.read_text())]


def test_tasks(reader: Reader, api: Api, without_extensions: None) -> None:
    """One after the other. With --log-level=INFO the times are logged that the page gives."""
    programs = TRUE_PROGRAMS if LOGGER.isEnabledFor(logging.INFO) else ""
    reader.run("kubectl delete clustercatalog my-catalog")
    shutil.copytree(own().first, reader.folder / "bundle-0.1.0")
    shutil.copytree(own().second, reader.folder / "bundle-0.2.0")
    reader.run(CATALOG_FOLDER)
    reader.follow(page("disconnected")[:1])  # the login
    assert len(tasks()) == 20
    for task, command in tasks():
        if command.startswith((*MINUTES, *OTHERS_RUN)):
            continue
        started = time.monotonic()
        done = reader.run(programs + watched(command))
        LOGGER.info("%s: %.1f s", task, time.monotonic() - started)
        codes = (0, 1) if command.startswith(ANSWERS) else (0,)
        assert done.returncode in codes, f"{command}\n{done.stdout}\n{done.stderr}"
        assert "error:" not in done.stderr, f"{command}\n{done.stdout}\n{done.stderr}"


def watched(command: str) -> str:
    """What never ends is looked at for a moment."""
    return f"timeout 3 {command} || test $? = 124" if "--watch" in command else command


def test_install_and_remove(reader: Reader, without_extensions: None) -> None:
    reader.run(CATALOG_FOLDER)
    reader.follow(page("install-and-remove"))


def test_update(reader: Reader, without_extensions: None) -> None:
    reader.run(f"olm install {HELLO} --version 0.1.x --wait")
    reader.follow(page("update"))


def test_roll_back(reader: Reader, without_extensions: None) -> None:
    for extension, first, second in ((GREETER, "1.0.x", "1.1.x"), (HELLO, "0.1.x", "0.2.x")):
        reader.run(f"olm install {extension} --version {first} --wait")
        reader.run(f"olm upgrade {extension} --version {second} --grant --wait")
    reader.follow(page("roll-back"))
