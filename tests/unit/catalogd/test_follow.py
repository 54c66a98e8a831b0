"""What a follower notes of content, and what it does with that note once it leads."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from api.olm.v1.clustercatalog import ClusterCatalog
from catalogd.follow import CatalogFollower
from catalogd.io.images import Fetched
from catalogd.plan import needs_ingest
from olm_catalogs.stored import Stored

OLD, NEW = "registry.test/cat:v1", "registry.test/cat:v2"
SOURCE = "registry.test/cat@sha256:" + "ab" * 32
UNPACKED = 1_700_000_000
POLLED = 1_800_000_000.0


def catalog(
    ref: str, *, generation: int, observed: int, reason: str = "Succeeded", source: str = SOURCE
) -> ClusterCatalog:
    """A catalog whose status was written when the specification had the generation `observed`."""
    progressing = {
        "type": "Progressing",
        "status": "True",
        "reason": reason,
        "message": "",
        "observedGeneration": observed,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    return ClusterCatalog.from_object(
        {
            "metadata": {"name": "c", "uid": "u", "generation": generation},
            "spec": {"source": {"type": "Image", "image": {"ref": ref}}},
            "status": {
                "conditions": [progressing],
                "resolvedSource": {"type": "Image", "image": {"ref": source}},
                "lastUnpacked": "2023-11-14T22:13:20Z",
            },
        }
    )


@dataclass
class World:
    """A cluster, a disk and a registry as far as a follower needs them."""

    catalog: ClusterCatalog
    stored: Stored | None = None

    async def find(self, _: str) -> ClusterCatalog | None:
        return self.catalog

    async def load(self, _: str) -> Stored | None:
        return self.stored

    async def commit(self, _: str, stored: Stored) -> None:
        self.stored = stored

    async def fetch(self, _: str, reference: str, __: Stored | None) -> Fetched:
        """Whatever a digest names, unpacked on this replica much later than on the leader."""
        repository, _, digest = reference.partition("@")
        return Fetched(f"{repository.rpartition(':')[0]}@{digest}", "version", UNPACKED + 999)

    async def follow(self) -> Stored:
        world: Any = self
        await CatalogFollower(world, world, world).reconcile("c")
        assert self.stored is not None
        return self.stored


RECORD = Stored(
    version="version",
    source=SOURCE,
    requested=OLD,
    uid="u",
    generation=1,
    unpacked=UNPACKED,
    polled=POLLED,
)
RESTARTED = replace(RECORD, source="registry.test/cat@sha256:" + "cd" * 32)


@pytest.mark.parametrize("stored", [None, RESTARTED, RECORD], ids=["joined", "behind", "there"])
@pytest.mark.parametrize(
    ("given", "asks"),
    [
        (catalog(OLD, generation=1, observed=1), False),
        (catalog(NEW, generation=2, observed=2), False),
        (catalog(NEW, generation=2, observed=1), True),
        (catalog(NEW, generation=2, observed=2, reason="Retrying"), True),
    ],
    ids=["as it was", "up to date", "not seen yet", "failed"],
)
async def test_once_it_leads_it_asks_for_what_the_status_does_not_speak_of(
    stored: Stored | None, given: ClusterCatalog, *, asks: bool
) -> None:
    followed = await World(given, stored).follow()
    assert followed.source == SOURCE
    assert needs_ingest(given, followed, POLLED) is asks


@pytest.mark.parametrize("stored", [None, replace(RECORD, unpacked=UNPACKED - 5)])
async def test_the_time_of_unpacking_is_the_leaders(stored: Stored | None) -> None:
    followed = await World(catalog(OLD, generation=1, observed=1), stored).follow()
    assert followed.unpacked == UNPACKED


async def test_what_is_up_to_date_keeps_when_the_registry_was_asked() -> None:
    followed = await World(catalog(OLD, generation=1, observed=1), RECORD).follow()
    assert followed == RECORD
