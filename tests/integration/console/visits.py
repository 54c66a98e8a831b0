"""A console that runs, and a browser that was let in."""

import subprocess
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request

from e2e.harness.controlplane import ControlPlane
from e2e.harness.required import is_required
from e2e.olm import manifests
from e2e.olm.browser import CHROMIUM
from tests.integration.olm_shell import Shell

PATIENCE_MILLISECONDS = 60_000
EXPECTED = (404, 422)
"""Answers that a page may get and show."""
LEFT = ("htmx:sendAbort", "htmx:afterRequest")
"""Said where a page is left while a part of it loads. What fails is said as an error of its own."""


def add_catalog(control_plane: ControlPlane, name: str) -> None:
    """Makes a ClusterCatalog that nobody serves."""
    control_plane.apply(manifests.catalog(name, "registry.example.com/a:latest"))


@dataclass(eq=False)
class Console:
    """`olm console`; `entries` are the addresses that it has printed, each good for once."""

    process: subprocess.Popen[str]
    entries: list[str] = field(default_factory=list)

    @classmethod
    def start(cls, shell: Shell, *options: str) -> Self:
        """Starts one with the user's kubeconfig, and waits for its address."""
        console = cls(shell.start("console", "--no-open", *options))
        console._read()
        return console

    def _read(self) -> None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert "http://" in line, line + (self.process.stderr.read() if self.process.stderr else "")
        self.entries.append(line.split()[-1])

    @property
    def address(self) -> str:
        """Without a path."""
        parts = urlsplit(self.entries[0])
        return f"{parts.scheme}://{parts.netloc}"

    def enter(self) -> str:
        """An address that lets in; the next one is printed once it was used."""
        return self.entries[-1]

    def entered(self) -> None:
        """It was used."""
        self._read()

    def stop(self) -> None:
        """Ends it."""
        self.process.terminate()
        self.process.communicate(timeout=30)


def require_chromium() -> None:
    """Skips the test, or fails it, where there is none."""
    if not CHROMIUM.exists():
        (pytest.fail if is_required("machine") else pytest.skip)("Debian's chromium is not there")


class Visit:
    """A browser with a session. `close` fails where a page complained or asked somebody else."""

    def __init__(self, browser: Browser, console: Console, **how: Any) -> None:
        self.console = console
        self.context = browser.new_context(base_url=console.address, **how)
        self.context.set_default_timeout(PATIENCE_MILLISECONDS)
        self.complaints: list[str] = []
        self.page: Page = self.context.new_page()
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._refuse)
        self.page.on("request", self._check)
        self.page.goto(console.enter())
        console.entered()

    def _note(self, message: ConsoleMessage) -> None:
        answered = any(f"status of {code}" in message.text for code in EXPECTED)
        was_left = message.text.startswith(LEFT)
        if message.type in ("error", "warning") and not answered and not was_left:
            self.complaints.append(message.text)

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _check(self, request: Request) -> None:
        if not request.url.startswith((self.console.address, "data:", "blob:")):
            self.complaints.append(f"asked for {request.url}")

    def close(self) -> None:
        """Ends it."""
        self.context.close()
        assert not self.complaints, "\n".join(self.complaints)


def notice(page: Page) -> Locator:
    """What a page says of what was just asked for; outside of `main` is how the connection is."""
    return page.get_by_role("main").get_by_role("status")
