"""ClusterCatalogs as data and as text, and who would miss one."""

from datetime import UTC, datetime
from typing import Any

import click
import pytest

from api.objects import KubeObject
from olm_cli.cluster_catalogs.text import TITLES, lines, row
from olm_client.catalogs.difference import counts, short_lines
from olm_client.cluster_catalogs.dependents import Offered, dependent_lines, dependents
from olm_client.cluster_catalogs.facts import age, facts_of, poll_text

NOW = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)
LABEL = "olm.operatorframework.io/metadata.name"


def catalog(name: str, *, labels: dict[str, str] | None = None, **image: Any) -> KubeObject:
    progressing = {
        "type": "Progressing",
        "status": "True",
        "reason": "Succeeded",
        "message": "done",
    }
    serving = {"type": "Serving", "status": "True", "reason": "Available", "message": ""}
    return {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterCatalog",
        "metadata": {
            "name": name,
            "labels": {LABEL: name, **(labels or {})},
            "creationTimestamp": "2026-01-01T12:00:00Z",
        },
        "spec": {"source": {"type": "Image", "image": {"ref": "q.io/c:v1", **image}}},
        "status": {
            "conditions": [progressing, serving],
            "resolvedSource": {"type": "Image", "image": {"ref": "q.io/c@sha256:" + "ab" * 32}},
            "lastUnpacked": "2026-01-02T09:00:00Z",
        },
    }


def extension(name: str, package: str, **source: Any) -> KubeObject:
    return {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": name},
        "spec": {
            "namespace": "n",
            "source": {"sourceType": "Catalog", "catalog": {"packageName": package, **source}},
        },
        "status": {"install": {"bundle": {"name": f"{package}.v1", "version": "1.0.0"}}},
    }


def test_a_catalog_in_a_line() -> None:
    facts = facts_of(catalog("c", labels={"a": "b"}, pollIntervalMinutes=90))
    assert facts["labels"] == {"a": "b"}
    cells = [click.unstyle(cell) for cell in row(facts, NOW)]
    assert dict(zip(TITLES, cells, strict=True)) == {
        "CATALOG": "c",
        "PHASE": "Serving",
        "PRIORITY": "0",
        "POLL": "90m",
        "UNPACKED": "3h",
        "DIGEST": "sha256:abababababab",
        "IMAGE": "q.io/c:v1",
        "WHAT HINDERS": "",
    }


def test_a_catalog_on_many_lines() -> None:
    raw = catalog("c")
    raw["status"]["conditions"][0] |= {
        "reason": "Retrying", "message": "no network\nhint: mend it",
    }  # fmt: skip
    facts = {**facts_of(raw), "packages": 3}
    assert [click.unstyle(line) for line in lines(facts, NOW)] == [
        "c: Retrying",
        "  image     q.io/c:v1",
        "  digest    sha256:" + "ab" * 32,
        "  unpacked  2026-01-02T09:00:00Z (3h ago)",
        "  poll      never; olm catalog refresh looks at once",
        "  priority  0",
        "  packages  3",
        "  age       24h",
        "  Progressing True Retrying: no network",
        "    hint: mend it",
        "  Serving True Available",
        "in the way: no network",
        "hint: mend it",
    ]


@pytest.mark.parametrize(
    ("time", "text"),
    [
        ("", ""),
        ("2026-01-02T12:00:05Z", "0s"),
        ("2026-01-02T11:58:01Z", "119s"),
        ("2026-01-02T11:58:00Z", "2m"),
        ("2025-12-31T12:00:00Z", "2d"),
    ],
)
def test_ages(time: str, text: str) -> None:
    assert age(time, NOW) == text


@pytest.mark.parametrize(
    ("minutes", "text"), [(None, ""), (1, "1m"), (60, "1h"), (90, "90m"), (1440, "24h")]
)
def test_intervals(minutes: int | None, text: str) -> None:
    assert poll_text(minutes) == text


def test_who_would_miss_a_catalog() -> None:
    going = Offered(catalog("going", labels={"tier": "gold"}), frozenset({"a", "b"}))
    other = Offered(catalog("other"), frozenset({"b", "c"}))
    gold = {"selector": {"matchLabels": {"tier": "gold"}}}
    extensions = [
        extension("only", "a"),
        extension("both", "b"),
        extension("pinned", "b", **gold),
        extension("elsewhere", "c"),
        extension("away", "b", selector={"matchLabels": {LABEL: "other"}}),
        {"metadata": {"name": "broken"}, "spec": 7},
    ]
    found = dependents(going, [other], extensions)
    assert {each.extension: each.others for each in found} == {
        "only": [], "both": ["other"], "pinned": [],
    }  # fmt: skip
    assert list(dependent_lines(found)) == [
        "without it these extensions would find no updates; what is installed stays:",
        "  only (a 1.0.0)",
        "  pinned (b 1.0.0)",
        "these would find theirs in other catalogs:",
        "  both (b 1.0.0), in other",
    ]
    assert list(dependent_lines([])) == ["no extension has a package of it"]


def test_what_is_not_known_may_be_needed() -> None:
    unknown = Offered(catalog("unknown"), None)
    [found] = dependents(unknown, [unknown], [extension("e", "a")])
    assert (found.extension, found.others) == ("e", [])


def test_a_difference_in_short() -> None:
    found = {
        "added": [{"package": "fresh", "head": "fresh.v3.0.0"}, {"package": "bare", "head": ""}],
        "removed": [{"package": "gone"}],
        "changed": [
            {
                "package": "minio",
                "bundles": {
                    "added": [{"name": "m.2", "version": "2.0.0"}, {"name": "m.x", "version": ""}],
                    "removed": [{"name": "m.1", "version": "1.0.0"}],
                },
                "deprecated": [{"subject": "bundle m.2", "message": "bad"}],
            },
            {"package": "icon", "other": ["icon"]},
        ],
    }
    assert [*short_lines(found), counts(found)] == [
        "+ fresh (fresh.v3.0.0)",
        "+ bare",
        "- gone",
        "~ minio: + 2.0.0, m.x; - 1.0.0; ! bundle m.2",
        "~ icon: other changes",
        "packages: 2 added, 1 removed, 2 changed",
    ]
