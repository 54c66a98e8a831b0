"""Cases of what the commands of a cluster's version print, in the format of the goldens."""

import re
from dataclasses import fields
from typing import Any

from cluster_version.client_output.upgrade_request import Request, answer, checked
from cluster_version.client_output.upgrade_view import Form, overview
from olm_runtime.errors import TerminalError

Json = dict[str, Any]
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


def _camel(name: str) -> str:
    return re.sub(r"_(.)", lambda found: found[1].upper(), name)


OPERATIONS = {"upgrade": _upgrade}
"""What is computed for each operation of the families."""
