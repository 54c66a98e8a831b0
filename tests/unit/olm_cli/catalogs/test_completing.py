"""Words on the Tab key for a package that is on the command line, from what is cached."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from click.shell_completion import ShellComplete

from olm_cli.__main__ import cli
from olm_client.catalogs import quick_list
from olm_client.catalogs.cache import ContentCache, folder_key
from olm_client.catalogs.choices import Choices
from olm_client.catalogs.summarising import choices_of
from tests.unit.olm_cli.catalogs.test_catalogs import package

Blob = dict[str, Any]


def channel(name: str, *versions: str) -> Blob:
    entries = [{"name": f"minio.v{version}"} for version in versions]
    return {"schema": "olm.channel", "package": "minio", "name": name, "entries": entries}


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder whose content is cached; there is no cluster."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    folder = tmp_path / "mine"
    folder.mkdir()
    blobs = [*package("minio", "1.0.0", "1.2.0", "1.10.0"), channel("fast", "1.10.0", "2.0.0-rc.1")]
    suggested = {"operatorframework.io/suggested-namespace": "minio-system"}
    blobs[4]["properties"][1]["value"]["annotations"] |= suggested
    keep(folder, [*blobs, *package("postgres", "5.0.0")])
    return str(folder)


def keep(folder: Path, blobs: list[Blob]) -> None:
    (folder / "catalog.json").write_bytes(b"\n".join(map(orjson.dumps, blobs)))
    with ContentCache.of_user().writing(folder_key(folder)) as writer:
        for blob in blobs:
            writer.add(orjson.dumps(blob))


def tab(*words: str) -> list[str]:
    *before, incomplete = words
    found = ShellComplete(cli, {}, "olm", "").get_completions(list(before), incomplete)
    return [item.value for item in found]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("show", ""), ["minio", "postgres"]),
        (("show", "po"), ["postgres"]),
        (("resolve", "--package", "m"), ["minio"]),
        (("rbac", "m"), ["minio"]),
        (("show", "minio", "--channel", ""), ["fast", "stable"]),
        (("graph", "minio", "--channel", "s"), ["stable"]),
        (("install", "minio", "--channel", "f"), ["fast"]),
        (("install", "minio", "--version", ""), ["1.10.0", "1.2.0", "1.0.0"]),
        (("install", "minio", "--version", "1.1"), ["1.10.0"]),
        (("install", "minio", "--channel", "fast", "--version", ""), ["1.10.0"]),
        (("show", "minio", "--channel", "fast", "--version", ""), ["1.10.0"]),
        (("graph", "minio", "--from", "1.2"), ["1.2.0"]),
        (("resolve", "--package", "minio", "--version", "1.0"), ["1.0.0"]),
        (("install", "minio", "-n", ""), ["minio-system", "minio"]),
        (("rbac", "minio", "--install-namespace", "minio-"), ["minio-system"]),
        (("install", "nobody", "--version", ""), []),
        (("install", "--version", ""), []),
        (("rollback", "minio", "--to", ""), []),
    ],
)
def test_what_is_offered(catalog: str, words: tuple[str, ...], offered: list[str]) -> None:
    assert tab(*words) == offered


def test_a_catalog_on_the_line_is_the_only_one(catalog: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    keep(other, package("minio", "9.0.0", channel="new"))
    assert tab("show", "minio", "--catalog", str(other), "--channel", "") == ["new"]
    assert tab("install", "minio", "--catalog", str(other), "--version", "") == ["9.0.0"]
    (other / "catalog.json").write_text("{}")
    assert tab("show", "--catalog", str(other), "") == [], "it changed since it was read"
    assert tab("show", "--catalog", str(tmp_path / "absent"), "") == []


def test_the_cluster_says_which_contents_count(
    catalog: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def served(name: str, digest: str) -> Blob:
        source = {"type": "Image", "image": {"ref": f"q.io/c@{digest}"}}
        status = {"resolvedSource": source, "urls": {"base": "https://c"}}
        return {"metadata": {"name": name}, "spec": {}, "status": status}

    listed = {
        "ClusterCatalog": [served("new", "sha256:aa"), served("unread", "sha256:bb")],
        "ClusterExtension": [
            {
                "metadata": {"name": "mine"},
                "spec": {"source": {"catalog": {"packageName": "minio"}}},
            }
        ],
        "Namespace": [{"metadata": {"name": "default"}}],
    }

    def quick(_: object, kind: str = "ClusterCatalog", *, seconds: float) -> list[Blob]:
        assert seconds <= 1
        return listed[kind]

    monkeypatch.setattr(quick_list, "quick_list", quick)
    with ContentCache.of_user().writing("sha256:aa") as writer:
        for blob in package("minio", "3.0.0"):
            writer.add(orjson.dumps(blob))
    assert tab("show", "") == ["minio"]
    assert tab("plan", "mine", "--version", "") == ["3.0.0"]
    assert tab("install", "minio", "--catalog", "new", "--version", "") == ["3.0.0"]
    assert tab("install", "minio", "--catalog", "unread", "--version", "") == []
    assert tab("show", "minio", "--catalog", "") == ["new", "unread"]
    assert tab("install", "minio", "-n", "") == ["minio", "default"]


def test_a_damaged_content_offers_nothing(catalog: str, tmp_path: Path) -> None:
    [file] = (tmp_path / "cache" / "olm" / "catalogs").iterdir()
    file.write_bytes(b"no database")
    assert tab("show", "") == []


@pytest.mark.parametrize(
    "blobs",
    [
        [],
        [{"schema": "olm.channel", "name": 7, "entries": "none"}],
        [{"schema": "olm.bundle", "name": "x", "properties": 3}, {"schema": 4}],
    ],
)
def test_broken_blobs_offer_nothing(blobs: list[Blob]) -> None:
    assert choices_of(blobs).versions == []


def test_choices_are_kept_as_they_are() -> None:
    found = choices_of([*package("minio", "1.0.0"), channel("fast")])
    assert Choices(**orjson.loads(orjson.dumps(found.to_json()))) == found
