"""Cases of what the commands of a cluster's version print, in the format of the goldens."""

import re
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

from cluster_version.client_output.alerts import Finding, findings
from cluster_version.client_output.recommend_view import recommendations
from cluster_version.client_output.status_view import Cluster, Details, status_page
from cluster_version.client_output.upgrade_request import Request, answer, checked
from cluster_version.client_output.upgrade_view import Form, overview
from olm_runtime.errors import TerminalError

Json = dict[str, Any]
_VERSION = re.compile(r"version-(.+)-output")
NODES_PROGRAM = "machine-config-operator"
LONG_AFTER = datetime(2100, 1, 1, tzinfo=UTC)
"""Recorded answers took nodes to be as they are since long ago."""
PATCH_TYPE = "application/merge-patch+json"
NO_CLUSTER_VERSION = (
    "No cluster version information available - you must be connected to an OpenShift version 4 "
    "server to fetch the current version"
)


def _upgrade(given: Json) -> Json:
    """As the current client: its form differs from the document's."""
    warnings: list[str] = []
    output: Json = {"error": None, "patch": None, "stdout": ""}
    try:
        output |= _printed(given, warnings)
    except TerminalError as error:
        output["error"] = error.message
    return output | {"stderr": "".join(f"{each}\n" for each in warnings)}


def _printed(given: Json, warnings: list[str]) -> Json:
    """Raises TerminalError."""
    request = Request(
        **{each.name: given[key] for each in fields(Request) if (key := _camel(each.name)) in given}
    )
    checked(request, warnings.append)
    if given["cv"] is None:
        raise TerminalError(NO_CLUSTER_VERSION)
    if not request.asks:
        shown = bool(given.get("includeNotRecommended"))
        return {
            "stdout": overview(
                given["cv"], warnings.append, form=Form.CURRENT, not_recommended=shown
            )
        }
    found = answer(given["cv"], request, warnings.append)
    written = {"patch": found.patch, "patchType": PATCH_TYPE} if found.patch else {}
    return {"stdout": found.text, **written}


def _recommend(given: Json) -> Json:
    """As upstream's examples are recorded: an error follows the text."""
    files = given["files"]
    page = recommendations(
        files["cv.yaml"],
        lambda _: None,
        findings=_findings(files.get("alerts.json"), given["example"]),
        outdated=given["variant"].startswith("show-outdated-releases"),
        version=found[1] if (found := _VERSION.match(given["variant"])) else None,
    )
    return {"stdout": page.text + (f"\nerror: {page.error}\n" if page.error else "")}


def _findings(alerts: Json | None, example: str) -> Sequence[Finding]:
    if alerts is not None:
        return findings(alerts["data"]["alerts"])
    text = (
        "This --mock-clusterversion run did not have alert data available at "
        f"examples/{example}-alerts.json"
    )
    return [Finding("recommended/Alert", "Unknown", "NoTestData", text, "AlertNoTestData")]


def _status(given: Json) -> Json:
    """The present is when the last condition changed, of nodes long after."""
    files = given["files"]
    cluster = Cluster(
        version=files["cv.yaml"],
        operators=files["co.yaml"]["items"],
        pools=_items(files, "mcp.yaml"),
        nodes=_items(files, "node.yaml"),
        configs=_items(files, "mc.yaml"),
        alerts=((files.get("alerts.json") or {}).get("data") or {}).get("alerts") or (),
        nodes_image=_image(files.get("mco-deployment.yaml")),
    )
    text = status_page(
        cluster,
        _present(cluster),
        details=Details(given.get("details") or "none"),
        seen=LONG_AFTER,
        form=Form.CURRENT,
    )
    return {"stdout": text}


def _items(files: Json, name: str) -> Sequence[Json]:
    return (files.get(name) or {}).get("items") or ()


def _image(deployment: Json | None) -> str:
    containers = deployment["spec"]["template"]["spec"]["containers"] if deployment else ()
    return next((each["image"] for each in containers if each["name"] == NODES_PROGRAM), "")


def _present(cluster: Cluster) -> datetime:
    changed = [
        datetime.fromisoformat(each["lastTransitionTime"])
        for object_ in (cluster.version, *cluster.operators)
        for each in object_["status"].get("conditions") or ()
    ]
    return max(changed) + timedelta(microseconds=368)


def _camel(name: str) -> str:
    return re.sub(r"_(.)", lambda found: found[1].upper(), name)


OPERATIONS = {"recommend": _recommend, "status command": _status, "upgrade": _upgrade}
"""What is computed for each operation of the families."""
