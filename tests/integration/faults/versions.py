"""ClusterServiceVersions of OLM Classic, made by hand, each in a namespace of its own."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from api.objects import KubeObject, name_of, namespace_of
from api.operators.names import V1ALPHA1
from e2e.harness.controlplane import ControlPlane
from e2e.harness.machine import Machine
from e2e.harness.process import ChildProcess
from e2e.olm.classic import Classic, Place, status
from tests.integration.faults.life import Phase, Picture, line_of

TARGET = {Phase.INSTALL: "operator.v1.0.0", Phase.UPDATE: "operator.v1.1.0"}
CSVS = "clusterserviceversions"
ONCE = ("ClusterServiceVersion", "Deployment", "Secret", "Service", "OperatorCondition")
"""What a life has one of while it lasts."""
GROUP_UNKNOWN = "NoTargetNamespaces"
"""What is true until the group has looked for its own."""
OF_KUBERNETES = frozenset({"Endpoints", "EndpointSlice"})
"""What controllers make of Services, under names of their own."""
RANDOM = (
    (re.compile(r"\bcheck\.example\.com-[a-z0-9]{5}\b"), "check.example.com-RANDOM"),
    (re.compile(r'"(caBundle|olmcahash|olm\.trusted-cas-hash)":"[^"]*"'), r'"\1":"CA"'),
    (re.compile(r'"deployment\.kubernetes\.io/revision":"\d+"'), '"revision":"NUMBER"'),
    (re.compile(r'"(clusterIPs?)":("[^"]*"|\[[^]]*\])'), r'"\1":"IP"'),
    (re.compile(r"\b(?=[0-9A-Za-z]*[0-9])[0-9A-Za-z]{34,}\b"), "HASH"),
)
"""What differs from life to life, and is right."""


class Versions:
    """A scenario: install with a webhook, update, deletion, by olm-operator."""

    phases = (Phase.INSTALL, Phase.UPDATE, Phase.DELETE)
    machine: Machine | None = None
    writes_at_start = 2
    """Its Deployment is written over what it may have become meanwhile."""

    def __init__(self, classic: Classic) -> None:
        self._classic = classic

    @property
    def control_plane(self) -> ControlPlane:
        return self._classic.control_plane

    @property
    def program(self) -> ChildProcess | None:
        return self._classic.operator

    def start(self) -> None:
        self._classic.start_operator()

    def publish(self, keys: Sequence[str]) -> None:
        """Nothing has to be offered: they are made by hand."""

    def request(self, phase: Phase, key: str) -> None:
        place = Place(self._classic, key)
        if phase is Phase.DELETE:
            place.delete(CSVS, TARGET[Phase.UPDATE])
            return
        if phase is Phase.INSTALL:
            place = self._classic.place(name=key, own=True)
        place.csv(
            TARGET[phase],
            replaces=TARGET[Phase.INSTALL] if phase is Phase.UPDATE else "",
            webhookdefinitions=[_webhook()],
        )

    def found(self) -> Mapping[str, KubeObject]:
        """The older of two."""
        every = self._classic.api.list(f"/apis/{V1ALPHA1}/{CSVS}")
        return {namespace_of(each): each for each in sorted(every, key=name_of, reverse=True)}

    def has_arrived(self, phase: Phase, obj: KubeObject | None) -> bool:
        if phase is Phase.DELETE or obj is None:
            return phase is Phase.DELETE and obj is None
        return (name_of(obj), status(obj, "phase")) == (TARGET[phase], "Succeeded")

    def lie(self, phase: Phase, obj: KubeObject) -> str:
        if status(obj, "phase") == "Failed" and status(obj, "reason") != GROUP_UNKNOWN:
            return f"Failed during {phase}: {status(obj, 'reason')}: {status(obj, 'message')}"
        return ""

    def line(self, obj: KubeObject, key: str) -> str:
        if obj["kind"] in OF_KUBERNETES:
            return str(obj["kind"])
        content = dict(obj)
        reported = content.pop("status", None) or {}
        if obj["kind"] == "ClusterServiceVersion":
            content["status"] = {each: reported.get(each) for each in ("phase", "reason")}
        if obj["kind"] == "Secret":
            content["data"] = sorted(obj.get("data") or ())
        text = line_of(content, key)
        for pattern, instead in RANDOM:
            text = pattern.sub(instead, text)
        return text

    def plausible(self, phase: Phase, picture: Picture) -> bool:
        counts = {kind: sum(line.startswith(f"{kind} ") for line in picture) for kind in ONCE}
        return set(counts.values()) == ({0} if phase is Phase.DELETE else {1})


def _webhook() -> dict[str, Any]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
    return {
        "type": "ValidatingAdmissionWebhook",
        "generateName": "check.example.com",
        "deploymentName": "controller",
        "containerPort": 9443,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
        "rules": [{**rule, "operations": ["DELETE"]}],
    }
