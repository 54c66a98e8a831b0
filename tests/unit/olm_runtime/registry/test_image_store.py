"""Images on disk are whole or not there, also where their removal was cut short."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from olm_runtime.registry import image_store
from olm_runtime.registry.image_store import FACTS, FILES, ImageStore
from olm_runtime.registry.settings import PullSettings

DIGEST = f"sha256:{'0' * 64}"
REFERENCE = f"registry.example.com/bundle@{DIGEST}"


@pytest.fixture
def images(tmp_path: Path) -> ImageStore:
    """With an image of one owner."""
    image = tmp_path / "owner" / DIGEST
    (image / FILES).mkdir(parents=True)
    (image / FILES / "manifest.yaml").write_text("kind: ConfigMap")
    (image / FACTS).write_bytes(orjson.dumps({"labels": {}}))
    return ImageStore(tmp_path, PullSettings, jitter=lambda: 0.0)


@pytest.mark.parametrize(
    "remove",
    [lambda images: images.forget("owner"), lambda images: images.collect(())],
    ids=["forgotten", "collected"],
)
async def test_a_removal_that_was_cut_short_leaves_nothing_that_is_taken_for_whole(
    images: ImageStore, remove: Callable[[ImageStore], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: Path) -> None:
        raise KeyboardInterrupt

    assert await images.stored(REFERENCE, owner="owner") is not None
    with monkeypatch.context() as patched:
        patched.setattr(image_store, "remove_tree", killed)
        with pytest.raises(KeyboardInterrupt):
            remove(images)
    assert await images.stored(REFERENCE, owner="owner") is None
