"""What a mirror holds, and where it goes."""

from typing import Any

import pytest

from olm_content.fbc.records import Record
from olm_runtime.errors import TerminalError
from olm_runtime.images.reference import parse_ref
from opm.mirror import (
    MAX_DEPTH,
    Subjects,
    Target,
    Wanted,
    attachments_of,
    chosen,
    images_of,
    mirror_sets,
    parse_target,
    parse_wanted,
    registries_conf,
)

DIGEST = f"sha256:{'ab' * 32}"


def made(schema: str, name: str, package: str = "shop", **value: Any) -> Record:
    return Record(schema, package, name, {"schema": schema, "name": name, **value})


def deprecation(schema: str, name: str = "") -> dict[str, Any]:
    return {"reference": {"schema": schema, **({"name": name} if name else {})}, "message": "old"}


CATALOG = [
    made("olm.package", "shop", defaultChannel="stable"),
    made("olm.channel", "stable", entries=[{"name": "shop.v1"}, {"name": "shop.v2"}]),
    made("olm.channel", "fast", entries=[{"name": "shop.v2"}, {"name": "shop.v3"}]),
    *(made("olm.bundle", f"shop.v{n}", image=f"r.test/shop@{DIGEST}") for n in (1, 2, 3)),
    made(
        "olm.deprecations",
        "",
        entries=[
            deprecation("olm.package"),
            deprecation("olm.channel", "stable"),
            deprecation("olm.bundle", "shop.v1"),
            deprecation("olm.bundle", "shop.v3"),
        ],
    ),
    made("olm.package", "till", "till", defaultChannel="a"),
]


def names(records: list[Record]) -> list[str]:
    return [each.name or each.schema for each in records]


def test_without_a_choice_all_is_taken() -> None:
    assert chosen(CATALOG, []) == CATALOG


def test_a_package_is_taken_as_it_is() -> None:
    assert chosen(CATALOG, [Wanted("shop")]) == CATALOG[:-1]


def test_of_a_channel_its_bundles_and_deprecations_are_taken() -> None:
    found = chosen(CATALOG, [Wanted("shop", ("fast",))])
    assert names(found) == ["shop", "fast", "shop.v2", "shop.v3", "olm.deprecations"]
    assert found[0].value["defaultChannel"] == "fast"
    assert [e["reference"].get("name") for e in found[-1].value["entries"]] == [None, "shop.v3"]
    assert CATALOG[0].value["defaultChannel"] == "stable", "what was read stays"


def versioned(number: int) -> Record:
    properties = [
        {"type": "olm.package", "value": {"packageName": "shop", "version": f"{number}.0.0"}}
    ]
    return made("olm.bundle", f"shop.v{number}", image="r.test/shop", properties=properties)


CHAIN = [
    made("olm.package", "shop", defaultChannel="stable"),
    made(
        "olm.channel",
        "stable",
        entries=[
            {"name": "shop.v1"},
            {"name": "shop.v2", "replaces": "shop.v1"},
            {"name": "shop.v3", "replaces": "shop.v2"},
        ],
    ),
    made("olm.channel", "old", entries=[{"name": "shop.v1"}]),
    *map(versioned, (1, 2, 3)),
]


def test_of_a_range_its_versions_and_the_channels_with_any_are_taken() -> None:
    found = chosen(CHAIN, [parse_wanted("shop@>=2")])
    assert names(found) == ["shop", "stable", "shop.v2", "shop.v3"]
    assert [e["name"] for e in found[1].value["entries"]] == ["shop.v2", "shop.v3"]
    assert len(CHAIN[1].value["entries"]) == 3, "what was read stays"
    assert names(chosen(CHAIN, [parse_wanted("shop:old@<2")])) == ["shop", "old", "shop.v1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shop@>=4", "has no version in >=4"),
        ("shop:stable@<2 || >2", "is no path of updates"),
        ("shop@", "names no package"),
        ("shop@hm", "hm"),
    ],
)
def test_a_range_without_versions_or_with_a_gap_is_refused(text: str, message: str) -> None:
    with pytest.raises(TerminalError, match=message):
        chosen(CHAIN, [parse_wanted(text)])


def test_a_record_of_deprecations_without_any_left_is_left_out() -> None:
    catalog = [
        *CATALOG[:3],
        made("olm.deprecations", "", entries=[deprecation("olm.channel", "x")]),
    ]
    assert names(chosen(catalog, [Wanted("shop", ("stable",))])) == ["shop", "stable"]


def test_several_channels_must_have_the_default_among_them() -> None:
    catalog = [*CATALOG, made("olm.channel", "slow", entries=[])]
    assert chosen(catalog, [Wanted("shop", ("slow", "stable"))])
    with pytest.raises(TerminalError) as refused:
        chosen(catalog, [Wanted("shop", ("slow", "fast"))])
    assert refused.value.hint == "name it as well: --package shop:slow,fast,stable"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("shop", Wanted("shop")), ("shop:a,b", Wanted("shop", ("a", "b")))],
)
def test_what_is_wanted_is_read(text: str, wanted: Wanted) -> None:
    assert parse_wanted(text) == wanted


@pytest.mark.parametrize("text", ["", ":a", "shop:", "shop:a,,b"])
def test_what_names_no_package_is_refused(text: str) -> None:
    with pytest.raises(TerminalError):
        parse_wanted(text)


def test_images_are_bundles_and_what_they_name_once() -> None:
    bundle = made(
        "olm.bundle",
        "shop.v1",
        image="r.test/b:1",
        relatedImages=[{"name": "b", "image": "r.test/b:1"}, {"name": "x", "image": "r.test/x:1"}],
    )
    nothing = made("olm.bundle", "shop.v2", relatedImages=[{"name": "y", "image": ""}])
    assert images_of([bundle, nothing, bundle]) == ["r.test/b:1", "r.test/x:1"]


@pytest.mark.parametrize(
    ("source", "target", "place"),
    [
        ("r.test/a/b:1", Target("m.test"), "m.test/a/b:1"),
        ("r.test/a/b:1", Target("m.test", "x/y"), "m.test/x/y/a/b:1"),
        (f"r.test/a@{DIGEST}", Target("m.test"), "m.test/a:mirror-abababababababab"),
        (f"r.test/a:1@{DIGEST}", Target("m.test"), "m.test/a:1"),
    ],
)
def test_where_an_image_goes(source: str, target: Target, place: str) -> None:
    assert str(target.place_of(parse_ref(source))) == place


@pytest.mark.parametrize("text", ["", "mirror", "mirror/x", "m.test/UPPER", "https://m.test", "/x"])
def test_what_is_no_registry_is_refused(text: str) -> None:
    with pytest.raises(TerminalError):
        parse_target(text)


def test_mirrors_are_listed_by_repository() -> None:
    by_digest, by_tag = parse_ref(f"r.test/a@{DIGEST}"), parse_ref("r.test/b:1")
    places = [(ref, Target("m.test").place_of(ref)) for ref in (by_digest, by_digest, by_tag)]
    assert registries_conf(places) == (
        '[[registry]]\nlocation = "r.test/a"\n\n[[registry.mirror]]\nlocation = "m.test/a"\n'
        '\n[[registry]]\nlocation = "r.test/b"\n\n[[registry.mirror]]\nlocation = "m.test/b"\n'
    )
    digests, tags = mirror_sets("shop", places)
    entry = {"source": "r.test/a", "mirrors": ["m.test/a"]}
    assert (digests["kind"], digests["spec"]) == (
        "ImageDigestMirrorSet",
        {"imageDigestMirrors": [entry]},
    )
    assert tags["kind"] == "ImageTagMirrorSet"


REF = parse_ref(f"r.test/shop@{DIGEST}")
TAG = f"sha256-{'ab' * 32}"


def test_what_refers_to_an_image_is_in_its_list_and_under_the_tags_of_cosign() -> None:
    found = {str(ref): subject for ref, subject in attachments_of([(REF, DIGEST)]).items()}
    assert found == {
        f"r.test/shop:{TAG}": DIGEST,
        f"r.test/shop:{TAG}.sig": "",
        f"r.test/shop:{TAG}.att": "",
        f"r.test/shop:{TAG}.sbom": "",
    }


def test_what_was_looked_at_is_not_looked_at_again() -> None:
    subjects = Subjects()
    other = parse_ref(f"r.test/till@{DIGEST}")
    assert subjects.new([(REF, DIGEST), (REF, DIGEST)]) == [(REF, DIGEST)]
    assert subjects.new([(parse_ref("r.test/shop:v1"), DIGEST), (other, DIGEST)]) == [
        (other, DIGEST)
    ]


def test_the_depth_is_bounded() -> None:
    subjects = Subjects()
    found = [subjects.new([(REF, f"sha256:{depth:064x}")]) for depth in range(MAX_DEPTH + 1)]
    assert [len(each) for each in found] == [1] * MAX_DEPTH + [0]
