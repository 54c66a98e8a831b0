"""catalogd's start and election, at an API server that does not always answer."""

import asyncio
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path

import pytest
from aiohttp import web

from catalogd.__main__ import Program
from catalogd.settings import parse_settings
from olm_runtime.kube import waiting
from tests.unit.olm_runtime.kube.test_client import Answer, served, status

GROUP = "/apis/olm.operatorframework.io/v1"
CATALOGS = f"{GROUP}/clustercatalogs"


def catalog(name: str, spec: object) -> dict[str, object]:
    return {"metadata": {"name": name, "uid": name}, "spec": spec}


GOOD = catalog("good", {"source": {"type": "Image", "image": {"ref": "registry.test/c:v1"}}})
UNREADABLE = catalog("unreadable", {"source": "of another version of us"})


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "POLL_SECONDS", 0.0)


def failing_first(*items: object) -> Answer:
    """Lists the items, but the first request fails."""
    answers: Iterator[bool] = chain([False], repeat(True))
    found = {"kind": "ClusterCatalogList", "metadata": {}, "items": items}
    return lambda _: web.json_response(found) if next(answers) else status(500, "InternalError")


def answers(*items: object) -> dict[str, Answer]:
    kind = {"kind": "ClusterCatalog", "name": "clustercatalogs", "namespaced": False}
    discovery = {"kind": "APIResourceList", "resources": [kind]}
    return {
        f"GET {GROUP}": lambda _: web.json_response(discovery),
        f"GET {CATALOGS}": failing_first(*items),
    }


def settings(folder: Path) -> list[str]:
    return ["--tls-cert=/c", "--tls-key=/k", f"--cache-dir={folder}"]


async def test_one_error_at_the_election_does_not_end_it(tmp_path: Path) -> None:
    async with served(**answers(GOOD)) as client:
        program = Program.build(parse_settings(settings(tmp_path)), client)
        meter = program.manager.queues["catalogd-clustercatalog-controller"].meter
        leading = asyncio.ensure_future(program.lead())
        async with asyncio.timeout(60):
            while not (leading.done() or meter.depth):  # noqa: ASYNC110 - no event
                await asyncio.sleep(0.01)
        assert not leading.done(), leading.exception()
        leading.cancel()
        program.images.close()


async def test_neither_an_error_nor_an_unreadable_catalog_ends_the_start(tmp_path: Path) -> None:
    (tmp_path / "catalogs" / "unreadable").mkdir(parents=True)
    (tmp_path / "catalogs" / "deleted").mkdir()
    async with served(**answers(GOOD, UNREADABLE)) as client:
        program = Program.build(parse_settings(settings(tmp_path)), client)
        await program.restore()
    assert program.restored_at is not None
    remaining = [entry.name for entry in (tmp_path / "catalogs").iterdir()]
    assert remaining == ["unreadable"], "what cannot be read is not deleted"
