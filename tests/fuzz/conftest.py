"""Hostile input is tried with little memory, small files and an end in time."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY_BYTES = 384 << 20
FILE_BYTES = 96 << 20
SECONDS = 60


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.timeout(SECONDS))


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Whoever takes more memory or disk than this fails."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = {
        kind: resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE)
    }
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES, before[resource.RLIMIT_AS][1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, before[resource.RLIMIT_FSIZE][1]))
    yield
    for kind, limits in before.items():
        resource.setrlimit(kind, limits)
