"""Mirrors of ImageDigestMirrorSet, ImageTagMirrorSet and ImageContentSourcePolicy."""

import re
from typing import Any

import pytest

from api.objects import KubeObject
from olm_runtime.images.mirror_sets import (
    MIRROR_KINDS,
    MirrorEntry,
    contradictions,
    merged,
    read_entries,
    with_mirrors,
)
from olm_runtime.images.reference import parse_ref
from olm_runtime.images.registries_conf import parse_registries

BY_DIGEST, BY_TAG, POLICY = MIRROR_KINDS
NEVER = "NeverContactSource"
DIGEST = "sha256:" + "ab" * 32
TAGGED, PINNED = "quay.io/org/cat:v1", f"quay.io/org/cat@{DIGEST}"


def item(source: str, *mirrors: str, policy: str = "") -> dict[str, Any]:
    given = {"mirrorSourcePolicy": policy} if policy else {}
    return {"source": source, "mirrors": list(mirrors), **given}


def entries(name: str, *items: dict[str, Any], kind: Any = BY_DIGEST) -> list[MirrorEntry]:
    found, faults = read_entries(kind, made(name, *items, kind=kind))
    assert not faults
    return found


def made(name: str, *items: dict[str, Any], kind: Any = BY_DIGEST) -> KubeObject:
    return {"metadata": {"name": name}, "spec": {kind.field: list(items)}}


def places(given: list[MirrorEntry], ref: str, conf: str = "") -> list[str]:
    """Who is asked, and `!` before who must not be."""
    rules = with_mirrors(parse_registries([("registries.conf", conf)]), given)
    sources = rules.sources(parse_ref(ref))
    return [("!" if source.blocked else "") + str(source.ref) for source in sources]


@pytest.mark.parametrize("kind", MIRROR_KINDS, ids=[kind.gvk.kind for kind in MIRROR_KINDS])
def test_mirrors_are_asked_in_order_before_the_source_for_what_they_are_for(kind: Any) -> None:
    given = entries("m", item("quay.io/org", "b.local/x", "a.local:5000"), kind=kind)
    for ref, asked in ((TAGGED, kind is BY_TAG), (PINNED, kind is not BY_TAG)):
        rest = ref.removeprefix("quay.io/org")
        expected = [f"b.local/x{rest}", f"a.local:5000{rest}"] if asked else []
        assert places(given, ref) == [*expected, ref]


@pytest.mark.parametrize(
    ("source", "asked"),
    [
        ("quay.io", "m.local/x/org/cat"),
        ("quay.io/org", "m.local/x/cat"),
        ("quay.io/org/cat", "m.local/x"),
        ("quay.io/or", "quay.io/org/cat"),
        ("quay.io:443", "quay.io/org/cat"),
        ("*.io", "m.local/x/org/cat"),
        ("*.quay.io", "quay.io/org/cat"),
    ],
)
def test_a_source_covers_what_lies_below_it(source: str, asked: str) -> None:
    assert places(entries("m", item(source, "m.local/x")), PINNED)[0] == f"{asked}@{DIGEST}"


def test_the_longest_source_counts_alone() -> None:
    given = entries("a", item("quay.io", "wide.local")) + entries(
        "b", item("quay.io/org", "narrow.local")
    )
    assert places(given, PINNED) == [f"narrow.local/cat@{DIGEST}", PINNED]


def test_objects_that_name_the_same_source_count_together() -> None:
    first = entries("z", item("quay.io", "b.local", "c.local"))
    second = entries("a", item("quay.io", "a.local", "b.local"))
    policy = entries("p", item("quay.io", "c.local", "d.local"), kind=POLICY)
    rest = PINNED.removeprefix("quay.io")
    expected = [f"{host}.local{rest}" for host in "abcd"]
    for order in (first + second + policy, policy + second + first):
        assert places(order, PINNED) == [*expected, PINNED]


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([], []),
        ([["b", "a"]], ["b", "a"]),
        ([["b", "a"], ["c"]], ["b", "c", "a"]),
        ([["d", "c"], ["b", "a"]], ["b", "d", "a", "c"]),
        ([["z", "s", "y"], ["s", "y", "x"]], ["z", "s", "y", "x"]),
        ([["z"], ["z", "s"]], ["z"]),
        ([["1", "2"], ["l", "2", "1"]], ["l", "1", "2"]),
        ([["b", "a"], ["a", "b"]], ["a", "b"]),
    ],
)
def test_the_order_of_each_list_is_kept_as_far_as_they_agree(
    lists: list[list[str]], expected: list[str]
) -> None:
    assert merged("s", lists) == expected


def test_a_source_that_must_not_be_contacted_is_not_but_its_mirrors_are() -> None:
    given = entries("m", item("quay.io", "m.local", policy=NEVER))
    assert places(given, PINNED) == [PINNED.replace("quay.io", "m.local"), f"!{PINNED}"]
    assert places(given, TAGGED) == [f"!{TAGGED}"], "nor by tag, as on the nodes"
    [*_, home] = with_mirrors(parse_registries([]), given).sources(parse_ref(PINNED))
    assert home.blocked == 'quay.io is blocked by ImageDigestMirrorSet "m" (NeverContactSource)'


def test_a_mirror_that_is_the_forbidden_source_itself_is_not_contacted_either() -> None:
    given = entries("m", item("quay.io", "quay.io", "m.local", policy=NEVER))
    asked = places(given, PINNED)
    assert asked == [f"!{PINNED}", PINNED.replace("quay.io", "m.local"), f"!{PINNED}"]


def test_of_contradicting_policies_the_strict_one_counts_and_both_are_reported() -> None:
    given = entries("open", item("quay.io", "a.local"), kind=POLICY) + entries(
        "strict", item("quay.io", "b.local", policy=NEVER), kind=BY_TAG
    )
    assert places(given, PINNED)[-1] == f"!{PINNED}"
    [message] = contradictions(given)
    assert message == (
        'source quay.io is not contacted, as ImageTagMirrorSet "strict" says; '
        'ImageContentSourcePolicy "open" differs: give both the same mirrorSourcePolicy'
    )
    assert contradictions(entries("m", item("quay.io", "a.local", policy=NEVER))) == []


@pytest.mark.parametrize("mirrors", [(), ("quay.io",)])
def test_without_a_mirror_an_entry_says_nothing(mirrors: tuple[str, ...]) -> None:
    assert places(entries("m", item("quay.io", *mirrors, policy=NEVER)), PINNED) == [PINNED]


@pytest.mark.parametrize(
    ("conf", "expected"),
    [
        (
            '[[registry]]\nlocation="quay.io"\n[[registry.mirror]]\nlocation="f.local"',
            ["f.local/org/cat", "m.local/org/cat", "quay.io/org/cat"],
        ),
        (
            '[[registry]]\nlocation="quay.io"\nblocked=true',
            ["m.local/org/cat", "!quay.io/org/cat"],
        ),
        (
            '[[registry]]\nprefix="quay.io"\nlocation="o.io/q"',
            ["m.local/org/cat", "o.io/q/org/cat"],
        ),
        (
            '[[registry]]\nprefix="*.io"\nlocation="o.local"\nblocked=true',
            ["m.local/org/cat", "!o.local/org/cat"],
        ),
        (
            '[[registry]]\nlocation="quay.io/org"\n[[registry.mirror]]\nlocation="f.local"',
            ["f.local/cat", "quay.io/org/cat"],
        ),
        (
            '[[registry]]\nlocation="m.local"\nblocked=true',
            ["!m.local/org/cat", "quay.io/org/cat"],
        ),
    ],
    ids=["same source", "blocked", "renamed", "around it", "within it", "mirror blocked"],
)
def test_what_registries_conf_says_stays_and_comes_first(conf: str, expected: list[str]) -> None:
    given = entries("m", item("quay.io", "m.local"))
    assert places(given, PINNED, conf) == [f"{place}@{DIGEST}" for place in expected]


def test_without_objects_registries_conf_counts_alone() -> None:
    text = '[[registry]]\nlocation="quay.io"\n[[registry.mirror]]\nlocation="f.local"'
    conf = parse_registries([("registries.conf", text)])
    assert with_mirrors(conf, []) == conf


def test_a_source_within_a_renamed_registry_is_renamed_with_it() -> None:
    conf = '[[registry]]\nprefix="quay.io"\nlocation="o.io/q"\ninsecure=true'
    given = entries("m", item("quay.io/org", "m.local"))
    rules = with_mirrors(parse_registries([("registries.conf", conf)]), given)
    mirror, home = rules.sources(parse_ref(PINNED))
    assert (str(home.ref), home.insecure) == (f"o.io/q/org/cat@{DIGEST}", True)
    assert not mirror.insecure


def test_a_mirror_that_is_insecure_in_registries_conf_is_asked_so() -> None:
    conf = '[[registry]]\nlocation="m.local:5000"\ninsecure=true'
    given = entries("m", item("quay.io", "m.local:5000/x", "n.local"))
    rules = with_mirrors(parse_registries([("registries.conf", conf)]), given)
    assert [s.insecure for s in rules.sources(parse_ref(PINNED))] == [True, False, False]


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (item("https://quay.io", "m.local"), 'source "https://quay.io" is neither HOST'),
        (item("*.quay.io/org", "m.local"), "is neither HOST"),
        (item("*.quay.io:5000", "m.local"), "is neither HOST"),
        (item("quay.io:v1/x", "m.local"), "is neither HOST"),
        (item("quay.io/org:v1", "m.local"), "is neither HOST"),
        (item("", "m.local"), "is neither HOST"),
        ({}, "is neither HOST"),
        (item("quay.io", "*.local"), r'mirror "\*.local" is not HOST'),
        (item("quay.io", "m.local/x "), "is not HOST"),
        ("quay.io", "is neither HOST"),
    ],
)
def test_an_entry_that_cannot_be_followed_is_left_out_and_reported(bad: Any, fault: str) -> None:
    given = made("m", item("a.io", "m.local"), bad, kind=POLICY)
    found, [message] = read_entries(POLICY, given)
    assert [entry.source for entry in found] == ["a.io"]
    where = r'ImageContentSourcePolicy "m": spec.repositoryDigestMirrors\[1\] is left out: .*'
    assert re.match(where + fault, message)


@pytest.mark.parametrize("spec", [None, {}, {BY_DIGEST.field: None}, {BY_DIGEST.field: "x"}, []])
def test_an_object_without_entries_says_nothing(spec: Any) -> None:
    assert read_entries(BY_DIGEST, {"metadata": {"name": "m"}, "spec": spec}) == ([], [])
