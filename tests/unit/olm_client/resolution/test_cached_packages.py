"""What catalogs have of packages, cached for the next command."""

import asyncio
import os
from pathlib import Path

import pytest

from olm_client.resolution import cached_packages
from olm_client.resolution.cached_packages import packages_of
from olm_runtime.kube.cluster_access import ClusterAccess
from operator_controller.io.catalog_addresses import Blobs
from operator_controller.io.catalog_cache import CatalogCache

A, B = (ClusterAccess(server=f"https://{name}:6443") for name in "ab")
LINES = (b'{"schema":"olm.package","name":"greeter","defaultChannel":"stable"}',)


@pytest.fixture(autouse=True)
def of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "olm" / "packages"


def put(cache: CatalogCache, catalog: str = "c") -> None:
    asyncio.run(cache.put(catalog, "greeter", "image@sha256:1", Blobs(LINES)))


def is_known(access: ClusterAccess, catalog: str = "c") -> bool:
    with packages_of(access) as cache:
        return asyncio.run(cache.find(catalog, "greeter")) is not None


def test_the_next_command_knows_what_one_has_asked_of_the_same_cluster() -> None:
    with packages_of(A) as cache:
        put(cache)
    assert is_known(A)
    assert not is_known(B)


def test_others_have_to_ask_themselves() -> None:
    with packages_of(A) as cache:
        put(cache)
    assert not is_known(A._replace(authorization=lambda: "Bearer another"))
    assert not is_known(A._replace(certificate=b"another"))
    assert not is_known(A._replace(impersonation=(("Impersonate-User", "another"),)))


def test_nobody_else_can_read_it(of_the_user: Path) -> None:
    with packages_of(A) as cache:
        put(cache)
    (folder,) = of_the_user.iterdir()
    assert folder.stat().st_mode & 0o077 == 0


def test_where_no_disk_can_be_written_it_is_known_for_one_command(of_the_user: Path) -> None:
    of_the_user.parent.write_bytes(b"")
    with packages_of(A) as cache:
        put(cache)
        assert asyncio.run(cache.find("c", "greeter")) is not None
    assert not is_known(A)


def test_the_oldest_goes_once_there_is_too_much(
    of_the_user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_packages, "MAX_BYTES", 400)
    for catalog in ("first", "second"):
        with packages_of(A) as cache:
            put(cache, catalog)
            if catalog == "first":
                (file,) = (each for each in of_the_user.rglob("*") if each.is_file())
                os.utime(file, (0, 0))
    assert not is_known(A, "first")
    assert is_known(A, "second")
