"""Services that the API server calls, and whether anybody answers for them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from api.objects import KubeObject, key_of, labels_of, name_of, namespace_of
from olm_client.diagnosis.commands import place_of
from olm_client.diagnosis.facts import DEPLOYMENT, ENDPOINT_SLICE, SERVICE, Fact, Snapshot
from olm_client.diagnosis.findings import Remedy
from olm_client.diagnosis.programs import available, desired
from olm_client.diagnosis.references import Call, is_behind

SERVICE_NAME = "kubernetes.io/service-name"
"""On an EndpointSlice: the Service that it is of."""


@dataclass(frozen=True, slots=True)
class Backend:
    """What is behind a Service: `fault` is why nobody answers, empty if somebody may."""

    service: KubeObject | None
    workloads: Sequence[KubeObject]
    fault: str

    def revivals(self) -> tuple[Remedy, ...]:
        """How to have somebody answer, where a Deployment is there."""
        stopped = [each for each in self.workloads if desired(each) == 0]
        down = [each for each in self.workloads if desired(each) > 0 and not available(each)]
        remedies = []
        if stopped:
            commands = (f"kubectl scale deployment {_at(each)} --replicas=1" for each in stopped)
            remedies.append(Remedy("start what answers", tuple(commands)))
        if down:
            commands = (f"kubectl describe deployment {_at(each)}" for each in down)
            remedies.append(Remedy("see why no pod of it works", tuple(commands)))
        return tuple(remedies)


def _at(workload: KubeObject) -> str:
    return f"{name_of(workload)}{place_of(workload)}"


def backend_of(snapshot: Snapshot, call: Call) -> Backend:
    """What is behind the Service that a caller names."""
    where = f"Service {call.namespace}/{call.service}"
    service = snapshot.find(Fact.SERVICES, SERVICE, call.service, call.namespace)
    if service is None:
        return Backend(None, (), f"{where} does not exist")
    workloads = [w for w in snapshot.all(Fact.DEPLOYMENTS, DEPLOYMENT) if is_behind(w, service)]
    if (service.get("spec") or {}).get("type") == "ExternalName" or _ready(snapshot, service):
        return Backend(service, workloads, "")
    fault = f"{where} has no endpoint that is ready"
    if workloads:
        fault += "".join(
            f"; {key_of(each)} has 0 of {desired(each)} pods working"
            for each in workloads
            if not available(each)
        )
    else:
        fault += "; no Deployment is behind it"
    return Backend(service, workloads, fault)


def _ready(snapshot: Snapshot, service: KubeObject) -> bool:
    """Whether an address is there that is not known to be not ready."""
    slices = [
        each
        for each in snapshot.all(Fact.SERVICES, ENDPOINT_SLICE)
        if namespace_of(each) == namespace_of(service)
        and labels_of(each).get(SERVICE_NAME) == name_of(service)
    ]
    endpoints = [endpoint for each in slices for endpoint in each.get("endpoints") or ()]
    return any((each.get("conditions") or {}).get("ready") is not False for each in endpoints)
