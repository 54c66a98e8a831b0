"""The release in a folder."""

from pathlib import Path

import pytest

from cluster_version.io.payload_folder import load_folder
from cluster_version.payload.inclusion import Filters
from e2e.olm.releases import ReleaseSpec


@pytest.mark.asyncio
async def test_a_release_with_nothing_for_the_cluster_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An unknown profile would otherwise be an update that ends at once, with nothing applied."""
    folder = ReleaseSpec("1.0.0").write(tmp_path)
    found = await load_folder(folder, "image", Filters(profile="self-managed-high-availability"))
    assert found.candidates
    assert not caplog.messages
    found = await load_folder(folder, "image", Filters(profile="other"))
    assert not found.candidates
    assert caplog.messages == ["no manifest of 1.0.0 is for clusters of the profile other"]
