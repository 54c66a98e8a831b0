"""Fixtures for all tests."""

import os
from pathlib import Path

import pytest
from xdist.remote import Producer

from tests.scheduling import FolderScheduling

pytest_plugins = ["e2e.harness.pytest_plugin"]


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real bundles, catalogs and goldens; tests skip where it is absent."""
    default = Path(__file__).parents[2] / "shared" / "corpus"
    folder = Path(os.environ.get("OLMV1_CORPUS", default))
    if not folder.is_dir():
        pytest.skip("no corpus folder; set OLMV1_CORPUS to one")
    return folder


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FolderScheduling | None:
    """Ours for `--dist loadfile`."""
    return FolderScheduling(config, log) if config.getoption("dist") == "loadfile" else None
