"""Fixtures for all tests."""

from pathlib import Path

import pytest
from xdist.remote import Producer

from e2e.harness.required import VARIABLE, is_required
from tests.requirements import CORPUS, leave_out
from tests.scheduling import FolderScheduling

pytest_plugins = ["e2e.harness.pytest_plugin"]


def pytest_configure() -> None:
    """Without the corpus tests that go through it are none at all, so this is said first."""
    if is_required("corpus") and not (CORPUS / "goldens").is_dir():
        raise pytest.UsageError(f"there is no corpus in {CORPUS}, and {VARIABLE} demands it")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real bundles, catalogs and goldens; tests skip where it is absent."""
    if not CORPUS.is_dir():
        leave_out("corpus", "no corpus folder; set OLMV1_CORPUS to one")
    return CORPUS


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FolderScheduling | None:
    """Ours for `--dist loadfile`."""
    return FolderScheduling(config, log) if config.getoption("dist") == "loadfile" else None
