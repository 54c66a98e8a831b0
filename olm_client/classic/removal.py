"""What uninstalling an operator of OLM Classic deletes, and what it leaves. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from api.objects import GVK, KubeObject, name_of, namespace_of
from olm_runtime.plurals import counted


@dataclass(frozen=True, slots=True)
class Removal:
    """A Subscription and the ClusterServiceVersion that it installed.

    operator   None where nothing is installed
    instances  how many custom resources a definition has, by its name; None where nobody knows
    """

    subscription: KubeObject
    operator: KubeObject | None
    instances: Mapping[str, int | None]

    @property
    def objects(self) -> Sequence[KubeObject]:
        """What is deleted, in order: with its Subscription an operator would be installed again."""
        return [each for each in (self.subscription, self.operator) if each is not None]


def owned_definitions(operator: KubeObject) -> dict[str, GVK]:
    """The definitions that an operator brings, by name, and the kind that each defines."""
    described = (operator.get("spec") or {}).get("customresourcedefinitions") or {}
    return {
        name: GVK(name.partition(".")[2], str(each.get("version")), str(each.get("kind")))
        for each in described.get("owned") or ()
        if (name := str(each.get("name") or ""))
    }


def removal_lines(removal: Removal) -> list[str]:
    """The preview."""
    place = namespace_of(removal.subscription)
    lines = [
        "Deleted:",
        f"  Subscription {name_of(removal.subscription)} in namespace {place}",
    ]
    if removal.operator is None:
        return [*lines, "", "Nothing is installed by it."]
    lines += [
        f"  ClusterServiceVersion {name_of(removal.operator)}, and with it",
        *(f"    {each}" for each in _workloads(removal.operator)),
    ]
    return [*lines, "", "Stays:", *(f"  {each}" for each in _staying(removal))]


def _workloads(operator: KubeObject) -> Iterator[str]:
    spec = ((operator.get("spec") or {}).get("install") or {}).get("spec") or {}
    yield from (f"Deployment {each.get('name')}" for each in spec.get("deployments") or ())
    for field in ("clusterPermissions", "permissions"):
        yield from (
            f"the {'cluster-wide ' if field == 'clusterPermissions' else ''}rights of "
            f"ServiceAccount {each.get('serviceAccountName')}"
            for each in spec.get(field) or ()
        )


def _staying(removal: Removal) -> Iterable[str]:
    for name, count in removal.instances.items():
        known = "custom resources that you may not count" if count is None else _resources(count)
        yield f"CustomResourceDefinition {name}, with {known}"
    yield "OperatorGroups, and operators that were installed because this one needs them"


def _resources(count: int) -> str:
    alone = "" if count == 0 else ", which nobody looks after then"
    return f"{counted(count, 'custom resource')}{alone}"
