"""The fields of a ClusterExtension's spec, as the options of a command give them."""

from collections.abc import Mapping
from typing import Any

from olm_client.catalogs.choice import Form, chosen
from olm_client.inline_config import read_config, with_watch_namespace
from olm_client.lifecycle.spec_fields import SpecFields, of_catalog, parse_selector
from olm_client.usage import UsageError
from olm_runtime.errors import TerminalError


def spec_fields_of(given: Mapping[str, Any]) -> SpecFields:
    """The values of `spec_options`. Raises TerminalError where they contradict each other."""
    if given["catalog"] and given["selector"]:
        raise UsageError("give --catalog or --selector")
    selector = of_catalog(_name_of_catalog(given["catalog"])) if given["catalog"] else None
    if given["selector"]:
        selector = parse_selector(given["selector"])
    config = with_watch_namespace(read_config(given["config_file"]), given["watch_namespace"] or "")
    if config is not None and not isinstance(config, dict):
        raise TerminalError(
            f"{given['config_file']}: expected a map", hint="such as watchNamespace: apps"
        )
    return SpecFields(
        version=given["versions"],
        channels=tuple(given["channels"]),
        selector=selector,
        policy=given["policy"],
        crd_safety=given["crd_safety"],
        config=config or None,
        deadline_minutes=given.get("progress_deadline_minutes"),
    )


def _name_of_catalog(given: str) -> str:
    """Raises TerminalError for a folder or an image."""
    choice = chosen(given)
    if choice.form is not Form.CLUSTER:
        raise TerminalError(
            f"{given} is no ClusterCatalog",
            hint="only install --dry-run takes folders and images; "
            "olm catalog add NAME IMAGE adds one to the cluster",
        )
    return choice.where
