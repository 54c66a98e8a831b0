"""catalogd against a real API server and a real registry, over real HTTPS."""

import secrets
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.objects import KubeObject, condition
from catalogd.refresh import REST_SECONDS
from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import build_image, catalog_image
from e2e.harness.process import ChildProcess
from e2e.harness.registry import Registry
from e2e.olm.api import OLM, Api, catalog_path
from e2e.olm.programs import Olm

pytestmark = pytest.mark.integration

FINALIZER = "olm.operatorframework.io/delete-server-cache"
SERVING = "Serving desired content from resolved source"
UNPACKED = "Successfully unpacked and stored content from resolved source"


def fbc(version: str) -> dict[str, bytes]:
    return {
        "foo/index.yaml": b"schema: olm.package\nname: foo\n",
        "foo/bundle.json": f'{{"schema":"olm.bundle","package":"foo","name":"{version}"}}'.encode(),
        "foo/README.md": b"not a catalog file",
        ".indexignore": b"*.md\n",
    }


@pytest.fixture(scope="module")
def olm(
    tmp_path_factory: pytest.TempPathFactory, control_plane: ControlPlane, registry: Registry
) -> Iterator[Olm]:
    running = Olm(tmp_path_factory.mktemp("catalogd"), control_plane, registry)
    running.install()
    running.start_catalogd()
    yield running
    running.stop()


@pytest.fixture
def api(control_plane: ControlPlane) -> Iterator[Api]:
    with Api(control_plane) as connected:
        yield connected


class Catalog:
    """One ClusterCatalog with an image repository of its own."""

    def __init__(self, olm: Olm, api: Api, registry: Registry) -> None:
        self.name = f"catalog-{secrets.token_hex(4)}"
        self.path = catalog_path(self.name)
        self.olm = olm
        self.api = api
        self.registry = registry

    @property
    def tag(self) -> str:
        return f"{self.registry.address}/{self.name}:latest"

    def push(self, files: dict[str, bytes]) -> str:
        """Moves the tag; the new reference by digest."""
        return self.registry.push(catalog_image(files), self.name, tag="latest").reference

    def create(self, reference: str = "", **spec: Any) -> None:
        image = {"ref": reference or self.tag, **spec.pop("image", {})}
        body = {
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterCatalog",
            "metadata": {"name": self.name},
            "spec": {"source": {"type": "Image", "image": image}, **spec},
        }
        self.olm.control_plane.create(f"{OLM}/clustercatalogs", body)

    def wait_serving(self, source: str = "") -> KubeObject:
        def holds(obj: KubeObject | None) -> bool:
            status = (obj or {}).get("status") or {}
            resolved = status.get("resolvedSource", {}).get("image", {}).get("ref")
            serving = condition(obj, "Serving") if obj else None
            is_true = bool(serving and serving["status"] == "True")
            return is_true and source in ("", resolved)

        found = self.api.wait(self.path, holds, what=f"{self.name} serving")
        assert found is not None
        return found

    def wait_progressing(self, reason: str, *texts: str) -> dict[str, Any]:
        def holds(obj: KubeObject | None) -> bool:
            found = condition(obj, "Progressing") if obj else None
            return bool(
                found
                and found["reason"] == reason
                and all(text in found["message"] for text in texts)
            )

        obj = self.api.wait(self.path, holds, what=f"{reason} {texts}")
        found = condition(obj or {}, "Progressing")
        assert found is not None
        return found

    def get(self, endpoint: str = "all", **headers: str) -> httpx.Response:
        with self.olm.client() as client:
            return client.get(f"/catalogs/{self.name}/api/v1/{endpoint}", headers=headers)

    def patch_image(self, **image: Any) -> None:
        self.api.patch(self.path, {"spec": {"source": {"image": image}}})


@pytest.fixture
def catalog(olm: Olm, api: Api, registry: Registry) -> Iterator[Catalog]:
    made = Catalog(olm, api, registry)
    yield made
    if api.get(made.path) is not None:
        api.delete(made.path)
        api.wait_gone(made.path)


def test_a_catalog_is_unpacked_and_served(catalog: Catalog) -> None:
    source = catalog.push(fbc("v1"))
    catalog.create()
    found = catalog.wait_serving()

    status, metadata = found["status"], found["metadata"]
    assert status["resolvedSource"] == {"type": "Image", "image": {"ref": source}}
    assert status["urls"]["base"] == f"{catalog.olm.catalogs_url}/catalogs/{catalog.name}"
    assert status["lastUnpacked"]
    conditions = {c["type"]: (c["status"], c["reason"], c["message"]) for c in status["conditions"]}
    assert conditions == {
        "Progressing": ("True", "Succeeded", UNPACKED),
        "Serving": ("True", "Available", SERVING),
    }
    assert metadata["finalizers"] == [FINALIZER]
    assert metadata["labels"] == {"olm.operatorframework.io/metadata.name": catalog.name}
    assert catalog.get().text == (
        '{"name":"v1","package":"foo","schema":"olm.bundle"}\n'
        '{"name":"foo","schema":"olm.package"}\n'
    )
    assert catalog.get("metas?package=foo").text.count("\n") == 1


def test_unchanged_content_is_not_sent_again(catalog: Catalog) -> None:
    catalog.push(fbc("v1"))
    catalog.create()
    catalog.wait_serving()
    etag = catalog.get().headers["etag"]
    assert catalog.get(**{"If-None-Match": etag}).status_code == 304


def test_a_catalog_by_digest_never_asks_again(catalog: Catalog) -> None:
    source = catalog.push(fbc("v1"))
    catalog.create(source)
    catalog.wait_serving(source)
    before = len(catalog.registry.requests())
    catalog.api.patch(catalog.path, {"spec": {"priority": 5}})
    catalog.api.wait(catalog.path, observed(2), what="generation 2 observed")
    assert len(catalog.registry.requests()) == before


def observed(generation: int) -> Any:
    def holds(obj: KubeObject | None) -> bool:
        found = condition(obj, "Serving") if obj else None
        return bool(found and found["observedGeneration"] == generation)

    return holds


def test_a_moved_tag_is_found_by_polling(catalog: Catalog) -> None:
    catalog.push(fbc("v1"))
    catalog.create(image={"pollIntervalMinutes": 1})
    catalog.wait_serving()
    second = catalog.push(fbc("v2"))
    # Half a minute and more is too long for a test: another spec is asked about at once.
    catalog.patch_image(pollIntervalMinutes=2)
    catalog.wait_serving(second)
    assert '"name":"v2"' in catalog.get().text


def request_refresh(catalog: Catalog, request: str | None) -> None:
    annotations = {"olm.operatorframework.io/refresh-requested-at": request}
    catalog.api.patch(catalog.path, {"metadata": {"annotations": annotations}})


def refreshed(catalog: Catalog, status: str, message: str) -> KubeObject:
    return catalog.api.wait_condition(catalog.path, "Refreshed", status, message=message)


def test_a_refresh_is_answered_at_once_and_so_is_the_next_after_a_rest(catalog: Catalog) -> None:
    catalog.push(fbc("v1"))
    catalog.create()
    unpacked = catalog.wait_serving()["status"]["lastUnpacked"]
    begun = time.monotonic()
    request_refresh(catalog, "first")
    found = refreshed(catalog, "True", 'request "first": nothing new: what is served is up to date')
    assert found["status"]["lastUnpacked"] == unpacked
    asked = polls(catalog)

    second = catalog.push(fbc("v2"))
    for number in range(10):
        request_refresh(catalog, f"flood-{number}")
    found = refreshed(catalog, "True", 'request "flood-9": ')
    assert found["status"]["resolvedSource"]["image"]["ref"] == second
    assert polls(catalog) <= asked + 1 + (time.monotonic() - begun) // REST_SECONDS
    assert '"name":"v2"' in catalog.get().text

    request_refresh(catalog, None)
    catalog.api.wait(
        catalog.path, lambda obj: condition(obj or {}, "Refreshed") is None, what="answer removed"
    )


def polls(catalog: Catalog) -> int:
    """How often the tag was looked at."""
    looked_at = ("HEAD", f"/v2/{catalog.name}/manifests/latest")
    found = [(each.method, each.target) for each in catalog.registry.requests()]
    return found.count(looked_at)


def test_a_refresh_that_fails_says_so_and_is_met_later(catalog: Catalog) -> None:
    catalog.push(fbc("v1"))
    catalog.create()
    catalog.wait_serving()
    catalog.push({"bad.yaml": b"schema: olm.package\nname: [\n"})
    request_refresh(catalog, "one")
    found = refreshed(catalog, "False", 'request "one": error storing fbc: ')
    assert (condition(found, "Serving") or {})["status"] == "True"
    third = catalog.push(fbc("v3"))
    refreshed(catalog, "True", f'request "one": new content: {third}')


def test_the_same_digest_again_writes_nothing(catalog: Catalog) -> None:
    catalog.push(fbc("v1"))
    catalog.create(image={"pollIntervalMinutes": 1})
    before = catalog.wait_serving()["status"]
    files = versions(catalog)
    catalog.patch_image(pollIntervalMinutes=2)
    catalog.api.wait(catalog.path, observed(2), what="generation 2 observed")
    after = (catalog.api.get(catalog.path) or {})["status"]
    assert after["lastUnpacked"] == before["lastUnpacked"]
    assert versions(catalog) == files


def versions(catalog: Catalog) -> dict[str, int]:
    folder = catalog.olm.work_dir / "catalogd" / "catalogs" / catalog.name
    return {
        str(path.relative_to(folder)): path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and path.name != "state.json"
    }


@pytest.mark.parametrize(
    ("files", "texts"),
    [
        (
            {"bad/index.yaml": b"schema: olm.package\nname: a\n---\nname: [\n"},
            ("error storing fbc: ", "configs/bad/index.yaml: document 2, line "),
        ),
        (
            {"index.json": b'{"schema":"s","Schema":"t"}'},
            ('duplicate keys for key "schema": [Schema schema]',),
        ),
    ],
)
def test_an_invalid_catalog_says_where_and_heals(
    catalog: Catalog, files: dict[str, bytes], texts: tuple[str, ...]
) -> None:
    catalog.push(files)
    catalog.create()
    assert catalog.wait_progressing("Retrying", *texts)["status"] == "True"
    assert catalog.get().status_code == 404
    catalog.push(fbc("v1"))
    catalog.wait_serving()


def test_a_wrong_image_is_named_and_heals(catalog: Catalog) -> None:
    catalog.create()
    catalog.wait_progressing(
        "Retrying", "source catalog content: ", f'image "{catalog.tag}" not found', "hint: "
    )
    catalog.push(fbc("v1"))
    catalog.wait_serving()


def test_an_image_that_is_no_catalog_is_named(catalog: Catalog) -> None:
    catalog.registry.push(build_image([{"a": b"b"}]), catalog.name, tag="latest")
    catalog.create()
    catalog.wait_progressing(
        "Retrying",
        'source catalog content: catalog image is missing the required label "operators.',
    )


def test_what_cannot_change_blocks(catalog: Catalog) -> None:
    pushed = catalog.registry.push(build_image([{"a": b"b"}]), catalog.name)
    catalog.create(pushed.reference)
    found = catalog.wait_progressing(
        "Blocked", "source catalog content: terminal error: catalog image is missing"
    )
    assert found["status"] == "False"


def test_one_hanging_registry_delays_nobody_else(catalog: Catalog, olm: Olm, api: Api) -> None:
    other = Catalog(olm, api, catalog.registry)
    other.create("127.0.0.1:1/nothing:here")
    other.wait_progressing("Retrying", "cannot reach registry 127.0.0.1:1")
    catalog.push(fbc("v1"))
    catalog.create()
    catalog.wait_serving()
    api.delete(other.path)
    api.wait_gone(other.path)


def test_unavailable_and_back(catalog: Catalog) -> None:
    catalog.push(fbc("v1"))
    catalog.create()
    catalog.wait_serving()
    catalog.api.patch(catalog.path, {"spec": {"availabilityMode": "Unavailable"}})
    text = "Catalog availability mode is set to Unavailable"
    found = catalog.api.wait_condition(catalog.path, "Serving", "False", message=text)
    assert found["status"].keys() == {"conditions", "observedGeneration"}
    assert catalog.get().status_code == 404
    catalog.api.wait(
        catalog.path,
        lambda obj: not ((obj or {})["metadata"].get("finalizers")),
        what="finalizer removed",
    )
    catalog.api.patch(catalog.path, {"spec": {"availabilityMode": "Available"}})
    catalog.wait_serving()
    assert catalog.get().status_code == 200


def test_delete_removes_content_and_object(catalog: Catalog) -> None:
    catalog.push(fbc("v1"))
    catalog.create()
    catalog.wait_serving()
    catalog.api.delete(catalog.path)
    catalog.api.wait_gone(catalog.path)
    assert catalog.get().status_code == 404
    assert not (catalog.olm.work_dir / "catalogd" / "catalogs" / catalog.name).exists()


def test_the_label_is_repaired(catalog: Catalog) -> None:
    catalog.push(fbc("v1"))
    catalog.create()
    catalog.wait_serving()
    key = "olm.operatorframework.io/metadata.name"
    catalog.api.patch(catalog.path, {"metadata": {"labels": {key: "wrong"}}})
    catalog.api.wait(
        catalog.path,
        lambda obj: (obj or {})["metadata"]["labels"][key] == catalog.name,
        what="label repaired",
    )


@pytest.fixture
def own(
    tmp_path: Path, control_plane: ControlPlane, olm: Olm, api: Api
) -> Iterator[tuple[Olm, Catalog, Registry]]:
    """A catalogd and a registry of one's own; the shared catalogd rests meanwhile."""
    if olm.catalogd is not None:
        olm.catalogd.stop()
    with Registry(tmp_path / "registry") as registry:
        mine = Olm(tmp_path / "olm", control_plane, registry)
        mine.install()
        mine.start_catalogd()
        made = Catalog(mine, api, registry)
        yield mine, made, registry
        if api.get(made.path) is not None:
            api.delete(made.path)
            api.wait_gone(made.path)
        mine.stop()
    olm.start_catalogd()


Own = tuple[Olm, Catalog, Registry]


@pytest.mark.parametrize("how", ["terminated", "killed"])
def test_a_restart_serves_from_disk_with_the_registry_down(own: Own, how: str) -> None:
    olm, catalog, registry = own
    source = catalog.push(fbc("v1"))
    catalog.create(image={"pollIntervalMinutes": 1})
    catalog.wait_serving(source)
    before = catalog.get()
    registry.stop()

    if how == "killed":
        olm.kill(olm.catalogd)
    else:
        child(olm).stop()
    olm.start_catalogd()

    after = catalog.get()
    assert (after.status_code, after.content) == (200, before.content)
    assert after.headers["etag"] == before.headers["etag"]
    assert after.headers["last-modified"] == before.headers["last-modified"]
    registry.start()


def test_registry_down_goes_on_serving_and_says_so(own: Own) -> None:
    _, catalog, registry = own
    source = catalog.push(fbc("v1"))
    catalog.create(image={"pollIntervalMinutes": 1})
    catalog.wait_serving(source)
    registry.stop()
    catalog.patch_image(pollIntervalMinutes=2)
    catalog.wait_progressing("Retrying", f"cannot reach registry {registry.address}")
    catalog.wait_serving(source)
    assert catalog.get().status_code == 200
    registry.start()
    catalog.wait_progressing("Succeeded")


def test_damaged_content_is_fetched_again(own: Own) -> None:
    olm, catalog, _ = own
    source = catalog.push(fbc("v1"))
    catalog.create()
    catalog.wait_serving(source)
    text = catalog.get().text
    child(olm).stop()
    [content] = (olm.work_dir / "catalogd" / "catalogs" / catalog.name).glob("*/catalog.jsonl")
    content.write_bytes(content.read_bytes().replace(b"foo", b"bar"))
    olm.start_catalogd()
    deadline = time.monotonic() + 60
    while catalog.get().text != text:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_killed_in_the_middle_of_an_unpack_it_converges(own: Own) -> None:
    olm, catalog, _ = own
    blob = b'{"schema":"olm.bundle","package":"p%d","name":"n","x":"' + b"y" * 20_000 + b'"}\n'
    files = {f"p{n}.json": (blob % n) * 200 for n in range(10)}
    catalog.push(files)
    catalog.create()
    folder = olm.work_dir / "catalogd" / "catalogs" / catalog.name
    deadline = time.monotonic() + 60
    while not list(folder.glob(".tmp-*")):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    olm.kill(olm.catalogd)
    assert catalog_is_not_half(folder)

    olm.start_catalogd()
    catalog.wait_serving()
    assert len(catalog.get("metas?package=p3").content) == len(files["p3.json"])
    assert not list(folder.glob(".tmp-*"))
    assert not list((olm.work_dir / "catalogd" / "unpack").iterdir())


def catalog_is_not_half(folder: Path) -> bool:
    return not (folder / "state.json").exists()


def test_a_new_certificate_is_served_without_a_restart(own: Own) -> None:
    from e2e.harness.pki import CertificateAuthority

    olm, catalog, _ = own
    catalog.push(fbc("v1"))
    catalog.create()
    catalog.wait_serving()
    authority = CertificateAuthority.create("another")
    pair = authority.issue_server("catalogd", hosts=["localhost", "127.0.0.1"])
    pair.write(olm.work_dir / "pki", "catalogd")
    trusted = ssl.create_default_context(cadata=authority.certificate.decode())
    deadline = time.monotonic() + 60
    while not answers(catalog, trusted):
        assert time.monotonic() < deadline
        time.sleep(0.2)


def answers(catalog: Catalog, trusted: ssl.SSLContext) -> bool:
    url = f"{catalog.olm.catalogs_url}/catalogs/{catalog.name}/api/v1/all"
    try:
        return httpx.get(url, verify=trusted, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def child(olm: Olm) -> ChildProcess:
    assert olm.catalogd is not None
    return olm.catalogd
