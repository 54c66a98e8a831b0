"""Folders of graph data, and what happens to them while they are read."""

from pathlib import Path

import pytest

from cluster_version.graph_data.errors import GraphDataError
from cluster_version.io import graph_folder
from cluster_version.io.graph_folder import ChangingError, FolderReader
from e2e.olm.update_service import write_graph_data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_graph_data(tmp_path, channels={"stable-4.1": ["4.1.0"]})
    return tmp_path


async def test_a_folder_is_read_when_it_changes(folder: Path) -> None:
    reader = FolderReader(folder)
    first = await reader.look()
    assert first is not None
    assert set(first.channels) == {"stable-4.1"}
    assert await reader.look() is None
    write_graph_data(folder, channels={"fast-4.1": ["4.1.0"]})
    second = await reader.look()
    assert second is not None
    assert set(second.channels) == {"stable-4.1", "fast-4.1"}


async def test_what_is_wrong_is_wrong_until_it_is_mended(folder: Path) -> None:
    reader = FolderReader(folder)
    (folder / "channels" / "x.yaml").write_text("name: [")
    for _ in range(2):
        with pytest.raises(GraphDataError, match=r"channels/x\.yaml"):
            await reader.look()
    (folder / "channels" / "x.yaml").unlink()
    assert await reader.look() is not None


async def test_links_are_followed_as_volumes_have_them(folder: Path, tmp_path: Path) -> None:
    mounted = tmp_path / "mounted"
    for version in ("first", "second"):
        data = mounted / f"..{version}"
        write_graph_data(data, channels={version: ["4.1.0"]})
    current = mounted / "..data"
    current.symlink_to("..first")
    for name in ("version", "channels"):
        (mounted / name).symlink_to(f"..data/{name}")
    reader = FolderReader(mounted)
    first = await reader.look()
    (mounted / "..new").symlink_to("..second")
    (mounted / "..new").rename(current)
    second = await reader.look()
    assert first is not None
    assert second is not None
    assert (set(first.channels), set(second.channels)) == ({"first"}, {"second"})


async def test_a_folder_that_is_being_written_is_left_to_the_next_look(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, stamp_of, written = FolderReader(folder), graph_folder._stamp, []

    def writing(root: Path) -> graph_folder.Stamp:
        written.append(1)
        (root / "channels" / "x.yaml").write_text(f"name: x{'x' * len(written)}\n")
        return stamp_of(root)

    monkeypatch.setattr(graph_folder, "_stamp", writing)
    with pytest.raises(ChangingError):
        await reader.look()
    monkeypatch.undo()
    assert await reader.look() is not None


async def test_what_is_no_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(GraphDataError, match="there is no such folder"):
        await FolderReader(tmp_path / "none").look()
