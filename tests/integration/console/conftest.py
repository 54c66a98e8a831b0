"""The console as its user runs it, and a browser."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from e2e.olm.browser import CHROMIUM, FLAGS
from e2e.olm.programs import Olm
from tests.integration.console.visits import PATIENCE_MILLISECONDS, Console, Visit, require_chromium
from tests.integration.olm_shell import Shell, trusting


@pytest.fixture(scope="session")
def shell(olm: Olm, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return trusting(olm, tmp_path_factory.mktemp("console-user"))(olm.control_plane.kubeconfig)


@pytest.fixture(scope="package")
def start_console(shell: Shell) -> Iterator[Callable[..., Console]]:
    """Starts consoles, with options; they end with the folder."""
    started: list[Console] = []

    def start(*options: str) -> Console:
        started.append(Console.start(shell, *options))
        return started[-1]

    yield start
    for each in started:
        each.stop()


@pytest.fixture(scope="package")
def console(start_console: Callable[..., Console]) -> Console:
    return start_console()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """As long as it is open its own loop runs: tests with another are in console_alone."""
    require_chromium()
    expect.set_options(PATIENCE_MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, console: Console) -> Iterator[Visit]:
    """A browser that was let in. What it complains of fails the test."""
    visit = Visit(browser, console)
    yield visit
    visit.close()


@pytest.fixture
def page(visit: Visit) -> Page:
    return visit.page
