"""What somebody asks to be installed, as the command line takes it."""

import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from olm_client.lifecycle.installing import Order, is_elsewhere, order_of
from olm_client.reach import ClusterOptions
from olm_runtime.errors import TerminalError

_NAME = re.compile(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?")
"""Of an object."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The fields of the form; empty ones are left to the bundle, as `olm install` does."""

    catalog: str = ""
    version: str = ""
    channel: str = ""
    extension: str = ""
    namespace: str = ""
    account: str = ""
    config: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Of a query or a form."""
        return cls(**{each.name: str(given.get(each.name, "")).strip() for each in fields(cls)})

    def command(self, package: str) -> str:
        """The command that does the same."""
        options = {
            "--catalog": self.catalog,
            "--version": self.version,
            "--channel": self.channel,
            "--extension": self.extension,
            "--namespace": self.namespace,
            "--service-account": self.account,
            "--config": "config.yaml" if self.config else "",
        }
        said = [part for name, value in options.items() if value for part in (name, value)]
        command = shlex.join(["olm", "install", package, *said])
        if not self.config:
            return command
        return f"printf '%s\\n' {shlex.quote(self.config.strip())} > config.yaml\n{command}"


def find_order(package: str, asked: Asked, options: ClusterOptions) -> Order:
    """What is to be written; pulls the bundle. Not for the event loop. Raises OLMError."""
    with _file_of(asked.config) as config:
        given = given_for(options) | _of_form(asked, config)
        named = not asked.catalog or _NAME.fullmatch(asked.catalog)
        if not named or is_elsewhere(given):  # nobody has the console read its own folders
            raise TerminalError(f'there is no ClusterCatalog "{asked.catalog}"')
        return order_of(package, given)


def given_for(options: ClusterOptions) -> dict[str, Any]:
    """The options of a command that reads catalogs and bundles, where none are said."""
    said_by_nobody = (
        *("selector", "policy", "crd_safety", "progress_deadline_minutes", "certificate_provider"),
        *("cas_dir", "auth_file", "config_file", "watch_namespace", "extension", "versions"),
        *("install_namespace", "service_account", "catalog"),
    )
    return {
        **dict.fromkeys(said_by_nobody),
        "channels": (),
        "catalogs": (),
        "no_account": False,
        "plain_http": False,
        "reach": options.reach,
        "catalogd_cas_dir": options.cas_dir,
        "allow_http_catalogs": options.allow_http,
    }


def _of_form(asked: Asked, config: str | None) -> dict[str, Any]:
    return {
        "catalog": asked.catalog or None,
        "versions": asked.version or None,
        "channels": (asked.channel,) if asked.channel else (),
        "extension": asked.extension or None,
        "install_namespace": asked.namespace or None,
        "service_account": asked.account or None,
        "config_file": config,
    }


@contextmanager
def _file_of(text: str) -> Iterator[str | None]:
    if not text:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="olm-console-") as folder:
        file = Path(folder, "config.yaml")
        file.write_text(text)
        yield str(file)
