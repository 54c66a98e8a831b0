"""The Deployments of a ClusterServiceVersion, as they are applied.

Their label has a hash of the whole spec, so that a change of the operator, of its Subscription's
config or of the cluster's proxy is known from one that somebody else made.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from api.objects import KubeObject, annotations_of, metadata, name_of, namespace_of
from olm_classic.csv.deployment_config import configured
from olm_classic.csv.owner import Owner
from olm_classic.dialect import Dialect
from olm_classic.hashes import deep_hash
from olm_classic.names import LABEL_DEPLOYMENT_HASH, LABEL_MANAGED

CONDITION_VARIABLE = "OPERATOR_CONDITION_NAME"
"""Tells an operator which OperatorCondition is its own."""


def deployments_of(
    csv: KubeObject,
    *,
    config: dict[str, Any] | None = None,
    proxy: Iterable[Mapping[str, Any]] = (),
    dialect: Dialect = Dialect.DOCUMENTS,
) -> Iterator[KubeObject]:
    """One for each of the install strategy, in its order.

    `config` is that of the Subscription whose installed version this is, `proxy` the environment
    variables of the cluster's proxy.
    """
    owner = Owner(name_of(csv), namespace_of(csv), str(metadata(csv).get("uid") or ""))
    strategy = csv["spec"]["install"].get("spec") or {}
    for template in strategy.get("deployments") or ():
        bare = _deployment(template, owner, annotations_of(csv))
        made = configured(bare, config, [dict(each) for each in proxy], dialect=dialect)
        _name_condition(made, owner.name)
        made["spec"]["revisionHistoryLimit"] = 1
        digest = deep_hash("DeploymentSpec", made["spec"])
        made["metadata"]["labels"] = {
            **made["metadata"]["labels"],
            LABEL_DEPLOYMENT_HASH: digest,
            LABEL_MANAGED: "true",
        }
        yield made


def _deployment(
    template: Mapping[str, Any], owner: Owner, annotations: Mapping[str, str]
) -> KubeObject:
    """Before anything is laid over it; all annotations of its owner are on its pods."""
    pod = template["spec"]["template"]
    meta = pod.get("metadata") or {}
    carried = {**(meta.get("annotations") or {}), **annotations}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": template["name"],
            "namespace": owner.namespace,
            "labels": {**(template.get("label") or {}), **owner.labels()},
            "ownerReferences": [owner.reference()],
        },
        "spec": {
            **template["spec"],
            "template": {**pod, "metadata": {**meta, "annotations": carried}},
        },
    }


def _name_condition(deployment: KubeObject, name: str) -> None:
    """Sets the variable in every container, whatever it was; init containers go without."""
    pod = deployment["spec"]["template"]["spec"]
    variable = {"name": CONDITION_VARIABLE, "value": name}
    pod["containers"] = [
        {**container, "env": [*_others(container), variable]}
        for container in pod.get("containers") or ()
    ]


def _others(container: Mapping[str, Any]) -> list[Any]:
    return [each for each in container.get("env") or () if each["name"] != CONDITION_VARIABLE]
