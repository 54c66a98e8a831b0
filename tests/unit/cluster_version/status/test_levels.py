"""How far each runlevel of an update is, and the ConfigMap that says it."""

from typing import Any

import pytest

from cluster_version.payload.release import Release
from cluster_version.payload.task_graph import File
from cluster_version.status.levels import Level, LevelCounts, as_config_map, levels_of

FILES = [
    File("0000_10_alpha_01.yaml"),
    File("0000_10_beta_01.yaml"),
    File("0000_10_beta_02.yaml"),
    File("0000_20_alpha_01.yaml"),
    File("image-references"),
]
RELEASE = Release("1.0.1", "example.com/release@sha256:1")


def test_files_are_counted_by_runlevel_and_named_by_component() -> None:
    counts = LevelCounts(FILES)
    for file in (FILES[0], FILES[1], FILES[4]):
        counts.begin(file)
    for file in (FILES[0], FILES[4]):
        counts.end(file)
    assert counts.levels == (Level("10", 1, 3, ("beta",)), Level("20", 0, 1))


def test_what_is_written_is_read() -> None:
    levels = (Level("10", 1, 3, ("beta",)), Level("20", 0, 1))
    assert levels_of(as_config_map("a", RELEASE, levels), RELEASE.image) == levels


@pytest.mark.parametrize(
    "data",
    [
        None,
        {"image": "another", "runlevels": "[]"},
        {"image": RELEASE.image},
        {"image": RELEASE.image, "runlevels": "["},
        {"image": RELEASE.image, "runlevels": "[1]"},
        {"image": RELEASE.image, "runlevels": '[{"name": "10", "done": "x", "total": 1}]'},
        {"image": RELEASE.image, "runlevels": '{"name": "10"}'},
    ],
)
def test_of_what_is_not_ours_nothing_is_read(data: dict[str, Any] | None) -> None:
    assert levels_of({"data": data}, RELEASE.image) == ()
