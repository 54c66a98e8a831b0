"""What some tests need and many machines lack: left out there, a failure where it is required."""

import os
from pathlib import Path
from typing import NoReturn

import pytest

from e2e.harness.required import VARIABLE, is_required

CORPUS = Path(os.environ.get("OLMV1_CORPUS", Path(__file__).parents[2] / "shared" / "corpus"))
"""The folder of real bundles, catalogs and goldens."""


def leave_out(what: str, reason: str) -> NoReturn:
    """Skips a test for want of `what`, or fails it where OLMV1_REQUIRE names that."""
    if is_required(what):
        pytest.fail(f"{reason}; {VARIABLE} demands it")
    pytest.skip(reason)
