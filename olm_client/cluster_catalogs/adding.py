"""ClusterCatalogs made."""

from collections.abc import Mapping
from typing import Any

from api import wire
from api.objects import KubeObject, metadata, name_of
from api.olm.v1 import names
from api.olm.v1.clustercatalog import ClusterCatalog
from api.olm.v1.kinds import CATALOG
from api.wire import InvalidObjectError
from olm_client.cluster_catalogs.writing import write_catalog
from olm_client.lifecycle.changes import value_text
from olm_client.lifecycle.spec_fields import differences
from olm_client.usage import InvalidValueError, UsageError
from olm_runtime.errors import TerminalError
from olm_runtime.images.reference import parse_ref
from olm_runtime.kube.client import KubeClient

DEFAULT_POLL_MINUTES = 10


def new_catalog(name: str, image: str, given: Mapping[str, Any]) -> KubeObject:
    """The object to write. Raises TerminalError for what is no image."""
    reference = parse_ref(image)
    minutes = given["poll_minutes"]
    if minutes is None:
        minutes = 0 if reference.is_canonical else DEFAULT_POLL_MINUTES
    if minutes and reference.is_canonical:
        raise UsageError("a digest always names the same content: leave --poll-interval out")
    poll = {"pollIntervalMinutes": minutes} if minutes else {}
    labels = dict(map(_label, given["labels"]))
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.CLUSTER_CATALOG,
        "metadata": {"name": name, **({"labels": labels} if labels else {})},
        "spec": {
            "source": {"type": "Image", "image": {"ref": image, **poll}},
            **({"priority": given["priority"]} if given["priority"] else {}),
        },
    }


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise InvalidValueError(f"{text!r} is no label; say KEY=VALUE", option="'--label'")
    return key, value


async def write_new(kube: KubeClient, wanted: KubeObject) -> tuple[KubeObject, str]:
    """The object as written, and what became of it. Raises TerminalError for another one."""
    before = await kube.find(CATALOG, name_of(wanted))
    if before is not None:
        _refuse_another(before, wanted)
    after = await write_catalog(kube, wanted)
    if before is None:
        return after, "created"
    same = metadata(before).get("resourceVersion") == metadata(after).get("resourceVersion")
    return after, "unchanged" if same else "changed"


def _refuse_another(live: KubeObject, wanted: KubeObject) -> None:
    """Compares the specs with the fields that have a default as if they were set."""
    name = name_of(wanted)
    try:
        old, new = (wire.write(ClusterCatalog.from_object(raw).spec) for raw in (live, wanted))
    except InvalidObjectError as error:
        raise TerminalError(str(error)) from error
    other = [
        f"  {path}: {value_text(was)} -> {value_text(will)}"
        for path, was, will in differences(old, new, "spec")
    ]
    if other:
        raise TerminalError(
            "\n".join(
                [f"ClusterCatalog {name} is there already, and says something else:", *other]
            ),
            hint=f"change it: kubectl edit clustercatalog {name}; or remove it first: "
            f"olm catalog remove {name}; another NAME adds beside it",
        )
