"""registries.conf: which places are asked for an image."""

from pathlib import Path

import pytest

from olm_runtime.images.reference import parse_ref
from olm_runtime.images.registries_conf import (
    RegistriesConf,
    RegistriesConfError,
    RegistryBlockedError,
    parse_registries,
)
from olm_runtime.registry.registries_file import read_registries

DIGEST = "sha256:" + "ab" * 32
TAGGED, PINNED = "quay.io/org/cat:v1", f"quay.io/org/cat@{DIGEST}"


def conf(text: str) -> RegistriesConf:
    return parse_registries([("registries.conf", text)])


def places(text: str, ref: str) -> list[str]:
    return [str(source.ref) for source in conf(text).sources(parse_ref(ref))]


MIRRORED = """
[[registry]]
location = "quay.io"
[[registry.mirror]]
location = "mirror.local:5000/quay"
{mirror}
"""


@pytest.mark.parametrize(
    ("rule", "ref", "expected"),
    [
        ("", TAGGED, [TAGGED]),
        ('location="other.io"', TAGGED, [TAGGED]),
        ('prefix="quay.io"\nlocation="other.io/x"', TAGGED, ["other.io/x/org/cat:v1"]),
        ('prefix="quay.io/org"\nlocation="o.io/p"', TAGGED, ["o.io/p/cat:v1"]),
        ('prefix="quay.io/or"\nlocation="o.io/p"', TAGGED, [TAGGED]),
        ('prefix="quay.io/org/cat"\nlocation="o.io/p"', PINNED, [f"o.io/p@{DIGEST}"]),
        ('prefix="quay.io/org/cat:v1"\nlocation="o.io/p:v2"', TAGGED, ["o.io/p:v2"]),
        ('prefix="*.quay.io"\nlocation="o.io"', "eu.quay.io/c:v1", ["o.io/c:v1"]),
        ('prefix="*.quay.io"\nlocation="o.io"', "a.eu.quay.io/c:v1", ["o.io/c:v1"]),
        ('prefix="*.quay.io"\nlocation="o.io"', "quay.io/c:v1", ["quay.io/c:v1"]),
        ('prefix="*.quay.io"', "eu.quay.io/c:v1", ["eu.quay.io/c:v1"]),
        ('prefix="quay.io"\nlocation="o.io"', "quay.io:5000/c:v1", ["quay.io:5000/c:v1"]),
    ],
)
def test_a_prefix_is_replaced_by_its_location(rule: str, ref: str, expected: list[str]) -> None:
    assert places(f"[[registry]]\n{rule}" if rule else "", ref) == expected


@pytest.mark.parametrize(
    ("mirror", "tagged", "pinned"),
    [
        ("", True, True),
        ('pull-from-mirror = "all"', True, True),
        ('pull-from-mirror = "digest-only"', False, True),
        ('pull-from-mirror = "tag-only"', True, False),
    ],
)
def test_a_mirror_is_asked_first_for_what_it_is_for(
    mirror: str, tagged: bool, pinned: bool
) -> None:
    text = MIRRORED.format(mirror=mirror)
    for ref, asked in ((TAGGED, tagged), (PINNED, pinned)):
        at_mirror = ref.replace("quay.io", "mirror.local:5000/quay")
        assert places(text, ref) == ([at_mirror] if asked else []) + [ref]


def test_mirror_by_digest_only_holds_for_all_mirrors_of_a_registry() -> None:
    text = """
    [[registry]]
    location = "quay.io"
    mirror-by-digest-only = true
    [[registry.mirror]]
    location = "one.local"
    [[registry.mirror]]
    location = "two.local"
    """
    assert places(text, TAGGED) == [TAGGED]
    expected = [PINNED.replace("quay.io", host) for host in ("one.local", "two.local", "quay.io")]
    assert places(text, PINNED) == expected


def test_the_longest_prefix_counts_and_an_exact_one_before_a_wildcard() -> None:
    text = """
    [[registry]]
    prefix = "*.quay.io"
    location = "wild.local"
    [[registry]]
    prefix = "eu.quay.io"
    location = "exact.local"
    [[registry]]
    prefix = "eu.quay.io/org"
    location = "longest.local"
    """
    assert places(text, "us.quay.io/org/c:v1") == ["wild.local/org/c:v1"]
    assert places(text, "eu.quay.io/other/c:v1") == ["exact.local/other/c:v1"]
    assert places(text, "eu.quay.io/org/c:v1") == ["longest.local/c:v1"]


def test_insecure_is_said_of_each_place_by_itself() -> None:
    text = MIRRORED.format(mirror="insecure = true")
    assert [s.insecure for s in conf(text).sources(parse_ref(TAGGED))] == [True, False]


def test_a_blocked_registry_is_refused_and_the_rest_is_not() -> None:
    rules = conf('[[registry]]\nlocation = "quay.io/org"\nblocked = true\n')
    [source] = rules.sources(parse_ref(TAGGED))
    message = '"quay.io/org/cat:v1": registry quay.io/org is blocked in registries.conf'
    with pytest.raises(RegistryBlockedError, match=message):
        source.check()
    [source] = rules.sources(parse_ref("quay.io/other/cat:v1"))
    source.check()


def test_mirrors_of_a_blocked_registry_are_asked_unless_they_are_blocked_themselves() -> None:
    text = """
    [[registry]]
    location = "quay.io"
    blocked = true
    [[registry.mirror]]
    location = "mirror.local/quay"
    [[registry.mirror]]
    location = "closed.local/quay"
    [[registry]]
    location = "closed.local"
    blocked = true
    """
    sources = conf(text).sources(parse_ref(TAGGED))
    assert [(source.ref.registry, bool(source.blocked)) for source in sources] == [
        ("mirror.local", False),
        ("closed.local", True),
        ("quay.io", True),
    ]


def test_of_two_wildcards_the_longer_one_counts() -> None:
    rule = '[[registry]]\nprefix = "{}"\nlocation = "{}"\n'
    text = rule.format("*.io", "short.local") + rule.format("*.quay.io", "long.local")
    assert places(text, "eu.quay.io/c:v1") == ["long.local/c:v1"]
    assert places(text, "ghcr.io/c:v1") == ["short.local/c:v1"]


def test_content_of_an_image_that_was_named_by_tag_is_asked_of_mirrors_for_tags_too() -> None:
    text = MIRRORED.format(mirror='pull-from-mirror = "tag-only"')
    named = f"{TAGGED}@{DIGEST}"
    at_mirror = PINNED.replace("quay.io", "mirror.local:5000/quay")
    assert places(text, named) == [at_mirror, PINNED]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[[registry", "Expected"),
        ("[registries.search]\nregistries = []", "version 1 format"),
        ("[[registry]]\ninsecure = true", "neither prefix nor location"),
        ('[[registry]]\nprefix = "quay.io"', "has no location"),
        ('[[registry]]\nlocation = "https://quay.io"', "without a scheme"),
        ('[[registry]]\nlocation = "q.io"\nblocked = "yes"', "neither true nor false"),
        ("[[registry]]\nlocation = 5", "no text"),
        ('registry = "q.io"', "no list of tables"),
        ('[[registry]]\nlocation = "q.io"\npull-from-mirror = "all"', "belongs to its mirrors"),
        (MIRRORED.format(mirror='pull-from-mirror = "never"'), "is one of all, digest-only"),
        ('[[registry]]\nlocation="q.io"\n[[registry.mirror]]\ninsecure=true', "no location"),
        (
            MIRRORED.format(mirror='pull-from-mirror = "all"').replace(
                "[[registry]]", "[[registry]]\nmirror-by-digest-only = true"
            ),
            "exclude",
        ),
        (
            '[[registry]]\nlocation="q.io"\n[[registry]]\nlocation="q.io"\ninsecure=true',
            "there twice",
        ),
    ],
)
def test_a_file_that_cannot_be_followed_is_named(text: str, fault: str) -> None:
    with pytest.raises(RegistriesConfError, match=fault) as caught:
        conf(text)
    assert caught.value.message.startswith("registries.conf cannot be read")


def test_a_location_that_makes_no_reference_is_named() -> None:
    with pytest.raises(RegistriesConfError, match='makes it "bad host/org/cat:v1", which is'):
        places('[[registry]]\nprefix = "quay.io/org"\nlocation = "bad host/org"', TAGGED)


def test_files_of_the_folder_beside_it_replace_rules_of_the_same_prefix(tmp_path: Path) -> None:
    main = tmp_path / "registries.conf"
    main.write_text('[[registry]]\nprefix = "quay.io"\nlocation = "main.io"\n')
    folder = tmp_path / "registries.conf.d"
    folder.mkdir()
    for name, host in (("50-b.conf", "b.io"), ("10-a.conf", "a.io"), ("99.txt", "no.io")):
        (folder / name).write_text(f'[[registry]]\nprefix = "quay.io"\nlocation = "{host}"\n')
    [source] = read_registries(main).sources(parse_ref(TAGGED))
    assert str(source.ref) == "b.io/org/cat:v1"


def test_without_files_everything_is_asked_where_it_says(tmp_path: Path) -> None:
    assert read_registries(tmp_path / "none").rules == ()


def test_the_environment_names_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.conf"
    file.write_text('[[registry]]\nlocation = "quay.io"\nblocked = true\n')
    monkeypatch.setenv("CONTAINERS_REGISTRIES_CONF", str(file))
    assert read_registries().rules[0].blocked
