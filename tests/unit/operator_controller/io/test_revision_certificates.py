"""Rotation for a year: the controller crashes, the kubelet is slow, callers lag behind."""

import base64
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from cryptography import x509

from api.objects import GVK, KubeObject
from olm_rollout.phases import Phase
from olm_runtime.certificates.issuer import issuer
from olm_runtime.certificates.rotation import Rotation
from olm_runtime.errors import WaitingError
from operator_controller.io.certificates import RevisionCertificates
from tests.unit.olm_runtime.certificates.cases import LIFETIME, NOW, SETTLE
from tests.unit.operator_controller.certificates.cases import SECRET, configuration, phases

HOUR = timedelta(hours=1)


@dataclass
class Cluster:
    """The Secret, and the CA bundle of each caller, as last applied."""

    now: datetime = NOW
    secret: KubeObject | None = None
    callers: dict[str, str] = field(default_factory=dict)

    async def find(self, gvk: GVK, name: str, namespace: str = "") -> KubeObject | None:
        return self.secret if (gvk.kind, name, namespace) == ("Secret", SECRET, "install") else None

    def apply(self, wanted: Sequence[Phase], *, objects: int | None = None) -> None:
        """Applies the objects in order; `objects`: only so many of them, then the crash."""
        for obj in [o for phase in wanted for o in phase.objects][:objects]:
            match obj["kind"]:
                case "Secret":
                    self.secret = {**obj, "metadata": {"uid": "1", **obj["metadata"]}}
                case "CustomResourceDefinition":
                    config = obj["spec"]["conversion"]["webhook"]["clientConfig"]
                    self.callers["crd"] = config["caBundle"]
                case "ValidatingWebhookConfiguration":
                    self.callers["hook"] = obj["webhooks"][0]["clientConfig"]["caBundle"]

    def certificates(self) -> RevisionCertificates:
        return RevisionCertificates(Rotation(issuer(LIFETIME), SETTLE, lambda: self.now))


def trusted(bundle: str, secret: KubeObject | None) -> bool:
    """Whether one of the CAs in the bundle is that of the certificate served."""
    assert secret is not None
    pem = base64.b64decode(secret["data"]["tls.crt"])
    certificate = x509.load_pem_x509_certificate(pem)
    authorities = x509.load_pem_x509_certificates(base64.b64decode(bundle))
    return any(authority.subject == certificate.issuer for authority in authorities)


@pytest.mark.property
@pytest.mark.parametrize("seed", range(12))
async def test_callers_trust_what_is_served_whatever_is_killed_when(seed: int) -> None:
    chance = random.Random(seed)
    cluster = Cluster()
    certificates = cluster.certificates()
    cluster.apply((await certificates.certify(cluster, "r", phases(), newest=True)).phases)
    served = cluster.secret
    issuers = set()
    for _ in range(300):
        cluster.now += HOUR * chance.uniform(0.1, 60)
        certified = await certificates.certify(cluster, "r", phases(), newest=True)
        killed = chance.random() < 0.3
        cluster.apply(certified.phases, objects=chance.randrange(5) if killed else None)
        if killed:
            certificates = cluster.certificates()
        else:
            certificates.note_applied("r")
        if chance.random() < 0.7:  # the kubelet brings it, at the latest some days later
            served = cluster.secret
        assert all(trusted(bundle, served) for bundle in cluster.callers.values())
        issuers.add(cluster.callers["hook"])
    assert len(issuers) > 6, "it was rotated again and again"


async def test_nothing_changes_while_nothing_is_due() -> None:
    cluster = Cluster()
    certificates = cluster.certificates()
    first = await certificates.certify(cluster, "r", phases(), newest=True)
    assert {key.gvk.kind for key in first.changed} == {
        "Secret",
        "CustomResourceDefinition",
        "ValidatingWebhookConfiguration",
    }
    cluster.apply(first.phases)
    made = cluster.secret
    certificates.note_applied("r")
    second = await certificates.certify(cluster, "r", phases(), newest=True)
    cluster.apply(second.phases)
    assert cluster.secret == made
    third = await certificates.certify(cluster, "r", phases(), newest=True)
    assert third.phases == second.phases
    assert second.changed == third.changed == frozenset()
    assert certificates.seconds_until_due("r") == (LIFETIME * 2 / 3).total_seconds()


async def test_the_steps_of_a_rotation_come_one_after_the_other() -> None:
    cluster = Cluster()
    certificates = cluster.certificates()
    cluster.apply((await certificates.certify(cluster, "r", phases(), newest=True)).phases)
    certificates.note_applied("r")
    before = cluster.secret
    cluster.now += LIFETIME * 0.7
    prepared = await certificates.certify(cluster, "r", phases(), newest=True)
    cluster.apply(prepared.phases)
    assert len(prepared.changed) == 3
    cluster.now += 2 * SETTLE
    again = await certificates.certify(cluster, "r", phases(), newest=True)
    assert again.changed == frozenset(), "nobody said that the callers have it"
    certificates.note_applied("r")
    assert certificates.seconds_until_due("r") == SETTLE.total_seconds()
    cluster.now += SETTLE
    promoted = await certificates.certify(cluster, "r", phases(), newest=True)
    assert {key.gvk.kind for key in promoted.changed} == {"Secret"}
    cluster.apply(promoted.phases)
    assert before is not None
    assert cluster.secret is not None
    assert cluster.secret["data"]["tls.crt"] != before["data"]["tls.crt"]


async def test_a_revision_that_is_being_replaced_rotates_nothing() -> None:
    cluster = Cluster()
    certificates = cluster.certificates()
    with pytest.raises(WaitingError, match="issued by a newer revision"):
        await certificates.certify(cluster, "old", phases(), newest=False)
    cluster.apply((await certificates.certify(cluster, "new", phases(), newest=True)).phases)
    cluster.now += LIFETIME * 0.7
    assert cluster.secret is not None
    found = await certificates.certify(cluster, "old", phases(), newest=False)
    secrets = [o for phase in found.phases for o in phase.objects if o["kind"] == "Secret"]
    assert secrets[0]["data"] == cluster.secret["data"]


async def test_revisions_without_webhooks_are_applied_as_they_are() -> None:
    certificates = Cluster().certificates()
    plain = phases(configuration())
    certified = await certificates.certify(Cluster(), "r", plain, newest=True)
    assert (certified.phases, certified.changed) == (plain, frozenset())
    assert certificates.seconds_until_due("r") is None
