"""`olm search`, `show`, `graph` and `diff` over catalogs on disk, and what is cached of those."""

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from click.testing import CliRunner, Result

from olm_cli.diff import diff
from olm_cli.graph import graph_command
from olm_cli.search import search
from olm_cli.show import show_command
from olm_client.catalogs.cache import ContentCache, folder_key
from olm_client.catalogs.cluster import Cluster, Served
from olm_client.catalogs.content import FORMAT, Content
from olm_client.catalogs.ranking import ranked
from olm_client.catalogs.summarising import one_line, summary_of
from olm_client.catalogs.summary import Summary
from olm_client.reach import ClusterOptions
from olm_client.user_cache import cache_folder
from olm_runtime.errors import OLMError
from olm_runtime.suggestions import near

Blob = dict[str, Any]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "olm" / "catalogs"


def run(command: Any, *arguments: Any) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)])


def bundle(package: str, version: str, **more: Any) -> Blob:
    csv = {
        "displayName": package.title(),
        "keywords": ["storage", "s3"],
        "provider": {"name": "Example Inc."},
        "annotations": {"description": f"Runs {package} well."},
        "description": "# Title\n\nLong text about **elephants**.",
        "installModes": [{"type": "AllNamespaces", "supported": True}],
    }
    properties = [
        {"type": "olm.package", "value": {"packageName": package, "version": version}},
        {"type": "olm.csv.metadata", "value": csv | more.pop("csv", {})},
        *more.pop("properties", ()),
    ]
    name = f"{package}.v{version}"
    image = f"registry.example.com/{package}:{version}"
    return {
        "schema": "olm.bundle", "name": name, "package": package, "image": image,
        "properties": properties, **more,
    }  # fmt: skip


def package(name: str, *versions: str, channel: str = "stable") -> list[Blob]:
    """A package with one channel, each version replacing the one before it."""
    names = [f"{name}.v{version}" for version in versions]
    entries = [
        {"name": each} | ({"replaces": names[at - 1]} if at else {})
        for at, each in enumerate(names)
    ]
    return [
        {"schema": "olm.package", "name": name, "defaultChannel": channel},
        {"schema": "olm.channel", "package": name, "name": channel, "entries": entries},
        *(bundle(name, version) for version in versions),
    ]


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_catalog(name: str, *packages: list[Blob]) -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        lines = (orjson.dumps(blob) for each in packages for blob in each)
        (folder / "catalog.json").write_bytes(b"\n".join(lines))
        return folder

    return write_catalog


@pytest.fixture
def catalog(write: Write) -> Path:
    return write("mine", package("minio", "1.0.0", "1.1.0"), package("postgres", "5.0.0"))


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["kafka"], ["kafka", "strimzi-kafka", "kafkanator", "shown", "tagged", "made", "told"]),
        (["KAFKA"], ["kafka", "strimzi-kafka", "kafkanator", "shown", "tagged", "made", "told"]),
        (["kafka", "strimzi"], ["strimzi-kafka"]),
        (["afk", "told"], ["told"]),
        (["absent"], []),
        (["kafka", "absent"], []),
        (["k+"], []),
    ],
)
def test_words_are_ranked_by_where_they_stand(words: list[str], names: list[str]) -> None:
    entries = [
        Summary(name="told", text="it speaks to kafka."),
        Summary(name="made", provider="Kafka Inc."),
        Summary(name="tagged", keywords=("queue", "kafka")),
        Summary(name="shown", display_name="Kafka for all"),
        Summary(name="kafkanator"),
        Summary(name="strimzi-kafka"),
        Summary(name="kafka"),
        Summary(name="other"),
    ]
    found = ranked((("c", entry) for entry in entries), words)
    assert [entry.name for _, entry in found] == names


def test_what_every_package_is_does_not_count() -> None:
    entries = [Summary(name="project-quay", display_name="Quay"), Summary(name="kafka-operator")]
    offers = [("c", entry) for entry in entries]
    assert [e.name for _, e in ranked(offers, ["quay", "Operator"])] == ["project-quay"]
    assert [e.name for _, e in ranked(offers, ["operator"])] == ["kafka-operator"]


def test_of_equals_the_line_decides_and_what_is_deprecated_is_last() -> None:
    entries = [
        Summary(name="a", keywords=("metrics",), deprecated=True, summary="Stores metrics."),
        Summary(name="b", keywords=("metrics",), summary="Counts sheep."),
        Summary(name="long-name", keywords=("metrics",), summary="Stores Metrics."),
    ]
    found = ranked((("c", entry) for entry in entries), ["metrics"])
    assert [entry.name for _, entry in found] == ["long-name", "b", "a"]


@pytest.mark.parametrize("written", ["JSON", "YAML"])
def test_bundles_that_hold_their_objects_are_found(written: str, write: Write) -> None:
    csv = {
        "kind": "ClusterServiceVersion",
        "metadata": {"annotations": {"description": "Runs elephants."}},
        "spec": {"displayName": "Elephant", "keywords": ["trunk"], "provider": {"name": "Zoo"}},
    }
    texts = [yaml.safe_dump(csv) if written == "YAML" else json.dumps(csv), "kind: Service"]
    blobs = package("minio", "1.0.0")
    blobs[2]["properties"][1:] = [
        {"type": "olm.bundle.object", "value": {"data": base64.b64encode(text.encode()).decode()}}
        for text in reversed(texts)
    ]
    folder = write("mine", blobs)
    for word in ("trunk", "elephants", "zoo"):
        answer = json.loads(run(search, word, "-o", "json", "--catalog", folder).output)
        [found] = answer["packages"]
        assert (found["displayName"], found["description"]) == ("Elephant", "Runs elephants.")


def test_near_names() -> None:
    known = ["quay-operator", "project-quay", "kafka", "argocd-operator"]
    assert near("quay", known)[0] == "project-quay"
    assert near("argocd-operater", known) == ["argocd-operator"]
    assert near("zzz", known) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("# Title\n\nA `b`\n**c**.\n\nMore.", "A b c."),
        ("word " * 100, ("word " * 31).rstrip() + "…"),
        ("# Only a title", ""),
    ],
)
def test_one_line_of_a_description(text: str, line: str) -> None:
    assert one_line(text) == line


@pytest.mark.parametrize(
    "blobs",
    [
        [],
        [{"schema": "olm.package", "name": "p", "defaultChannel": 3}],
        [{"schema": "olm.package", "defaultChannel": "a"}, {"schema": "olm.channel", "name": "a"}],
        [
            {"schema": "olm.package", "defaultChannel": "a"},
            {"schema": "olm.channel", "name": "a", "entries": [{"name": "x"}, 3]},
            {"schema": "olm.bundle", "name": "x", "properties": [{"type": "olm.package"}, None]},
        ],
        [
            {"schema": "olm.package", "defaultChannel": "a"},
            {"schema": "olm.channel", "name": "a", "entries": [{"name": "x"}]},
            {
                "schema": "olm.bundle",
                "name": "x",
                "properties": [
                    {"type": "olm.bundle.object", "value": {"data": data}}
                    for data in (7, "!", "e30=", "a2luZDogQ2x1c3RlclNlcnZpY2VWZXJzaW9uCg==")
                ],
            },
        ],
        [{"schema": 7}, {"schema": "olm.deprecations", "entries": "none"}],
    ],
)
def test_broken_blobs_are_listed_by_name(blobs: list[Blob]) -> None:
    entry = summary_of("p", blobs)
    assert (entry.name, entry.version, entry.summary) == ("p", "", "")


def test_search_shows_head_catalog_and_line(catalog: Path) -> None:
    found = run(search, "minio", "--catalog", catalog)
    assert found.output.splitlines() == [
        "NAME   DISPLAY NAME  VERSION  CATALOG  DESCRIPTION",
        "minio  Minio         1.1.0    mine     Runs minio well.",
    ]
    answer = json.loads(run(search, "elephants", "-o", "json", "--catalog", catalog).output)
    assert [each["name"] for each in answer["packages"]] == ["minio", "postgres"]
    assert answer["packages"][0] | {"keywords": [], "provider": ""} == {
        "name": "minio", "displayName": "Minio", "version": "1.1.0", "defaultChannel": "stable",
        "catalog": "mine", "provider": "", "keywords": [], "deprecated": False,
        "description": "Runs minio well.",
    }  # fmt: skip


def test_search_without_a_match_says_so(catalog: Path) -> None:
    found = run(search, "nothing", "--catalog", catalog)
    assert (found.exit_code, found.stdout) == (0, "")
    assert found.stderr == "no package matches nothing\n"
    near = run(search, "mimio", "--catalog", catalog)
    assert near.stderr == "no package matches mimio\ndid you mean minio?\n"


def test_a_catalog_that_cannot_be_read_does_not_hide_the_others(
    catalog: Path, write: Write, tmp_path: Path
) -> None:
    broken = write("broken")
    (broken / "catalog.json").write_text('{"schema": ')
    found = run(search, "minio", "--catalog", broken, "--catalog", catalog)
    assert found.exit_code == 0
    assert "minio" in found.stdout
    assert "warning: broken: catalog.json" in found.stderr
    alone = run(search, "minio", "--catalog", broken)
    assert isinstance(alone.exception, OLMError)
    missing = run(search, "minio", "--catalog", f"{tmp_path}/none")
    assert "no such folder" in str(missing.exception)


def test_a_changed_folder_is_read_again_and_an_unchanged_one_is_not(
    catalog: Path, write: Write, cache: Path
) -> None:
    run(search, "minio", "--catalog", catalog)
    before = {file.name: file.stat().st_ino for file in cache.iterdir()}
    run(search, "minio", "--catalog", catalog)
    assert {file.name: file.stat().st_ino for file in cache.iterdir()} == before
    write("mine", package("minio", "1.0.0", "1.1.0", "2.0.0"))
    assert "2.0.0" in run(search, "minio", "--catalog", catalog).output


def test_a_damaged_file_of_the_cache_is_made_anew(catalog: Path, cache: Path) -> None:
    run(search, "minio", "--catalog", catalog)
    [file] = cache.iterdir()
    file.write_bytes(b"no database, whatever its name says")
    assert "1.1.0" in run(search, "minio", "--catalog", catalog).output


def test_the_cache_is_private_and_bounded(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    noise = [orjson.dumps({"package": "p", "n": os.urandom(20_000).hex()}) for _ in range(5)]

    def store(key: str, cache: ContentCache) -> None:
        with cache.writing(key) as writer:
            for blob in noise:
                writer.add(blob)

    cache = ContentCache(folder, max_bytes=350_000)
    for number, key in enumerate(("sha256:a", "sha256:b")):
        store(key, cache)
        os.utime(folder / f"{key.replace(':', '-')}.{FORMAT}.sqlite", (number, number))
    assert isinstance(cache.find("sha256:a"), Content)  # used, so no longer the oldest
    store("sha256:c", cache)
    assert cache.digests() == ["sha256:a", "sha256:c"]
    assert folder.stat().st_mode & 0o077 == 0


def test_nothing_is_cached_of_a_catalog_that_broke_off(tmp_path: Path) -> None:
    cache = ContentCache(tmp_path / "cache")
    with pytest.raises(KeyError), cache.writing("sha256:a"):
        raise KeyError
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize(
    ("value", "folder"),
    [("/x", "/x/olm"), ("", "/h/.cache/olm"), ("r", "/h/.cache/olm")],
)
def test_where_the_cache_is(value: str, folder: str) -> None:
    assert cache_folder({"XDG_CACHE_HOME": value}, Path("/h")) == Path(folder)


def test_the_state_of_a_folder(catalog: Path) -> None:
    first = folder_key(catalog)
    assert folder_key(catalog) == first
    (catalog / "more").mkdir()
    (catalog / "more" / "x.json").write_text("{}")
    assert folder_key(catalog) != first


def test_show_names_the_head_and_what_v1_cannot_install(write: Write) -> None:
    blobs = package("minio", "1.0.0", "1.1.0")
    blobs[3]["relatedImages"] = [{"name": "server", "image": "registry.example.com/server:1"}]
    blobs[3]["properties"] += [
        {"type": "olm.gvk.required", "value": {"group": "g", "kind": "K", "version": "v1"}},
        {
            "type": "olm.package.required",
            "value": {"packageName": "etcd", "versionRange": ">1.0.0"},
        },
        {"type": "olm.maxOpenShiftVersion", "value": "4.20"},
    ]
    message = {"reference": {"schema": "olm.bundle", "name": "minio.v1.0.0"}, "message": "old"}
    blobs.append({"schema": "olm.deprecations", "package": "minio", "entries": [message]})
    folder = write("mine", blobs)
    output = run(show_command, "minio", "--catalog", folder).output
    for line in (
        "minio in catalog mine",
        "  bundle minio.v1.0.0: old",
        "  stable  1.1.0  minio.v1.1.0  default",
        "versions: 1.1.0, 1.0.0",
        "bundle: minio.v1.1.0 (version 1.1.0)",
        "  runs on OpenShift up to 4.20",
        "    K (g/v1)",
        "    etcd >1.0.0",
        '    it depends on other content ("olm.gvk.required"), which OLM v1 does not install',
        "    registry.example.com/server:1",
        "  permissions: only the bundle's image has them; --bundle-image pulls it",
    ):
        assert line in output.splitlines(), output
    answer = json.loads(
        run(show_command, "minio", "--version", "<1.1", "-o", "json", "--catalog", folder).output
    )
    assert answer["catalogs"][0]["bundle"]["name"] == "minio.v1.0.0"
    assert answer["catalogs"][0]["bundle"]["obstacles"] == []


def test_install_modes_that_v1_does_not_have(write: Write) -> None:
    blobs = package("minio", "1.0.0")
    only = [{"type": "MultiNamespace", "supported": True}]
    blobs[2] = bundle("minio", "1.0.0", csv={"installModes": only})
    output = run(show_command, "minio", "--catalog", write("mine", blobs)).output
    assert "it supports none of the install modes AllNamespaces" in output


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["mino"], 'no package "mino" in mine', "did you mean minio?"),
        (["qqqq"], 'no package "qqqq" in mine', "olm search WORDS finds packages"),
        (
            ["minio", "--version", "9.x"],
            "minio in mine: no version matches '9.x'",
            "versions: 1.1.0, 1.0.0",
        ),
        (["minio", "--channel", "x"], 'minio in mine: no channel "x"', "there is stable"),
    ],
)
def test_show_refuses_with_a_hint(
    catalog: Path, arguments: list[str], message: str, hint: str
) -> None:
    found = run(show_command, *arguments, "--catalog", catalog).exception
    assert isinstance(found, OLMError)
    assert (found.message, found.hint) == (message, hint)


def test_the_graph_in_the_terminal(write: Write) -> None:
    blobs = package("minio", "1.0.0", "1.1.0", "1.2.0", "2.0.0")
    blobs[1]["entries"] = [
        {"name": "minio.v1.0.0"},
        {"name": "minio.v1.1.0", "replaces": "minio.v1.0.0"},
        {"name": "minio.v1.2.0", "replaces": "minio.v1.0.0", "skips": ["minio.v1.1.0"]},
        {"name": "minio.v2.0.0", "skipRange": ">=1.0.0 <2.0.0"},
    ]
    folder = write("mine", blobs)
    assert run(graph_command, "minio", "--catalog", folder).output.splitlines() == [
        "minio, channel stable",
        "●    minio.v2.0.0 [head]  skipRange >=1.0.0 <2.0.0",
        "┊",
        "●    minio.v1.2.0 [head]  replaces minio.v1.0.0; skips minio.v1.1.0",
        "├─╮",
        "│ ●  minio.v1.1.0  replaces minio.v1.0.0",
        "●─╯  minio.v1.0.0",
    ]
    part = run(graph_command, "minio", "--from", "1.1.0", "-o", "json", "--catalog", folder)
    [channel] = json.loads(part.output)["catalogs"][0]["channels"]
    assert [entry["version"] for entry in channel["entries"]] == ["2.0.0", "1.2.0", "1.1.0"]
    assert {"from": "minio.v1.1.0", "to": "minio.v1.2.0", "kind": "skips"} in channel["updates"]
    assert run(graph_command, "minio", "-o", "mermaid", "--catalog", folder).output.startswith(
        "graph LR\n"
    )
    assert run(graph_command, "minio", "-o", "svg", "--catalog", folder).output.startswith("<svg ")


def test_the_graph_refuses_unknown_versions_and_channels(catalog: Path) -> None:
    for arguments in (["--from", "7.0.0"], ["--channel", "x"]):
        found = run(graph_command, "minio", *arguments, "--catalog", catalog).exception
        assert isinstance(found, OLMError)
        assert found.hint in {"versions: 1.1.0, 1.0.0", "there is stable"}


def test_equal_catalogs_have_no_difference_whatever_their_order(write: Write) -> None:
    blobs = package("minio", "1.0.0", "1.1.0")
    other = [dict(blob) for blob in reversed(blobs)]
    for blob in other:
        blob["properties"] = blob.get("properties", [])[::-1]
        if not blob["properties"]:
            del blob["properties"]
    same = run(diff, write("a", blobs), write("b", other))
    assert (same.exit_code, same.output) == (0, "no difference\n")


def test_a_difference_in_words_and_as_data(write: Write) -> None:
    old = write(
        "old", package("minio", "1.0.0"), package("gone", "1.0.0"), package("same", "1.0.0")
    )
    changed = package("minio", "1.0.0", "1.1.0")
    changed[2] = bundle("minio", "1.0.0", csv={"displayName": "Other"})
    changed[2]["image"] = "registry.example.com/other"
    reference = {"schema": "olm.bundle", "name": "minio.v1.0.0"}
    entry = {"reference": reference, "message": "use 1.1.0"}
    changed.append({"schema": "olm.deprecations", "package": "minio", "entries": [entry]})
    new = write("new", changed, package("same", "1.0.0"), package("fresh", "3.0.0", channel="a"))
    result = run(diff, old, new)
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "+ package fresh (channel a, head fresh.v3.0.0, bundles: 1)",
        "- package gone (channel stable, head gone.v1.0.0, bundles: 1)",
        "~ package minio",
        "    ~ channel stable: head minio.v1.0.0 -> minio.v1.1.0; + minio.v1.1.0",
        "    + bundle minio.v1.1.0 (1.1.0)",
        "    ~ bundle minio.v1.0.0: image; property olm.csv.metadata",
        "    ! deprecation of bundle minio.v1.0.0: use 1.1.0",
        "packages: 1 added, 1 removed, 1 changed",
    ]
    answer = json.loads(run(diff, old, new, "-o", "json").output)
    assert answer["changed"][0]["deprecated"] == [
        {"subject": "bundle minio.v1.0.0", "message": "use 1.1.0"}
    ]


def test_a_catalog_that_cannot_be_compared_is_exit_code_two(catalog: Path) -> None:
    found = run(diff, catalog, "./none")
    assert found.exit_code == 2
    assert found.stderr == (
        "error: ./none: no such folder\nhint: give the root folder of a catalog\n"
    )
    unknown = run(diff, "mine@sha256:ab", catalog)
    assert unknown.exit_code == 2
    assert "no content of that digest kept on this machine" in unknown.stderr


def test_a_catalog_of_a_cluster_is_not_read_without_tls(tmp_path: Path) -> None:
    catalog = Served("c", "sha256:1", "http://evil.test/catalogs/c", available=True)
    with pytest.raises(OLMError, match="has no TLS: anybody between"):
        Cluster(ClusterOptions()).content(catalog, ContentCache(tmp_path))
    assert not [*tmp_path.glob("*.sqlite")]
