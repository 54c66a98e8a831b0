"""OperatorHub as the API server serves it."""

from typing import Any

from api.crd import Resource, definition
from api.openshift.v1.operatorhub import GROUP, VERSION, OperatorHub

OPERATOR_HUBS = Resource(model=OperatorHub, group=GROUP, version=VERSION, plural="operatorhubs")

KINDS = ((OPERATOR_HUBS,),)
"""The versions of each kind, the stored one first."""


def definitions() -> dict[str, dict[str, Any]]:
    """The CustomResourceDefinition by the name of its file, without its ending."""
    return {f"{kind[0].group}_{kind[0].plural}": definition(*kind) for kind in KINDS}
