"""Fixtures for all tests."""

import gc
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer

from e2e.harness.required import VARIABLE, is_required
from tests import skipped
from tests.requirements import CORPUS, leave_out
from tests.scheduling import FolderScheduling

pytest_plugins = ["e2e.harness.pytest_plugin"]

gc.disable()  # until all tests are collected: looking for cycles takes half of that time

settings.register_profile("olmv1", deadline=None)  # a slow machine is no fault
settings.load_profile("olmv1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what goes to its background so, and programs under test would never end.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure() -> None:
    """Without the corpus tests that go through it are none at all, so this is said first."""
    if is_required("corpus") and not (CORPUS / "goldens").is_dir():
        raise pytest.UsageError(f"there is no corpus in {CORPUS}, and {VARIABLE} demands it")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What was collected stays to the end: it is looked through for cycles once, in no test."""
    result = yield
    gc.collect()
    gc.freeze()
    gc.enable()
    return result


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Notes what was skipped; of a run with workers, who report too, once."""
    if not hasattr(terminalreporter.config, "workerinput"):
        reports = terminalreporter.stats.get("skipped", [])
        skipped.note(report.longrepr[2].removeprefix("Skipped: ") for report in reports)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real bundles, catalogs and goldens; tests skip where it is absent."""
    if not CORPUS.is_dir():
        leave_out("corpus", "no corpus folder; set OLMV1_CORPUS to one")
    return CORPUS


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FolderScheduling | None:
    """Ours for `--dist loadfile`."""
    return FolderScheduling(config, log) if config.getoption("dist") == "loadfile" else None
