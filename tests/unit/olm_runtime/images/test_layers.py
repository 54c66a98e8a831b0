"""Which tar entries may be written."""

import pytest

from olm_runtime.images.layers import Action, Decision, Entry, Gate, Kind, LayerError, Rules
from olm_runtime.images.limits import Limits


def decide(entry: Entry, **rules: object) -> Decision:
    return Gate(Rules(**rules)).admit(entry)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (Entry("./configs/a.yaml", Kind.FILE, 3), Decision(Action.WRITE, "configs/a.yaml")),
        (Entry("configs/", Kind.FOLDER), Decision(Action.MAKE_FOLDER, "configs")),
        (Entry("./", Kind.FOLDER), Decision(Action.SKIP)),
        (Entry("etc/passwd", Kind.FILE, 3), Decision(Action.SKIP)),
        (Entry("configs2/a.yaml", Kind.FILE, 3), Decision(Action.SKIP)),
        (Entry("bin/sh", Kind.SYMLINK, target="/etc"), Decision(Action.SKIP)),
        (Entry("dev/null", Kind.SPECIAL), Decision(Action.SKIP)),
        (
            Entry("configs/b", Kind.HARDLINK, target="configs/a"),
            Decision(Action.COPY, "configs/b", "configs/a"),
        ),
        (Entry("configs/.wh.a.yaml", Kind.FILE), Decision(Action.REMOVE, "configs/a.yaml")),
        (Entry("configs/x/.wh..wh..opq", Kind.FILE), Decision(Action.EMPTY, "configs/x")),
        (Entry(".wh.configs", Kind.FILE), Decision(Action.REMOVE, "configs")),
        (Entry(".wh..wh..opq", Kind.FILE), Decision(Action.EMPTY, "")),
        (Entry("etc/.wh.passwd", Kind.FILE), Decision(Action.SKIP)),
        (Entry("/etc/passwd", Kind.FILE, 3), Decision(Action.SKIP)),
        (Entry("../etc/passwd", Kind.FILE, 3), Decision(Action.SKIP)),
        (Entry("configs/../x", Kind.FILE), Decision(Action.SKIP)),
        (Entry("usr/" + "a/" * 100 + "b", Kind.FILE, 3), Decision(Action.SKIP)),
        (Entry("usr/" + "a" * 2000, Kind.FILE, 3), Decision(Action.SKIP)),
        (Entry("usr/\x07\n", Kind.FILE, 3), Decision(Action.SKIP)),
        (Entry("usr/sparse", Kind.SPARSE, 3), Decision(Action.SKIP)),
        (Entry("usr/.wh.", Kind.FILE), Decision(Action.SKIP)),
    ],
)
def test_keeps_only_what_is_at_or_below_the_root(entry: Entry, expected: Decision) -> None:
    assert decide(entry, roots=("/configs",), refuse_links=True) == expected


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (Entry("../configs/x", Kind.FILE), "leads out of the unpacked folder"),
        (Entry("usr/../configs/x", Kind.FILE), "leads out of the unpacked folder"),
        (Entry("configs/../../configs/x", Kind.FILE), "leads out of the unpacked folder"),
        (Entry("/configs/x", Kind.FILE), "is absolute"),
        (Entry("configs/a\0b", Kind.FILE), "unprintable"),
        (Entry("configs/\n", Kind.FILE), "unprintable"),
        (Entry("configs/" + "a" * 2000, Kind.FILE), "longer than 1024 characters"),
        (Entry("configs/" + "a" * 256, Kind.FILE), "name longer than 255 bytes"),
        (Entry("configs/" + "a/" * 100, Kind.FILE), "deeper than 64 folders"),
        (Entry("configs/x", Kind.SYMLINK, target="y"), "is a symbolic link"),
        (Entry("configs/x", Kind.SPECIAL), "neither a file nor a folder"),
        (Entry("configs/x", Kind.SPARSE), "is a sparse file"),
        (Entry("configs/x", Kind.HARDLINK, target="../../etc/passwd"), "hard link out of"),
        (Entry("configs/x", Kind.HARDLINK, target="etc/passwd"), "hard link out of"),
        (Entry("configs/x", Kind.FILE, 1 << 40), "is larger than"),
        (Entry("configs/x", Kind.FILE, -1), "is larger than"),
        (Entry("configs/.wh.", Kind.FILE), "whiteout of nothing"),
        (Entry("configs/.wh...", Kind.FILE), "whiteout of nothing"),
    ],
)
def test_refuses_by_name(entry: Entry, fault: str) -> None:
    with pytest.raises(LayerError, match=fault):
        decide(entry, roots=("configs",), refuse_links=True)


def test_links_of_a_bundle_are_left_out_not_written() -> None:
    assert decide(Entry("bin", Kind.SYMLINK, target="/usr/bin")) == Decision(Action.SKIP)


def test_counts_entries_and_bytes_over_all_layers() -> None:
    gate = Gate(Rules(limits=Limits(entries=2, total_bytes=10)))
    gate.admit(Entry("a", Kind.FILE, 6))
    with pytest.raises(LayerError, match="unpacks to more than 10 bytes"):
        gate.admit(Entry("b", Kind.FILE, 6))
    with pytest.raises(LayerError, match="more than 2 entries"):
        gate.admit(Entry("c", Kind.FOLDER))


def test_a_bomb_is_known_by_its_ratio() -> None:
    gate = Gate(Rules())
    gate.check_ratio(compressed=1, uncompressed=1 << 20)
    with pytest.raises(LayerError, match="300 times"):
        gate.check_ratio(compressed=1 << 10, uncompressed=1 << 30)
